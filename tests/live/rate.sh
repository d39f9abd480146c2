# rate.sh - --rate-limit: what is called too often is shed and counted, all else is whole, and nesting stays right.
# beside others
. "$LIVE/lib.sh"
program hot || exit 0

# of DIR: calls of one function that were shed, by the summary; 0 when it is not named.
shed() { said "$1" | sed -n "s/^recorder: shed by --rate-limit: .*[ ,]$2() \([0-9]*\).*/\1/p" | grep . || echo 0; }
# Each call is either there or counted as shed.
adds_up() {
	local dir=$1 f n
	while read -r _ f n; do
		equal "$f $(($(report_calls "$dir" "$f") + $(shed "$dir" "$f")))" "$f $n" || return 1
	done < <(grep '^calls ' "$2")
}
limit=200
while read -r how threads; do
	how=${how#-}
	name="${threads:+two threads}${how:+ without $how}"
	record rate.data --no-syscalls --no-libcall --rate-limit=$limit/s ${how:+--no-feature $how} -- \
		"$PROGRAMS/hot" $threads > rate.out
	check "each call is recorded or said to be shed: ${name:-one thread}" adds_up rate.data rate.out
	check "... the seldom called function is whole" truth rate.data <(grep -E ' (slow|main) ' rate.out)
	check "... the hot one is cut" [ "$(shed rate.data hot)" -gt 0 -a "$(report_calls rate.data hot)" -ge $limit ]
	check "... nothing is lost" grep -q '^recorder: lost: nothing' rate.data.err
	check "... no end is inferred" equal "$(grep -c 'ends inferred' rate.data.err)" 0
done << 'END'
-
- two
uprobe-session two
uprobe-session,uprobe-multi two
END
check "uftrace accepts it" uftrace_accepts rate.data

# A second at a time: within one no function is there more often than it may.
record rate.data --no-syscalls --no-libcall --rate-limit $limit -- "$PROGRAMS/hot" again > /dev/null
seconds() { uf dump --no-pager -d rate.data | awk '/\[entry\] hot/ { t = $1 + 0; if (!n || t - began >= 1) { began = t; n = 0 } if (++n > '$limit') bad++ } END { print bad + 0, (n > 0) }'; }
check "no second has more calls than the limit" equal "$(seconds)" "0 1"
parents() { replay rate.data | awk -v limit=$limit '/hot\(\)/ { match($0, /^ */); if (RLENGTH != 6) bad++; n++ } END { print bad + 0, (n >= limit) }'; }
check "... and the next second begins anew" [ "$(report_calls rate.data hot)" -ge $((2 * limit)) ]
check "what is left of hot() is where it was: three calls deep" equal "$(parents)" "0 1"

# With other choices, with arguments, and where the limit is never met.
record rate.data --no-syscalls --no-libcall --rate-limit=$limit -F hot -D 1 -- "$PROGRAMS/hot" > rate.out
check "with -F and -D: recorded or shed" adds_up rate.data <(grep ' hot ' rate.out)
check "... what is filtered out is no shed call" grep -q '^recorder: shed by --rate-limit: [0-9]* calls of 1 function: hot()' rate.data.err
record rate.data --no-syscalls --no-libcall --rate-limit=$limit -A hot@arg1 -- "$PROGRAMS/hot" > rate.out
check "with arguments: recorded or shed" adds_up rate.data rate.out
check "... and shown" [ "$(replay rate.data | grep -c ' hot([0-9]*)')" -ge $limit ]
record rate.data --no-syscalls --rate-limit=1000000 -- "$PROGRAMS/nested" > rate.out
check "below the limit all is there" truth rate.data rate.out
check "... and that is said" grep -qx 'recorder: shed by --rate-limit: nothing' rate.data.err
record rate.data --no-syscalls -- "$PROGRAMS/nested" > /dev/null
check "without the option nothing is said" equal "$(grep -c 'shed' rate.data.err)" 0
