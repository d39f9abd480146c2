# signal.sh - --signal: SIGUSR1 and SIGUSR2 to recorder switch functions off and on, or end the recording.
. "$LIVE/lib.sh"
program steps || exit 0

await() {	# FILE PATTERN
	for _ in $(seq 300); do grep -q "$2" "$1" 2> /dev/null && return; sleep 0.05; done
	echo "$1 has no '$2'"
}
# begin OPTION...: steps runs, recorded, and reads what is written to descriptor 5; $! is recorder.
begin() {
	rm -rf it.data* steps.in steps.out; mkfifo steps.in
	"$RECORDER" -o it.data --no-syscalls "$@" -- "$PROGRAMS/steps" < steps.in > steps.out 2> it.data.err &
	recorder=$!
	exec 5> steps.in
}
does() { echo "$1" >&5; await steps.out "^did $1\$"; }
tells() { kill -$1 $recorder; await it.data.err "$2"; }
over() { exec 5>&-; wait $recorder; }

begin --signal='SIGUSR1@trace_off;USR2@trace_on'
does 1; tells USR1 'not recorded from here on'; does 30; tells USR2 ' recorded from here on'; does 500; over
check "the program ends as it does without" equal $? 0
check "what was called while switched off is not there" equal "$(report_calls it.data step)" 501
check "... and that is said" grep -q '^recorder: switched off by signals: 1 time' it.data.err
check "uftrace accepts it" uftrace_accepts it.data

begin --signal SIGUSR1@trace_on --disable
does 7; tells USR1 ' recorded from here on'; does 20; over
check "--disable, until a signal says so" equal "$(report_calls it.data step)" 20

begin --signal SIGUSR1@trace_off -T step@trace_on
does 7; tells USR1 ' not recorded from here on'; does 20; over
check "a trigger's word that comes later counts" equal "$(report_calls it.data step)" 27

begin --signal SIGUSR2@finish
does 7; tells USR2 '^recorder: finished by SIGUSR2'; does 20; over
check "finish" equal "$(report_calls it.data step)" 7

begin --signal='SIGUSR1@mark;SIGUSR2@mark,trace_off'
does 7; tells USR1 '^recorder: mark 1 by SIGUSR1'; does 20; tells USR2 '^recorder: mark 2 by SIGUSR2'; over
check "marks" equal "$(sed 's/^[0-9.]* //' it.data/extern.dat | paste -sd ' ')" 'mark 1 by SIGUSR1 mark 2 by SIGUSR2 trace_off by SIGUSR2'
check "... between what happened before and after" equal "$(replay it.data --event-full | awk '/ step\(\)/ { n++ }
	/external-data: mark/ { print n }' | paste -sd ' ')" "7 27"

begin
does 7; kill -USR1 $recorder; kill -USR2 $recorder; does 20; over
check "without the option they do nothing" equal "$(report_calls it.data step)" 27

# System calls and USDT probes, too, with functions or without: each write() of steps is one "did".
begin() {
	rm -rf it.data* steps.in steps.out; mkfifo steps.in
	"$RECORDER" -o it.data "$@" -- "$PROGRAMS/steps" < steps.in > steps.out 2> it.data.err &
	recorder=$!
	exec 5> steps.in
}
for options in "" --no-functions "-t 1"; do
	begin --signal='SIGUSR1@trace_off;SIGUSR2@trace_on' --syscalls=read,write $options
	does 1; tells USR1 'not recorded from here on'; does 30; does 40; does 50; tells USR2 'are recorded from here on'; does 500; over
	check "system calls pause${options:+ with $options}" equal "$(report_calls it.data sys_write)" 2
	check "... each is whole" equal "$(replay it.data | grep -c 'sys_write(.*) = ')" 2
	check "... uftrace accepts it" uftrace_accepts it.data
done

# Who ignores them goes on ignoring them, and recorder hears them all the same.
begin() {
	rm -rf it.data* steps.in steps.out; mkfifo steps.in
	(trap '' USR1; exec "$RECORDER" -o it.data --no-syscalls "$@" -- sh -c 'kill -USR1 $$; exec "$0"' "$PROGRAMS/steps") \
		< steps.in > steps.out 2> it.data.err &
	recorder=$!
	exec 5> steps.in
}
begin --signal SIGUSR1@trace_off
does 7; tells USR1 'not recorded from here on'; does 20; over
check "inherited as ignored" equal "$? $(report_calls it.data step)" "0 7"

# A signal waits from the first moment on: before anything is loaded, and so before it can be read. (For functions recorder
# begins once more, with other files; there is a moment before that.)
mkfifo steps.in2
"$RECORDER" -o it.data --no-functions --signal='SIGUSR1@finish' -- "$PROGRAMS/steps" < steps.in2 > steps.out 2> early.err &
recorder=$!
exec 5> steps.in2
until ls -l /proc/$recorder/fd 2> /dev/null | grep -q bpf || ! kill -0 $recorder; do :; done
blocked=$(sed -n 's/^SigBlk:\t//p' /proc/$recorder/status)
check "SIGUSR1 is held while BPF is loaded" test $((0x$blocked >> ($(kill -l USR1) - 1) & 1)) = 1
exec 5>&-
wait $recorder
check "and the recording goes on" equal $? 0
