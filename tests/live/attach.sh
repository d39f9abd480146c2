# attach.sh - processes that run already: recorded from the moment recorder says so, and left as they were found.
# limit: 240
. "$LIVE/lib.sh"
. "$LIVE/attached.sh"
need mkfifo bpftool python3
program serves attach || exit 0

threads_of() { ls "/proc/$1/task" | wc -l; }
links() { bpftool link 2>/dev/null | grep -c 'prog'; }

# ---- what is recorded ----

# counts OPTION...: threads that were there, that come, and children that come, with every call of theirs.
counts() {
	serve "$PROGRAMS/serves"
	attach counts.data -p "$served" "$@"
	tell begin "all 100" "thread 50" "fork 20"
	# The child that was there before is not asked for: its calls are in the counts, but not in the recording.
	done_all
	detach || { cat counts.data.err; return 1; }
	served_status
	equal $? 7 || return
	uftrace_accepts counts.data || return
	equal "$(report_calls counts.data step)" 270 || return
	equal "$(report_calls counts.data work)" 4 || return
	equal "$(awk '/^calls step/ { print $3 }' served.out)" 370
}
check "threads present and future, children future: every call, and the status is the program's own" counts
check "so without sessions" counts --no-feature uprobe-session
check "so without multi links" counts --no-feature uprobe-session,uprobe-multi
check "so with perf events" counts --no-feature uprobe-session,uprobe-multi,uprobe-tracefs

tree() {
	serve "$PROGRAMS/serves"
	attach tree.data --tree "$served"
	tell begin "all 100"
	done_all
	detach || { cat tree.data.err; return 1; }
	served_status
	grep -q 'recording 2 processes' tree.data.err || { cat tree.data.err; return 1; }
	truth tree.data served.out
}
check "with --tree the children that are there, too" tree

alone() {
	serve "$PROGRAMS/serves"
	local second
	second=$(ls "/proc/$served/task" | grep -v "^$served\$")
	attach alone.data --tid "$second"
	tell begin "all 100" "thread 50"
	done_all
	detach || { cat alone.data.err; return 1; }
	served_status
	uftrace_accepts alone.data || return
	equal "$(report_calls alone.data step)" 100
}
check "with --tid one thread only" alone

# What is mapped of an overlayfs are files of its layers, on a mount that nobody sees.
mkdir lower upper work merged; cp "$PROGRAMS/serves" lower
layered() {
	serve "$PWD/merged/serves"
	attach layered.data -p "$served" --auto-args
	tell begin "all 100"
	done_all
	detach || { cat layered.data.err; return 1; }
	served_status
	grep -q " $PWD/merged/serves build-id:" layered.data/sid-*.map || { cat layered.data/sid-*.map; return 1; }
	replay layered.data > layered.out
	grep -q 'step([0-9][0-9]*)' layered.out || { head layered.out; return 1; }
}
if mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work over merged 2> mount.err; then
	check "a program on an overlayfs: under its own name, with its arguments" layered
	umount merged
else
	skip "a program on an overlayfs" "$(tail -n 1 mount.err)"
fi

started_twice() { [ "$(grep -c ready served.out)" = 2 ]; }
execs() {
	serve "$PROGRAMS/serves"
	attach execs.data -p "$served"
	tell exec
	wait_for started_twice
	tell begin "all 30"
	done_all
	detach || { cat execs.data.err; return 1; }
	served_status
	uftrace_accepts execs.data || return
	# The child it starts after the exec is a future one.
	equal "$(report_calls execs.data step)" 90
}
check "what it execs is seen from its start" execs

maps() {
	serve "$PROGRAMS/serves"
	attach maps.data -p "$served"
	tell begin "all 3"
	done_all
	detach || { cat maps.data.err; return 1; }
	served_status
	cat maps.data/sid-*.map > maps.txt
	grep -q 'serves' maps.txt && grep -q 'libc\.so\.6' maps.txt && grep -q 'ld-linux' maps.txt || { cat maps.txt; return 1; }
	uf dump --no-pager -d maps.data > dump.txt
	replay maps.data | grep -q 'work() {' || { replay maps.data | head; return 1; }
	uf info -d maps.data | grep -q "exe image.*: $PROGRAMS/serves" || { uf info -d maps.data; return 1; }
}
check "the files it had mapped before are in the recording, and its name" maps

