# rewrite.sh - files that are rewritten in place while recorded run right, and each content is recorded by its own names.
# limit: 300
. "$LIVE/lib.sh"
for p in content.red content.blue content.red.static content.blue.static bareexec unwind.static throw.static; do
	program "$p" rewrite || exit 0
done
cp "$PROGRAMS"/content.{red,blue}* "$PROGRAMS/bareexec" "$PROGRAMS/unwind.static" "$PROGRAMS/throw.static" .
for p in red blue red.static blue.static; do mv content.$p $p; done

check "the two contents have functions at the same places" [ \
	"$(sort <(nm red) <(nm blue) | awk '/ (red|blue)_/ { print $1 }' | uniq -d | wc -l)" -ge 2 ]

# rounds N WAY SUFFIX: one content, then the other, so many times, under one name.
cat > rounds.sh <<'SH'
way=$2 i=0
rm -f q
cp red$3 q
while [ $i -lt $1 ]; do
	[ $((i % 2)) = 0 ] && from=red$3 || from=blue$3
	case $way in
	cp)	cp $from q ;;
	cat)	cat $from > q ;;
	dd)	dd if=$from of=q conv=notrunc status=none ;;
	rename)	cp $from new && mv new q ;;
	strip)	cp $from q && ./q > /dev/null; strip q ;;
	esac
	./q
	echo "status $?"
	i=$((i + 1))
done
SH

# as_plain NAME OPTION... -- ROUNDS WAY [SUFFIX]
as_plain() {
	local name=$1 options=() with=; shift
	while [ "$1" != -- ]; do options+=("$1"); shift; done; shift
	with="$2$3, ${options[*]:-as is best}"
	sh rounds.sh "$@" > plain.out 2>&1
	record "$name.data" "${options[@]}" -- sh rounds.sh "$@" > "$name.out" 2>&1
	check "$with: $1 rounds as without recorder" diff plain.out "$name.out"
	[ "$2" = strip ] && return
	check "$with: every call of both, by its name" truth "$name.data" plain.out
	check "$with: uftrace opens it" uftrace_accepts "$name.data"
}

as_plain cp -- 20 cp ""
as_plain cat -- 20 cat ""
as_plain dd -- 20 dd ""
as_plain rename -- 6 rename ""
as_plain static -- 10 cp .static
as_plain strip -- 4 strip ""
as_plain nolease --no-feature file-lease -- 10 cp ""
as_plain pair --no-feature uprobe-session -- 10 cp ""

# By tracefs, mounted for us alone where it is not.
by_tracefs() {
	sh rounds.sh 6 cp > plain.out 2>&1
	rm -rf tracefs.data
	unshare -m sh -c '[ -e /sys/kernel/tracing/uprobe_events ] || mount -t tracefs tracefs /sys/kernel/tracing || exit 77
		exec "$0" -o tracefs.data --no-feature uprobe-session,uprobe-multi -- sh rounds.sh 6 cp' \
		"$RECORDER" > tracefs.out 2> tracefs.err
	[ $? = 77 ] && { skip "cp, by tracefs" "tracefs cannot be mounted"; return; }
	check "cp, by tracefs: 6 rounds as without recorder" diff plain.out tracefs.out
	# What comes after the first may be probed late there: the gate has to be open while probes go.
}
by_tracefs

# Without build-ids the two contents are told apart all the same.
for p in red blue; do objcopy --remove-section .note.gnu.build-id $p $p.noid; done
as_plain noid -- 4 cp .noid

# Who execs by a bare system call passes no gate: the write itself is what has to wait.
cat > bare.sh <<'SH'
cp red.static q; ./q
for i in 1 2 3 4 5 6 7 8 9 10; do
	./bareexec q blue.static; echo "status $?"
	./bareexec q red.static; echo "status $?"
done
SH
bare() {
	sh bare.sh > plain.out
	record bare.data -- sh bare.sh > bare.out 2>&1
	diff plain.out bare.out
}

# Who is not recorded rewrites what is, and runs it at once.
bystander() {
	local i pid status said=
	for i in 1 2 3 4 5; do
		rm -f go; cp red q
		"$RECORDER" -q -o by.data -- sh -c './q > /dev/null; : > go; exec sleep 5' & pid=$!
		while [ ! -e go ] && kill -0 $pid; do sleep 0.05; done
		cp blue q; ./q > /dev/null
		said+="$? "
		kill $pid; wait $pid
	done 2> /dev/null
	equal "$said" "4 4 4 4 4 "
}

# Both need a write that waits.
leases() { python3 -c 'import fcntl; fcntl.fcntl(open("red"), fcntl.F_SETLEASE, fcntl.F_RDLCK)' 2> /dev/null; }
for test in bare bystander; do
	if leases; then check "rewritten and run at once: $test" $test
	else skip "rewritten and run at once: $test" "this file system knows no leases"; fi
done

# A program with an unwinder of its own: what holds the probes of that is the agent, too.
cat > unwinder.sh <<'SH'
for i in 1 2 3; do
	cp unwind.static q; ./q; echo "status $?"
	cp throw.static q; ./q > /dev/null; echo "status $?"
done
SH
sh unwinder.sh > plain.out 2>&1
record unwinder.data -- sh unwinder.sh > unwinder.out 2>&1
check "programs that bring an unwinder" diff plain.out unwinder.out

# Libraries with an unwinder, of the program's own.
mkdir lib
for l in libgcc_s.so.1 libstdc++.so.6; do cp "$(gcc -print-file-name=$l)" lib/$l; cp lib/$l $l.again; done
cat > library.sh <<'SH'
export LD_LIBRARY_PATH=$PWD/lib
for i in 1 2 3; do
	"$1" > /dev/null; echo "status $?"
	cp libgcc_s.so.1.again lib/libgcc_s.so.1; cp libstdc++.so.6.again lib/libstdc++.so.6
done
SH
sh library.sh "$PROGRAMS/throw" > plain.out 2>&1
record library.data -- sh library.sh "$PROGRAMS/throw" > library.out 2>&1
check "libraries of one's own that unwind" diff plain.out library.out

# A program that was written to, but not changed, and one of which only the times and the mode were.
cat > same.sh <<'SH'
cp red q
for i in 1 2 3; do ./q; echo "status $?"; cp red q; ./q; touch q; chmod +x q; ./q; done
SH
sh same.sh > plain.out
record same.data -- sh same.sh > same.out
check "the same content again" diff plain.out same.out
check "the same content again: every call" truth same.data plain.out

# Code that is copied to memory of no file takes the breakpoints along; that is what the program dies of.
if program moves; then
	record moves.data -- "$PROGRAMS/moves" > moves.out
	check "a program that copies its own code: what it died of is said" \
		equal "$? $(said moves.data | grep -c 'SIGTRAP.*copy of its own code')" "133 1"
	record moves.data --no-functions -- "$PROGRAMS/moves" > moves.out
	check "... and runs right with what is advised" equal "$?$(cat moves.out)" "0$("$PROGRAMS/moves")"
fi
