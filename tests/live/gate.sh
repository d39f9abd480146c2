# gate.sh - who execs a file or maps one waits until it is probed; where that needs no probe, nobody's libraries have any.
# limit: 120
. "$LIVE/lib.sh"
. "$LIVE/attached.sh"
need python3 strip
for p in nested nested.static bareexec throw rereads; do program "$p" || exit 0; done
lie_the_same

"$RECORDER" --doctor > doctor
has() { grep -q "^ *$1 *yes" doctor; }
has task-work && by_work=1 || by_work=

# whole NAME OPTION... -- COMMAND...: every call of every program, the first included, and the command's own output.
whole() {
	local name=$1; shift
	record "$name" "$@" > "$name.out" || { echo "status $?"; said "$name"; return 1; }
	truth "$name" "$name.out" && { said "$name" | grep 'before their functions were probed' && return 1; true; }
}

cp "$PROGRAMS/nested" "$PROGRAMS/nested.static" .
strip -o bareexec "$PROGRAMS/bareexec"		# whose main() has no name, then
cat > tree.sh <<'SH'
./nested; (exec ./nested); env ./nested; ./nested.static
for i in 1 2 3; do ./nested & done; wait
SH
check "by the C library's execve: whole from the first call" whole tree -- sh tree.sh
check "... so it is where gates are probes" whole probes --no-feature task-work,exec-hook -- sh tree.sh

# every_exec OPTION...: where tasks wait in the exec, or on their way back from it, whatever made it.
cp "$PROGRAMS/nested.static" late; chmod 4755 late
every_exec() {
	check "a static program, by a bare system call${*:+, $*}: whole" whole bare "$@" -- ./bareexec ./nested.static
	check "... and a dynamic one" whole dynamic "$@" -- ./bareexec ./nested
	check "... and one that is set-uid" whole setuid "$@" -- ./bareexec ./late
}
has task-work && every_exec
if has exec-hook; then
	every_exec --no-feature task-work
	check "... and each of a tree" whole hooked --no-feature task-work -- sh tree.sh
else
	skip "every exec, by a hook" "the kernel lets no program of an LSM wait at an exec"
fi

# Where neither is, a static program that is begun by a bare system call is late, and that is said.
late() { record "$1" --no-feature task-work,exec-hook -- "${@:2}" > "$1.out" && said "$1" | sed -n 's/.*their functions were probed: //p'; }
check "without both it is said that it began unprobed" equal "$(late unhooked ./bareexec ./nested.static)" 1
check "... and of no program that was probed" equal "$(late at_once ./nested.static; late in_libc sh -c './nested.static; ./nested')" ""

# What is named is looked at before it is opened: to open a FIFO lets another go on, and a device may do anything.
need mkfifo
mkfifo -m 777 pipe
(exec 9> pipe; touch opened) 8>&- & writer=$!
record named --no-feature task-work,exec-hook -- sh -c './pipe; ./nested' > named.out 2>&1
sleep 0.1
check "a FIFO that is exec'd is not opened" [ ! -e opened ]
check "... and the next program is whole" truth named named.out
[ -e opened ] || cat pipe > /dev/null
wait $writer

# Where files were not leased, a look before the exec is what comes ahead of a rewritten one.
check "without leases: whole" whole unleased --no-feature file-lease -- sh tree.sh

# Meanwhile: a recording of nested, then of a sleep, whose number is $sleeper; until `awake`.
asleep() {
	rm -f there
	record "$@" -- sh -c './nested > /dev/null; echo $$ > there; exec sleep 60' 8>&- & recorder=$!
	wait_for [ -s there ]
	sleeper=$(cat there)
	wait_for [ "/proc/$sleeper/exe" -ef "$(command -v sleep)" ]
}
awake() { kill "$sleeper"; wait $recorder || :; }

# text PID: the libraries whose code is not what their file has, and how many there are. The program's own functions are probed.
cat > text.py <<'PY'
import os, sys
pid = sys.argv[1]
program = os.readlink(f"/proc/{pid}/exe")
seen = 0
for line in open(f"/proc/{pid}/maps"):
    f = line.rstrip("\n").split(None, 5)
    if len(f) < 6 or "x" not in f[1] or not f[5].startswith("/") or f[5] == program:
        continue
    begin, end = (int(x, 16) for x in f[0].split("-"))
    with open(f"/proc/{pid}/mem", "rb") as memory, open(f[5], "rb") as file:
        memory.seek(begin)
        file.seek(int(f[2], 16))
        code = file.read(end - begin)
        seen += 1
        if memory.read(end - begin)[:len(code)] != code:
            print(f[5])
print("of", seen)
PY

# beside DIR OPTION...: the libraries of a process that is recorded, and of one that is not and begins meanwhile.
beside() {
	local other
	asleep "$@"
	sleep 60 8>&- & other=$!
	wait_for grep -q libc "/proc/$other/maps"
	python3 text.py "$sleeper" > "$1.recorded"
	python3 text.py $other > "$1.other"
	kill $other
	awake
}
if [ "$by_work" ]; then
	beside clean
	check "nothing is set in the libraries of who is recorded" equal "$(cat clean.recorded)" "of 2"
	check "... nor of others" equal "$(cat clean.other)" "of 2"
fi