library() {
	serve "$PROGRAMS/serves"
	attach library.data -p "$served" --functions='fgets@libc.so.6' --no-syscalls
	tell begin "all 3"
	done_all
	detach || { cat library.data.err; return 1; }
	served_status
	equal $? 7 || return
	uftrace_accepts library.data || return
	# One call for each of the three orders: it waits for the first in a call that was open already.
	equal "$(report_calls library.data fgets)" 3
}
check "functions of a library that it has mapped" library

several() {
	local first
	serve "$PROGRAMS/serves"
	sleep 100 8>&- &
	first=$!
	attach several.data -p "$first,$served"
	tell begin "all 10"
	done_all
	kill $first
	wait $first 2>/dev/null
	kill -0 $recorder || { echo "recorder ended with the first"; cat several.data.err; return 1; }
	served_status
	wait $recorder
	equal $? 0 || { cat several.data.err; return 1; }
	grep -q 'recording 2 processes' several.data.err || { cat several.data.err; return 1; }
	uftrace_accepts several.data || return
	equal "$(report_calls several.data step)" 20
}
check "several: it ends by itself when the last has ended, with 0" several

# A process whose first thread has ended has no program in /proc, nor a memory: its other threads have.
has_left() { grep -q '^State:.*Z' "/proc/$served/status"; }
leaderless() {
	serve "$PROGRAMS/serves"
	tell leave
	wait_for has_left
	attach leaderless.data -p "$served"
	tell begin "all 100" "thread 50"
	done_all
	detach || { cat leaderless.data.err; return 1; }
	served_status
	equal $? 7 || return
	uftrace_accepts leaderless.data || return
	equal "$(report_calls leaderless.data step)" 250 || return
	grep -q "$PROGRAMS/serves" leaderless.data/sid-*.map
}
check "a process whose first thread has ended" leaderless

# Stopped: nothing of it waits for us nor we for it; what it does once it goes on is there.
stopped() {
	serve "$PROGRAMS/serves"
	kill -STOP "$served"
	attach stopped.data -p "$served"
	tell begin "all 10"
	kill -CONT "$served"
	done_all
	kill -STOP "$served"
	detach || { cat stopped.data.err; return 1; }
	text_is_whole "$served" || return
	kill -CONT "$served"
	served_status
	equal $? 7 || return
	uftrace_accepts stopped.data && equal "$(report_calls stopped.data step)" 20
}
check "a stopped process" stopped

# Two recordings of one process, the first of which is killed: the second goes on, each has every call of its time.
two() {
	local first
	serve "$PROGRAMS/serves"
	attach one.data -p "$served,$served"
	first=$recorder
	attach two.data -p "$served"
	tell begin "all 10"
	done_all
	kill -INT $first; wait $first || { cat one.data.err; return 1; }
	: > served.out
	tell "all 10"
	done_all
	detach || { cat two.data.err; return 1; }
	text_is_whole "$served" || return
	served_status
	equal $? 7 || return
	uftrace_accepts one.data && uftrace_accepts two.data || return
	equal "$(report_calls one.data step) $(report_calls two.data step)" "20 40"
}
check "two recordings at once, one naming it twice" two

many() {
	local pids=()
	for ((i = 0; i < 600; i++)); do
		sleep 100 8>&- & pids+=($!)
	done
	ulimit -n 1024
	attach many.data --no-functions -p "${pids[*]}"
	detach
	grep -q 'recording 600 processes' many.data.err || { cat many.data.err; kill "${pids[@]}"; return 1; }
	kill "${pids[@]}"; wait "${pids[@]}" 2>/dev/null
	equal "$(record limit.data --no-functions -p $$ -- sh -c 'ulimit -n; ulimit -Hn' | tr '\n' ' ')" "1024 1024 "
}
check "600 of them under ulimit -n 1024, which the command keeps" many

blanks() {
	sleep 100 & local a=$!
	sleep 100 & local b=$!
	attach blanks.data -p "$a $b" --no-functions
	detach TERM
	local status=$?
	kill $a $b; wait $a $b 2>/dev/null
	grep -q 'recording 2 processes' blanks.data.err || { cat blanks.data.err; return 1; }
	# Neither did anything, so there is nothing to write, and that is said.
	equal $status 1 && grep -q 'nothing was recorded' blanks.data.err
}
check "numbers as pidof prints them; where nothing happens, it says so: 1" blanks

