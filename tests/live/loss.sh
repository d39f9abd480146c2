# loss.sh - nothing is lost silently: stored and lost together are what was produced, to the unit, per class.
# limit: 300
. "$LIVE/lib.sh"
need python3

lie_the_same

count() { python3 "$LIVE/rawcount.py" "$1/recording.raw" > "$1.count" && cat "$1.count"; }
# field WHICH CLASS: of the last count; classes are 2 task, 3 syscall, 4 function, as rawcount.py prints them.
field() { awk -v w="$2" -v f="$3" '$1 == w { print $f }' "$1.count"; }
classes=(- - task syscall function)

# produced NAME COMMAND...: how many records of each class the command makes, from a recording that lost nothing.
# accounted NAME OPTION... : the same command with the options of a small ring, and the sum. format=: the formats, raw and others.
accounted() {
	local name=$1 small=$2 class at_all=0; shift 2
	record whole --format "${format:-raw}" -b 64M --memory 1G "$@" > /dev/null
	count whole > /dev/null || { not_ok "$name" "no raw file: $(tail -n 2 whole.err)"; return; }
	check "$name: a large ring loses nothing" equal "$(awk '$1 == "lost" { $1 = ""; gsub(/[ 0]/, ""); print $0 "nothing" }' whole.count)" nothing
	record part --format "${format:-raw}" $small "$@" > /dev/null
	count part > /dev/null || { not_ok "$name" "no raw file: $(tail -n 2 part.err)"; return; }
	for class in 2 3 4; do
		check "$name: ${classes[class]} records, stored + lost = produced" equal \
			"$(($(field part stored $class) + $(field part lost $class)))" "$(field whole stored $class)"
		at_all=$((at_all + $(field part lost $class)))
	done
	check "$name: something was lost at all" [ $at_all -gt 0 ]
	check "$name: the summary says the same" equal \
		"$(said part | sed -n 's/^recorder: lost: \([0-9]*\) function, \([0-9]*\) syscall, \([0-9]*\) task records.*/\3 \2 \1 0 0/p')" \
		"$(sed -n 's/^lost //p' part.count)"
	rm -rf whole part
}

# Storms run before recorder's own threads, where there is but one CPU for both: what is drained as it comes is not lost.
first=$(chrt -f 1 true 2> /dev/null && echo chrt -f 1)
accounted "a storm of functions" "-b 64K" --no-syscalls -- $first "$PROGRAMS/storm" 300000
accounted "a storm of system calls" "-b 64K" --no-functions -- $first "$PROGRAMS/syscalls" 300000
accounted "a storm of both" "-b 64K" -- $first "$PROGRAMS/storm" 300000
format=raw,bas accounted "a storm of files" "-b 64K" --no-functions --no-syscalls -- $first \
	sh -c 'i=0; while [ $i -lt 20000 ]; do : < /dev/null; i=$((i + 1)); done'
# Of a fork whose entry is lost two returns are not seen, so its functions are not asked for here.
accounted "drops on purpose" "--simulate-drops 7" -- "$PROGRAMS/nested"
# A lost entry takes its return with it where one program has both, and does not where there are two.
for way in session pair; do
	denied=
	[ $way = session ] || denied='--no-feature uprobe-session'
	accounted "drops of a $way" "--simulate-drops 7" $denied --no-syscalls -- "$PROGRAMS/nested"
	accounted "drops of a $way, with filters" "--simulate-drops 7" $denied --no-syscalls -N '^leaf$' -- "$PROGRAMS/nested"
	accounted "drops of a $way, with arguments" "--simulate-drops 7" $denied --no-syscalls --auto-args -- "$PROGRAMS/nested"
	accounted "drops of a $way, with both" "--simulate-drops 7" $denied --no-syscalls -N '^leaf$' --auto-args -- "$PROGRAMS/nested"
done
accounted "drops in a tree of processes" "--simulate-drops 7" --no-functions -- "$PROGRAMS/forks" 3

record strict --format raw -b 64K --no-functions --strict -- $first "$PROGRAMS/syscalls" 300000 > /dev/null
check "--strict: losses in the exit status" equal $? 3
"$RECORDER" -q --format trace-dat -o strict.dat --strict --replay strict/recording.raw 2> strict.err
check "... of what is replayed, too" equal $? 3

# What uftrace shows of it, and that it still opens.
record lost.data -b 64K -- $first "$PROGRAMS/storm" 300000 > lost.out
check "a program runs on while records are lost" grep -q '^calls spin 300000$' lost.out
check "uftrace opens what is left" uftrace_accepts lost.data
said=$(said lost.data | sed -n 's/^recorder: lost: \([0-9]*\) function, \([0-9]*\) syscall, \([0-9]*\) task.*/\1 + \2 + \3/p')
check "uftrace shows every lost record as LOST" equal "$(lost_shown lost.data)" "$((${said:-0}))"
check "the summary names the option that helps" grep -q -- ' -b ' <(said lost.data)
check "calls left and lost are not more than were made" [ "$(report_calls lost.data spin)" -le 300000 ]

record strict.data --strict -b 64K -- $first "$PROGRAMS/storm" 300000 > /dev/null
check "--strict: loss is exit status 3" equal $? 3
record strict.data --strict -- /bin/true
check "--strict: no loss, no 3" equal $? 0
record drops.data --simulate-drops 5 -- "$PROGRAMS/nested" > drops.out
check "--simulate-drops: the program runs as ever" equal $? 0
check "--simulate-drops: uftrace opens it" uftrace_accepts drops.data
check "--simulate-drops: it is shown" [ "$(lost_shown drops.data)" -gt 0 ]
