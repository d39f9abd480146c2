# values.sh - arguments and results that are no plain numbers: floating point, structures, strings of C++.
# beside others
. "$LIVE/lib.sh"
program reals values || exit 0
reals=$PROGRAMS/reals

tree() { replay "$1" -F main | grep -av -e '^ *#'; }
args='twice@fparg1;half@arg1/f32,fparg2/64;precise@fparg1/80%stack+1;mixed@arg1/i32,fparg1,arg2/s,fparg2/32'
args+=';eight@fparg1/32,fparg2,fparg3/32,fparg4,fparg5/32,fparg6,fparg7/32,fparg8;pair@arg1/t16:Pair'
args+=';block@arg1/i32,arg2/t40:Block%stack+1;point@arg1/t16%xmm0+xmm1;show@arg1/S;longer@arg1/S'
args+=';geo::Circle::scale@fparg1'
results='twice@retval/f;half@retval/f32;precise@retval/f80;eight@retval/f64;makes_pair@retval/t16:Pair;longer@retval/S'
results+=';^geo::.*@retval/f'
alike() { diff <(tree pg.data) <(tree "$1"); }

if program reals.pg "as uftrace shows them"; then
	uf record --no-event -d pg.data -A "$args" -R "$results" "$PROGRAMS/reals.pg" > /dev/null
	check "uftrace shows what the -pg build has" grep -q 'half(0.100000, 0.100000) = 0.150000;' <(tree pg.data)
	record plain.data --no-syscalls -A "$args" -R "$results" -- "$reals"
	check "every kind is shown as uftrace shows it" alike plain.data
	record pairs.data --no-syscalls --no-feature uprobe-session -A "$args" -R "$results" -- "$reals"
	check "the same without sessions" alike pairs.data
	# Single perf events take their time to go: one function is enough.
	record perf.data --no-syscalls --functions=half --no-feature uprobe-session,uprobe-multi -A "$args" \
		-R "$results" -- "$reals"
	halves() { replay "$1" | grep -ao 'half(.*;'; }
	check "numbers without multi links" diff <(halves pg.data) <(halves perf.data)
	record raw --format raw --no-syscalls -A "$args" -R "$results" -- "$reals"
	"$RECORDER" -o replayed.data --replay raw/recording.raw 2> replayed.err
	check "a raw recording brings them along" alike replayed.data
fi

# Where uftrace itself is wrong (its -pg build loses the first vector register), or has no word for it.
record more.data --no-syscalls \
	-A 'ten@fparg9,fparg10,fparg1%xmm7;precise@fparg1/80;mixed@fparg1/32%XMM1;scale@fparg1' -R 'mixed@retval/f' -- "$reals"
tree more.data > more.txt
check "the ninth is on the stack, others where they are said to be" grep -q ' ten(9.000000, 10.000000, 8.000000);' more.txt
check "a long double is on the stack" grep -q ' precise(0.100000);' more.txt
check "a vector register by name" grep -q ' mixed(7.750000) = 126.500000;' more.txt
check "a method is not meant by its last name alone" equal "$(grep -c 'scale(4' more.txt)" 0
record bytes.data --no-syscalls -A 'pair@arg1/t16:Pair;block@arg2/t40%stack+1' -- "$reals"
bytes() {
	uf dump --no-pager -d bytes.data |
		sed -n "/\[entry\] $1(/,/\[exit/s/^\t\(.*[0-9a-f]\) *$/\1/p" | tr -s ' \n' ' '
}
word() { printf '%02x 00 00 00 00 00 00 00 ' "$@"; }
check "a structure's bytes, out of registers" equal "$(bytes pair)" "$(word 1 2)"
check "and from the stack" equal "$(bytes block)" "$(word 1 2 3 4 5)"

# What the program says of its own calls, while others want both CPUs.
calls() {
	local file
	for file in "$1"/[0-9]*.dat; do
		replay "$1" --tid "$(basename "$file" .dat)"
	done | sed -n "s/^ *\($2(.*;\)$/\1/p" | sort
}
busy() { timeout 60 sh -c 'while :; do :; done' & }
busy; one=$!; busy; two=$!
record many.data --no-syscalls --no-libcall -A 'check@fparg1,fparg2/32,arg1' -R check@retval/f -- \
	"$reals" 20000 2 > many.out
kill $one $two
check "120 000 values in calls of two threads on busy CPUs, as the program has printed them" \
	diff <(sort many.out) <(calls many.data check)
check "nothing was lost" grep -q 'lost: nothing' many.data.err

record bad.data --no-syscalls --no-libcall -A show@arg1/S -- "$reals" bad > bad.out
check "strings that are none do no harm" equal $? 0
check "their addresses are shown" diff <(sort bad.out) <(calls bad.data show)
record libcxx.data --no-syscalls --no-libcall -A other@arg1/S -- "$reals" libcxx
check "strings of libc++" equal "$(calls libcxx.data other)" \
	"$(printf '%s\n' 'other("a long string of libc++, in memory of its own"s);' 'other("short"s);')"

record nan.data --no-syscalls --no-feature vector-registers -A 'twice@fparg1;ten@fparg9' \
	-R twice@retval/f -- "$reals"
check "what cannot be read is no number" equal "$(tree nan.data | grep -c 'twice(nan) = nan;')" 11
check "what is on the stack needs no registers" grep -q ' ten(9.000000);' <(tree nan.data)
check "and it is said" grep -q 'shown as nan' nan.data.err
check "uftrace accepts it" uftrace_accepts plain.data

# Read while the task gives its CPU away, to threads that meet the same probe on it: no number is another's, with filters, too.
crowd() {
	record crowded.data --no-syscalls "$@" -A twice@fparg1 -R twice@retval/f64 -- taskset -c 0 "$PROGRAMS/crowded" 16 200 > crowded.out
	equal "$(cat crowded.out)" 40803200 || return
	command uftrace replay -d crowded.data -f tid --no-merge |
		sed -nE 's/^ *\[ *([0-9]+)\] \| *twice\(([0-9.]+)\) \{.*/\1 in \2/p; s/^ *\[ *([0-9]+)\] \| *\} = ([0-9.]+); .*twice.*/\1 out \2/p' |
		awk '$2 == "in" { n++; if (!($1 in of)) of[$1] = $3 % 64; if (of[$1] != $3 % 64) bad++; x[$1] = $3; next }
		     { m++; if ($3 != 2 * x[$1]) bad++ } END { print n + 0, m + 0, bad + 0 }' > crowded.sums
	equal "$(cat crowded.sums)" "3200 3200 0"
}
program crowded && {
	check "16 threads on one CPU" crowd
	check "... of one function's" crowd -F run
	check "... without another's" crowd -N main -D 5
	check "... that take longer than -t says" crowd -t 1ns
}
