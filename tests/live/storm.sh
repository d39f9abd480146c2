# storm.sh - many tasks wait at the gate at one moment: none is late, none is harmed, and none waits for a recorder that cannot come.
# limit: 200
. "$LIVE/lib.sh"
program uselib && program atonce && program nested && program cudriver fakecuda || exit 0

at_once=40
# COMMAND... so often at once; what each says, and its status.
cat > storm << 'END'
touch begun
until [ -e go ]; do sleep 0.05; done
for ((i = 0; i < $1; i++)); do { "${@:2}" > out.$i 2>&1; echo $? > status.$i; } & done
wait
touch ended
END
again() { rm -f begun go ended out.* status.*; }
all_well() { equal "$(cat status.* | sort | uniq -c | tr -s ' ')" " $1 0"; }
late() { said "$1" | grep -E 'began before|not answered'; }

touch go
record all.data --no-syscalls --functions='*@libcounted*' -- bash storm $at_once "$PROGRAMS/uselib"
check "$at_once programs with a library end well" all_well $at_once
cat out.* | grep '^calls counted' > all.out
check "each has all its calls" truth all.data all.out
check "none was late" equal "$(late all.data)" ""

# More than a table of 256 has room for. Their two million records fit into the rings, whatever keeps recorder from its turn meanwhile.
record many.data --no-syscalls -b 64M -- "$PROGRAMS/atonce" 300 "$PROGRAMS/nested" > many.out
check "300 programs that begin at one moment end well" equal $? 0
grep -vE ' (main|atoi) ' many.out > all.out		# which atonce has, too
check "... and each has all its calls" truth many.data all.out
check "... and none was late" equal "$(late many.data)" ""

again; touch go
export LD_LIBRARY_PATH="$PROGRAMS/fakecuda"
cuda=(--cuda --no-functions --no-syscalls --format neutrino)
calls() { said "$1" | sed -n 's/.* \([0-9]*\) CUDA calls.*/\1/p'; }
record onecuda "${cuda[@]}" -- "$PROGRAMS/cudriver" > one.out
record allcuda "${cuda[@]}" -- bash storm $at_once "$PROGRAMS/cudriver"
check "$at_once programs with a CUDA driver end well" all_well $at_once
check "each has all its CUDA calls" equal "$(calls allcuda)" $(($(calls onecuda) * at_once))
check "none of these was late" equal "$(late allcuda)" ""

if command -v chrt > /dev/null && chrt -f 50 true 2> /dev/null; then
	again; touch go
	record realtime "${cuda[@]}" -- bash storm 6 chrt -f 50 "$PROGRAMS/cudriver"
	check "so do real-time programs, and none of them is late" all_well 6
	check "... with all their CUDA calls" equal "$(calls realtime) $(late realtime)" "$(($(calls onecuda) * 6)) "
else
	skip "real-time programs" "none can be run here"
fi

if command -v strace > /dev/null; then
	again; touch go
	record traced "${cuda[@]}" -- bash storm 8 strace -f -o /dev/null "$PROGRAMS/cudriver"
	check "tracees of another tracer end well" all_well 8
	# Nobody else can stop them. Where they would be in the way they go on, and that is said.
	check "and have all their CUDA calls, or it is said" \
		[ "$(calls traced)" = $(($(calls onecuda) * 8)) -o -n "$(late traced)" ]
else
	skip "tracees of another tracer" "strace is not there"
fi

# The processes that read executable files, stopped: whoever asks waits.
readers() { for p in $(pgrep -P "$1"); do [ "/proc/$p/exe" -ef "$RECORDER" ] && echo "$p" $(pgrep -P "$p"); done; }
# waiting N: so many wait for them.
waiting() {
	rm -rf wait.data
	"$RECORDER" -o wait.data "${cuda[@]}" -- bash storm $1 "$PROGRAMS/cudriver" 2> wait.data.err &
	recorder=$!
	for ((i = 0; i < 200; i++)); do [ -e begun ] && break; sleep 0.05; done
	kill -STOP $(readers $recorder)
	touch go
	for ((i = 0; i < 100; i++)); do
		[ "$(held)" -gt 0 ] && break
		sleep 0.05
	done
}
held() { grep -ls '^State:.*tracing stop' $(pgrep -f "$PROGRAMS/" | sed 's,.*,/proc/&/task/*/status,') | wc -l; }
tracer() { cat $(pgrep -f "$PROGRAMS/" | sed 's,.*,/proc/&/task/*/status,') | awk '/^TracerPid:/ && $2 { print $2; exit }'; }
until_ended() { for ((i = 0; i < 60; i++)); do [ -e ended ] && break; sleep 0.05; done; }

