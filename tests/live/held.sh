# held.sh - -t and -C: what uftrace records with the same options, with right times, and nothing else in the rings.
# limit: 200
# beside others
. "$LIVE/lib.sh"
need python3
program sleeps.pg || exit 0
least=50	# ms; what sleeps takes twice that

# uftrace's calls without those that only a -pg build makes.
calls() { replay "$@" 2> /dev/null | grep -v '^ *#' | grep -vE '^((__monstartup|__cxa_atexit)\(\);|WARN: cannot open record data)'; }
without=()
as_uftrace() {
	local program=$1; shift
	rm -rf pg.data
	uf record --no-event -d pg.data "$@" "$PROGRAMS/$program.pg" > /dev/null
	record it.data --no-syscalls "${without[@]}" "$@" -- "$PROGRAMS/$program" > /dev/null
	[ -n "$(calls it.data)" ] && diff <(calls pg.data) <(calls it.data)
}
while read -r -a options; do
	check "as uftrace record ${options[*]}" as_uftrace chain "${options[@]}"
done << 'END'
-C outer -C inner
-C deepest -D 3
-C side -F outer
-C inner -N middle
-C again
-C many -C nosuch
-C ^.*e.*$
-C atoi
-C side -H side
--match glob -C [io]*er -D 3
-t 1
END
while read -r -a options; do
	check "as uftrace record -t ${least}ms ${options[*]}" as_uftrace sleeps -t ${least}ms "${options[@]}"
done << 'END'
-D 9
-F twice -D 2
-C slow -D 4
END

# Where calls are left by other ways than returning: as uftrace replay -t shows the recording of all.
# The other ways to probe tell the same.
as_replayed() {
	local what=$1; shift
	local whole=$what$*.data
	[ -d "$whole" ] || record "$whole" --no-syscalls "$@" -- "$PROGRAMS/sleeps" $what > /dev/null
	record part.data --no-syscalls "${without[@]}" "$@" -t ${least}ms -- "$PROGRAMS/sleeps" $what > /dev/null
	[ -n "$(calls part.data)" ] && diff <(replay "$whole" -t ${least}ms | grep -v '^ *#') <(replay part.data | grep -v '^ *#')
}
check "calls left by longjmp(): as replayed" as_replayed leave
check "the same with --returns=never: as replayed" as_replayed leave --returns=never
check "calls open at the end: as replayed" as_replayed end
for feature in uprobe-session uprobe-session,uprobe-multi; do
	without=(--no-feature $feature)
	check "longjmp() (without $feature): as replayed" as_replayed leave
done

# Times: every call takes longer than what was asked for, and contains what it called.
nest() { uf dump --no-pager -d "$1" > "$1.dump"; python3 "$LIVE/nesting.py" "$1.dump" $least > "$1.nest" || { cat "$1.nest"; return 1; }; }
took() { awk -v f="$2" '$1 == f { n += $2 } END { print n + 0 }' "$1.nest"; }
record all.data -t ${least}ms -- "$PROGRAMS/sleeps" thread > all.out
check "every entry has its exit, in order of time, and each call took long enough" nest all.data
check "a sleep lasts as long as it sleeps" [ "$(took all.data doze)" -ge 300000 ]
check "who calls takes as long as what it calls" [ "$(took all.data twice)" -le "$(took all.data around)" ]
check "... also in a thread" [ "$(took all.data doze)" -le "$(took all.data slow)" ]
check "long system calls are there with their callers" equal "$(replay all.data | grep -m1 -A1 'nanosleep() {' | sed 's/(.*//' | xargs)" "nanosleep sys_clock_nanosleep"
check "... all of them, and no other" equal "$(calls_of all.data | sed -n 's/\(.*sys_[a-z_]*\).*/\1/p' | sort | paste -sd ' ')" \
	"1 sys_futex 3 sys_clock_nanosleep"
record sys.data -t ${least}ms --no-functions -- "$PROGRAMS/sleeps" > /dev/null
check "without functions: the long system calls" equal "$(calls_of sys.data | xargs)" "2 sys_clock_nanosleep"

# What is filtered out reaches no ring.
field() { sed -n "s/^recorder: $2/\1/p" "$1.err"; }
record raw.data --no-syscalls --format raw,uftrace -t ${least}ms -- "$PROGRAMS/sleeps" > /dev/null
record whole.data --no-syscalls -- "$PROGRAMS/sleeps" > /dev/null
python3 "$LIVE/rawcount.py" raw.data/recording.raw > raw.count
told=$(field raw.data "wrote '.*': \([0-9]*\) function calls.*")
check "the rings had an entry and an exit of each call that is shown" equal "$(awk '$1 == "stored" { print $4 }' raw.count)" $((2 * told))
check "... the rest is counted" equal $((told + $(field raw.data 'filtered out in the kernel: \([0-9]*\) function.*'))) \
	"$(field whole.data "wrote '.*': \([0-9]*\) function calls.*")"
"$RECORDER" -q -o again.data --replay raw.data/recording.raw
check "--replay makes the same of the raw file" diff <(uf replay --no-pager -d raw.data) <(uf replay --no-pager -d again.data)

# Calls that are open when the recording or their task ends.
begin_stay() {
	rm -f pid stay.out
	"$RECORDER" -o stay.data -t ${least}ms "$@" -- sh -c 'echo $$ > pid; exec "$0" stay' "$PROGRAMS/sleeps" > stay.out 2> stay.err &
	recorder=$!
	for i in {1..100}; do grep -q 'calls stays 1' stay.out && break; sleep 0.1; done
	sleep 0.2
}
is_open() { replay stay.data > stay.replay; for f; do grep -qE "^ *$f\(.*(\{|;)" stay.replay || { echo "no $f"; cat stay.replay; return 1; }; done; }
begin_stay --duration 2s
wait $recorder
check "calls that are open when the recording ends are told" is_open main stays pause sys_pause
check "... not those that had ended" equal "$(grep -c quick stay.replay)" 0
kill -9 "$(cat pid)"
begin_stay
kill -9 "$(cat pid)"
wait $recorder
check "calls that are open when their task is killed are told" is_open main stays pause

# A thread that is not the leader execs, and becomes it.
program threadexec && {
	record threadexec.data -t ${least}ms --no-syscalls -- "$PROGRAMS/threadexec"
	check "calls that are open when a thread execs are told" equal "$(replay threadexec.data | grep -oE '^ *(run|outer|spins)\(' | xargs)" "run( outer( spins("
	record threadexec.data -C spins --no-syscalls -- "$PROGRAMS/threadexec"
	check "... and the way to one" equal "$(replay threadexec.data | grep -oE '^ *(run|outer|spins)\(' | xargs)" "run( outer( spins("
}

# More calls than can be held.
record deep.data --no-syscalls -t ${least}ms -- "$PROGRAMS/sleeps" deep 500 > /dev/null
check "500 calls below each other are told" equal "$(report_calls deep.data down)" 500
record deep.data --no-syscalls -t ${least}ms -- "$PROGRAMS/sleeps" deep 1500 > /dev/null
check "calls in more than 1024 are counted" grep -qE '^recorder: warning: -t and -C: 4[0-9]{2} calls in more than 1024' deep.data.err
check "... the others are told" equal "$(report_calls deep.data down)" 1023

# A program that does much is as without.
record work.data -t 1ms -C '.*' -- "$PROGRAMS/throw" > throw.got
check "exceptions: the program's output is its own" diff <("$PROGRAMS/throw") throw.got
check "... uftrace accepts the recording" uftrace_accepts work.data
