# grace.sh - the kernel takes no probe away while return probes are open and more are met: nobody waits for that longer than
# he must, neither for a recording that goes on nor for one that was killed.
# limit: 120
. "$LIVE/lib.sh"
program unwind || exit 0

# runs NAME: records a program that is busy in functions it called long ago.
runs() {
	"$RECORDER" -o "$1.data" -- "$PROGRAMS/unwind" forever > "$1.out" 2> "$1.err" 8>&- &
	recorder=$!
	for ((i = 0; i < 100; i++)); do [ -s "$1.out" ] && break; sleep 0.1; done
	target=$(pgrep -P $recorder -x unwind)
}

is_gone() {
	for ((i = 0; i < 100; i++)); do [ -e "/proc/$1" ] || return 0; sleep 0.1; done
	head -n 1 /proc/$1/task/*/stack
	return 1
}

# One that has ended is not reaped everywhere.
links_are_gone() {
	for ((i = 0; i < 100; i++)); do
		ps -eo stat=,comm= | grep -v '^Z' | grep -qw recorder-links || return 0
		sleep 0.1
	done
	return 1
}

runs beside
"$RECORDER" -q -o short.data -- true
check "a recording ends while another is busy" equal "$? $(kill -0 "$target" && echo busy)" "0 busy"
if grep -qw uretprobes_srcu /proc/kallsyms; then
	check "... and the kernel is done with its probes" links_are_gone
	kill "$target"; wait $recorder
	check "for which returns were left out a while" grep -q '^recorder: returns were left out' beside.err
else
	skip "the kernel is done with the probes of another recording" "the kernel does not list uretprobes_srcu"
	kill "$target"; wait $recorder
fi

runs killed
kill -9 $recorder; wait $recorder 2> /dev/null
check "of a killed recorder nothing is left while its target goes on" is_gone $recorder
check "it does go on" kill -0 "$target"
kill "$target"
