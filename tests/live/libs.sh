# libs.sh - functions of libraries: counted right, named right, before their first call, by whatever way the library came.
# limit: 300
. "$LIVE/lib.sh"
program uselib || exit 0

libc=(--functions='a64l@libc.so.6' --functions='insque@libc.so*' --functions='remque@libc')
everything=(--functions='*@*' "${libc[@]}")	# three of the C library by name: they are small, and their probes dear

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
record less.data --no-feature uprobe-session,uprobe-multi --functions --functions='*@libcounted*' "${libc[@]}" -- \
	"$PROGRAMS/uselib.opens" > less.out
check "without multi links: the calls it counted itself" truth less.data less.out

for wrong in '@libc.so.6' 'malloc@' ''; do
	"$RECORDER" --functions="$wrong" -o wrong.data -- true 2> wrong.err
	check "--functions='$wrong' is refused" equal "$? $(grep -c "^recorder: --functions: " wrong.err)" "2 1"
done
