# args.sh - arguments and results: what uftrace itself records of a -pg build and what recorder records of the plain one
# are shown alike; a program's own word for 100 000 calls; strings that cannot be read, or not at once.
# limit: 240
# beside others
. "$LIVE/lib.sh"
program values args || exit 0
values=$PROGRAMS/values

# tree DIR: what is shown of main and below, of the functions that a -pg build has too.
tree() { replay "$1" -F main | grep -av -e '^ *#' -e ' gone('; }

args='add@arg1,arg2;small@arg1/c,arg2/i16,arg3/i32,arg4/u32;show@arg1/s;where@arg1/p;strlen@arg1/s;getenv@PLT,arg1/s'
args+=';ten@arg1,arg2,arg3,arg4,arg5,arg6,arg7,arg8,arg9,arg10'
results='add@retval;small@retval/i32;name@retval/s;where@retval/p;strlen@retval'
alike() { diff <(tree pg.data) <(tree "$1"); }

if program values.pg "as uftrace shows them"; then
	uf record --no-event -d pg.data -A "$args" -R "$results" "$PROGRAMS/values.pg" > /dev/null
	check "uftrace shows arguments of the -pg build" grep -q 'add(-1, 99999) = 99998;' <(tree pg.data)
	record plain.data --no-syscalls -A "$args" -R "$results" -- "$values" > /dev/null
	check "every format is shown as uftrace shows it" alike plain.data
	for without in uprobe-session uprobe-session,uprobe-multi uprobe-session,uprobe-multi,uprobe-tracefs; do
		record without.data --no-syscalls --no-feature $without -A "$args" -R "$results" -- "$values" > /dev/null
		check "the same without $without" alike without.data
	done
	record dear.data --no-syscalls --no-dear -A "$args" -R "$results" -- "$values" > /dev/null
	check "a function that is named is probed with --no-dear, too" equal "$(tree dear.data | grep -ac ' add(')" 5
	record raw --format raw --no-syscalls -A "$args" -R "$results" -- "$values" > /dev/null
	"$RECORDER" -o replayed.data --replay raw/recording.raw 2> replayed.err
	check "a raw recording brings its arguments along" alike replayed.data

	# With filters: what is not recorded has no arguments.
	filtered_alike() {
		rm -rf pg.data
		uf record --no-event -d pg.data -A "$args" -R "$results" "$@" "$PROGRAMS/values.pg" > /dev/null
		record filtered.data --no-syscalls -A "$args" -R "$results" "$@" -- "$values" > /dev/null
		diff <(tree_of_all pg.data) <(tree_of_all filtered.data)
	}
	tree_of_all() { replay "$1" | grep -av -e '^ *#' -e ' gone(' -e __monstartup -e __cxa_atexit; }
	for filter in "-F ten" "-F ten -D 1" "-N other" "-N ten -F add" "-D 1" "-F add -F small"; do
		check "with $filter as uftrace records it" filtered_alike $filter
	done
	for without in uprobe-session uprobe-session,uprobe-multi; do
		record filtered.data --no-syscalls -A "$args" -R "$results" --no-feature $without -F add -F small -- "$values" \
			> /dev/null
		check "with filters, without $without" diff <(tree_of_all pg.data) <(tree_of_all filtered.data)
	done

	# Rules that meet, files, other places, and each format at the edges of what it can hold.
	more='wide@arg1/d8,arg2/d16,arg3/d32,arg4/d64,arg5/i,arg6/i8,arg7/i16,arg8/i32,arg9/u;narrow@arg9/u8,arg8/u16'
	more+=';narrow@arg7/u32,arg6/x,arg5/x8,arg4/x16;;narrow@arg3/x32,arg2/c,arg1/p;ad.*@arg1/x;^add$@arg1/i32;add@arg2'
	more+=';small@values,arg1;ten@arg1%stack+4,arg2/x%stack+1,arg3%rsi;name@arg1/i,arg1/x;show@libnone,arg1'
	uf record --no-event -d pg.data -A "$more" -A 'name@arg1/c' -R 'wide@retval/x' "$PROGRAMS/values.pg" > /dev/null
	record plain.data --no-syscalls -A "$more" -A 'name@arg1/c' -R 'wide@retval/x' -- "$values" > /dev/null
	check "more formats, rules and places are shown as uftrace shows them" alike plain.data
	check "and there are some" grep -aq 'narrow(255, 65535, ' <(tree plain.data)
fi

