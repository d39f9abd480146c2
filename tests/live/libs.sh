# libs.sh - functions of libraries: counted right, named right, before their first call, by whatever way the library came.
# limit: 600
. "$LIVE/lib.sh"
program uselib || exit 0

libc=(--functions='a64l@libc.so.6' --functions='insque@libc.so*' --functions='remque@libc'
      --functions='strspn@libc.so.6')
everything=(--functions='*@*' "${libc[@]}")	# these of the C library by name: some are small, and their probes dear

for p in uselib uselib.opens; do
	"$PROGRAMS/$p" > plain.out
	for syscalls in --syscalls --no-syscalls; do
		record all.data $syscalls "${everything[@]}" -- "$PROGRAMS/$p" > all.out
		check "$p $syscalls: ends well" equal $? 0
		check "$p $syscalls: says what it says untraced" cmp plain.out all.out
		check "$p $syscalls: the calls it counted itself" truth all.data all.out
		check "$p $syscalls: uftrace opens it without a complaint" uftrace_accepts all.data
		check "$p $syscalls: nothing was missed" equal "$(said all.data | grep -c 'were missed')" 0
	done
done
check "calls into a library nest in who calls it" \
	equal "$(replay all.data -F counted_each | grep -v '^#' | tr -d ' \n' | cut -c1-40)" \
	"counted_each(){callback();callback();cal"
check "the dynamic linker is left out, and that is said" grep -q 'left out: .*the dynamic linker' <(said all.data)

# A library that two processes map, one after the other, and one that was probed for the first.
record twice.data "${everything[@]}" -- sh -c '"$PROGRAMS/uselib"; "$PROGRAMS/uselib.opens"' > twice.out
check "three processes and one library" truth twice.data twice.out

# Programs of every kind do what they do untraced, with every function of every library probed.
same() {
	local name=$1 want; shift
	"$@" > plain.out 2>&1
	want=$?
	record same.data -q --functions='*@*' -- "$@" > same.out
	check "$name with '*@*' ends as it does untraced" equal $? $want
	check "$name with '*@*' says what it says untraced" cmp plain.out <(cat same.out same.data.err)
}
for p in throw unwind threadend backtrace longjmp spawn coroutine altstack forks plug rusty goes; do
	program $p && same $p "$PROGRAMS/$p"
done
real() {
	command -v "$1" > /dev/null || { skip "$1" "$1 is not there"; return; }
	same "$1" "$@"
}
real sqlite3 :memory: 'create table t(a); insert into t values (1), (2); select sum(a) from t;'
real bash -c 'trap "echo trapped" USR1; kill -USR1 $$; echo $(echo one | sed s/one/two/); exit 3'
real perl -e 'eval { die "x\n" }; print $@; system("true"); exit 4'
real git -C "$LIVE" log --oneline -5

# What is asked for, and nothing else.
record some.data --no-syscalls --functions='counted_*@libcounted.so' -- "$PROGRAMS/uselib" > /dev/null
check "only these functions of this library" \
	equal "$(calls_of some.data | sort -k 2 | tr '\n' ' ')" "1 counted_each 465 counted_fib 1 counted_truth "
record own.data --no-syscalls --functions='call*' -- "$PROGRAMS/uselib" > /dev/null
check "a pattern without a library means the program" \
	equal "$(calls_of own.data | sort -k 2 | tr '\n' ' ')" "1 call_libc 5 callback "
record both.data --functions "${libc[@]}" -- "$PROGRAMS/uselib" > both.out
check "the program's own, and some of a library: not its stubs besides" \
	equal "$(report_calls both.data a64l) $(report_calls both.data call_libc)" "11 1"
record stubs.data --functions='a64l@PLT' -- "$PROGRAMS/uselib" > /dev/null
check "stubs are asked for by @PLT" equal "$(report_calls stubs.data a64l)" 11
record none.data --functions='*@libnothing' -- "$PROGRAMS/uselib" > /dev/null
check "a library that never comes harms nothing" equal "$(report_calls none.data counted_fib)" 0

# tracefs takes its probes one by one, which is too slow for a whole C library.
record less.data --no-feature uprobe-session "${everything[@]}" -- "$PROGRAMS/uselib.opens" > less.out
check "without sessions: the calls it counted itself" truth less.data less.out
record less.data --no-feature uprobe-session,uprobe-multi --functions='counted_*@libcounted*' -- "$PROGRAMS/uselib.opens" > less.out
check "without multi links: the calls it counted itself" truth less.data <(grep ' counted_' less.out)

# Recorder itself is not to hit the probes it sets; its command sees nothing of how that is done.
see() { LD_PRELOAD=$2 record see.data "${@:3}" -- sh -c 'env | grep -v "^_="; ulimit -a; umask; ls -l /proc/self/fd | sed "s/.* \([0-9]* -> \)/\1/; s/[0-9]*.fd$//; s/pipe:.*/pipe/"
	grep -E "^(Sig(Blk|Ign|Cgt)|Cap|NoNew)" /proc/self/status; cat /proc/$PPID/comm' > "$1"; }
for preload in "" libm.so.6; do
	(trap "" CHLD; see plain.env "$preload")
	(trap "" CHLD; see apart.env "$preload" --functions='*@libc.so.6')
	check "the command's surroundings are the same, LD_PRELOAD='$preload'" diff plain.env apart.env
done
record apart.data --functions='*@libc.so.6' -- sh -c 'cat /proc/$PPID/maps' > maps
check "recorder's own C library is a copy" equal "$(grep -c ' /.*/libc\.so' maps)" 0

for wrong in '@libc.so.6' 'malloc@' ''; do
	"$RECORDER" --functions="$wrong" -o wrong.data -- true 2> wrong.err
	check "--functions='$wrong' is refused" equal "$? $(grep -c "^recorder: --functions: " wrong.err)" "2 1"
done
