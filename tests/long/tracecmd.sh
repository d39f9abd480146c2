# tracecmd.sh - the same program recorded by trace-cmd, from the kernel's own events, and by recorder: the same of each task.
# limit: 600
. "$LIVE/lib.sh"
need trace-cmd python3 setarch
if ! trace-cmd record -q -o try.dat -e sched:sched_process_exec true > try.out 2>&1; then
	skip "trace-cmd record" "it cannot record here: $(tail -n 1 try.out)"
	exit 0
fi

# same NAME COMMAND...: with an environment of its own, whose size decides where the stack lies.
same() {
	local name=$1 alone=(env -i PATH="$PATH" LC_ALL=C); shift
	"${alone[@]}" trace-cmd record -q -b 20000 -o $name.kernel -e syscalls -e sched -c -F setarch -R "$@" > $name.out 2>&1
	[ -s $name.kernel ] || { tail -n 2 $name.out; return 1; }
	"${alone[@]}" "$RECORDER" -b 16M --no-functions --format trace-dat -o $name.ours -- setarch -R "$@" > $name.out 2> $name.err
	grep -q 'lost: nothing' $name.err || { grep lost: $name.err; return 1; }
	python3 "${LIVE%/live}/long/tracecmd.py" $name.kernel $name.ours
}
for p in syscalls nested forks exits; do
	program $p && check "$p" same $p "$PROGRAMS/$p"
done
check "ls" same ls ls -l /
check "a pipe in a shell" same pipe sh -c 'ls / | sort | tail -n 1; exit 0'
check "python3" same python python3 -S -c 'print(sum(range(10)))'
check "git" same git git --version
