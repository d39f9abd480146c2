# callers.sh - -g: who called, with events of the kernel and system calls.
. "$LIVE/lib.sh"
need trace-cmd
program callers || exit 0

dat() {
	local file=$1; shift
	rm -rf "$file" "$file.old" "$file.part"
	"$RECORDER" --format trace-dat -o "$file" "$@" 2> "$file.err"
}
report() { trace-cmd report "${@:2}" -i "$1" 2>> complaints; }
# after EVENT: the line behind each of it, of the same task, that tells of its program's callers.
after() { awk -v event=" $1: " '{ t = $1 " " $2 } index($0, event) { of = t; next } of == t && / stack: / { print $NF } { if (of == t) of = "" }' all.report; }

rounds=5
dat all.dat --no-functions -g -e sched,signal -- "$PROGRAMS/callers" $rounds
check "it ends as it does" equal $? 0
check "nothing is lost" grep -q 'lost: nothing' all.dat.err
report all.dat > all.report
check "a system call: who called, outermost first, by name" \
	equal "$(after sys_enter_getppid | grep -oE ';main;.*' | sort | uniq -c)" "      $rounds ;main;outer;middle;inner"
check "what is above main() is a library's, and has a name too" equal "$(after sys_enter_getppid | grep -cE '^[^;]*[a-z_]+[^;]*;.*main;')" $rounds
check "127 calls are told, and that there are more" \
	equal "$(after sys_enter_getuid | awk -F';' '$1 == "..." && $NF == "down" { print NF }' | sort | uniq -c | awk '{ print $2, $1 }')" "128 $rounds"
# Two system calls in each round, and between the second one's beginning and end a switch.
check "an event: where the task was when it gave its CPU away" \
	[ "$(report all.dat -F 'user/stack: frames =~ ";main;outer;middle;inner$"' | grep -c ' stack: ')" -ge $((3 * rounds)) ]
awk '/ sched_switch: .*callers.* S ==> / { on = 1; next } on && /kernel_stack:/ { on = 2; next } on == 2 && /^=> / { print $2; next } { if (on == 2) print "end"; on = 0 }' all.report > kernel
check "... and where in the kernel: in what asked for that, first" equal "$(awk '$1 != "end" && first { print $1 } { first = $1 == "end" }' kernel | sort -u)" "__schedule"
check "... not in what records it" equal "$(grep -cE '^(bpf_|__bpf_|__traceiter_|perf_)' kernel)" 0
check "... called by the system call" [ "$(grep -c hrtimer_nanosleep kernel)" -ge "$rounds" ]
check "of a task that is not recorded nothing of its program is told" \
	equal "$(awk '/ stack: / { print $1 }' all.report | grep -v '^callers-' | sort -u)" ""
check "trace-cmd hist takes the kernel's stacks" trace-cmd hist -i all.dat > hist.out

# --- without -g there are none; a file without the kernel's is not given its names ---
dat none.dat --no-functions -- "$PROGRAMS/callers" 1
check "none without -g" equal "$(report none.dat | grep -cE ' (kernel_)?stack: ')" 0

# --- a function that is probed has the same name; before Linux 6.11 a return that is probed hides who called ---
dat probed.dat -g --no-events --returns=never -- "$PROGRAMS/callers" 2
check "of a program whose functions are recorded, too" \
	equal "$(report probed.dat | grep -cE ';main;outer;middle;inner$')" "$(report probed.dat | grep -cE ' sys_enter_(getppid|nanosleep):')"

# --- code that a program makes while it runs has the name that it tells perf ---
program makescode && {
	dat made.dat --no-functions -g --syscalls=getppid --no-events -- "$PROGRAMS/makescode" $rounds
	check "made code: as its process calls it in /tmp" equal "$(report made.dat | grep -cE ';main;JS:made /app.js:1:2;inner$')" $rounds
}

# --- chosen ---
dat chosen.dat --no-functions -g --syscalls=getppid --no-events -- "$PROGRAMS/callers" $rounds
check "of the system calls that are chosen only" equal "$(report chosen.dat | grep -c ' stack: ')" $rounds
dat faults.dat --no-functions --no-syscalls -g -e fault -- "$PROGRAMS/callers" 1
check "of page faults" equal "$(report faults.dat | awk '/ page_fault_user: /{ n++ } / kernel_stack: /{ k++ } END { print (n > 0 && n == k) }')" 1
record no.data -g -- true; status=$?
check "a format that has no place for them: refused" equal "$status $(grep -c -- "^recorder: -g: none of the formats" no.data.err)" "2 1"
check "... with one that has" grep -q -- '--format trace-dat' no.data.err

# --- counted, replayed ---
sum() { python3 "$LIVE/rawcount.py" "$1/recording.raw" | awk '$1 == "stored" || $1 == "lost" { n += $5 } END { print n }'; }
events=(--no-functions --no-syscalls -e signal:signal_generate)
record sent --format raw "${events[@]}" -- sh -c 'for i in 1 2 3 4 5 6 7 8; do kill -0 $$; kill -CONT $$; done'
record both --format raw -g "${events[@]}" -- sh -c 'for i in 1 2 3 4 5 6 7 8; do kill -0 $$; kill -CONT $$; done'
check "a record more for each event" equal "$(sum both)" $((2 * $(sum sent)))
record raw --format raw,trace-dat --no-functions -g -- "$PROGRAMS/callers" 2
"$RECORDER" --replay raw/recording.raw --format trace-dat -o again.dat 2> again.err
check "a raw recording replayed tells the same" cmp <(report raw/trace.dat) <(report again.dat)

check "trace-cmd never complained" equal "$(sort complaints | uniq | head -n 3)" ""
