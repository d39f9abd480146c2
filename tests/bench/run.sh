#!/bin/bash
# What recording costs, as ratios to the cheapest probe there can be, and beside other tools.
#
#	tests/bench/run.sh RECORDER		ROUNDS=7: how often each thing is measured; PEERS=no: recorder alone
#
# Every figure is CPU time added to one call, measured by the program that makes the calls: the least over its own rounds,
# then the median over ours. All things are measured in turn, round by round, so that what else the machine does falls on
# all of them alike.
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || { echo "the targets are x86-64 code: nothing is measured here"; exit 0; }
build_targets
rounds=${ROUNDS:-7}
peer_rounds=$(((rounds + 1) / 2))

loop=(loop 20 20000)
short=(loop 5 4000)	# for what is slow

note() { [ -t 2 ] && printf '\r\033[K%s' "$1" >&2; }

# keep NAME COMMAND...: one sample, the number that is the command's last line.
keep() {
	local name=$1 value; shift
	note "$name"
	value=$("$@" 2>> "$work/messages" | grep -E '^[0-9.]+( [0-9.]+)?$' | tail -n 1)
	if [ -n "$value" ]; then echo "$value" >> "$work/$name"; else echo "$name: no figure" >> "$work/messages"; fi
}

bare() { "$bin/$1" "${@:2}"; }

# floor KIND [FILE SYMBOL BYTES] -- COMMAND...
floor() {
	local args=() floor_pid out in
	while [ "$1" != -- ]; do args+=("$1"); shift; done
	shift
	coproc FLOOR { exec "$bin/floor" "$bin/floor.bpf.o" "${args[@]}"; }
	floor_pid=$FLOOR_PID out=${FLOOR[0]} in=${FLOOR[1]}
	read -r _ <&"$out" || return 1
	"$@"
	exec {in}>&-
	read -r lost count <&"$out"
	wait "$floor_pid"
	[ "$count" = 0 ] || echo "floor ${args[*]}: $lost $count" >> "$work/loss"
}

# recorded OPTION... -- COMMAND...
recorded() {
	rm -rf "$work/data"
	"$recorder" -q -o "$work/data" --strict "$@"
	[ $? -ne 3 ] || echo "recorder $*: lost records" >> "$work/loss"
}

# The call of a process that is not recorded, while another is.
unrelated() {
	local pid waited=0
	rm -rf "$work/data"
	"$recorder" -q -o "$work/data" -- sleep 60 > /dev/null &
	pid=$!
	until pgrep -P $pid -x sleep > /dev/null || [ $waited -ge 100 ]; do sleep 0.1; waited=$((waited + 1)); done
	sleep 0.3
	"$@"
	pkill -P $pid -x sleep
	wait $pid
}

functions() {
	local f=$1 site=$2 opts=(); shift 2
	opts=("$@")
	keep "$f.bare" bare "$f" "${loop[@]}"
	keep "$f.empty" floor empty_session "$bin/$f" probed "$site" -- bare "$f" "${loop[@]}"
	keep "$f.full" floor full_session "$bin/$f" probed "$site" -- bare "$f" "${loop[@]}"
	keep "$f.recorder" recorded --no-syscalls "${opts[@]}" -- "$bin/$f" "${loop[@]}"
	keep "$f.both" recorded "${opts[@]}" -- "$bin/$f" "${loop[@]}"
}

syscalls() {
	keep syscall.bare bare syscall "${loop[@]}"
	keep syscall.empty floor empty_sys -- bare syscall "${loop[@]}"
	keep syscall.full floor full_sys -- bare syscall "${loop[@]}"
	keep syscall.recorder recorded --no-functions -- "$bin/syscall" "${loop[@]}"
	keep syscall.both recorded -- "$bin/syscall" "${loop[@]}"
	keep syscall.unrelated unrelated bare syscall "${loop[@]}"
}

own_cost() {	# half a million calls a second are a million records
	keep cost.functions recorded --no-syscalls -- "$bin/push" pace 500000 4
	keep cost.syscalls recorded --no-functions -- "$bin/syscall" pace 500000 4
}

# What -t saves where nothing is as long: the records and the bytes, recorder's own CPU, and what the program pays.
held() {
	keep held.cost recorded --no-syscalls -t 5ms -- "$bin/push" pace 500000 4
	keep held.recorder recorded --no-syscalls -t 5ms -- "$bin/push" "${loop[@]}"
}

# The same number of calls with and without: "CALLS MB", as the summary has them.
written() {
	rm -rf "$work/data"
	"$recorder" -o "$work/data" --strict --no-syscalls "$@" -- "$bin/push" "${loop[@]}" 2>&1 > /dev/null |
		sed -n "s/.*wrote .*: \([0-9]*\) function calls,.* \([0-9.]*\) MB$/\1 \2/p"
}

have() { command -v "$1" > /dev/null; }

