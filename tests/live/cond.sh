# cond.sh - FUNC@if:argN==V: the calls whose arguments are such, and no others, by every way to probe.
# limit: 200
# beside others
. "$LIVE/lib.sh"
program cond || exit 0

# counts OPTION... WANT: "NAME COUNT ..." of what is recorded with these options, in the order of names.
counts() {
	record if.data --no-syscalls --no-libcall ${without:+--no-feature $without} "${@:1:$#-1}" -- "$PROGRAMS/cond" > if.out
	equal "$(calls_of if.data | awk '$2 ~ /^(pick|leaf|down|wide|swaps)$/ { print $2, $1 }' | sort | paste -sd ' ')" "${*: -1}"
}
run_all() {
	while IFS='|' read -r options want; do
		check "$options${without:+ (without $without)}" counts $options "$want"
	done
}
# pick() is called with -5 to 14, one leaf() each; down() with 9 to 0, one leaf() each.
# Without a size all of the register counts, as in uftrace: there an int that is negative is a large number.
without= run_all << 'END'
-F pick@if:arg1==3|leaf 1 pick 1
-F pick@if:arg1!=3|leaf 19 pick 19
-F pick@if:arg1<3|leaf 3 pick 3
-F pick@if:arg1/i32<3|leaf 8 pick 8
-F pick@if:arg1/i32>=-2 -D 1|pick 17
-F pick@if:arg1>-2|leaf 16 pick 16
-F pick@if:arg1==-5|leaf 1 pick 1
-F pick@if:arg1==3 -F pick@if:arg1==4|leaf 2 pick 2
-F pick@cond,if:arg1==3;pick@if:arg1==4|leaf 2 pick 2
-F pick@if:arg1==99|
-F pick -N pick@if:arg1==3|leaf 19 pick 19
-F !pick@if:arg1==3|down 10 leaf 29 pick 19 swaps 10 wide 12
-N pick@if:arg1==3|down 10 leaf 29 pick 19 swaps 10 wide 12
-H pick@if:arg1/i32<0|down 10 leaf 30 pick 15 swaps 10 wide 12
-H down@if:arg1==5 -F down|down 9 leaf 10
-F down@if:arg1==5|down 6 leaf 6
-F down -N down@if:arg1==5|down 4 leaf 4
-F down@if:arg1==5 -D 2|down 2 leaf 1
-F wide@if:arg1<0|wide 6
-F wide@if:arg2/u8>=10|wide 2
-F wide@if:arg4/u64>18446744073709551610|wide 5
-F wide@if:arg6==22|wide 1
-F swaps@if:arg1==7|swaps 1
-F swaps@if:arg1>=3|swaps 7
-T pick@filter,depth=1,if:arg1/i32>3|pick 11
-T pick@notrace,if:arg1==3|down 10 leaf 29 pick 19 swaps 10 wide 12
-T pick@trace_off,if:arg1==3|leaf 8 pick 8
-T pick@trace_off,if:arg1==3 -T down@trace_on,if:arg1==5|down 6 leaf 18 pick 8 swaps 10 wide 12
-T pick@hide,if:arg1==3|down 10 leaf 30 pick 19 swaps 10 wide 12
-T pick@trace_off,if:arg1==3;pick@trace_on,if:arg1==4|down 10 leaf 29 pick 19 swaps 10 wide 12
-C pick@if:arg1==3|pick 1
-C down@if:arg1==5|down 5
END

# Where returns are probed whatever the entry said, and where they are not at all.
for without in uprobe-session uprobe-session,uprobe-multi; do
	run_all << 'END'
-F pick@if:arg1==3|leaf 1 pick 1
-H down@if:arg1==5 -F down|down 9 leaf 10
-F down -N down@if:arg1==5|down 4 leaf 4
-H pick@if:arg1/i32<0|down 10 leaf 30 pick 15 swaps 10 wide 12
-T pick@trace_off,if:arg1==3|leaf 8 pick 8
-F swaps@if:arg1==7|swaps 1
END
	check "... no end is inferred" equal "$(grep -c 'ends inferred' if.data.err)" 0
done
without=
check "without returns" counts --returns=never -F down@if:arg1==5 "down 6 leaf 6"
check "uftrace accepts it" uftrace_accepts if.data

# What is hidden for some calls is whole for the others: nesting and ends are as replayed.
record whole.data --no-syscalls --no-libcall -- "$PROGRAMS/cond" > if.out
check "all of it is what the program counts" truth whole.data if.out
record if.data --no-syscalls --no-libcall -H down@if:arg1==5 -F down -- "$PROGRAMS/cond" > if.out
check "a hidden call leaves its callees where they are" equal \
	"$(replay if.data | grep -c '} /\* down \*/')" 9
check "no end is inferred" equal "$(grep -c 'ends inferred' if.data.err)" 0
record if.data --no-syscalls -F pick@if:arg1==3 -A pick@arg1/i32 -- "$PROGRAMS/cond" > if.out
check "with -A" equal "$(replay if.data | grep -c ' *pick(3) {')" 1
record if.data --no-syscalls -T pick@finish,if:arg1==3 -- "$PROGRAMS/cond" > if.out
check "finish at the call that is meant" equal "$(grep -c '^recorder: finished by pick()' if.data.err) $(report_calls if.data pick)" "1 9"
record if.data --no-syscalls -t 1 -F pick@if:arg1==3 -- "$PROGRAMS/cond" > if.out
check "with -t" equal "$(report_calls if.data pick) $(report_calls if.data leaf)" "1 1"
if program goes; then
	record go.data --no-syscalls -F 'main.main@if:arg1==1' -- "$PROGRAMS/goes" > /dev/null
	check "of Go functions it is said that they are not met" grep -q 'Go passes arguments in a way of its own' go.data.err
fi
