# syscalls.sh - system calls as uftrace shows them: names, arguments, results, and every one of them.
# beside others
. "$LIVE/lib.sh"

record args.data -- "$PROGRAMS/sysargs" > args.out
replay args.data > args.txt

line_with() {	# all of the words in one line
	local word found
	found=$(cat args.txt)
	for word; do
		found=$(grep -F -- "$word" <<<"$found") || { echo "no line has: $*"; grep -F -- "$1" args.txt | head -n 3; return 1; }
	done
}

while read -r kind rest; do
	case $kind in
	want)	check "calls: $rest" line_with "$rest;" ;;
	errno)	check "fails: $rest" line_with "${rest% *}" "= ${rest##* }" ;;
	some)	check "seen: $rest" line_with "$rest(" ;;
	flags)	check "flags: $rest" line_with $rest ;;
	esac
done < args.out
check "a string with odd bytes stays in its line" line_with sys_openat '/tmp/recorder' 'odd'
check "a long string is marked as cut" line_with sys_openat '"/xxxxxxx' '...'
check "the bytes written are shown" line_with 'sys_write(' 'hello pipe'
check "the bytes read are shown" line_with 'sys_read(' 'hello pipe'
check "uftrace opens it without a complaint" uftrace_accepts args.data

record short.data -s 8 -- "$PROGRAMS/sysargs" > /dev/null
replay short.data > args.txt
check "-s 8 takes eight bytes of a string" line_with sys_openat '"/etc/pas..."'
record long.data -s 64 -- "$PROGRAMS/sysargs" > /dev/null
replay long.data > args.txt
check "-s 64 takes sixty-four" grep -qE 'sys_openat\(AT_FDCWD, "/x{63}\.\.\."' args.txt

# The calls stand in a module of their own; a program may bear its name.
cp "$PROGRAMS/sysargs" syscall
record same.data -- ./syscall > /dev/null
check "a program named 'syscall' is told apart from them" uftrace_accepts same.data

# The storm: every call, to the unit, and nothing of what the kernel's own probes call.
record storm.data -- "$PROGRAMS/syscalls" 20000 > storm.out
check "a storm of calls is recorded to the unit" truth storm.data storm.out
check "the kernel's own uprobe calls are not shown" equal "$(calls_of storm.data | grep -cE 'sys_(335|336|uretprobe|uprobe)')" 0
record probed.data -- "$PROGRAMS/nested" > /dev/null
check "nor beside function probes" equal "$(calls_of probed.data | grep -cE 'sys_(335|336|uretprobe|uprobe)')" 0

# Which calls: --syscalls=SET, as strace -e trace=SET.
names() { calls_of "$1" | awk '$2 ~ /^sys_/ { print $2 }' | sort | tr '\n' ' '; }
set_is() {
	record set.data --no-functions "--syscalls=$1" -- "$PROGRAMS/syscalls" 100 > /dev/null
	equal "$(names set.data)" "$2"
}
check "--syscalls=NAME,NAME" set_is getppid,getpgid "sys_getpgid sys_getppid "
check "--syscalls=/regex/" set_is '/^getp' "sys_getpgid sys_getppid "
record file.data --no-functions '--syscalls=%file' -- "$PROGRAMS/syscalls" 100 > /dev/null
check "--syscalls=%file has readlinkat and openat" equal "$(names file.data | grep -oE 'sys_(readlinkat|openat|getppid|write) ' | tr -d '\n')" "sys_openat sys_readlinkat "
record not.data --no-functions '--syscalls=!getppid' -- "$PROGRAMS/syscalls" 100 > /dev/null
check "--syscalls=!NAME is all but that" equal "$(names not.data | grep -oE 'sys_(readlinkat|getppid|getpgid) ' | tr -d '\n')" "sys_getpgid sys_readlinkat "
record none.data --no-syscalls -- "$PROGRAMS/syscalls" 100 > /dev/null
check "--no-syscalls is none of them" equal "$(names none.data)" ""

# A call that does not come back is closed: the task that was killed in it, the one that exits, the one that execs.
record open.data -- bash -c 'sleep 100 & sleep 0.3; kill -9 $!; wait $! 2>/dev/null; exec true' > /dev/null
replay open.data > open.txt
check "a call in which a task is killed is closed" equal "$(grep -c 'sys_clock_nanosleep(.*{$' open.txt)" "$(grep -c '} .*/\* sys_clock_nanosleep \*/' open.txt)"
check "exit_group is closed" grep -qE 'sys_exit_group\(.*\);' open.txt
check "an exec is shown with its file" grep -qE 'sys_execve\("[^"]*/true"' open.txt
check "uftrace opens that too" uftrace_accepts open.data

# What a program gives is what it gave, though another thread changes it while the call waits.
cat > changes.py <<'PY'
import os, threading, time
r, w = os.pipe()
os.set_blocking(w, False)
try:
    while True:
        os.write(w, b'.' * 4096)
except BlockingIOError:
    os.set_blocking(w, True)
text = bytearray(b'ORIGINAL')
writer = threading.Thread(target=os.write, args=(w, text))
writer.start()
time.sleep(0.3)
text[:] = b'CHANGED!'
while os.read(r, 65536)[-1:] == b'.':
    pass
writer.join()
PY
command -v python3 > /dev/null && {
	record changes.data --no-functions '--syscalls=write' -- python3 changes.py
	replay changes.data > changes.txt
	check "a buffer is shown as it was given" grep -q 'sys_write(.*"ORIGINAL", 8) = 8' changes.txt
	check "... not as it became" equal "$(grep -c 'CHANGED' changes.txt)" 0
}
