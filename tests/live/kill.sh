# kill.sh - recorder killed at any moment: the program runs on unharmed, and the directory opens up to the last second.
# limit: 400
. "$LIVE/lib.sh"
program steady kill || exit 0

rounds=${FULL:+100}
rounds=${rounds:-8}
seconds=3
RANDOM=${SEED:-$$}

# The clock of uftrace's times is CLOCK_MONOTONIC, which /proc/uptime shows unless the machine has slept.
now() { read -r up _ < /proc/uptime; echo "$up"; }

# The last time stamp of any task, s.
last_seen() { uf dump --no-pager -d "$1" 2>/dev/null | awk '$1 ~ /^[0-9]+\.[0-9]+$/ && $1 > last { last = $1 } END { print last }'; }

probes() { bpftool prog 2>/dev/null | grep -cE ' name (function_session|function_entry|sys_enter|exec_gate|unwind_begin) '; }
probes_before=$(probes)

unharmed='' opens='' late='' opened=0
for ((i = 1; i <= rounds; i++)); do
	rm -rf out status kill.data kill.data.old
	"$RECORDER" -o kill.data -- sh -c '"$PROGRAMS/steady" '$seconds' > out 2>&1; echo $? > status.new; mv status.new status' \
		> /dev/null 2> kill.err &
	pid=$!
	delay=$((RANDOM % 3000))
	sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
	[ -e status ] && ended=yes || ended=
	at=$(now)
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	# Killed before the program was started there is nothing to wait for.
	for ((w = 0; w < 100; w++)); do
		[ -e status ] && break
		[ -e out ] || [ $w -lt 30 ] || break
		sleep 0.1
	done
	[ -e out ] || continue
	[ "$(cat out status 2>/dev/null | tr '\n' ' ')" = "done 0 " ] ||
		unharmed="killed after $delay ms: the program said '$(tr '\n' ' ' < out)', status $(cat status 2>/dev/null || echo none)"
	if [ -e kill.data/info ]; then
		if uf replay --no-pager -d kill.data > replay.txt && uf report --no-pager -d kill.data > report.txt; then
			opened=$((opened + 1))
		else
			opens="killed after $delay ms: $(tail -n 2 replay.txt report.txt | tr '\n' ' ')"
		fi
		last=$(last_seen kill.data)
		# Only when it was killed in the middle of the work, and not just after it began.
		if [ $delay -gt 1500 ] && [ -z "$ended" ] && [ -n "$last" ]; then
			awk -v a="$at" -v b="$last" 'BEGIN { exit !(a - b > 1.6) }' && late="killed after $delay ms: the last event is $(awk -v a="$at" -v b="$last" 'BEGIN { print a - b }') s older"
		fi
	elif [ $delay -gt 1500 ]; then
		opens="killed after $delay ms: there is no info file"
	fi
	[ -z "$unharmed$opens$late" ] || break
done
check "the program runs on unharmed ($rounds kills)" equal "$unharmed" ""
check "what is there opens" equal "$opens" ""
check "up to the last second" equal "$late" ""
check "some of them had something to open" [ $opened -gt 0 ]
# The programs in the kernel go once the last task that has a return probe open has ended.
for ((w = 0; w < 200; w++)); do
	probes_now=$(probes)
	[ "$probes_now" -le "$probes_before" ] && break
	sleep 0.1
done
check "no probe is left" [ "$probes_now" -le "$probes_before" ]
