#!/bin/bash
# What filters that are evaluated in the kernel save: calls that reach the ring, and how much slower the program is. Needs root.
#
#	tests/bench/chosen.sh RECORDER		ROUNDS=7: how often each is measured
#
# The program says at its end what CPU time it took, its own traps included. Ratios to the untraced program, medians, all
# measured in turn. The figures of one run belong together; those of two runs do not.
. "$(dirname "$0")/lib.sh"
build_targets "$bin/chosen"
rounds=${ROUNDS:-7}

# sample NAME OPTION...: the program's seconds into NAME.s; calls and MB, as the summary has them, into NAME.n and NAME.mb.
sample() {
	local name=$1; shift
	rm -rf data
	"$recorder" -o data --strict --no-syscalls --no-libcall "$@" -- "$bin/chosen" >> "$name.s" 2> said || echo "$name" >> lossy
	sed -n 's/.*wrote .*: \([0-9]*\) function calls,.*/\1/p' said >> "$name.n"
	sed -n 's/.*wrote .*, \([0-9.]*\) MB$/\1/p' said >> "$name.mb"
}

for ((r = 0; r < rounds; r++)); do
	"$bin/chosen" >> bare.s
	sample all
	sample time -t 5ms
	sample depth -D 3
	sample if -F 'serve@if:arg1==7'
done

slower() { awk -v a="$(median "$1.s")" -v b="$(median bare.s)" 'BEGIN { if (a == "-" || b + 0 == 0) print "-"; else printf "%.2f", a / b }'; }
row() {
	printf '  %-42s' "$1"
	for name in all time depth if; do printf ' %12s' "$($2 $name $3)"; done
	echo
}
of() { median "$1.$2"; }
printf '%-44s %12s %12s %12s %12s\n' "what filters save ($rounds rounds)" all "-t 5ms" "-D 3" "if:arg1==7"
row "calls that reach the ring, of 80 001" of n
row "MB written" of mb
row "times slower than untraced" slower ""
printf '  untraced: %s s of CPU\n' "$(median bare.s)"
[ ! -s lossy ] || { echo "  records were lost with:"; sort lossy | uniq -c; }