peers() {
	local event="$bin/push:probed"

	if have uftrace; then
		keep peer.uftrace-P uftrace record -d "$work/u" -P '^probed$' --no-libcall --no-event "$bin/push" "${loop[@]}"
		rm -rf "$work/u"
		keep peer.pg-bare bare pg "${loop[@]}"
		keep peer.uftrace-pg uftrace record -d "$work/u" --no-libcall --no-event "$bin/pg" "${loop[@]}"
		rm -rf "$work/u"
	fi
	if have bpftrace; then
		keep peer.bpftrace-fn bpftrace -o "$work/b" -c "$bin/push ${short[*]}" -e "uprobe:$event { printf(\"%llu e %d\n\", nsecs, tid) }
			uretprobe:$event { printf(\"%llu x %d\n\", nsecs, tid) }"
		keep peer.bpftrace-sys bpftrace -o "$work/b" -c "$bin/syscall ${short[*]}" -e 'tracepoint:raw_syscalls:sys_enter /comm == "syscall"/
			{ printf("%llu e %d %d\n", nsecs, tid, args->id) } tracepoint:raw_syscalls:sys_exit /comm == "syscall"/ { printf("%llu x %d %d\n", nsecs, tid, args->ret) }'
		rm -f "$work/b"
	fi
	if have strace; then
		keep peer.strace strace -f -o "$work/s" "$bin/syscall" "${short[@]}"
	fi
	if have perf; then
		keep peer.perf-trace perf trace -o "$work/p" "$bin/syscall" "${short[@]}"
		keep peer.perf-trace-record perf trace record -o "$work/p" -- "$bin/syscall" "${short[@]}"
		rm -f "$work/p"
	fi
}

for ((r = 1; r <= rounds; r++)); do
	functions push 0
	functions cet 4
	functions nop5 0 --nop5
	syscalls
	own_cost
	held
	[ "${PEERS-yes}" = no ] || [ "$r" -gt "$peer_rounds" ] || peers
done
keep held.all written
keep held.least written -t 5ms
note ""

# ---- what came of it

added() { awk -v a="$(median "$1" "${3-1}")" -v b="$(median "$2" "${3-1}")" 'BEGIN { if (a == "-" || b == "-") print "-"; else printf "%.0f", a - b }'; }
# ratio NAME FLOOR BARE
ratio() {
	awk -v a="$(median "$1")" -v f="$(median "$2")" -v b="$(median "$3")" \
		'BEGIN { if (a == "-" || f == "-" || b == "-" || f <= b) print "-"; else printf "%.2f", (a - b) / (f - b) }'
}
line() { printf '%-44s %8s %8s %8s   %-8s %s\n' "$@"; }

echo "Linux $(uname -r), $(nproc) CPUs, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $rounds rounds"
echo
line "added to a call, ns (medians)" floor recorder ratio "at most" ""
for f in push cet nop5; do
	r=$(ratio $f.recorder $f.empty $f.bare)
	line "function entry + exit, $f / empty session" "$(added $f.empty $f.bare)" "$(added $f.recorder $f.bare)" "$r" 1.25 "$(verdict "$r" 1.25)"
done
for f in push cet nop5; do
	line "  $f, with system calls recorded too" "$(added $f.empty $f.bare)" "$(added $f.both $f.bare)" "$(ratio $f.both $f.empty $f.bare)" "" ""
	line "  $f / session with two records" "$(added $f.full $f.bare)" "$(added $f.recorder $f.bare)" "$(ratio $f.recorder $f.full $f.bare)" "" ""
done
r=$(ratio syscall.recorder syscall.empty syscall.bare)
line "recorded system call / empty tp_btf pair" "$(added syscall.empty syscall.bare)" "$(added syscall.recorder syscall.bare)" "$r" 5.5 "$(verdict "$r" 5.5)"
line "  with functions recorded too" "$(added syscall.empty syscall.bare)" "$(added syscall.both syscall.bare)" "$(ratio syscall.both syscall.empty syscall.bare)" "" ""
line "  / pair with full records" "$(added syscall.full syscall.bare)" "$(added syscall.recorder syscall.bare)" "$(ratio syscall.recorder syscall.full syscall.bare)" "" ""
r=$(ratio syscall.unrelated syscall.empty syscall.bare)
line "unrelated process's system call / empty pair" "$(added syscall.empty syscall.bare)" "$(added syscall.unrelated syscall.bare)" "$r" 1.5 "$(verdict "$r" 1.5)"
echo
echo "recorder's own CPU, % of one core           own CPU  calls/s  at 1 M records/s"
for kind in functions syscalls; do
	cost=$(median cost.$kind) rate=$(median cost.$kind 2)
	full=$(awk -v c="$cost" -v r="$rate" 'BEGIN { if (c == "-" || r == 0) print "-"; else printf "%.1f", c / (2 * r) * 1e6 }')
	printf '  %-40s %8s %8s %8s %%   %-8s %s\n' "$kind" "$cost" "$rate" "$full" 10 "$(verdict "$full" 10)"
done
echo
echo "what -t 5ms saves of calls that take less         all  with -t"
saved() { printf '  %-44s %8s %8s\n' "$@"; }
saved "calls that reach a ring, of 400 000" "$(median held.all)" "$(median held.least)"
saved "MB written" "$(median held.all 2)" "$(median held.least 2)"
saved "recorder's own CPU, % of one core" "$(median cost.functions)" "$(median held.cost)"
saved "added to a call, ns" "$(added push.recorder push.bare)" "$(added held.recorder push.bare)"
if [ "${PEERS-yes}" != no ]; then
	echo
	echo "beside other tools, ns added to a call      CPU time  wall time"
	peer() { printf '  %-40s %10s %10s\n' "$1" "$(added "$2" "$3")" "$(added "$2" "$3" 2)"; }
	peer "function: recorder (push)" push.recorder push.bare
	peer "function: uftrace -P (push)" peer.uftrace-P push.bare
	peer "function: uftrace (-pg)" peer.uftrace-pg peer.pg-bare
	peer "function: bpftrace, printing" peer.bpftrace-fn push.bare
	peer "system call: recorder" syscall.recorder syscall.bare
	peer "system call: strace -f" peer.strace syscall.bare
	peer "system call: perf trace" peer.perf-trace syscall.bare
	peer "system call: perf trace record" peer.perf-trace-record syscall.bare
	peer "system call: bpftrace, printing" peer.bpftrace-sys syscall.bare
fi
if [ -s "$work/loss" ]; then
	echo
	echo "figures made while records were lost are too low:"
	sort "$work/loss" | uniq -c
fi
[ -z "${V-}" ] || { echo; cat "$work/messages"; }
exit 0
