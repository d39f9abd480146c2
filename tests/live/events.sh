# events.sh - events of the kernel's own tracepoints: the scheduler's, signals, page faults, and others by name.
. "$LIVE/lib.sh"
need trace-cmd uftrace
program happens || exit 0

dat() {
	local file=$1; shift
	rm -rf "$file" "$file.old" "$file.part"
	"$RECORDER" --format trace-dat -o "$file" "$@" 2> "$file.err"
}
report() { trace-cmd report -N "${@:2}" -i "$1" 2>> complaints; }
told() { awk -v what="$1" '$1 == what { print $'"${2-2}"' }' all.out; }

dat all.dat --no-functions -e sched,signal,fault,task:task_newtask -- "$PROGRAMS/happens" > all.out
check "it ends as it does" equal $? 0
report all.dat > all.report
check "nothing is lost" grep -q 'lost: nothing' all.dat.err
pid=$(sed -n 's/.*sched_process_exec: *filename=.* pid=\([0-9]*\) .*/\1/p' all.report)
own=" happens-$pid "

# between N: the events between the Nth pair of getrusage() calls of the program, two calls each.
between() { awk -v own="$own" -v n="$1" '
	index($0, own) && / sys_enter_getrusage:/ { if (++enter == 2 * n) exit }
	enter == 2 * n - 1 && done { print }
	index($0, own) && / sys_exit_getrusage:/ { if (++exits == 2 * n - 1) done = 1 }' all.report; }

between 1 > first; between 2 > second
check "a page fault for each page" equal "$(grep "$own" first | grep -c ' page_fault_user:')" "$(told faults)"
check "a switch for each time the task waited" \
	equal "$(grep -cE " sched_switch: .*prev_pid=$pid .*prev_state=[SD] " second)" "$(told switches)"
check "a switch for each time it was pushed aside" \
	equal "$(grep -cE " sched_switch: .*prev_pid=$pid .*prev_state=R\+? " second)" "$(told switches 3)"
check "each time it left its CPU it was given one before" awk -v pid="$pid" '
	/ sched_switch: / { if ($0 ~ "prev_pid=" pid " ") { if (away) bad = 1; away = 1; outs++ }
		if ($0 ~ "next_pid=" pid " ") { away = 0 } } END { exit bad || !outs }' all.report
check "who waited was woken" awk -v pid="$pid" '
	/ sched_wakeup: / && $0 ~ " pid=" pid " " { woken++ } / sched_switch: / && $0 ~ "prev_pid=" pid " .*prev_state=S " { slept++ }
	END { if (woken < slept || !slept) { print woken " " slept; exit 1 } }' all.report
check "the last switch is that of a task which has ended" grep -qE "sched_switch: .*prev_pid=$pid .*prev_state=[XZ]" all.report
check "each signal sent" equal "$(grep "$own" all.report | grep -c ' signal_generate: *sig=10 ')" "$(told signals)"
check "each signal got" equal "$(grep "$own" all.report | grep -c ' signal_deliver: *sig=10 ')" "$(told signals)"
check "an event by name, as often as it was" equal "$(grep -c " task_newtask: " all.report)" "$(told tasks)"
check "its fields as the kernel prints them" grep -qE "task_newtask: *pid=[0-9]+ comm=happens clone_flags=[0-9a-fx]+ oom_score_adj=-?[0-9]+" all.report

# --- choosing ---
dat usual.dat --no-functions -- "$PROGRAMS/happens" > /dev/null
report usual.dat > usual.report
check "a trace.dat has the scheduler's and signals by itself" \
	equal "$(grep -oE ' (sched_switch|signal_deliver|page_fault_user):' usual.report | sort -u | tr -d ' \n')" "sched_switch:signal_deliver:"
dat none.dat --no-functions --no-events -- "$PROGRAMS/happens" > /dev/null
check "--no-events: none" equal "$(report none.dat | grep -cE ' (sched_switch|sched_wakeup|signal_[a-z]*):')" 0
dat one.dat --no-functions --event=signal:signal_gen* -- "$PROGRAMS/happens" > /dev/null
check "SUBSYS:EVENT, with a glob: only these" \
	equal "$(report one.dat | grep -oE ' (sched_switch|signal_deliver|signal_generate):' | sort -u)" " signal_generate:"
dat glob.dat --no-functions -e 'timer:hrtimer_*,raw_syscalls:sys_enter' -- true
check "system calls are not asked for as events" grep -q "'raw_syscalls:sys_enter': system calls are recorded by" glob.dat.err
# What waits for a time sets a timer itself; of others, whose ticks come or do not, nothing can be said.
dat glob.dat --no-functions -e 'timer:*' -- sleep 0.01
check "many by a glob" [ "$(report glob.dat | grep -oE ' (hr)?timer_[a-z_]+:' | sort -u | wc -l)" -ge 2 ]
if grep -q '^0*[1-9a-f].* hrtimer_wakeup$' /proc/kallsyms; then
	dat named.dat -g --no-functions --no-syscalls -e timer:hrtimer_start -- sleep 0.01
	check "functions of the kernel by their names, with stacks too" grep -q ' hrtimer_start: .*function=hrtimer_wakeup' <(report named.dat)
else
	skip "functions of the kernel by their names" "this kernel does not tell them"
fi
if (exec 3<> /dev/udp/127.0.0.1/9) 2> /dev/null; then
	dat text.dat --no-functions -e net:net_dev_queue -- bash -c 'echo hello > /dev/udp/127.0.0.1/9' 2> text.said
	check "a text of varying length" grep -q 'net_dev_queue: *dev=lo skbaddr=' <(report text.dat)
else
	skip "a text of varying length" "there is no loopback interface"
fi
refused() {
	local said=$1 status; shift
	dat no.dat "$@" -- true
	status=$?
	equal $status 2 && head -n 1 no.dat.err | grep -qF "$said" || { cat no.dat.err; return 1; }
}
if program tpcount && (exec 3<> /dev/udp/127.0.0.1/9) 2> /dev/null && id=$(cat /sys/kernel/tracing/events/net/net_dev_queue/id /sys/kernel/debug/tracing/events/net/net_dev_queue/id 2> /dev/null | head -n 1) &&
	[ -n "$id" ]; then
	alone=$("$PROGRAMS/tpcount" "$id")
	mkfifo go
	"$RECORDER" -q --no-functions --format trace-dat -o other.dat -e net:net_dev_queue -- sh -c 'read line < go' &
	sleep 1
	beside=$("$PROGRAMS/tpcount" "$id")
	echo > go
	wait $!
	check "another's counter of the event goes on counting" equal "$beside" "$alone"
	check "... of events there are" [ "$alone" -ge 20 ]
else
	skip "another's counter of the event" "there is no loopback interface, or tracefs has no net:net_dev_queue"
fi
check "an event there is not" refused "no event 'sched:sched_swtich'; the nearest is 'sched_switch'" -e sched:sched_swtich
check "a system of events there is not" refused "no event 'nosuch:thing'" -e nosuch:thing
check "half a name" refused "no event 'sched:'" -e sched:
check "what is recorded anyway" refused "it is always recorded" -e sched:sched_process_exec

# --- loss ---
dat sent.dat --no-functions --no-syscalls -e signal:signal_generate -- "$PROGRAMS/happens" > /dev/null
dat lossy.dat --no-functions --no-syscalls -e signal:signal_generate --simulate-drops 3 -- "$PROGRAMS/happens" > /dev/null
produced=$(report sent.dat | grep -c ' signal_generate:')
stored=$(report lossy.dat | grep -c ' signal_generate:')
lost=$(sed -n 's/.* \([0-9]*\) event records;.*/\1/p' lossy.dat.err)
check "stored and lost are what was produced" equal $((stored + lost)) "$produced"
check "some of it was lost" [ "$lost" -gt 0 ]
check "the file says how much" equal "$(report lossy.dat | sed -n 's/.* lost: .* \([0-9]*\) event, .*/\1/p' | awk '{ n += $1 } END { print n }')" "$lost"

# The last switch of a task comes after its exit; also where a child's state is not in its storage.
for how in "" "--no-feature storage-at-forks"; do
	dat last.dat $how --no-functions --no-syscalls -e sched -- "$PROGRAMS/forks" 2 > /dev/null
	check "each task's last switch${how:+, $how}" equal "$(report last.dat | grep -cE ' prev_state=[XZ] ==> ')" 7
done

# --- the same, in uftrace.data ---
record both --format uftrace,trace-dat --no-functions -e sched -- "$PROGRAMS/happens" > both.out
check "uftrace opens it without a complaint" uftrace_accepts both/uftrace.data
check "who left its CPU came back" equal "$(uf dump --no-pager -d both/uftrace.data | grep -c linux:sched-out)" \
	"$(uf dump --no-pager -d both/uftrace.data | grep -c linux:sched-in)"
report both/trace.dat > both.report
pid=$(sed -n 's/.*sched_process_exec: *filename=.* pid=\([0-9]*\) .*/\1/p' both.report)
check "as often in both" equal "$(uf dump --no-pager -d both/uftrace.data | grep -c " $pid: .*linux:sched-out")" \
	"$(awk -v own="happens-$pid" '/ sched_switch: / && $0 ~ "prev_pid='"$pid"' " { n++ } index($0, own) && / sched_process_exit: / { print n; exit }' both.report)"

# Several times: where a task of the machine's own supervisor gives its CPU away, as on some virtual machines, no BPF
# program is called, so a single coming back may be missing (bpftrace counts none of them either).
record slept --no-functions -e sched -- sh -c 'for i in 1 2 3 4 5; do sleep 0.05; done'
check "uftrace replay shows when a task slept" grep -q 'linux:schedule' <(replay slept)
check "uftrace report knows for how long" [ "$(uf report --no-pager -d slept | awk '$6 == "linux:schedule" { print $2 == "ms" ? int($1) : 0 }')" -ge 50 ]

# --- from a raw recording ---
record raw --format raw,trace-dat --no-functions -e sched,signal,task:task_newtask -- "$PROGRAMS/happens" > /dev/null
"$RECORDER" --replay raw/recording.raw --format trace-dat -o again.dat 2> again.err
check "a raw recording replayed tells the same" cmp <(report raw/trace.dat) <(report again.dat)

check "trace-cmd never complained" equal "$(sort complaints | uniq | head -n 3)" ""