# A tracee of another tracer cannot be put to sleep: killed while it waits, it is no program that began too early.
if command -v strace > /dev/null; then
	mkfifo line
	"$RECORDER" -o dying.data --no-syscalls --functions='*@*' -- strace -f -o /dev/null bash -c 'echo $$ > dying; read < line; exec true' 2> dying.data.err &
	recorder=$!
	for ((i = 0; i < 200; i++)); do [ -s dying ] && break; sleep 0.05; done
	stopped=$(readers $recorder)
	kill -STOP $stopped
	echo > line
	sleep 0.3
	kill -9 "$(cat dying)"
	sleep 0.1
	check "who is killed while it waits ends at once" [ ! -e "/proc/$(cat dying)" ]
	kill -CONT $stopped
	wait $recorder
	check "and is not counted as late" equal "$(late dying.data)" ""
fi

again; waiting 8
check "who waits for long sleeps" [ "$(held)" -gt 0 ]
kill -9 $recorder
wait $recorder 2> /dev/null
until_ended
check "recorder killed: they run on, and well" all_well 8

again; waiting 8
kill -STOP $recorder
until_ended
check "recorder stopped: they run on, and well" all_well 8
kill -CONT $recorder
kill -CONT $(readers $recorder)
wait $recorder
check "and that they were late is said" [ -n "$(late wait.data)" ]

again; waiting 4
kill -9 "$(tracer)"
kill -CONT $(readers $recorder)
until_ended
check "the agent killed: they run on, and well" all_well 4
wait $recorder
check "and that it was is said" grep -q 'recorder-agent was killed' wait.data.err

# A thread that is held ends with its process when another thread execs, which waits for that, while more of them are to be
# held, which waits for the exec: each has to let the others go.
within() { for ((i = 0; i < 100; i++)); do "$@" && break; sleep 0.05; done; }
are_ready() { [ "$(cat out.* 2> /dev/null | grep -c ready)" = 12 ]; }
are_held() { [ "$(cat $(pgrep -f ./race | sed 's,.*,/proc/&/task/*/status,') 2> /dev/null | grep -c '^State:.*tracing stop')" = 12 ]; }
have_ended() { [ "$(ls status.* 2> /dev/null | wc -l)" = 12 ]; }
# race WHAT OPTION... -- [map]: what threads are held at.
race() {
	local what=$1 options=() stopped; shift
	while [ "$1" != -- ]; do options+=("$1"); shift; done; shift
	again; rm -f one fire
	"$RECORDER" -o race.data "${options[@]}" --no-syscalls --functions='*@*' -- bash -c '"$0"
		for i in {0..11}; do { "$0" "$0" $((i * 150)) $1 > out.$i; echo $? > status.$i; } & done; wait' ./race "$@" 2> race.data.err > race.out &
	recorder=$!
	within are_ready
	stopped=$(readers $recorder)
	kill -STOP $stopped
	touch one
	within are_held
	check "threads are held at $what" are_held
	touch fire
	within have_ended
	check "they end when another thread of their process execs" all_well 12
	check "... which goes on" equal "$(cat out.* | grep -c done)" 12
	kill -CONT $stopped
	wait $recorder
}
if program execrace; then
	unset LD_LIBRARY_PATH
	cp /bin/true first; cp /bin/true second; cp "$PROGRAMS/execrace" race
	race "their execs" --no-feature task-work --
	if "$RECORDER" --doctor | grep -q '^ *task-work *yes'; then
		race "what they map" -- map
	else
		skip "threads are held at what they map" "they wait in the dynamic linker's place for debuggers here"
	fi
fi
