# stack.sh - --max-stack: no more than so many recorded calls are open in a task, as with uftrace, and the others are counted.
# beside others
. "$LIVE/lib.sh"
program chain.pg || exit 0
program deep || exit 0

calls() { replay "$@" 2> /dev/null | grep -v '^ *#' | grep -vE '^((__monstartup|__cxa_atexit)\(\);|WARN: )'; }
# uftrace misses a library call from then on if its first one lay too deep.
as_uftrace() {
	rm -rf pg.data*
	uf record --no-event --no-libcall -d pg.data "$@" "$PROGRAMS/chain.pg" > /dev/null
	record chain.data --no-syscalls --no-libcall "$@" -- "$PROGRAMS/chain" > /dev/null
	diff <(calls pg.data) <(calls chain.data)
}
while read -r -a options; do
	check "as uftrace record ${options[*]}" as_uftrace "${options[@]}"
done << 'END_OF_OPTIONS'
--max-stack=1
--max-stack=4
--max-stack=2 -F again
--max-stack=4 -F inner -F outer -D 2
--max-stack=3 -F outer -N inner
--max-stack=3 -D 2
END_OF_OPTIONS

# Each call is recorded or counted.
not_recorded() { said "$1" | sed -n 's/.*--max-stack: \([0-9]*\) calls in more than .*/\1/p'; }
all_of() { calls_of "$1" | awk '{ n += $1 } END { print n + 0 }'; }
adds_up() { equal $(($(not_recorded "$1") + $(all_of "$1"))) "$(all_of "$2")"; }
record whole.data --no-syscalls -- "$PROGRAMS/deep" > deep.out
for n in 3 300 1000; do
	record deep.data --no-syscalls --max-stack=$n -- "$PROGRAMS/deep" > deep.out
	check "--max-stack=$n: what is not recorded is counted" adds_up deep.data whole.data
	check "... and some are" [ "$(not_recorded deep.data)" -gt 0 -a "$(all_of deep.data)" -ge $n ]
done

# However calls are left: without -F it is what -D is, by every way to probe.
as_depth() {
	record d.data --no-syscalls ${without:+--no-feature $without} -D $1 -- "${@:2}" > /dev/null
	record s.data --no-syscalls ${without:+--no-feature $without} --max-stack=$1 -- "${@:2}" > /dev/null
	diff <(calls d.data) <(calls s.data)
}
without=
check "left by longjmp(): as -D" as_depth 4 "$PROGRAMS/chain" leave
check "stacks that are switched: as -D" as_depth 3 "$PROGRAMS/coroutine"
check "signal stacks: as -D" as_depth 3 "$PROGRAMS/altstack"
check "tail calls: as -D" as_depth 4 "$PROGRAMS/tail"
for without in uprobe-session uprobe-session,uprobe-multi; do
	check "left by longjmp(), without $without: as -D" as_depth 4 "$PROGRAMS/chain" leave
done
record time.data --no-syscalls -t 1 --max-stack=3 -- "$PROGRAMS/chain" > /dev/null
record chain.data --no-syscalls --max-stack=3 -- "$PROGRAMS/chain" > /dev/null
check "with -t, too" diff <(calls chain.data) <(calls time.data)
