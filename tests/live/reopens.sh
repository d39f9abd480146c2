# reopens.sh - calls bear the names of the library that lay there then, in that process: where one comes in the place of another,
# lies in two places, or a process and its forked child have different ones in one place.
# limit: 120
# beside others
. "$LIVE/lib.sh"
program reopens || exit 0
red=$PROGRAMS/relib.red.so blue=$PROGRAMS/relib.blue.so

# named NAME ARGUMENT...: each call under its own name, also where not all of the libraries are probed, and with arguments.
named() {
	local name=$1; shift
	record data --no-syscalls --functions='*@relib.*' -- "$PROGRAMS/reopens" "$@" > data.out
	check "$name: ends well" equal $? 0
	check "$name: the calls it counted itself" truth data data.out
	check "$name: no other name, and no address" equal "$(calls_of data | awk '{ print $2 }' | sort | tr '\n' ' ')" \
		"$(awk '{ print $2 }' data.out | sort | tr '\n' ' ')"
	check "$name: uftrace opens it without a complaint" uftrace_accepts data
	record args --no-syscalls -A 'red@arg1/i32' -A 'blue@arg1/i32' --functions='*@relib.*' -- "$PROGRAMS/reopens" "$@" > args.out
	check "$name: with arguments" equal "$(replay args | grep -cE '(red|blue)\([0-9]+\);')" "$(awk '{ n += $3 } END { print n }' args.out)"
	record one --no-syscalls --functions='*@relib.red.so' -- "$PROGRAMS/reopens" "$@" > one.out
	check "$name: of one library alone" truth one <(grep ' red ' one.out)
}

named "one after the other" "$red" "$blue"
named "one, the other, and the first again" "$red" "$blue" "$red" "$blue" "$blue" "$red"
named "in two places" --twice "$red"
named "a child with another in the same place" --fork "$red" "$blue"
named "a child with the same" --fork "$red" "$red"
