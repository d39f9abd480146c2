# What recorder says of the kernel and of its own rights, and what the least of them are.
# limit: 120
. "$LIVE/lib.sh"
need setpriv unshare

chmod 755 "$scratch"
binary=$scratch/recorder
cp "$RECORDER" "$binary" && chmod 755 "$binary"
mkdir "$scratch/nobodys" && chown nobody "$scratch/nobodys" && cd "$scratch/nobodys" || exit 1
nobody=(setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups)

# said STATUS WORD COMMAND...: ends with the status, and one line and a hint with the word in it.
said() {
	local status=$1 word=$2 got text; shift 2
	text=$("$@" 2>&1); got=$?
	[ $got -eq "$status" ] || { echo "status $got, want $status: $text"; return 1; }
	grep -qF -- "$word" <<< "$text" || { echo "no '$word' in: $text"; return 1; }
	[ "$(grep -vc '^recorder: try: ' <<< "$text")" -eq 1 ] || { echo "more than a line: $text"; return 1; }
	[ -z "$(ls -A)" ] || { echo "files were written: $(ls -A)"; rm -rf ./*; return 1; }
}

check "not root" said 125 "needs root" "${nobody[@]}" "$binary" true
check "root without CAP_PERFMON" said 125 CAP_PERFMON setpriv --bounding-set -perfmon,-sys_admin "$binary" true
check "root of a user namespace" said 125 "user namespace" unshare --user --map-root-user "$binary" true
check "no types of the kernel" said 125 /sys/kernel/btf "$binary" --no-feature btf true
check "no ring buffer" said 125 "ring buffer" "$binary" --no-feature ringbuf true

refuses_setuid() {
	cp "$binary" "$scratch/setuid" && chmod 4755 "$scratch/setuid"
	"${nobody[@]}" test "$(findmnt -no OPTIONS -T "$scratch" | grep -c nosuid)" = 0 || return 0
	said 125 set-uid "${nobody[@]}" "$scratch/setuid" true
}
check "set-uid is refused" refuses_setuid

least_rights() {
	"${nobody[@]}" --inh-caps +bpf,+perfmon --ambient-caps +bpf,+perfmon "$binary" -q -o out "$@" -- sh -c 'exit 3'
	equal $? 3 && uftrace_accepts out && replay out | grep -q sys_exit_group || return 1
	rm -rf out out.*
}
check "CAP_BPF and CAP_PERFMON are enough" least_rights
check "... with --auto-args, too" least_rights --auto-args

# A root as of some containers: what reads foreign programs stays root, without any rights.
bound_root() {
	setpriv --bounding-set -setuid,-setgid "$binary" -q -o out -- "$PROGRAMS/nested" > /dev/null; equal $? 0 && report_calls out leaf | grep -qv '^0$'
	local status=$?
	rm -rf out out.*
	return $status
}
check "a root who may not become another has functions, too" bound_root

# Who throws over probed frames is written to. Whom recorder may not write to, his returns are not probed.
program throw && cp "$PROGRAMS/throw" "$scratch/throw" && "$scratch/throw" > "$scratch/want"
throws_well() {
	local status
	"$@" -o out -- "$scratch/throw" > "$scratch/traced" 2> "$scratch/err"; status=$?
	rm -rf out out.*
	equal "$status $(cmp "$scratch/want" "$scratch/traced")" "0 " || { cat "$scratch/err"; return 1; }
}
check "root without CAP_SYS_PTRACE: another's program throws well" throws_well setpriv --bounding-set -sys_ptrace "$binary" -u nobody
check "... and it is said why no return is probed" grep -q 'returns are not probed: .*CAP_SYS_PTRACE' "$scratch/err"
# With CAP_CHECKPOINT_RESTORE the files that a process has mapped can be opened: returns are probed, of one's own processes.
cp "$(command -v env)" "$scratch/asroot" && chmod 4755 "$scratch/asroot"
least=("${nobody[@]}" --inh-caps +bpf,+perfmon,+checkpoint_restore --ambient-caps +bpf,+perfmon,+checkpoint_restore "$binary")
throws_twice() {
	local status differ calls
	"${least[@]}" "$@" -o out -- \
		sh -c '"$0/throw" > one && "$0/asroot" "$0/throw" > two' "$scratch" > /dev/null 2> "$scratch/err"; status=$?
	differ=$(cmp "$scratch/want" one)$(cmp "$scratch/want" two)
	calls=$(report_calls out main)
	rm -rf out out.* one two
	equal "$status $differ" "0 " && [ "$calls" -ge 2 ] || { echo "calls of main(): $calls"; cat "$scratch/err"; return 1; }
}
if ! "${least[@]}" --doctor | grep -qE '^ *(uprobe|uprobe-multi) +yes'; then
	skip "who is run as root by another user throws well" "this kernel wants CAP_SYS_ADMIN for uprobes"
elif "${nobody[@]}" test "$(findmnt -no OPTIONS -T "$scratch" | grep -c nosuid)" = 0; then
	check "who is run as root by another user throws well" throws_twice
	check "... also where a file's returns are probed whoever runs it" throws_twice --no-feature uprobe-session
else
	skip "who is run as root by another user throws well" "there is no set-uid here"
fi

doctor() {
	local text got f
	text=$("$binary" --doctor); got=$?
	[ $got -eq 0 ] || { echo "status $got: $text"; return 1; }
	for f in btf ringbuf tp-btf task-storage uprobe-multi uprobe-session write-user nop5-fork-safe; do
		grep -qE "^  $f +(yes|no) " <<< "$text" || { echo "no line for $f: $text"; return 1; }
	done
	grep -q '^recording is possible' <<< "$text" || { echo "$text"; return 1; }
	[ "$(awk '{ if (length > n) n = length } END { print (n <= 100) }' <<< "$text")" = 1 ] || { echo "lines too long"; return 1; }
}
check "--doctor where recording is possible" doctor

# What --doctor promises is what a load of the whole object gave: here its maps need more files than may be open.
no_load() {
	(ulimit -n 20; setpriv --bounding-set -sys_resource "$binary" --doctor > text 2> err); equal $? 1 || { cat text; return 1; }
	grep -qE '^recording is not possible: the kernel does not take the BPF programs: .*Too many open files' text && [ ! -s err ] || { cat text err; return 1; }
}
check "--doctor says what of the programs the kernel does not take" no_load
denied() { "$binary" --doctor --no-feature uprobe-session | grep -qE '^  uprobe-session +denied '; }
check "--doctor shows what was denied" denied
verdict() { "$binary" --doctor --no-feature "$1" | grep -x "$2" || { echo "not: $2"; return 1; }; }
check "functions by single perf events are functions" verdict uprobe-multi,uprobe-tracefs "recording is possible here"
check "none without those" verdict uprobe-multi,uprobe-tracefs,uprobe "recording is possible here, without functions"
doctor_of_nobody() { "${nobody[@]}" "$binary" --doctor > text; equal $? 1 && grep -q '^recording is not possible: .*root' text &&
	grep -q 'cannot be tried without these rights' text; }
check "--doctor for an ordinary user" doctor_of_nobody

# Nothing of ours must be left behind by the trials: no probe, no program, no process.
leaves_nothing() {
	local before after
	before=$(cat /sys/kernel/tracing/uprobe_events 2>/dev/null | wc -l)
	"$binary" --doctor > /dev/null
	after=$(cat /sys/kernel/tracing/uprobe_events 2>/dev/null | wc -l)
	equal "$after" "$before" || return 1
	# The process that tried a probe waits until the kernel has taken it away; on a busy machine that takes seconds.
	for _ in $(seq 300); do pgrep -f "^$binary" > /dev/null || return 0; sleep 0.1; done
	echo "still running: $(pgrep -af "^$binary")"
	return 1
}
check "--doctor leaves nothing behind" leaves_nothing
holds_no_pipe() { timeout 10 sh -c "'$binary' --doctor | cat > text"; equal $? 0; }
check "--doctor ends where it is read to its end" holds_no_pipe
