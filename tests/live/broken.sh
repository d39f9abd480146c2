# broken.sh - programs with bits flipped in their debug information and in the notes of their USDT probes: they run as
# untraced, recorder ends as always, and uftrace reads the recording.
. "$LIVE/lib.sh"
need python3
program probes || exit 0

# What each copy of folder $1 says and how it ends, one after the other.
cat > each <<'END'
#!/bin/sh
for f in "$1"/*; do echo "$f"; "$f"; echo "ends with $?"; done
END
chmod +x each
# A probe behind a semaphore is hit only while somebody looks, and the semaphore is shown as it is.
alike() { diff <(grep -v 'guarded\|watched' plain.out) <(grep -v 'guarded\|watched' traced.out); }

# flipped WHAT SECTIONS OPTION...: a few dozen copies in one recording
flipped() {
	python3 "$LIVE/broken.py" "$PROGRAMS/probes" "$2" 30 1 "$1"
	./each "$1" > plain.out
	timeout 60 "$RECORDER" -o "$1.data" --no-syscalls "${@:3}" -- ./each "$1" > traced.out 2> "$1.data.err"
	check "$1: recorder ends well" equal $? 0
	check "$1: all programs say what they say untraced" alike
	check "$1: nothing is lost" grep -q '^recorder: lost: nothing' "$1.data.err"
	check "$1: uftrace opens the recording" uftrace_accepts "$1.data"
	check "$1: every program is in it" equal "$(grep -c "exename=\"$PWD/$1/" "$1.data/task.txt")" 30
}
flipped debug .debug --auto-args --srcline -L probes.c
check "... with functions of what is still told" grep -q 'probes.c:' <(replay debug.data --srcline)
flipped usdt .note.stapsdt --no-functions '--usdt=*'
check "... with probes of what is still told" grep -q 'program:compiled(' <(replay usdt.data)

# The debug file of a program is no better.
mkdir linked && cp "$PROGRAMS/probes" linked && python3 "$LIVE/broken.py" "$PROGRAMS/probes" .debug 12 2 debug.files
(cd linked && objcopy --only-keep-debug probes probes.debug && strip -g probes && objcopy --add-gnu-debuglink=probes.debug probes)
linked/probes > plain.out
from_broken_files() {
	for f in debug.files/*; do
		objcopy --only-keep-debug "$f" linked/probes.debug 2> /dev/null || cp "$f" linked/probes.debug
		"$RECORDER" --dry-run --auto-args --srcline -L probes.c -- linked/probes || return
	done
	record linked.data --no-syscalls --auto-args --srcline -L probes.c -- linked/probes > traced.out && alike
}
check "debug files with flipped bits" from_broken_files
