# fallback.sh - without a feature of newer kernels the recording is the same: each is denied in turn.
# limit: 300
. "$LIVE/lib.sh"
lie_the_same

record all.data -- "$PROGRAMS/nested" > all.out
check "with everything" truth all.data all.out
calls_of all.data | sort -k2 > all.txt

# The same functions and system calls, as often.
same_recording() {
	local name=$1; shift
	record "$name.data" "$@" -- "$PROGRAMS/nested" > "$name.out" || { tail -n 3 "$name.data.err"; return 1; }
	cmp all.out "$name.out" && diff all.txt <(calls_of "$name.data" | sort -k2)
}

for feature in uprobe-session uprobe-multi,uprobe-session bpf-loop write-user write-others uprobe-sleepable task-work \
	task-work,exec-hook forced-writes nop5-fork-safe steady-tracepoints steady-tracepoints,perf-tracepoints storage-at-forks \
	storage-lookups; do
	check "without $feature" same_recording "no-$feature" --no-feature "$feature"
done

# What nothing stands in for is said at once, and the program is not run.
for feature in btf ringbuf; do
	"$RECORDER" --no-feature $feature -o none.data -- touch ran > /dev/null 2> none.err
	check "without $feature: refused" equal "$? $(ls ran none.data 2>/dev/null)" "125 "
	check "without $feature: in lines that say so" equal "$(grep -c '^recorder: ' none.err)" "$(wc -l < none.err)"
done
for feature in btf ringbuf tp-btf task-storage; do
	"$RECORDER" --no-feature $feature --doctor > doctor.out 2>&1
	check "without $feature: --doctor says that nothing can be recorded" equal "$? $(grep -c 'recording is not possible' doctor.out)" "1 1"
done

# Without any way to probe functions the system calls are still recorded.
record nofun.data --no-feature uprobe-session,uprobe-multi,uprobe-tracefs,uprobe -- "$PROGRAMS/nested" > nofun.out
check "without any uprobe: the program runs" cmp all.out nofun.out
check "without any uprobe: its system calls are there" diff <(grep ' sys_' all.txt) <(calls_of nofun.data | grep ' sys_' | sort -k2)

# A program that throws lives without them too.
"$PROGRAMS/throw" > throw.want
for feature in uprobe-session uprobe-multi,uprobe-session write-user write-others uprobe-sleepable task-work; do
	record throw.data --no-feature $feature -- "$PROGRAMS/throw" > throw.out
	check "throw without $feature: its end" equal $? 0
	check "throw without $feature: its output" cmp throw.want throw.out
	check "throw without $feature: its calls" truth throw.data throw.out
	# The kernel may need seconds to take the probes away.
	"$PROGRAMS/throw" > after.out
	check "throw without $feature: who runs it right after lives" equal "$? $(cmp throw.want after.out)" "0 "
done

"$RECORDER" --no-feature no-such-feature -- /bin/true > /dev/null 2> wrong.err
check "a feature that is none is a wrong command line" equal $? 2
