# timedargs.sh - -A, -R and --auto-args with -t and -C: the values of those calls that are recorded, as they were when
# the calls began; as uftrace records them, and as a recording of all calls shows them.
# limit: 200
# beside others
. "$LIVE/lib.sh"
need python3
program sleeps.pg || exit 0
program rewrites || exit 0
least=50ms	# what sleeps takes twice that
without=()
every=(-A '^(main|around|twice|slow|doze|quick|calls_quick|many)$@arg1/i32')
every+=(-R '^(around|twice|slow|quick|calls_quick|many)$@retval/i32')

# calls DIR [OPTION...]: the program's own functions, with their values.
calls() { replay "$@" 2> /dev/null | grep -E '(main|around|twice|slow|doze|quick|calls_quick|many)(\(| \*/)'; }
as_uftrace() {
	rm -rf pg.data
	uf record --no-event -d pg.data "${every[@]}" "$@" "$PROGRAMS/sleeps.pg" > /dev/null
	record it.data --no-syscalls "${every[@]}" "$@" -- "$PROGRAMS/sleeps" > /dev/null
	calls it.data | grep -qE '\([0-9]+\)' || { echo "no values"; return 1; }
	diff <(calls pg.data) <(calls it.data)
}
while read -r -a options; do
	check "as uftrace record -A -R ${options[*]}" as_uftrace "${options[@]}"
done << END
-t $least
-C slow
-t $least -F twice
-t $least -N slow
-t $least -D 3
END

# What all calls have, of those that took long, by every way to probe.
record whole.data --no-syscalls "${every[@]}" -- "$PROGRAMS/sleeps" > /dev/null
as_whole() {
	record part.data --no-syscalls "${without[@]}" "${every[@]}" -t $least -- "$PROGRAMS/sleeps" > /dev/null
	calls part.data | grep -q 'slow([0-9]*)' || { echo "no values"; return 1; }
	diff <(calls whole.data -t $least) <(calls part.data)
}
check "values are those of a recording of all calls" as_whole
for feature in uprobe-session uprobe-session,uprobe-multi; do
	without=(--no-feature $feature)
	check "... without $feature" as_whole
done
check "what is filtered out has reached no ring" equal "$(replay part.data | grep -c quick)" 0
record cond.data --no-syscalls --no-libcall "${every[@]}" \
	-t $least -F 'slow@if:arg1==6' -- "$PROGRAMS/sleeps" > /dev/null
check "with a condition" equal "$(calls cond.data | xargs)" \
	"slow(6) { doze(6); } = 8; /* slow */"

# Values are those at entry, in a store that holds only so many.
strings=(-A 'down@arg1/i32,arg2/s' -R 'down@retval/i32' --no-syscalls --no-libcall)
told() { replay "$1" | sed -nE 's/^ *down\((.*)\)( = [0-9]+)? *[{;].*/\1/p'; }
levels() { seq "$1" -1 1 | sed 's/.*/&, "level &"/'; }
record few.data -t $least "${strings[@]}" -- "$PROGRAMS/rewrites" 20
check "strings are as they were when the calls began" diff <(levels 20) <(told few.data)
check "... and every call has its result" equal "$(replay few.data | grep -c '= 10[0-9]*;')" 20
record raw.data --format raw,uftrace -t $least "${strings[@]}" -- "$PROGRAMS/rewrites" 20
"$RECORDER" -q -o again.data --replay raw.data/recording.raw
check "--replay makes the same of the raw file" \
	diff <(uf replay --no-pager -d raw.data) <(uf replay --no-pager -d again.data)
record many.data -t $least "${strings[@]}" -- "$PROGRAMS/rewrites" 600
bare=$(told many.data | grep -c '^$')
check "when the store is full the calls are recorded all the same" equal "$(told many.data | wc -l)" 600
check "... those that have values have their own" \
	diff <(levels 600 | head -n $((600 - bare))) <(told many.data | grep .)
check "... and how many have none is said" \
	grep -q "^recorder: warning: -t and -C: $bare calls are recorded without" many.data.err

# With losses: what is stored and what is counted as lost are what there is without.
sum() { python3 "$LIVE/rawcount.py" "$1/recording.raw" | awk '$1 == "stored" || $1 == "lost" { n += $4 } END { print n }'; }
record lossy.data --format raw,uftrace --simulate-drops 4 -t $least "${strings[@]}" -- "$PROGRAMS/rewrites" 20
check "what is lost is counted" grep -q '^recorder: lost: .*[1-9][0-9]* function' lossy.data.err
check "... with what is stored it is all that was sent" equal "$(sum lossy.data)" "$(sum raw.data)"

# A real program.
need sort
seq 50000 -1 1 > numbers
record sort.data --format raw,uftrace --auto-args -t 100us -- sort -n numbers > sorted
check "a real program's output is its own" cmp sorted <(seq 50000)
check "... its recording has values" grep -qE '[a-z]\(.+\) = .*;' <(replay sort.data)
check "... nothing was lost" grep -q '^recorder: lost: nothing' sort.data.err
check "... uftrace accepts it" uftrace_accepts sort.data
