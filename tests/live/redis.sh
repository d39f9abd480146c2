# redis.sh - a loaded redis-server is attached to and let go again and again, and notices nothing. FULL=1: 200 times.
# limit: 900
. "$LIVE/lib.sh"
. "$LIVE/attached.sh"
need redis-server redis-benchmark redis-cli python3 bpftool
rounds=5
[ -z "$FULL" ] || rounds=200

threads_of() { ls "/proc/$1/task" | wc -l; }
fds_of() { ls "/proc/$1/fd" | wc -l; }
cli() { redis-cli -s "$scratch/redis.sock" "$@"; }

# Load until it is told to stop; an answer that is missing or wrong ends it with an error.
load() {
	while [ ! -e stop ]; do
		redis-benchmark -s "$scratch/redis.sock" -q -n 5000 -c 20 -t set,get,lpush,lpop,incr > load.out 2>&1 || return 1
		if grep -iE 'error|closed|refused' load.out; then return 1; fi
		echo >> loads
	done
}

# One client that knows what it must read.
client() {
	local n=0 got
	while [ ! -e stop ]; do
		n=$((n + 1))
		got=$(cli incr counted) || return 1
		equal "$got" $n || return
	done
	[ $n -gt 1 ]
}

again() {
	local pid threads fds client load bad=0
	redis-server --port 0 --unixsocket "$scratch/redis.sock" --save '' --daemonize no > redis.out 2>&1 &
	pid=$!
	trap 'touch stop; kill $pid 2>/dev/null' EXIT		# of the subshell that check makes
	wait_for cli ping > /dev/null 2>&1 || { cat redis.out; return 1; }
	threads=$(threads_of $pid) fds=$(fds_of $pid)
	load > load.err 2>&1 & load=$!
	client > client.err 2>&1 & client=$!
	for ((i = 0; i < rounds && !bad; i++)); do
		attach redis.data -p $pid
		equal "$(cli -r 20 ping 2>&1 | sort -u)" PONG || bad=1
		detach || { echo "recorder: status $?"; bad=1; }
		kill -0 $load && kill -0 $client && kill -0 $pid || { echo "something has ended"; bad=1; }
	done
	touch stop
	wait $load || { echo "load: $(cat load.err)"; bad=1; }
	wait $client || { echo "client: $(cat client.err)"; bad=1; }
	[ $bad = 0 ] || { echo "round $i"; cat redis.data.err; kill $pid; return 1; }
	[ -s loads ] || { echo "there was no load"; return 1; }
	uftrace_accepts redis.data || return
	[ "$(report_calls redis.data processCommand)" -ge 20 ] || { calls_of redis.data | head; return 1; }
	wait_for text_is_whole $pid || return
	equal "$(threads_of $pid) $(fds_of $pid)" "$threads $fds" || return
	cli shutdown nosave
	wait $pid
}
check "attached to $rounds times under load: no request fails, its text is its file's again" again
