# pidns.sh - PID namespaces: recorder in one, its target in one below, or both. What throws, ends its threads or looks at
# its stack there does what it does untraced, what is exec'd is seen from its start, and whoever has the number that the
# target has in the initial namespace is left alone.
# limit: 180
. "$LIVE/lib.sh"
need unshare nsenter setarch mkfifo
unshare -pf --mount-proc true 2>/dev/null || { skip pidns "no PID namespace can be made here"; exit 0; }

# A recorder that is the first process of a PID namespace, with a /proc of it, or with the one of the namespace above.
outside=$RECORDER
printf '#!/bin/sh\nexec unshare -pf --mount-proc "%s" "$@"\n' "$outside" > inside
printf '#!/bin/sh\nexec unshare -pf "%s" "$@"\n' "$outside" > inside.proc
chmod +x inside inside.proc

# same RECORDER PROGRAM [BEFORE...]: recorded (by way of BEFORE), it says and does what it does untraced, and all its calls are there.
same() {
	local program=$PROGRAMS/$2 status
	"$program" > plain.out
	status=$?
	RECORDER=$PWD/$1
	[ "$1" != outside ] || RECORDER=$outside
	record same.data -- "${@:3}" "$program" > traced.out
	equal $? $status || return
	diff plain.out traced.out || return
	! said same.data | grep -E 'not served|not probed|began before' || return
	uftrace_accepts same.data || return
	! grep -q '^calls' plain.out || truth same.data traced.out
}

for p in throw unwind threadend backtrace; do
	program "$p" && check "recorder in a PID namespace: $p" same inside "$p"
done
check "a program exec'd there is seen from its start" same inside nested sh -c '"$0"; exit'
check "so where /proc is of the namespace above" same inside.proc nested sh -c '"$0"; exit'
check "and it throws there" same inside.proc throw sh -c '"$0"; exit'
for r in outside inside; do
	check "a target in a namespace below, recorder $r one: it throws" same $r throw unshare -pf --mount-proc
	check "a target in a namespace below, recorder $r one: it is seen from its start" same $r nested unshare -pf --mount-proc
	check "a target two namespaces below, recorder $r one" same $r throw unshare -pf unshare -pf --mount-proc
done

# The number that the target has in the initial namespace belongs to somebody in recorder's, with a stack at the same place.
program bystander || exit 0
mkfifo go
"$PROGRAMS/throw" > plain.out
# The namespace stays a little longer than the target, so that the bystander has time to look.
./inside -o by.data -- sh -c '(read x < go; exec setarch -R "$0"); status=$?; sleep 0.5; exit $status' \
	"$PROGRAMS/throw" > traced.out 2> by.err &
pid=$!
target=
for ((i = 0; i < 100 && !${target:-0}; i++)); do
	sleep 0.1
	recorder=$(pgrep -P $pid -x recorder) && shell=$(pgrep -P "$recorder" -x sh) && target=$(pgrep -P "$shell" -x sh)
done
nsenter -t "$recorder" -p -m --wd="$PWD" sh -c 'echo $(($0 - 1)) > /proc/sys/kernel/ns_last_pid
	setarch -R "$1" > bystander.out & echo $! > number; wait' "$target" "$PROGRAMS/bystander" &
for ((i = 0; i < 50; i++)); do [ -s bystander.out ] && break; sleep 0.1; done
check "a bystander has the target's number of the initial namespace" equal "$(cat number)" "$target"
echo > go
wait $pid
check "beside it the target throws" equal $? 0
check "as it does untraced" diff plain.out traced.out
check "nobody wrote into the bystander" equal "$(cat bystander.out)" watching
wait

# Recorder's helpers become children of the first process: with its tree they are not recorded.
tree() {
	local names
	unshare -pf --mount-proc sh -c '"$0" -o tree.data --tree 1 --duration 1s 2> tree.data.err &
		for i in $(seq 100); do grep -q "^recorder: recording" tree.data.err && break; sleep 0.1; done; "$1" > tree.out; wait' \
		"$outside" "$PROGRAMS/nested" || { cat tree.data.err; return 1; }
	uftrace_accepts tree.data || return
	names=$(uf report --no-pager -d tree.data --task)
	grep -qw nested <<< "$names" || { echo "$names"; return 1; }
	! grep -w recorder <<< "$names"
}
program nested tree && check "the tree of its first process does not have recorder's helpers" tree

# Numbers mean nothing where /proc counts otherwise: that is said, whichever option has them.
for option in "-p 1" "--tid 1" "--tree 1" "--cgroup /"; do
	said=$(unshare -pf "$outside" -o no.data ${option} --duration 0.1s 2>&1)
	check "where /proc is of the namespace above ${option% *} is refused" equal $? 2
	why="^recorder: ${option% *}: /proc is that of another PID namespace.*--mount-proc"
	check "... with the reason, in one line" equal "$(grep -c . <<< "$said") $(grep -c -- "$why" <<< "$said")" "1 1"
done
