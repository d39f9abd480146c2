# copies.sh - libraries are probed in copies that the command alone maps: others do not meet the probes.
# limit: 60
. "$LIVE/lib.sh"
need python3 unshare nsenter findmnt
program uselib || exit 0
"$RECORDER" --doctor | grep -qE '^ *private-libraries +yes' || { skip copies "this kernel has no private-libraries"; exit 0; }

cp "$PROGRAMS/uselib" "$PROGRAMS/libcounted.so" "$scratch"	# where another user finds them
libc=(--functions='a64l@libc.so.6' --functions='insque@libc.so*' --functions='remque@libc' --functions='strspn@libc.so.6')

# probes_in PID SYMBOL: how many bytes of the C library's function differ in the process from those in its file.
probes_in() {
	python3 - "$@" <<-'EOF'
	import ctypes, re, sys
	pid, name = sys.argv[1:]
	offset = None
	for line in open("/proc/self/maps"):	# the same file is mapped here: where the symbol lies in it
	    m = re.match(r"(\w+)-(\w+) r-xp (\w+) \S+ (\d+) +(\S*libc\.so\.6)$", line)
	    if m:
	        addr = ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value
	        offset = addr - int(m[1], 16) + int(m[3], 16)
	        path = m[5]
	for line in open("/proc/%s/maps" % pid):
	    m = re.match(r"(\w+)-(\w+) r-xp (\w+) \S+ (\d+) +(\S*libc\.so\.6)$", line)
	    if m:
	        with open("/proc/%s/mem" % pid, "rb", 0) as mem, open(path, "rb") as f:
	            mem.seek(int(m[1], 16) + offset - int(m[3], 16))
	            f.seek(offset)
	            print(sum(a != b for a, b in zip(mem.read(32), f.read(32))))
	EOF
}

# beside OPTION...: while strspn() of the C library is recorded, what is there of probes in the target and in a bystander.
beside() {
	local recorder target waited=0
	rm -f told/target
	record beside.data -q --functions='strspn@libc.so.6' "$@" -- sh -c 'echo $$ > told/target; exec sleep 60' &
	recorder=$!
	until [ -s told/target ] && [ "$(cat "/proc/$(cat told/target)/comm" 2>/dev/null)" = sleep ] || [ $waited -ge 100 ]; do
		sleep 0.1; waited=$((waited + 1))
	done
	sleep 0.3
	target=$(cat told/target)
	echo "$(probes_in "$target" strspn) $(probes_in "$bystander" strspn)"
	kill "$target"
	wait $recorder
}
sleep 60 &
bystander=$!
mkdir -m 777 told
check "a target has the probe, a bystander not" equal "$(beside -u nobody)" "1 0"
check "without copies both have it: the test can tell" equal "$(beside -u nobody --no-feature private-libraries)" "1 1"
check "root may write libraries, and gets no copies" equal "$(beside)" "1 1"
kill $bystander

./uselib > plain.out
record mine.data -u nobody "${libc[@]}" --functions='*@*' -- ./uselib > mine.out
check "the calls it counted itself, as another user" truth mine.data mine.out
check "it says what it says untraced" cmp plain.out mine.out
check "uftrace opens it without a complaint" uftrace_accepts mine.data
record tree.data -u nobody "${libc[@]}" --functions="*@*" -- sh -c './uselib; ./uselib' > tree.out
check "what it starts has them too" truth tree.data tree.out
check "nothing was missed" equal "$(said tree.data | grep -c 'were missed')" 0
check "the command sees its libraries where they are" equal \
	"$(record see.data -u nobody --functions='*@libc.so.6' -- sed -n 's/.* //; /libc.so/p' /proc/self/maps | sort -u)" \
	"$(setpriv --reuid nobody sed -n 's/.* //; /libc.so/p' /proc/self/maps | sort -u)"

# Mounts are shared as before, in both directions; the copies are seen by nobody else, and go with the command.
shared_mounts() {
	local target waited=0
	mkdir -p "$scratch/in" "$scratch/out"
	record mounts.data -q -u nobody --functions='strspn@libc.so.6' -- sh -c 'echo $$; exec sleep 60' > target &
	until [ -s target ] || [ $waited -ge 100 ]; do sleep 0.1; waited=$((waited + 1)); done
	target=$(cat target)
	nsenter -t "$target" -m mount -t tmpfs in "$scratch/in"
	mount -t tmpfs out "$scratch/out"
	echo "from it: $(grep -c "$scratch/in" /proc/self/mountinfo)" \
		"to it: $(grep -c "$scratch/out" "/proc/$target/mountinfo")" \
		"copies: $(grep -c libc.so /proc/self/mountinfo) $(grep -c libc.so "/proc/$target/mountinfo")"
	umount "$scratch/in" "$scratch/out"
	kill "$target"
	wait
}
export -f shared_mounts record
export scratch RECORDER
check "mounts are shared with others as before, the copies are not" equal \
	"$(unshare -m --propagation shared bash -c shared_mounts)" "from it: 1 to it: 1 copies: 0 1"
