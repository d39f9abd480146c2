# basjudge.sh - for the tests of bas text: its judges, and what they need. Read it after lib.sh.

# The interpreter itself, not something that looks for one: it is started often.
python=$(python3 -c 'import sys; print(sys.executable)')
bas() { "$python" -B "$LIVE/bas.py" "$@"; }

# strace of all that bas text has, under recorder: strace_to LOG COMMAND...
bas_calls=execve,execveat,open,openat,openat2,creat,close,close_range,pipe,pipe2,dup,dup2,dup3,fcntl,rename,renameat,renameat2
bas_calls+=,link,linkat,symlink,symlinkat,clone,clone3,fork,vfork,exit_group,exit,?fcntl64
strace_to=(strace -f -q -ttt -y -v -xx -s 9999999 -e abbrev=none -e "trace=$bas_calls" -o)

# sound FILE [OPTION...]: nothing lost, nothing that breaks the rules, as many events as its .stats say (a SysClone is part of one).
sound() {
	bas check "$@" > "$1.check" || { head -n 5 "$1.check"; return 1; }
	grep -qx 'lost 0' "$1.check" || { grep '^lost' "$1.check"; return 1; }
	[ "$(awk '/^entries/ { n += $2 } END { print n }' "$1.stats")" = \
		"$(awk '$1 !~ /^(lost|UPID|SysClone)$/ { n += $2 } END { print n }' "$1.check")" ] || { cat "$1.stats"; return 1; }
}
# count_of FILE TAG: after sound.
count_of() { awk -v tag="$2" '$1 == tag { n = $2 } END { print n + 0 }' "$1.check"; }
at_least() { [ "$1" -ge "$2" ] || { echo "is $1, want $2 at least"; return 1; }; }

# same_as_strace NAME COMMAND...: one run, seen by both. What the command says is in NAME.out, what was compared in NAME.same.
same_as_strace() {
	local name=$1 status; shift
	record "$name" --format bas -- "${strace_to[@]}" "$name.log" "$@" > "$name.out"
	status=$?
	[ $status -eq 0 ] || { echo "status $status"; tail -n 2 "$name.err"; return 1; }
	bas compare "$name" "$name.log" > "$name.same" || { grep -vE '^[a-z ]+ +[0-9]+$' "$name.same"; return 1; }
}

# told FILE PID TAG...: the events of one task from its last exec on, as a program of tests/programs says them.
told() {
	bas events -p "$2" "$1" New_proc "${@:3}" |
		awk -F'\t' '$2 == "New_proc" { n = 0; next } { row[n++] = $0 } END { for (i = 0; i < n; i++) print row[i] }'
}
# told_the_same FILE SAID TAG...: @SAID is what one task of the run said of itself. root=gone: nobody is left who has its
# root, so where links lead is not asked.
told_the_same() {
	local pid
	[ -s "$2" ] || { echo "the program said nothing"; return 1; }
	pid=$(head -n 1 "$2" | cut -f1)
	local gone="s/^/&/"
	[ -z "${root-}" ] || gone="s/\tSR=[^\t]*//"
	diff <(sed "$gone" "$2") <(told "$1" "$pid" "${@:3}" | sed "$gone") > "$1.diff" || { cut -c1-300 "$1.diff" | head -n 8; return 1; }
}
bas_files=(Open Close Pipe Dup RenameFrom Rename2From RenameFailed LinkFrom LinkatFrom LinkFailed Symlink)