# What the program says of its own calls.
calls() { diff "$2" <(replay "$1" | sed -n "s/^ *\($3(.*;\)$/\1/p"); }
record many.data --no-syscalls --no-libcall -A 'check@arg1/i,arg2/x,arg3/s' -R check@retval/i32 -- \
	"$values" 100000 > many.out
check "100 000 calls, as the program has printed them" calls many.data many.out check
check "nothing was lost" grep -q 'lost: nothing' many.data.err

record bad.data --no-syscalls --no-libcall -A show@arg1/s -- "$values" bad > bad.out
check "strings that are none do no harm" equal $? 0
check "their addresses are shown" calls bad.data bad.out show
record file.data --no-syscalls --no-libcall -A show@arg1/s -- "$values" file
check "a string that is not in memory yet is fetched" \
	equal "$(replay file.data | grep -c 'show("a string in two pages");')" 100

twelve=$(for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf ',arg%d/s' $i; done)
record long.data --no-syscalls --no-libcall -A "twelve@${twelve#,}" -- "$values" long
replay long.data > long.txt
check "no more is shown of strings than a reader has room for" equal "$? $(grep -ac 'twelve(".*z\.\.\.' long.txt)" "0 1"
record cut.dat --format trace-dat --no-syscalls --no-libcall -A "twelve@${twelve#,}" -- "$values" long
check "trace.dat marks what it cuts too" grep -aq 'twelve(".*z\.\.\."' <(trace-cmd report -i cut.dat 2> /dev/null)
check "of bytes that are no text too" grep -aqP 'twelve\("(\x01|\\)' long.txt

# Where the best site is behind what the arguments need.
if [ "$(uname -m)" = x86_64 ]; then
	record gone.data --no-syscalls -A gone@arg1,arg2 -R gone@retval -- "$values" > /dev/null
	check "a register that is overwritten at once is read before" grep -q 'gone(5, 6) = 11;' <(replay gone.data)
fi

# Where the kernel probes no first instruction.
if program locked; then
	locked_calls() { replay "$1" | sed -n 's/^ *\(\(sum\|five\|first\)(.*;\)$/\1/p'; }
	record locked.data --no-syscalls --no-libcall -A 'sum@arg1/i32,arg2/i32' -R 'sum@retval/i32;five@retval/i32' -A first@arg1/s \
		-R first@retval/i32 -- "$PROGRAMS/locked" > locked.out
	check "a function whose start the kernel does not probe is there, with its numbers and results" \
		diff <(sed 's/("text")/()/' locked.out) <(locked_calls locked.data | sed 's/("text")/()/')
	record locked.auto.data --no-syscalls --no-libcall --auto-args -- "$PROGRAMS/locked" > locked.out
	check "so with --auto-args" diff <(sed 's/("text")/()/' locked.out) <(locked_calls locked.auto.data | sed 's/("text")/()/')
	if [ "$(uname -m)" = x86_64 ]; then
		check "but what its arguments point to is left out, as it may have changed" \
			equal "$(locked_calls locked.data | grep -c 'first() = 116;')" 10
		check "which is said" grep -q 'left out: of 1 function whose first instruction' locked.data.err
	fi
fi
for how in values.swaps "values --returns=never"; do
	set -- $how
	record entry.data --no-syscalls "${@:2}" -A "$args" -R "$results" -- "$PROGRAMS/$1" > /dev/null
	check "$how: arguments on the stack, the probe behind pushes" \
		grep -q ' ten(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)' <(replay entry.data)
	check "$how: a return that is not seen has no result" equal "$(replay entry.data | grep -c ' add(.* = ')" 0
done

# Loss. (The record that tells where the program lies may be among what is lost: then no value can be shown.)
record lossy.data --no-syscalls --no-libcall --simulate-drops 7 -A 'check@arg1/i,arg2/x,arg3/s' -R check@retval/i32 -- \
	"$values" 20000 > lossy.out
invented() { replay lossy.data | sed -n 's/^ *\(check(.*) = .*;\)$/\1/p' | grep -vxF -f lossy.out; }
check "with losses, no call is shown that was not made" equal "$(invented)" ""
check "what is lost is counted" grep -q 'lost: [1-9][0-9]* function' lossy.data.err

record none.data -A nosuchfunction@arg1 -- true
check "a function that is not there is said" grep -q 'what -A and -R name was not found' none.data.err
check "uftrace accepts it" uftrace_accepts entry.data