# runs_at_calls OPTION...: how often programs of recorder's run while a process that is not recorded makes 200 000 system calls.
# What else the machine does meanwhile may have some run, too.
runs_of() { cat "/proc/$1/fdinfo/"* | awk '$1 == "run_cnt:" { n += $2 } END { print n + 0 }'; }
runs_at_calls() {
	local counted by before
	counted=$(cat /proc/sys/kernel/bpf_stats_enabled)
	echo 1 > /proc/sys/kernel/bpf_stats_enabled
	asleep counting "$@"
	by=$(awk '$1 == "PPid:" { print $2 }' "/proc/$sleeper/status")
	before=$(runs_of "$by")
	dd if=/dev/zero of=/dev/null bs=1 count=100000 2> /dev/null
	runs=$(($(runs_of "$by") - before))
	awake
	echo "$counted" > /proc/sys/kernel/bpf_stats_enabled
}
if [ "$by_work" ]; then
	runs_at_calls --no-syscalls
	check "functions alone: nothing of ours runs at others' system calls" [ $runs -lt 100000 ]
	runs_at_calls
	check "(with system calls recorded something does)" [ $runs -ge 200000 ]
fi
if has exec-hook; then
	beside hooked --no-feature task-work
	check "by a hook: nothing but the dynamic linker has any" \
		equal "$(sed 's/.*ld-linux.*/ld-linux/' hooked.recorded hooked.other)" $'ld-linux\nof 2\nld-linux\nof 2'
fi
beside set --no-feature task-work,exec-hook
check "(where gates are probes, there is)" [ "$(wc -l < set.recorded) $(wc -l < set.other)" = "3 3" ]

# Who maps a probed file to read it (llvm-strip, binutils, gdb) may write to another what he reads.
cat > reads.py <<'PY'
import mmap, os, sys
path, size = sys.argv[1], os.path.getsize(sys.argv[1])
with open(path, "rb") as file:
    whole = file.read()
    for offset in range(0, size, mmap.ALLOCATIONGRANULARITY):
        for length in size - offset, min(size - offset, 10000):
            m = mmap.mmap(file.fileno(), length, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ, offset=offset)
            if m[:] != whole[offset:offset + length]:
                print(f"{length} bytes from {offset} on are not those of the file")
            m.close()
print("bytes read:", size)
PY
python=$(python3 -c 'import sys; print(sys.executable)')	# itself, where python3 looks for it first
as_it_is="bytes read: $(stat -c %s nested)"
if [ "$by_work" ]; then
	record read -- sh -c './nested; "$0" reads.py nested; ./nested' "$python" > read.out
	check "a probed file that is mapped to be read is what it is" equal "$(grep bytes read.out)" "$as_it_is"
	check "... and its calls go on being recorded" equal \
		"$(report_calls read leaf)" "$(awk '$1 == "calls" && $2 == "leaf" { n += $3 } END { print n }' read.out)"
	asleep reader
	check "... and what others read is, too" equal "$("$python" reads.py nested)" "$as_it_is"
	awake
	check "... and nothing was too late" equal "$(said read | grep -c 'mapped to be read') $(said reader | grep -c 'mapped to be read')" "0 0"

	# The kernel plants anew whenever it cuts a mapping in two, or moves it.
	as_the_file() { "$PROGRAMS/rereads" "$@" > reread.out; equal "$? $(cut -d ' ' -f 2,4- reread.out)" "0 of bytes as in the file"; }
	asleep changed
	for how in cut advised protected "mapped over" moved "by a 32-bit call"; do
		if "$PROGRAMS/rereads" reads.py "$how" > bare.out 2>&1; then
			check "... and when it was mapped, and $how" as_the_file nested "$how"
		else
			skip "... and when it was mapped, and $how" "that cannot be done here"
		fi
	done
	awake
	check "... and none of these was too late" equal "$(said changed | grep -c 'mapped to be read')" 0

	# Where only a tracer may write to what is only read.
	asleep traced --no-feature forced-writes
	check "... and where that takes a tracer" equal "$("$python" reads.py nested)" "$as_it_is"
	check "... when the mapping is cut, too" as_the_file nested cut
	awake
	check "... in time" equal "$(said traced | grep -c 'mapped to be read')" 0

	# A file of another file system may have the same number, and bytes that look like breakpoints.
	mkdir one two
	mount -t tmpfs one one; mount -t tmpfs two two
	cp nested one/nested
	python3 -c 'import os; open("two/file", "wb").write(b"\xcc" * os.path.getsize("nested"))'
	cd one; asleep ../twin; cd ..
	check "another file of that number stays what it is" as_the_file two/file unchanged
	check "... (it has that number)" equal "$(stat -c %i one/nested)" "$(stat -c %i two/file)"
	awake
	umount one two

	# Code of a mapping that has the file's own bytes meets no probe.
	cp "$PROGRAMS/rereads" .
	record runs -- ./rereads ./rereads runs > runs.out
	check "calls in what was mapped to be read, and then run: missed, and said to be" equal \
		"$(cat runs.out), $(report_calls runs counted), $(said runs | grep -c 'mapped code past .*: 1;')" "calls counted 100, 0, 1"
fi
record misread --no-feature task-work -- sh -c './nested > /dev/null; "$0" reads.py nested' "$python" > misread.out
check "... and where nobody can wait for that, it is said" grep -q 'mapped to be read.*: [1-9]' <(said misread)

# Who reads code in order to run it, as valgrind does, meets what is there.
if ! command -v valgrind > /dev/null || [ -z "$by_work" ]; then
	skip "valgrind beside a recording" "it is not there, or gates are probes here"
else
	valgrind -q "$PROGRAMS/throw" > valgrind.want 2>&1
	asleep grind
	valgrind -q "$PROGRAMS/throw" > valgrind.out 2>&1
	check "valgrind beside a recording runs as without" equal "$? $(cmp valgrind.want valgrind.out)" "0 "
	awake
	record ground -- valgrind -q "$PROGRAMS/throw" > ground.out 2>&1
	check "... and recorded, all but its own functions" equal "$? $(cmp valgrind.want ground.out)" "0 "
fi
