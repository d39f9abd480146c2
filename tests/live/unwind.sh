# unwind.sh - exceptions, thread exit, backtraces and signal stacks over probed frames: the program does what it does
# untraced, whoever else wants the CPUs, in children too, and also after recorder was killed.
# limit: 300
. "$LIVE/lib.sh"
program unwind || exit 0

agents() {
	local pid
	for pid in $(pgrep -x recorder-agent); do
		grep -qsz "^RECORDER_TEST=$1\$" /proc/$pid/environ && echo "$pid"
	done
}

# Until nothing is printed any more, or for so many tenths of a second.
gone() {
	local tenths=$1 i; shift
	for ((i = 0; i < tenths; i++)); do
		[ -z "$("$@")" ] && return
		sleep 0.1
	done
	echo "after $((tenths / 10)) s still there: $("$@")"
	return 1
}

for p in unwind unwind.static; do
	program "$p" || continue
	"$PROGRAMS/$p" > plain.out
	record "$p.data" -- "$PROGRAMS/$p" > traced.out
	check "$p ends well" equal $? 0
	check "$p says what it says untraced" diff plain.out traced.out
	check "$p: uftrace opens it" uftrace_accepts "$p.data"
done

# The kernel warns in its log of each program that may write into others' memory. Where one process's returns cannot be told
# from another's, functions are probed by such programs always, so that other stacks are spared.
if "$RECORDER" --doctor | grep -q '^ *uprobe-session *yes' && dmesg > before.log 2> /dev/null; then
	record plain.data -- "$PROGRAMS/nested" > /dev/null
	check "no program that may write is loaded where nothing unwinds" equal "$(dmesg | grep -c bpf_probe_write_user)" \
		"$(grep -c bpf_probe_write_user before.log)"
else
	skip "no program that may write is loaded where nothing unwinds" "this kernel has no sessions, or its log cannot be read"
fi

# Frames outside the one that caught it are seen to return by themselves.
record one.data -- "$PROGRAMS/unwind" deep > /dev/null
replay one.data -F outer > outer.txt
check "a function that calls the catching one nests and ends" grep -q '^} /\* outer \*/' outer.txt
check "what the handler calls stands in the function that caught" equal "$(grep -c '^    __cxa_end_catch()' outer.txt)" 3

# The child of a fork throws over frames that were probed in its parent, whether it is recorded or not.
for with in "" --no-follow; do
	check "a forked child throws ${with:-(followed)}" \
		equal "$(record fork.data $with -- "$PROGRAMS/unwind" forked)" "forked 43"
done

# A child that throws later: its parent has ended, and with it the recording.
late() {
	local out=$1 i; shift
	for ((i = 0; i < 100; i++)); do [ "$(tail -n 1 "$out")" = "$*" ] && return; sleep 0.1; done
	cat "$out"
	return 1
}
record orphan.data --no-follow -- "$PROGRAMS/unwind" orphaned > orphaned.out
check "so it does long after the recording" late orphaned.out orphaned 43
rm -f bereaved.out
"$RECORDER" -o bereaved.data -- "$PROGRAMS/unwind" bereaved > bereaved.out 2> /dev/null &
pid=$!
for ((i = 0; i < 100; i++)); do [ -s bereaved.out ] && break; sleep 0.1; done
kill -9 $pid
wait $pid 2> /dev/null
check "... and when it is forked after recorder was killed" late bereaved.out bereaved 43

# Six that want the two or more CPUs at once, four of them throwing.
busy=()
for i in 1 2; do
	( while :; do :; done ) & busy+=($!)
done
check "threads that throw while others compute" \
	equal "$(record busy.data -- "$PROGRAMS/unwind" thread_storm 200)" "thread_storm 12000"
kill "${busy[@]}"
wait "${busy[@]}" 2>/dev/null
check "none waited in vain" equal "$(said busy.data | grep -c 'not served')" 0

# Killed in the middle: the program throws on, over frames that were probed, and the agent leaves when it ends.
rm -f forever.out
RECORDER_TEST=$$ "$RECORDER" -o killed.data -- "$PROGRAMS/unwind" forever > forever.out 2> /dev/null &
pid=$!
for ((i = 0; i < 100; i++)); do [ -s forever.out ] && break; sleep 0.1; done
target=$(pgrep -P $pid -x unwind)
kill -9 $pid
wait $pid 2>/dev/null
before=$(tail -n 1 forever.out)
sleep 1.5
check "after a kill -9 the program runs on" kill -0 "$target"
check "and does its work" [ "$(tail -n 1 forever.out)" -gt "$before" ]
kill "$target" 2>/dev/null
check "then nothing of recorder is left" gone 80 agents $$

# An agent that outlives recorder must not hold the pipe it wrote to.
check "a pipe ends with recorder" equal "$(timeout 10 sh -c '"$0" -q -o piped.data -- true | cat; echo end' "$RECORDER")" end
RECORDER_TEST=$$.2 record quiet.data -- true
check "after a recording the agent leaves at once" gone 20 agents "$$.2"
