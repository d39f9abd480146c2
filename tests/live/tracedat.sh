# tracedat.sh - trace.dat, as trace-cmd and KernelShark's library read it.
# limit: 240
. "$LIVE/lib.sh"
need trace-cmd python3

# dat FILE [OPTION...] -- COMMAND...: a recording in FILE; what went to stderr is in FILE.err.
dat() {
	local file=$1; shift
	rm -rf "$file" "$file.old" "$file.part"
	"$RECORDER" --format trace-dat -o "$file" "$@" 2> "$file.err"
}
report() { trace-cmd report "${@:2}" -i "$1" 2>> complaints; }
count() { report "$1" -F "$2" | grep -c "$2"; }

# --- what happened is there, as often as it did ---
program syscalls && {
	dat sys.dat --no-functions -- "$PROGRAMS/syscalls" > sys.out
	check "it ends as it does" equal $? 0
	report sys.dat > sys.report
	same_syscalls() {
		while read -r what name n; do
			[ "$what" = syscalls ] || continue
			equal "$name $(grep -c " sys_enter_$name: " sys.report)" "$name $n" || return
		done < sys.out
		grep -q '^syscalls' sys.out
	}
	check "each system call as often as the program made it" same_syscalls
	check "nothing is told that trace-cmd does not understand" equal "$(grep -cE 'UNKNOWN|FAILED' sys.report)" 0
	check "the summary's count is that of its events" equal "$(grep -c ' sys_enter_' sys.report)" \
		"$(sed -n 's/.* function calls, \([0-9]*\) syscalls.*/\1/p' sys.dat.err)"
}
program threads && {
	dat threads.dat --no-syscalls -- "$PROGRAMS/threads" > threads.out
	report threads.dat -t > threads.report
	same_calls() {
		while read -r what name n; do
			[ "$what" = calls ] || continue
			equal "$name $(grep -cE "func_entry: +$name\(" threads.report)" "$name $n" || return
		done < threads.out
		grep -q '^calls ' threads.out
	}
	check "each function as often as the program called it" same_calls
	check "every entry has its exit, and they nest" python3 "$LIVE/tracedat.py" < threads.report
}
program nested && {
	dat args.dat --no-syscalls -A 'fib@arg1/i32' -R 'fib@retval/i32' -- "$PROGRAMS/nested" > /dev/null
	report args.dat > args.report
	check "arguments and results are shown" grep -qE 'func_exit: +} /\* fib = [0-9]+ \*/' args.report
	check "..., and where in its file the function is" grep -qE "func_entry: +fib\([0-9]+\) \{ \[nested\+0x0*$(nm "$PROGRAMS/nested" | sed -n 's/^0*\([0-9a-f]*\) . fib$/\1/p')\]" args.report
}

program probes && {
	dat usdt.dat --no-syscalls --no-functions --usdt='*' -- "$PROGRAMS/probes" > usdt.out
	record usdt.data --no-syscalls --no-functions --usdt='*' -- "$PROGRAMS/probes" > usdt.out
	check "USDT probes, as many as for uftrace" equal "$(report usdt.dat | sed -n 's/.* usdt: *\([^(]*\)(.*/\1/p' | sort | uniq -c | awk '{ print $1, $2 }')" \
		"$(calls_of usdt.data | sort -k 2)"
}

# --- texts ---
echo content > 'a file'
dat text.dat --no-functions -- sh -c 'cat "a file" no-such-file; exec true' > /dev/null 2>&1
report text.dat > text.report
line() { grep -E "$1" text.report | head -n 1 | grep -qE "$2" || { echo "no '$2' in: $(grep -E "$1" text.report | head -n 3)"; return 1; }; }
check "a file's name, flags by name" line 'openat.*"a file"' \
	'sys_enter_openat: +dfd: -100 AT_FDCWD, filename: 0x[0-9a-f]+ "a file", flags: O_RDONLY'
check "an error by name" line 'sys_exit_openat: +-2' 'sys_exit_openat: +-2 ENOENT'
check "what was read" line 'sys_exit_read.*content' 'sys_exit_read: +8 buf: "content\\n"'
check "what was written" line 'sys_enter_write.*content' 'sys_enter_write: +fd: 1, buf: 0x[0-9a-f]+ "content\\n", count: 8'
check "a fork, its child by its number" line 'sched_process_fork' 'comm=sh pid=[0-9]+ child_comm=sh child_pid=[0-9]+'
(echo 500 > /proc/self/oom_score_adj; dat name.dat --no-functions -- bash -c 'printf renamed > /proc/$$/comm')
check "a task's old and new name, as the kernel tells it" equal "$(report name.dat | sed -n 's/.* task_rename: *pid=[0-9]* //p' | tail -n 1)" \
	"oldcomm=bash newcomm=renamed oom_score_adj=500"
check "an exec, with its file" line 'sched_process_exec.*cat' 'sched_process_exec: +filename=/.*cat pid=[0-9]+ old_pid=[0-9]+'
printf '#!/bin/sh\nexec ./link\n' > script
chmod 755 script
ln -s /bin/true link
dat script.dat --no-functions -- ./script
check "... as it was asked for: a script, a link" equal "$(report script.dat | sed -n 's/.* sched_process_exec: *filename=\([^ ]*\) .*/\1/p' | tr '\n' ' ')" "./script ./link "
names_another='
import threading
go = threading.Event()
t = threading.Thread(target=go.wait)
t.start()
open("/proc/self/task/%d/comm" % t.native_id, "w").write("by-another")
go.set()'
dat others.dat --no-functions -- python3 -c "$names_another"
dat others2.dat --no-functions --no-feature steady-tracepoints -- python3 -c "$names_another"
dat blank.dat --no-functions -- bash -c 'printf " " > /proc/$$/comm; cat /dev/null; true'
check "a name of blanks does not take those of others" grep -qE '^ +cat-[0-9]+ ' <(report blank.dat)
by_another() { report "$1" | sed -nE 's/.*-([0-9]+) .* task_rename: *pid=([0-9]+) .*newcomm=by-another.*/\1 \2/p' | awk '{ print ($1 != $2) }'; }
check "a name that another thread gives: by that one" equal "$(by_another others.dat)" 1
check "... told by perf events" equal "$(by_another others2.dat)" 1
# Of what a ring of io_uring writes the perf event does not tell whom it names: then it is one that is lost, or it is told.
named_by_ring() {
	local told lost
	dat ring.dat --no-functions --no-syscalls --no-feature steady-tracepoints -- "$PROGRAMS/ringname"
	told=$(report ring.dat | grep -c 'task_rename: .*newcomm=by-ring')
	lost=$(sed -n 's/.* \([0-9]*\) task records;.*/\1/p' ring.dat.err)
	equal $((told + ${lost:-0})) 1
}
if ! program ringname "a name that a ring gives"; then
	:
elif "$PROGRAMS/ringname"; then
	check "a name that a ring gives is told or counted as lost" named_by_ring
else
	skip "a name that a ring gives" "io_uring cannot be had here"
fi
check "an exit" line 'sched_process_exit' 'comm=[a-z]+ pid=[0-9]+ prio=[0-9]+ group_dead=true'
check "tasks by their last names" equal "$(awk '/sched_process_exit/ { sub(/-[0-9]+$/, "", $1); print $1 }' text.report | sort | tr '\n' ' ')" "cat true "

# Of those that have ended nothing is kept in memory: their names and maps are in the spool, and in the file.
dat ended.dat --no-functions -- sh -c 'i=0; while [ $i -lt 35 ]; do cat /dev/null; sleep 0.08; i=$((i + 1)); done; exit 0'
check "tasks that ended long ago by their names" equal "$(report ended.dat | awk '/sched_process_exit/ { sub(/-[0-9]+$/, "", $1); print $1 }' | sort | uniq -c | tr -s ' \n' ' ')" \
	" 35 cat 1 sh 35 sleep "
check "... with what they had mapped" equal "$(trace-cmd dump --options -i ended.dat 2> /dev/null | grep -cE '^[0-9a-f]+ [0-9a-f]{1,2} /.*/(cat|sleep)$')" 70
check "the summary says how long the file is" equal "$(sed -n 's/.* wrote .*, \([0-9.]*\) MB$/\1/p' ended.dat.err)" "$(stat -c %s ended.dat | awk '{ printf "%.1f", $1 / 1e6 }')"

# Two paths of 3 000 bytes are more than an event holds: each has its part of it, and what is cut is marked.
long=$(printf 'd%.0s' $(seq 3000))
dat long.dat --no-functions -s 4000 -- python3 -c "import os
try: os.rename('$long', '$long')
except OSError: pass"
shortened() { report long.dat | grep -oE 'sys_enter_rename: .*' | grep -oE '"d{1000,}\.\.\."' | wc -l; }
check "texts that are too long are cut, and marked" equal "$(shortened)" 2

# --- every command of trace-cmd ---
all=$(grep -c ' \[0' text.report)
opens() { "$@" > opened 2>&1 || { echo "$*: status $?: $(tail -n 2 opened)"; return 1; }; }
check "there are events" [ "$all" -gt 50 ]
check "report -R" opens trace-cmd report -R -i text.dat
check "report of a CPU at a time is all of it" equal "$(for cpu in $(seq 0 $(($(nproc) - 1))); do report text.dat --cpu "$cpu"; done | grep -c ' \[0')" "$all"
check "report -F" equal "$(report text.dat -F 'sys_enter_openat: flags == 0' | grep -c .)" \
	"$(grep -cE 'sys_enter_openat.*flags: O_RDONLY,' text.report | awk '{ print $1 + 1 }')"
check "report --stat says how many" equal "$(report text.dat --stat | awk '/^read events:/ { n += $3 } /^entries:/ { left += $2 } END { print n, left }')" "$all 0"
check "report --ts-diff" equal "$(report text.dat --ts-diff | grep -c ' \[0')" "$all"
check "dump --all" opens trace-cmd dump --all -i text.dat
check "dump --validate" opens trace-cmd dump --validate -i text.dat
check "hist" opens trace-cmd hist -i text.dat
check "split keeps all" equal "$(trace-cmd split -i text.dat -o split.dat -e 100000 -r > /dev/null 2>&1; for f in split.dat*; do report "$f"; done | grep -c ' \[0')" "$all"
check "convert to version 6 keeps all" equal "$(trace-cmd convert --file-version 6 -i text.dat -o v6.dat > /dev/null 2>&1; report v6.dat | grep -c ' \[0')" "$all"
check "report --uname, --version" grep -q 'recorder' <(trace-cmd report --uname --version -i text.dat 2>&1)
if kshark=$(ls /usr/lib/*/libkshark.so 2> /dev/null) && [ -d /usr/include/kernelshark ] && gcc -o kshark "$LIVE/tracedat.c" \
	-I/usr/include/kernelshark $(pkg-config --cflags libtracecmd libtraceevent libtracefs 2> /dev/null) "$kshark" 2> kshark.err; then
	./kshark text.dat > kshark.out
	check "KernelShark's library reads as many" equal "$(wc -l < kshark.out)" "$all"
	sed -nE 's/^ *(.*-[0-9]+) +\[[0-9]+\] +[0-9.]+: +([A-Za-z0-9_]+): .*/\2 \1/p' text.report > cmd.out
	check "... of each event as many" diff <(awk '{ print $1 }' kshark.out | sort | uniq -c) <(awk '{ print $1 }' cmd.out | sort | uniq -c)
	check "... and of each task" diff <(sed 's/^[^ ]* //' kshark.out | sort | uniq -c) <(sed 's/^[^ ]* //' cmd.out | sort | uniq -c)
else
	skip "KernelShark's library" "libkshark-dev is not there"
fi

# --- compression, several formats, replay ---
for kind in none zlib; do
	dat $kind.dat --no-functions --compression $kind -- true
	if [ $kind = zlib ] && ! trace-cmd list -c | grep -q zlib; then
		skip "zlib" "this trace-cmd does not read it"
		continue
	fi
	check "compression $kind" [ "$(report $kind.dat | grep -c ' sys_enter_')" -gt 10 ]
done
"$RECORDER" --format uftrace,trace-dat,raw -o both -- "$PROGRAMS/nested" > /dev/null 2> both.err
check "several formats at once: each under its usual name" uftrace_accepts both/uftrace.data
check "... as many calls in both" equal "$(report both/trace.dat | grep -c ' func_entry:')" \
	"$(calls_of both/uftrace.data | awk '$2 !~ /^sys_|^linux:/ { n += $1 } END { print n }')"
"$RECORDER" --replay both/recording.raw --format trace-dat -o again.dat 2> again.err
check "replayed: the same" equal "$(report again.dat -t | cksum)" "$(report both/trace.dat -t | cksum)"
(cd both && "$RECORDER" -q --no-functions -o x.dat true) 2> x.err
check "-o x.dat means this format" [ "$(report both/x.dat | grep -c ' sys_enter_')" -gt 10 ]

# --- loss ---
for n in 3 20; do
	dat loss.dat --no-functions --simulate-drops $n -- "$PROGRAMS/syscalls" > /dev/null
	report loss.dat > loss.report
	lost=$(sed -n 's/.*lost: \(.*\) records;.*/\1/p' loss.dat.err | awk -F'[ ,]+' '{ print $1 + $3 + $5 + $7 }')
	check "one in $n lost: told before the events that follow" equal \
		"$(sed -n 's/^CPU:[0-9]* \[\([0-9]*\) EVENTS DROPPED\]/\1/p' loss.report | awk '{ n += $1 } END { print n + 0 }')" "$lost"
	check "... by class" equal "$(sed -n 's/.* lost: *\([0-9].*\) records$/\1/p' loss.report |
		awk -F'[ ,]+' '{ n += $1 + $3 + $5 + $7 } END { print n + 0 }')" "$lost"
done

# --- what is in the way ---
echo mine > precious.dat
"$RECORDER" --format trace-dat -o precious.dat true > way.out 2>&1
check "a file that is no trace.dat is left alone" equal "$? $(cat precious.dat)" "125 mine"
ln -s precious.dat link.dat
"$RECORDER" --format trace-dat -o link.dat true > way.out 2>&1
check "a link is not followed" equal "$? $(cat precious.dat)" "125 mine"
dat one.dat --no-functions -- true
cp one.dat first.dat
"$RECORDER" -q --no-functions --format trace-dat -o one.dat true
check "an earlier one is kept as .old" cmp one.dat.old first.dat
"$RECORDER" --no-functions --format trace-dat -o $'a b\n\'s.dat' true > odd.out 2>&1
check "how to open it is told as a shell takes it" eval "$(sed -n 's/^recorder: open it: //p' odd.out) > odd.report 2>&1"
check "nothing else is left" equal "$(ls -A | grep -c '^\.*one')" 3	# and what recorder said

# --- killed ---
"$RECORDER" --no-functions --format trace-dat -o killed.dat -- \
	sh -c 'while :; do i=0; while [ $i -lt 100 ]; do i=$((i + 1)); done; echo x; done' > killed.lines 2> killed.err &
pid=$!
sleep 2.5
check "while it records, its file is not there" [ ! -e killed.dat -a -d killed.dat.part ]
"$RECORDER" --recover killed.dat > use.out 2>&1
check "... nor can it be sealed" equal "$? $(grep -c 'is being written' use.out)" "1 1"
child=$(pgrep -P $pid -x sh)
kill -9 $pid
wait $pid 2> /dev/null
kill -9 $child
"$RECORDER" -q --no-functions --format trace-dat -o killed.dat true 2> next.err
check "the next recording there says what was left" grep -q "recorder --recover 'killed.dat.part.old'" next.err
cp -r killed.dat.part.old cut.dat.part
cp -r killed.dat.part.old half.dat.part
"$RECORDER" --recover killed.dat.part.old > recover.out 2>&1
check "--recover seals it" equal $? 0
check "... beside the other" [ -s killed.dat.recovered -a -s killed.dat -a ! -e killed.dat.part.old ]
check "... with what was recorded until then" [ "$(report killed.dat.recovered | grep -c ' sys_enter_write: .*"x\\n"')" -gt $(($(wc -l < killed.lines) / 3)) ]
# Before the first second is over, with kinds of events that are seen then for the first time.
"$RECORDER" --no-functions --format trace-dat,bas -o early -- sh -c 'while :; do read line < /etc/passwd; cd /; umask 22; echo; done' > /dev/null 2> early.err &
pid=$!
for i in $(seq 200); do
	ls early/trace.dat.part/cpu* > try 2> /dev/null && break
	sleep 0.05
done
sleep 0.3
child=$(pgrep -P $pid -x sh)
kill -9 $pid
wait $pid 2> /dev/null
kill -9 $child
"$RECORDER" --recover early > recover.out 2>&1
check "killed early: what there is can be sealed, of each format" equal "$? $(ls -A early | grep -cE '^(trace.dat|.nfsdb)$')" "0 2"
check "... and of it all is known" equal "$(report early/trace.dat | awk '/ \[0/ { some = 1 } /UNKNOWN/ { n++ } END { print some, n + 0 }')" "1 0"
# Chunks are longer than what is cut off.
spooled=$(ls -S cut.dat.part/cpu* | head -n 1)
truncate -s -9 "$spooled"
"$RECORDER" --recover cut.dat.part > recover.out 2>&1
check "... and says what of it was cut short" grep -qE "'cut.dat': [0-9]+ bytes of events are gone, were cut short or damaged" recover.out
# As much room as the events take is not beside them: nothing of them is touched.
all=$(du -sk half.dat.part | cut -f1)
events=$(du -ck half.dat.part/cpu* | tail -n 1 | cut -f1)
mkdir little && mount -t tmpfs -o size=$((all + events / 2))k none little && {
	cp -r half.dat.part little/half.dat.part
	before=$(cd little/half.dat.part && cat cpu* meta | sha256sum)
	"$RECORDER" --recover little/half.dat.part > recover.out 2>&1
	check "without room for it --recover says so" equal "$? $(grep -c 'No space left' recover.out)" "1 1"
	check "... and leaves all as it was" equal "$(cd little/half.dat.part && cat cpu* meta | sha256sum) $(ls little)" "$before half.dat.part"
	mount -o remount,size=64m little
	"$RECORDER" --recover little/half.dat.part > recover.out 2>&1
	check "... with room it seals it" equal "$? $(report little/half.dat | wc -l)" "0 $(report killed.dat.recovered | wc -l)"
	umount little
}
dat torn.dat --no-functions -- true
mkdir torn.dat.part && touch torn.dat.part/.recorder
"$RECORDER" --recover torn.dat.part/ > recover.out 2>&1
check "what cannot be sealed is said and left" equal "$? $(grep -c "cannot seal 'torn.dat.part'" recover.out) $(ls -d torn.dat.part)" "1 1 torn.dat.part"
check "... that a file is missing" grep -q "'torn.dat.part': a file of it is missing" recover.out
: > torn.dat.part/meta
"$RECORDER" --recover torn.dat.part > recover.out 2>&1
check "... or damaged" grep -q "'torn.dat.part': a file in it is damaged or cut off" recover.out
"$RECORDER" --no-functions --format trace-dat -o slash.dat -- sleep 60 2> slash.err &
pid=$!
for _ in $(seq 100); do [ -s slash.dat.part/meta ] && break; sleep 0.1; done
child=$(pgrep -P $pid -x sleep)
kill -9 $pid $child
wait $pid 2> /dev/null
"$RECORDER" --recover slash.dat.part/ > recover.out 2>&1
check "--recover takes a directory with a slash behind it" equal "$? $(ls -d slash.dat*)" "0 slash.dat"
"$RECORDER" --recover nothing > recover.out 2>&1
check "nothing to recover: one line" equal "$? $(wc -l < recover.out)" "2 1"

# --- the disk is full ---
write_many='i=0; while [ $i -lt 60000 ]; do echo $i; i=$((i + 1)); done'
# What the file holds of the program's own 60000 calls, each an entry and an exit, and what it says that it lacks.
of_calls() {
	report "$1" > whole.report
	echo $(($(grep -cE ' sys_(enter|exit)_' whole.report) + $(awk '/ lost: .* function, / { sub(/.* function, /, ""); n += $1 } END { print n + 0 }' whole.report)))
}
mkdir small && mount -t tmpfs -o size=4m none small && {
	dat whole.dat --no-functions --no-events -- sh -c "$write_many" > /dev/null
	produced=$(report whole.dat | grep -cE ' sys_(enter|exit)_')
	for how in none:2200k:trace-dat zstd:800k:trace-dat none:3000k:uftrace,trace-dat; do
		IFS=: read -r codec size formats <<< "$how"
		mount -o remount,size=$size small
		"$RECORDER" --no-functions --no-events --compression $codec --format "$formats" -o small/full.dat -- sh -c "$write_many" > full.out 2> full.err
		status=$?
		cp "$(find small -name full.dat -type f -o -name trace.dat)" full.dat
		rm -rf small/*
		check "a full disk ($how) does not harm the program" equal "$status $(wc -l < full.out)" "0 60000"
		check "... and is said" grep -q "No space left on device" full.err
		check "... stored and lost are what there was" equal "$(of_calls full.dat)" "$produced"
		check "... the statistics say what is stored" equal "$(report full.dat --stat | awk '/^read events:/ { n += $3 } END { print n }')" "$(grep -c ' \[0' whole.report)"
		room=$((1024 * ${size%k} / $(tr , '\n' <<< "$formats" | wc -l)))
		[ $codec = zstd ] || check "... of which there is a third of the disk at least, divided among the formats" [ "$(stat -c %s full.dat)" -gt $((room / 3)) ]
	done
	umount small
}
check "trace-cmd never complained" equal "$(sort complaints | uniq | head -n 3)" ""
