#!/bin/bash
# What trace.dat costs beside other recorders of system calls: time, CPU, bytes, memory, and what is lost. Needs root.
#
#	tests/bench/tracedat.sh RECORDER	ROUNDS=5: how often each thing is measured; PEERS=no: recorder alone
#
# A call's figures are CPU time added to it, as in run.sh: the least of the program's own rounds, then the median of ours; all
# is measured in turn, round by round. trace-cmd record needs a kernel that lets it: tests/long/tracecmd.sh compares what it tells.
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || { echo "the targets are x86-64 code: nothing is measured here"; exit 0; }
build_targets
rounds=${ROUNDS:-5}
loop=(loop 20 20000)	# 400 000 calls
short=(loop 5 4000)	# for what is slow
two=$(nproc)
two=$((two > 1 ? two - 2 : 0))-$((two - 1))	# the program takes the last CPU

# ---- who is measured

declare -A title lacks
title[recorder]="recorder --format trace-dat"
title[stacks]="recorder -g, kernel and user stacks"
title[none]="recorder --compression none"
title[perf]="perf record -e raw_syscalls:*"
title[perfz]="perf record -z, the same"
title[perfg]="perf record -g, the same"
title[tracecmd]="trace-cmd record -e raw_syscalls"
title[perftrace]="perf trace"
title[strace]="strace -f"

# with NAME COMMAND...: what NAME writes is in the file out.
with() {
	local name=$1 status; shift
	rm -rf out out.old out.part
	case $name in
	bare) "$@" ;;
	recorder | stacks | none)
		local more=()
		[ "$name" = stacks ] && more=(-g)
		[ "$name" = none ] && more=(--compression none)
		"$recorder" --format trace-dat --no-functions --strict -o out "${more[@]}" -- "$@" 2> said
		status=$?
		[ $status -ne 3 ] || { echo "${title[$name]}: $(grep -o 'lost: .*' said)" >> loss; }
		return $status ;;
	perf) perf record -q -e 'raw_syscalls:*' -o out "$@" ;;
	perfz) perf record -q -z -e 'raw_syscalls:*' -o out "$@" ;;
	perfg) perf record -q -g -e 'raw_syscalls:*' -o out "$@" ;;
	tracecmd) trace-cmd record -q -e raw_syscalls -F -o out "$@" ;;
	perftrace) perf trace -o out "$@" ;;
	strace) strace -f -o out "$@" ;;
	esac
}
fast=(recorder stacks)
slow=()
if [ "${PEERS-yes}" != no ]; then
	if with perf true > try 2>&1; then
		fast+=(perf perfg)
	else
		lacks[perf]="perf is not there, or cannot read tracefs: $(tail -n 1 try)"
	fi
	if with tracecmd true > try 2>&1; then fast+=(tracecmd); else lacks[tracecmd]="trace-cmd cannot record here: $(tail -n 1 try)"; fi
	if with perftrace true > try 2>&1; then slow+=(perftrace); else lacks[perftrace]="perf trace does not work here: $(tail -n 1 try)"; fi
	if with strace true > try 2>&1; then slow+=(strace); else lacks[strace]="strace does not work here: $(tail -n 1 try)"; fi
fi
perfz=
[[ " ${fast[*]} " != *" perf "* ]] || ! with perfz true > try 2>&1 || perfz=perfz

# keep FILE COMMAND...: one sample, the numbers in the command's last line.
keep() {
	local file=$1 value; shift
	value=$("$@" 2>> messages | grep -E '^[0-9.]+( [0-9.]+)?$' | tail -n 1)
	[ -z "$value" ] || echo "$value" >> "$file"
}

# ---- memory, and a million events a second

field() { # PID NAME: into $kb
	local key value
	kb=0
	{ while read -r key value _; do [ "$key" = "$2:" ] && kb=$value; done < "/proc/$1/status"; } 2> /dev/null
}
# The peaks of process $1 and of those of its children that are recorder too, KiB: "ALL WITHOUT-RINGS", until it ends. Rings are
# mapped files, so what is not theirs is the anonymous memory. What the last 50 ms add is not seen.
peaks() {
	local -A hwm anon
	local pid kb all=0 own=0 children
	while [ -d "/proc/$1" ] && read -r _ _ state _ < "/proc/$1/stat" && [ "$state" != Z ]; do
		children=
		read -r children < "/proc/$1/task/$1/children"
		for pid in "$1" $children; do
			[ "/proc/$pid/exe" -ef "$recorder" ] || continue
			field "$pid" VmHWM
			[ "$kb" -gt 0 ] && hwm[$pid]=$kb
			field "$pid" RssAnon
			[ "$kb" -gt "${anon[$pid]-0}" ] && anon[$pid]=$kb
		done
		sleep 0.05
	done 2> /dev/null
	for pid in "${!hwm[@]}"; do all=$((all + hwm[$pid])) own=$((own + ${anon[$pid]})); done
	echo $all $own
}
# paced SECONDS: half a million calls a second are a million events; into memory.SECONDS, rate.SECONDS, lost.SECONDS, all-in.SECONDS
paced() {
	local pid
	rm -rf out out.old
	taskset -c "$two" "$recorder" --format trace-dat --no-functions --strict -o out -- "$bin/syscall" pace 500000 "$1" > rate 2> said &
	pid=$!
	peaks $pid >> "memory.$1"
	wait $pid
	cat rate >> "rate.$1"
	sed -n 's/.*lost: //p' said >> "lost.$1"
	sed -n 's/.*own cost: \([0-9.]*\) s of CPU.*/\1/p' said >> "all-in.$1"
	sed -n 's/.* function calls, \([0-9]*\) syscalls.*/\1/p' said >> "calls.$1"
}

