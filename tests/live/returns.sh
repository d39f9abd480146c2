# returns.sh - return probes are used only in processes all of whose stack walkers are known: programs whose unwinder has
# no name, lies in a library of their own, or is a run time's, do what they do untraced.
# limit: 240
# beside others
. "$LIVE/lib.sh"
need python3

# same NAME COMMAND...: same output and end as untraced; options of recorder in the array "with".
same() {
	local name=$1 plain traced; shift
	"$@" > plain.out 2> plain.err
	plain=$?
	record "$name.data" --format uftrace,raw ${with[@]+"${with[@]}"} -- "$@" > "$name.out"
	traced=$?
	check "$name ends as it does untraced" equal "$traced" "$plain"
	check "$name says what it says untraced" cmp plain.out "$name.out"
}

# How many returns a return probe told of; all other ends are inferred.
returns_of() { python3 "$LIVE/rawcount.py" "$1.data/recording.raw" | sed -n 's/^returns //p'; }
uses_libffi() { replay 'a foreign function interface.data' | grep -q 'ffi_call'; }
why() { said "$1.data" | grep "returns are not probed where '$2'"; }

# An unwinder with symbols is guarded in the very file that the process has mapped, wherever that lies.
mkdir own
cp -L /lib/x86_64-linux-gnu/libgcc_s.so.1 /lib/x86_64-linux-gnu/libstdc++.so.6 own/ 2>/dev/null ||
	cp -L /lib64/libgcc_s.so.1 /lib64/libstdc++.so.6 own/

# hidden NAME PROGRAM: an unwinder without symbols keeps return probes away, and the summary names the file.
hidden() {
	program "$2" "$1" || return
	same "$1" "$PROGRAMS/$2"
	check "$1: no return is probed" equal "$(returns_of "$1")" 0
	check "$1: the summary says why" why "$1" "$PROGRAMS/$2"
}

with=()
for p in throw.staticgcc raises collects collects.stripped; do
	hidden "$p" "$p"
done
same throw env LD_LIBRARY_PATH="$PWD/own" "$PROGRAMS/throw"
check "throw: its calls" truth throw.data throw.out
check "throw: its returns are probed" [ "$(returns_of throw)" -gt 500 ]

# The same where a process cannot refuse: there the file decides.
with=(--no-feature uprobe-session)
for p in throw.staticgcc raises collects.stripped; do
	hidden "$p by pairs" "$p"
done
same "throw by pairs" env LD_LIBRARY_PATH="$PWD/own" "$PROGRAMS/throw"
check "throw by pairs: its calls" truth "throw by pairs.data" "throw by pairs.out"
with=()

# What moves its return address, keeps it or leaves its stack is known by its code, whatever its name: its return is not probed,
# and where stacks are switched none of the file's.
for p in byhand coroutine.byhand; do
	program "$p" "$p" || continue
	same "$p" "$PROGRAMS/$p"
	check "$p: its calls" truth "$p.data" "$p.out"
	same "$p.stripped" "$PROGRAMS/$p.stripped"
	with=(--functions='*@*')
	same "$p.stripped, all libraries" "$PROGRAMS/$p.stripped"
	with=()
done
if program byhand byhand; then
	check "byhand: other returns are probed" [ "$(returns_of byhand)" -ge "$(awk '/^calls/ { n += $3 } END { print n }' byhand.out)" ]
	check "coroutine.byhand: none of its own is" equal "$(returns_of coroutine.byhand)" 0
fi
# Which file's are not probed for that is said, and of no other is it said.
switching() { said "$1.data" | grep -c "returns are not probed in '.*', which switches stacks"; }
program coroutine coroutine && same coroutine "$PROGRAMS/coroutine"
for p in coroutine.byhand coroutine; do
	[ -e "$p.data" ] || continue
	check "$p: the summary names the file that switches stacks" grep -q "returns are not probed in '$PROGRAMS/$p', which" <(said "$p.data")
	check "$p: in one line" equal "$(switching "$p")" 1
done
check "throw: it says so of none" equal "$(switching throw)" 0
with=(--returns=never)
program coroutine coroutine && same "coroutine, never" "$PROGRAMS/coroutine"
check "never: nor where it would make no difference" equal "$(switching "coroutine, never")" 0
with=(--functions='*@libffi*' --functions='*@libc.so.6')
same "a foreign function interface" python3 -c 'import ctypes, os; print(ctypes.CDLL(None).getpid() == os.getpid())'
check "a foreign function interface: it was probed" uses_libffi
with=()

# A library that is opened later takes the permission back, and the frames that are open get the truth.
same "plug" "$PROGRAMS/plug"
check "plug: its calls" truth plug.data plug.out
check "plug: the summary names the library" why plug "$PROGRAMS/plugin.so"
check "plug: main() and what it called first are the only returns probed" [ "$(returns_of plug)" -le 8 ]
# The second time the library is known, and nobody is asked; what comes after it is recorded as ever.
same "plug twice" sh -c '"$0"; "$0"; exec "$1"' "$PROGRAMS/plug" "$PROGRAMS/nested"
check "plug twice: all calls, and those of the program after it" truth "plug twice.data" "plug twice.out"
check "plug twice: the returns of the program after it are probed" [ "$(returns_of "plug twice")" -gt 2000 ]
with=(--no-syscalls)
same "plug without syscalls" "$PROGRAMS/plug"
with=(--no-follow)
same "plug without --follow" "$PROGRAMS/plug"
same "throw without --follow" env LD_LIBRARY_PATH="$PWD/own" "$PROGRAMS/throw"
with=()

# In a chroot of its own, linker and libraries too.
mkdir -p root/lib64
cp "$PROGRAMS/throw" root/
for lib in $(ldd "$PROGRAMS/throw" | grep -o '/[^ ]*'); do
	mkdir -p "root$(dirname "$lib")"
	cp -L "$lib" "root$lib"
done
same "throw in a chroot" chroot root /throw
check "throw in a chroot: its calls" truth "throw in a chroot.data" "throw in a chroot.out"

# A tracee of somebody else's has no return probe: each is a system call that its tracer would see.
if command -v strace > /dev/null; then
	same "under strace inside" strace -f -o strace.txt "$PROGRAMS/nested"
	check "under strace inside: it saw no call of the kernel's own" equal "$(grep -c 'syscall_0x14[ef]\|uretprobe' strace.txt)" 0
	same "under strace -c inside" strace -f -c -o strace.txt "$PROGRAMS/throw"
else
	skip "under strace inside" "strace is not there"
fi

# The option has the last word.
with=(--returns=never)
same "never" "$PROGRAMS/nested"
check "never: no return is probed" equal "$(returns_of never)" 0
check "never: its calls" truth never.data never.out
with=(--returns=always)
same "always" "$PROGRAMS/nested"
check "always: its returns are probed" [ "$(returns_of always)" -gt 500 ]
with=()
"$RECORDER" --returns=often -o often.data -- touch ran 2> often.err
check "no other word is taken" equal "$? $(ls ran often.data 2>/dev/null)" "2 "
check "and the message names it" grep -q "'often' is neither" often.err
