# programs.sh - programs of every kind do under recorder what they do without it, and the recording says how often each
# function was called, by the program's own count.
# limit: 600
# beside others
. "$LIVE/lib.sh"

# same NAME PROGRAM [ARG...]: same output, same messages, same end; options of recorder in the array "with".
same() {
	local name=$1 program=$2 plain traced; shift 2
	program "$program" "$name" || return 1
	"$PROGRAMS/$program" "$@" > plain.out 2> plain.err
	plain=$?
	record "$name.data" ${with[@]+"${with[@]}"} -- "$PROGRAMS/$program" "$@" > "$name.out"
	traced=$?
	check "$name ends as it does untraced" equal $traced $plain || tail -n 5 "$name.data.err" >&2
	check "$name says what it says untraced" cmp plain.out "$name.out"
}

# counted NAME PROGRAM [ARG...]: the same, and its truth.
counted() {
	same "$@" || return
	check "$1: the calls it counted itself" truth "$1.data" "$1.out"
	check "$1: uftrace opens it without a complaint" uftrace_accepts "$1.data"
}

with=()
for p in nested threads forks storm deep longjmp threadend mainexit backtrace coroutine altstack spawn work throw \
	 nested.O0 nested.cet nested.nop nested.clang nested.static nested.static-pie nested.nopie nested.pg \
	 throw.static throw.staticlibs instrumented forks.nop rusty goes; do
	counted "$p" "$p"
	rm -rf ./*.data
done

# A jump to a function is a call of it too, and both end.
counted tail tail

# What -O2 makes of a function may be so small that its probe takes longer than it does.
for p in nested.O2 throw.O2; do
	counted "$p" "$p"
	rm -rf ./*.data
done

# Where a program's forks are safe, the cheapest sites may be used too.
with=(--nop5)
counted nested.nop5 nested.nop

# Stripped files have no names to compare, but what .eh_frame tells of them is recorded: some function was called as
# often as fib() was.
with=()
same stripped nested.stripped && {
	check "stripped: its functions are found" grep -q '^1973 ' <(calls_of stripped.data)
	check "stripped: uftrace opens it without a complaint" uftrace_accepts stripped.data
}
same throw.stripped throw.stripped && check "throw.stripped: uftrace opens it" uftrace_accepts throw.stripped.data
same goes.stripped goes.stripped && check "goes.stripped: uftrace opens it" uftrace_accepts goes.stripped.data

"$PROGRAMS/compat32" > /dev/null 2>&1
if [ $? -eq 126 ]; then
	skip compat32 "this kernel runs no 32-bit program"
elif program compat32; then
	same compat32 compat32 && check "compat32: calls by the other table's numbers" equal "$(report_calls compat32.data compat_sys_getppid)" 100
	record few32.data --syscalls=getppid -- "$PROGRAMS/compat32" > /dev/null
	check "... and only those that were asked for" equal "$(report_calls few32.data compat_sys_getppid) $(report_calls few32.data compat_sys_write)" "100 0"
fi

# After exceptions and jumps the depth is what it was: main()'s last ten calls of after() stand directly in main().
for p in longjmp throw backtrace altstack; do
	record "$p.data" -- "$PROGRAMS/$p" > /dev/null
	check "after $p the depth is right" [ "$(replay "$p.data" -F main | grep -c '^  after(')" -ge 10 ]
	rm -rf ./*.data
done
record longjmp.data -- "$PROGRAMS/longjmp" > /dev/null
check "what is called after a longjmp stands beside what was left" equal "$(replay longjmp.data -F main | grep -c '^    after(')" 25
rm -rf ./*.data
record deep.data -- "$PROGRAMS/deep" > /dev/null
deepest=$(replay deep.data -F main | sed -n 's/^\( *\)down(.*/\1/p' | awk '{ if (length($0) > n) n = length($0) } END { print n / 2 }')
check "1000 deep is 1000 deep" equal "$deepest" 1001