for ((r = 1; r <= rounds; r++)); do
	for name in bare "${fast[@]}"; do keep "call.$name" with "$name" "$bin/syscall" "${loop[@]}"; done
	for name in "${slow[@]}"; do keep "call.$name" with "$name" "$bin/syscall" "${short[@]}"; done
	for name in "${fast[@]}"; do
		[ "$name" = perfg ] || keep "own.$name" with "$name" "$bin/syscall" pace 500000 2
	done
	for name in "${slow[@]}"; do keep "own.$name" with "$name" "$bin/syscall" pace 5000 2; done
	paced 1
	paced 10
done

# ---- bytes: of the same calls, and of a program whose calls are of many kinds

# events NAME: how many system calls' beginnings and ends are in the file; stacks belong to theirs. A line of text tells of both.
events() {
	case $1 in
	recorder | stacks | none) awk '/ syscalls, / { sub(/.* function calls, /, ""); print 2 * $1 + $3 }' said ;;
	perf*) [ "$1" != perftrace ] && perf report --stats -i out 2>> messages | awk '/ SAMPLE events:/ { print $3; exit }' || echo $((2 * $(wc -l < out))) ;;
	*) echo $((2 * $(wc -l < out))) ;;
	esac
}
for name in recorder none stacks ${perfz:+perf perfz perfg} "${slow[@]}"; do
	for kind in loop ls; do
		if [ $kind = loop ]; then with "$name" "$bin/syscall" "${short[@]}"; else with "$name" ls -lR /usr/include /usr/share/doc; fi > /dev/null 2>> messages
		[ -f out ] && echo "$(stat -c %s out) $(events "$name")" > "bytes.$kind.$name"
	done
done

# ---- what came of it

# The least peak of all rounds: where the disk or the CPUs are busy with others more records wait, within --memory; what is kept
# of each event is there in every round.
least() { awk -v f="$2" '{ print $f }' "$1" | sort -g | head -n 1; }
# of EXPRESSION A B: - where one is not known
of() { awk -v a="$2" -v b="$3" "BEGIN { if (a == \"-\" || b == \"-\" || a == \"\" || b == \"\") print \"-\"; else printf \"$4\", $1 }"; }

echo "trace.dat. Linux $(uname -r), $(nproc) CPUs, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $rounds rounds"
echo
row() { printf '  %-38s %9s %9s %7s %12s %9s\n' "$@"; }
row "" "ns added" "wall" "ratio" "own CPU, ms" "at calls"
row "" "to a call" "" "" "/ M events" "a second"
base=$(of a-b "$(median call.recorder)" "$(median call.bare)" %.1f)
for name in "${fast[@]}" "${slow[@]}"; do
	ns=$(of a-b "$(median "call.$name")" "$(median call.bare)" %.0f)
	wall=$(of a-b "$(median "call.$name" 2)" "$(median call.bare 2)" %.0f)
	row "${title[$name]}" "$ns" "$wall" "$(of a/b "$ns" "$base" %.2f)" \
		"$(of 'a/100/(2*b)*1e9' "$(median "own.$name")" "$(median "own.$name" 2)" %.0f)" "$(median "own.$name" 2)"
done
for name in "${!lacks[@]}"; do echo "  ${title[$name]}: ${lacks[$name]}"; done
echo "  recorder, set-up and sealing included, 10 s: $(of 'a/b*1e9/2' "$(median all-in.10)" "$(median calls.10)" %.0f) ms of CPU for a million events"
echo
row "bytes for each event" "one call" "" "" "ls -lR" "events"
for name in recorder none stacks perf perfz perfg "${slow[@]}"; do
	[ -s "bytes.loop.$name" ] || continue
	row "${title[$name]}" "$(of a/b $(cat "bytes.loop.$name") %.1f)" "" "" "$(of a/b $(cat "bytes.ls.$name") %.1f)" "$(cut -d' ' -f 2 "bytes.ls.$name")"
done
echo
for what in "1:recorder's peak memory, all of it" "2:... without the rings' pages"; do
	one=$(least memory.1 "${what%%:*}") ten=$(least memory.10 "${what%%:*}")
	r=$(of b/a "$one" "$ten" %.2f)
	printf '  %-38s %9s KiB at 1 M events, %9s KiB at 10 M, ratio %s, at most 1.10: %s (medians %s, %s)\n' "${what#*:}" \
		"$one" "$ten" "$r" "$(verdict "$r" 1.1)" "$(median memory.1 "${what%%:*}")" "$(median memory.10 "${what%%:*}")"
done
echo
lossy=$(grep -cv '^nothing' lost.10)
printf '  a million events a second for 10 s, CPUs %s, default buffers: %s a second reached, lost in %s of %s runs: %s\n' "$two" \
	"$(of 'a*2' "$(median rate.10 2)" 0 %.0f)" "$lossy" "$(wc -l < lost.10)" \
	"$([ "$lossy" != 0 ] && echo MISSED || awk -v r="$(median rate.10 2)" 'BEGIN { print (r >= 490000 ? "met" : "the rate was not reached") }')"
[ ! -s loss ] || { echo; echo "figures made while records were lost are too low:"; sort loss | uniq -c; }
[ -z "${V-}" ] || { echo; cat messages; }
exit 0
