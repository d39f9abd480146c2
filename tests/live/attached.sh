# attached.sh - for the tests of processes that run already: a program that takes orders, and recorder beside it.
# Read it after lib.sh.

# Until the command succeeds, for 20 s at most.
wait_for() {
	local i
	for ((i = 0; i < 2000; i++)); do
		"$@" && return
		sleep 0.01
	done
	echo "in vain: $*"
	return 1
}

# A program that waits for orders; its number is $served, its output in served.out.
serve() {
	rm -f orders served.out; mkfifo orders
	"$@" < orders >> served.out 2>&1 &
	served=$!
	exec 8> orders
	wait_for grep -q ready served.out
}
tell() { printf '%s\n' "$@" >&8; }
# Until the orders given are done.
done_all() { tell count; wait_for grep -q '^calls work' served.out; }
served_status() { exec 8>&-; wait "$served"; }

# attach DIR OPTION...: until it says that it records; its number is $recorder.
attach() {
	local dir=$1; shift
	rm -rf "$dir" "$dir.old" "$dir.calls"
	: > "$dir.err"		# what the last one said is not said now
	# A shell without job control has what it puts into the background ignore Ctrl-C.
	env --default-signal=INT "$RECORDER" -o "$dir" "$@" 2> "$dir.err" 8>&- &
	recorder=$!
	wait_for grep -q '^recorder: recording' "$dir.err" || cat "$dir.err"
}
detach() { kill -"${1-INT}" $recorder; wait $recorder; }

# Has the process its program's text as the file has it? (Not its libraries': other recordings may probe those.)
text_is_whole() {
	python3 - "$1" <<-'PY'
	import os, sys
	exe = os.readlink(f"/proc/{sys.argv[1]}/exe")
	seen = 0
	for line in open(f"/proc/{sys.argv[1]}/maps"):
	    word = line.split()
	    if "x" not in word[1] or word[5:] != [exe]:
	        continue
	    start, end = (int(x, 16) for x in word[0].split("-"))
	    with open(f"/proc/{sys.argv[1]}/mem", "rb") as m, open(exe, "rb") as f:
	        m.seek(start); f.seek(int(word[2], 16))
	        have, want = m.read(end - start), f.read(end - start)
	    seen += len(want)
	    if have[:len(want)] != want:
	        sys.exit(f"{exe} is not what its file is")
	sys.exit(None if seen else "no text was found")
	PY
}
