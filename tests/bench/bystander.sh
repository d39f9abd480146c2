#!/bin/bash
# What a process that is not recorded pays for the probes in a library it has mapped, as a ratio.
#
#	tests/bench/bystander.sh RECORDER	ROUNDS=5: how often each thing is measured
#
# The bystander calls malloc() and free() in a loop and times itself (CPU time, the least over its own rounds; the median
# over ours). Beside it recorder records a sleeping process: nothing of it, its own functions, or all of the C library too.
. "$(dirname "$0")/lib.sh"
build_targets
mkdir -m 777 told

measure() { "$bin/libc" loop 10 20000 | awk '{ print $1 }' >> "$work/$1"; }

# beside NAME OPTION...: measured while a process is recorded, once that runs and its libraries are probed.
beside() {
	local name=$1 pid waited=0; shift
	rm -rf "$work/data" "$work/told/sleeper"
	"$recorder" -q -o "$work/data" "$@" -- sh -c 'echo $$ > "$0"; exec sleep 60' "$work/told/sleeper" &
	pid=$!
	until [ -s "$work/told/sleeper" ] || [ $waited -ge 300 ]; do sleep 0.1; waited=$((waited + 1)); done
	sleep 0.5		# until sleep(1) itself is in place
	measure "$name"
	kill "$(cat "$work/told/sleeper")"
	wait $pid
}

# attached NAME OPTION...: measured while a process that sleeps is recorded by its number.
attached() {
	local name=$1 sleeper pid waited=0; shift
	rm -rf "$work/data"
	sleep 60 & sleeper=$!
	"$recorder" -o "$work/data" -p $sleeper --functions='*@libc.so.6' "$@" 2> "$work/said" & pid=$!
	until grep -q '^recorder: recording' "$work/said" || [ $waited -ge 300 ]; do sleep 0.1; waited=$((waited + 1)); done
	measure "$name"
	kill $sleeper
	wait $pid
}

for ((r = 0; r < ${ROUNDS:-5}; r++)); do
	measure alone
	beside own
	beside copy -u nobody --functions='*@libc.so.6'
	beside libc --functions='*@libc.so.6'
	attached pid
	attached entries --returns=never
	measure after
done 2> /dev/null

alone=$(median alone)
printf '%-52s %10s %8s\n' "malloc() and free() of a process not recorded" ns ratio
for what in "alone:nobody records" "own:another's own functions are recorded" \
	"copy:another's are, with '*@libc.so.6', of a user" "libc:the same of root, who gets no copy" \
	"pid:a process is, by -p, with '*@libc.so.6'" "entries:the same with --returns=never" "after:recorder has gone"; do
	ns=$(median "${what%%:*}")
	printf '  %-50s %10s %8s\n' "${what#*:}" "$ns" "$(awk -v a="$ns" -v b="$alone" 'BEGIN { printf "%.2f", a / b }')"
done
