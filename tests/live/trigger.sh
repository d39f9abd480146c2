# trigger.sh - -T: what uftrace records with the same triggers; switching is of one process; finish ends the recording.
# beside others
. "$LIVE/lib.sh"
program chain.pg || exit 0
program switches || exit 0

# uftrace's calls without those that only a -pg build makes, and without ends: it does not see those while switched off.
entered() { replay "$1" | grep -E '(\{|\);)$' | grep -vE '^ *(__monstartup|__cxa_atexit)\(\);' | sed 's/^ *//; s/(.*//'; }
tree() { replay "$1" 2> /dev/null | grep -v '^ *#' | grep -vE '^((__monstartup|__cxa_atexit)\(\);|WARN: cannot open record data)'; }
as_uftrace() {
	rm -rf pg.data
	uf record --no-event -d pg.data "${@:2}" "$PROGRAMS/chain.pg" > /dev/null
	record chain.data --no-syscalls "${@:2}" -- "$PROGRAMS/chain" > /dev/null
	[ -n "$(entered pg.data)" ] && diff <($1 pg.data) <($1 chain.data)
}
while read -r -a options; do
	check "as uftrace record ${options[*]}" as_uftrace tree "${options[@]}"
done << 'END'
-T middle@depth=1
-T middle@filter,depth=2
-T inner@filter;deepest@notrace
-D 3 -T again@depth=5
-F side -T inner@trace_off
-T inner@traceoff,traceon
END
while read -r -a options; do
	check "the same calls as uftrace record ${options[*]}" as_uftrace entered "${options[@]}"
done << 'END'
-T inner@trace_off
-T deepest@trace_off -T inner@trace_on
-T side@trace_off;inner@trace_on
-N side -T inner@trace_off
--disable -T inner@trace_on
-T side@finish
-F middle -T deepest@finish
END

# What was open when recording was switched off ends where it returns.
record off.data --no-syscalls -T inner@trace_off -- "$PROGRAMS/chain" > /dev/null
check "no end is inferred" equal "$(grep -c 'ends inferred' off.data.err)" 0
check "... nor missing" equal "$(replay off.data | grep -c 'remaining functions')" 0

# Exact counts; only the process that calls it is switched, a new one begins as its parent.
triggers='off@trace_off;on@trace_on;stop@finish'
for without in "" uprobe-session uprobe-session,uprobe-multi; do
	how=${without:+ (without $without)}
	record switched.data --no-syscalls ${without:+--no-feature $without} -T "$triggers" -- "$PROGRAMS/switches" > switched.out
	while [ ! -s switched.out ]; do sleep 0.1; done		# it runs on when the recording is finished
	check "each process records as it was switched$how" truth switched.data switched.out
	check "... until the function that finishes$how" grep -q '^recorder: finished by stop()' switched.data.err
done
check "uftrace accepts it" uftrace_accepts switched.data
# Each time it changes something, it is marked where it was: in the child on() does, in the parent off(), on() and stop().
rm -rf both
"$RECORDER" --format uftrace,trace-dat,raw -o both --no-syscalls -T "$triggers" -- "$PROGRAMS/switches" > switched.out 2> both.err
while [ ! -s switched.out ]; do sleep 0.1; done
marks=$(printf '%s\n' 'trace_off by off()' 'trace_on by on()' 'trace_on by on()' 'finish by stop()')
check "marks, for uftrace" equal "$(sed 's/^[0-9.]* //' both/uftrace.data/extern.dat)" "$marks"
check "... which shows them" equal "$(uf replay --no-pager -d both/uftrace.data --event-full | grep -c 'external-data: [a-z_]* by ')" 4
check "... counted in the summary" grep -q ', 4 marks' both.err
if command -v trace-cmd > /dev/null; then
	check "... for trace-cmd" equal "$(trace-cmd report both/trace.dat 2> /dev/null | sed -n 's/.* mark: *//p')" "$marks"
	check "... by whom" equal "$(trace-cmd report both/trace.dat 2> /dev/null | awk '/ mark:/ { print $1 }' | sort -u | wc -l)" 2
else
	skip "marks for trace-cmd" "there is no trace-cmd"
fi
"$RECORDER" --replay both/recording.raw --format uftrace -o again.data 2> again.err
check "... replayed: the same" cmp both/uftrace.data/extern.dat again.data/extern.dat
record args.data --no-syscalls -A 'work@arg1' -T "$triggers" -- "$PROGRAMS/switches" > /dev/null
check "with arguments, too" equal "$(replay args.data | grep -c ' work([0-9]*) {')" 308

refused() {
	local said
	said=$("$RECORDER" -T "$1" true 2>&1 | head -n 1)
	equal "$said" "recorder: -T: $2"
}
check "what is not built is refused by name" refused main@read=proc/statm \
	"'read=proc/statm' is not built yet; perf record reads counters"
