# replay.sh - raw rounds replayed give what recording at once gives.
. "$LIVE/lib.sh"

plain() { "$RECORDER" "$@" > replay.out 2> replay.err; }
"$RECORDER" --format raw -o raw -- "$PROGRAMS/forks" 2 > raw.out 2> raw.err
check "--format raw records" equal $? 0
file=raw/recording.raw

plain --replay "$file" --format uftrace -o first.data
check "--replay FILE --format uftrace" equal $? 0
plain --replay "$file" --format uftrace -o second.data
check "replayed twice it is the same" diff -r first.data second.data
check "uftrace opens it without a complaint" uftrace_accepts first.data
check "it has every call" truth first.data raw.out

# Without root: the flow and the sinks need no kernel.
if command -v setpriv >/dev/null && chmod -R a+rX raw 2>/dev/null && mkdir anyone && chown 65534 anyone; then
	(cd anyone && setpriv --reuid 65534 --regid 65534 --clear-groups "$RECORDER" --replay "../$file" -o other.data) > /dev/null 2> other.err
	check "--replay needs no root" equal "$? $(tail -n 1 other.err | grep -ci permission)" "0 0"
fi

record once.data --format uftrace -- "$PROGRAMS/forks" 2 > once.out
check "recorded at once it has the same calls" diff <(calls_of first.data | grep -v ' sys_' | sort -k2) <(calls_of once.data | grep -v ' sys_' | sort -k2)

# Both at once: one recording, so that everything agrees, times and all.
"$RECORDER" --format uftrace,raw -o both.data -- "$PROGRAMS/threads" > both.out 2> both.err
plain --replay both.data/recording.raw -o again.data
shown() { uf replay --no-pager -d "$1" -f time,delta,duration,tid; }
check "what is replayed is what was written" cmp <(shown both.data) <(shown again.data)
check "and it is whole" truth again.data both.out

# What is no raw file is refused in one line, and so is half of one.
echo nonsense > nonsense
plain --replay nonsense -o none.data
check "a file of another kind is refused" [ $? -ne 0 ]
check "in one line that names it" grep -q "^recorder: .*nonsense" replay.err
head -c 5000 "$file" > half
plain --replay half -o half.data
status=$?
check "half a file is said to be damaged" grep -q "^recorder: .*half" replay.err
check "half a file ends as a failure or with what is left of it" [ $status -ne 0 -o -e half.data/info ]