with_command() {
	serve "$PROGRAMS/serves"
	record command.data -p "$served" -- sh -c 'printf "begin\nall 5\ncount\n" >&8
		until grep -q "^calls work" served.out; do sleep 0.01; done; exit 9'
	equal $? 9 || return
	kill -0 "$served" || return
	served_status
	uftrace_accepts command.data || return
	equal "$(report_calls command.data step)" 10 || return
	! grep -q sh < <(awk '/exename/' command.data/task.txt) || { cat command.data/task.txt; return 1; }
}
check "-p PID -- COMMAND: while the command runs, which is not recorded; its status is passed on" with_command

for_a_time() {
	serve "$PROGRAMS/serves"
	record time.data -p "$served" --duration 300ms
	equal $? 1 || return			# nothing happened
	# Who holds the pipe open (8) keeps what is served from its end.
	record time.data --duration 200ms -- sh -c 'echo $$ > time.pid; exec sleep 100' 8>&-
	equal $? 0 || { cat time.data.err; return 1; }
	kill "$(cat time.pid)" || { echo "it does not run on"; return 1; }
	served_status
	equal $? 7 && uftrace_accepts time.data
}
check "--duration ends it, and who is recorded runs on" for_a_time

# ---- unharmed ----

left_alone() {
	local before threads fds
	before=$(links)
	serve "$PROGRAMS/serves"
	threads=$(threads_of "$served")
	fds=$(ls "/proc/$served/fd" | wc -l)
	for i in 1 2 3; do
		attach left.data -p "$served" "$@"
		tell begin "all 10"
		done_all
		! text_is_whole "$served" 2>/dev/null || { echo "no probe is in the text: this test sees nothing"; return 1; }
		detach || { cat left.data.err; return 1; }
		: > served.out
		text_is_whole "$served" || return
	done
	equal "$(threads_of "$served")" "$threads" || return
	equal "$(ls "/proc/$served/fd" | wc -l)" "$fds" || return
	tell "all 10"
	served_status
	equal $? 7 || return
	# The agent leaves when no task has a return probe open.
	for ((w = 0; w < 100; w++)); do
		[ "$(links)" -le "$before" ] && return
		sleep 0.1
	done
	echo "links: $(links), before: $before"
	return 1
}
check "after detaching its text is what its file is; no thread, no descriptor, no link is left" left_alone
check "so without sessions" left_alone --no-feature uprobe-session

# What throws, looks at its stack and ends threads does so while it is attached to and let go, again and again. Where the kernel has
# no sessions its returns are probed from the first probe on.
thrower() {
	local least=$1 rounds=0 status; shift
	"$PROGRAMS/steady" $((6 * ${SLOW:-1})) > steady.out 2>&1 &
	local steady=$!
	while kill -0 $steady 2>/dev/null && [ $rounds -lt 40 ]; do
		"$RECORDER" -q -o thrower.data -p $steady --duration 60ms "$@" 2> thrower.err || break
		rounds=$((rounds + 1))
	done
	wait $steady
	status=$?
	equal $status 0 || { cat steady.out thrower.err; return 1; }
	equal "$(cat steady.out)" "done" || return
	[ $rounds -ge $least ] || { echo "attached $rounds times only"; cat thrower.err; return 1; }
}
program steady thrower && check "a program that throws all the time is attached to again and again" thrower 5
program steady thrower && check "so without sessions" thrower 5 --no-feature uprobe-session
program steady thrower && check "... and without multi links" thrower 2 --no-feature uprobe-multi

killed() {
	serve "$PROGRAMS/serves"
	attach killed.data -p "$served"
	tell begin "all 10"
	done_all
	kill -9 $recorder; wait $recorder 2>/dev/null
	tell "all 10" "thread 10" "fork 10"
	served_status
	equal $? 7
}
check "recorder killed: the program runs on" killed

ends() {
	serve "$PROGRAMS/serves"
	attach ends.data -p "$served"
	tell begin "all 10"
	done_all
	detach "$1"
	equal $? 0 || { cat ends.data.err; return 1; }
	kill -0 "$served" || return
	served_status
	equal $? 7 || return
	uftrace_accepts ends.data && equal "$(report_calls ends.data step)" 20
}
check "SIGTERM ends it as Ctrl-C does: 0, and the files are whole" ends TERM
check "so does SIGHUP" ends HUP
