# crowd.sh - more tasks than CPUs, which preempt each other within our programs too, where the kernel lets them: nothing is missed.
# limit: 200
. "$LIVE/lib.sh"
need taskset dd

# Three programs that write, and three that start programs, all on one CPU.
writes=15000 starts=60
cat > writing << END
for i in 1 2 3; do dd if=/dev/zero of=/dev/null bs=1 count=$writes status=none & done
wait
END
cat > starting << END
for i in 1 2 3; do sh -c 'n=0; while [ \$((n += 1)) -le $starts ]; do /bin/true; done' & done
wait
END
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
crowd() { record "$1" --no-functions -b 64M "${@:3}" -- taskset -c "$cpu" sh "$2"; }
lost_of() { sed -n "s/^recorder: lost: .* \([0-9]*\) $1[, ].*/\1/p" "$2.err" | grep . || echo 0; }
tasks_of() { said "$1" | sed -n 's/.* \([0-9]*\) tasks.*/\1/p'; }

whole() {
	local name=$1; shift
	crowd "$name.w" writing --syscalls=write "$@"
	check "each write is there$about" equal "$(report_calls "$name.w" sys_write)" $((3 * writes))
	check "... and none is counted as lost$about" equal "$(said "$name.w" | grep -o 'lost: nothing')" "lost: nothing"
	crowd "$name.s" starting --no-syscalls "$@"
	check "each program that was started is there$about" equal "$(tasks_of "$name.s")" $((1 + 3 + 3 * starts))
	check "... and none is counted as lost$about" equal "$(said "$name.s" | grep -o 'lost: nothing')" "lost: nothing"
}

about=
whole all
about=", by perf events"
whole perf --no-feature steady-tracepoints

# Perf events are skipped for somebody else's sake, too. A fork that one was skipped for is told by a second program.
if program maplooks "forks while somebody looks into BPF maps"; then
	taskset -c "$cpu" "$PROGRAMS/maplooks" > looks 2>&1 8>&- &
	looks=$!
	for ((i = 0; i < 100; i++)); do [ -s looks ] && break; sleep 0.05; done
	crowd looked.s starting --no-syscalls --no-feature steady-tracepoints
	kill $looks
	there=$(tasks_of looked.s) all=$((1 + 3 + 3 * starts))
	check "while somebody looks into BPF maps each program that was started is there, or counted as lost" \
		equal "$((there + $(lost_of task looked.s) >= all)) $(cat looks)" "1 looking"
	check "... and few are not there" [ "$there" -ge $((all * 9 / 10)) ]
fi

# Where neither shape suits, what the kernel skipped counts as lost: of each write that is not there at least one record.
crowd told.w writing --syscalls=write --no-feature steady-tracepoints,perf-tracepoints
check "without both: stored and lost are not less than what was written" \
	[ $(($(report_calls told.w sys_write) + $(lost_of syscall told.w))) -ge $((3 * writes)) ]
skipped() { grep -q 'the kernel skipped' told.w.err && echo some || echo none; }
check "... what was skipped is said, where it was" equal "$(skipped)" "$([ "$(lost_of syscall told.w)" -gt 0 ] && echo some || echo none)"
check "... and that some may be missed is said" grep -q 'preempted' told.w.err

# Programs at functions keep what they have while others run them (keep_own_stack() in bpf/point.bpf.h): a tree of processes that
# preempt each other is the same each time.
trees() {
	local i
	for ((i = 0; i < 12; i++)); do
		record tree --no-syscalls "$@" -- "$PROGRAMS/forks" 3 > /dev/null
		said tree | sed -n "s/.*'tree': \(.* calls\),.* \([0-9]* tasks\),.*/\1, \2/p"
	done | sort | uniq -c | sed 's/^ *//'
}
trees > trees.all
check "the functions of a tree are the same each time" equal "$(wc -l < trees.all) $(grep -c '^12 .* 15 tasks$' trees.all)" "1 1"
trees -N '^leaf$' > trees.some
check "... with filters, too" equal "$(wc -l < trees.some) $(grep -c '^12 .* 15 tasks$' trees.some)" "1 1"

# ... nor has the kernel given any of them a stack of the CPU's, as it gives others: -t has calls held back, throw has an unwinder.
own_stacks() {
	rm -f ran seen
	"$RECORDER" -o "$1" "${@:2}" -t 1us -- sh -c "'$PROGRAMS/throw'; touch ran; while [ ! -e seen ]; do sleep 0.1; done" \
		> "$1.out" 2> "$1.err" 8>&- &
	for ((i = 0; i < 300; i++)); do
		[ ! -e ran ] || break
		sleep 0.1
	done
	python3 "$LIVE/ownstack.py" $! > "$1.stacks"
	touch seen
	wait $!
}
# each_own_stack NAME TYPE PROGRAM...
each_own_stack() {
	local program
	for program in "${@:3}"; do
		grep -q "^$2 $program.* task$" "$1.stacks" || { echo "$program was not seen on the task's stack"; return 1; }
	done
	if grep '^uprobe .* cpu$' "$1.stacks"; then return 1; fi
}
name="programs at functions are run on the task's own stack"
if ! command -v python3 > /dev/null || [ "$(uname -m)" != x86_64 ]; then
	skip "$name" "their machine code is read by a Python script, of x86-64 alone"
else
	own_stacks own --no-feature task-work,exec-hook
	check "$name" each_own_stack own uprobe held exec_gate exec_call maps_gate unwind_begin unwind_end
	if "$RECORDER" --doctor | grep -q '^ *exec-hook *yes'; then
		own_stacks hook --no-feature task-work
		check "... and so is the one at the hook of execs" each_own_stack hook lsm exec_hook
	else
		skip "... and so is the one at the hook of execs" "the kernel lets no program of an LSM wait at an exec"
	fi
	if "$RECORDER" --doctor | grep -q '^ *task-work *yes'; then
		own_stacks work
		check "... and so are those that tasks run on their way back" each_own_stack work 'trac[a-z]*' exec_work maps_work
	else
		skip "... and so are those that tasks run on their way back" "there is no such work on this kernel"
	fi
	if [ "$(printf '6.13\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.13 ]; then
		check "... and that is no matter of course" grep -q ' cpu$' own.stacks
	else
		skip "... and that is no matter of course" "before 6.13 no program has another stack"
	fi
fi
