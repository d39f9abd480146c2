# A recorded command cannot tell that it is recorded: what it inherits, what it answers, how it ends.
# limit: 300
. "$LIVE/lib.sh"
need python3 setsid ps

rec=$scratch/rec

# run OPTION... COMMAND...: quietly, without functions, so that hundreds of runs are fast.
run() {
	rm -rf "$rec" "$rec.old"
	"$RECORDER" -q --no-functions --no-libcall -o "$rec" "$@"
}

# same NAME COMMAND...: prints the same, to the byte, recorded and not.
same() {
	local name=$1; shift
	"$@" > "$scratch/plain" 2>&1
	run -- "$@" > "$scratch/recorded" 2>&1
	check "$name" cmp "$scratch/plain" "$scratch/recorded" || diff "$scratch/plain" "$scratch/recorded" >&2
}

# ---- how it ends ----

# The unit tests of launch go through all 256 of them.
all_statuses() {
	local n got bad=
	for n in ${FULL:+$(seq 0 255)} 0 1 2 3 42 124 125 126 127 128 130 137 139 254 255; do
		run --no-syscalls -- sh -c "exit $n"
		got=$?
		[ $got -eq $n ] || bad+=" $n:$got"
	done
	equal "$bad" ""
}
check "every exit status is passed on" all_statuses

cat > "$scratch/signals.py" <<'PY'
import signal, subprocess, sys
bad = []
for name in "HUP INT QUIT ABRT KILL USR1 SEGV PIPE TERM RTMIN".split():
    n = getattr(signal, "SIG" + name)
    plain = ["sh", "-c", f"ulimit -c 0; kill -{int(n)} $$"]
    subprocess.run(["rm", "-rf", "rec", "rec.old"])
    got = subprocess.run([sys.argv[1], "-q", "--no-functions", "-o", "rec", "--"] + plain).returncode
    if got != -n:
        bad.append(f"SIG{name}: {got}")
print(*bad)
sys.exit(bool(bad))
PY
check "death by a signal is passed on" python3 "$scratch/signals.py" "$RECORDER"

no_core() {
	(
		ulimit -c unlimited
		mkdir -p cores && cd cores || exit 1
		run -- sh -c 'ulimit -c 0; kill -SEGV $$'
		equal "$(ls -A)" ""
	) 2>/dev/null
}
check "recorder leaves no core file of its own" no_core

status_of() { run "$@" 2>/dev/null; echo $?; }
check "126 when it cannot be run" equal "$(status_of /etc/passwd)" 126
check "127 when it is not there" equal "$(status_of ./nothing)" 127
check "125 from the command itself is passed on" equal "$(status_of sh -c 'exit 125')" 125

# ---- what it inherits ----

same "argv, odd bytes and empty words" printf '%s\0' a '' $'\xff\xfe\x01' $'a\nb' '--' '-s' "'" '"' '$x' ' '
odd_environment() {
	env -i PATH="$PATH" EMPTY= $'LINES=a\nb' $'RAW=\xff\x01' 'a b=c' HOME=/nowhere "$@" env -0 | sort -z
}
check "the environment" cmp <(odd_environment) <(odd_environment "$RECORDER" -q -o "$scratch/env" --)

for mask in 000 022 077 777; do
	check "umask $mask" equal "$(umask $mask; "$RECORDER" -q --no-functions -o "$scratch/umask$mask" -- sh -c umask)" "0$mask"
done

mkdir -p "$scratch/deep/er"
check "the working directory" equal "$(cd "$scratch/deep/er" && run -- /bin/pwd -P)" "$scratch/deep/er"
gone_directory() {
	mkdir gone && cd gone && rmdir ../gone && equal "$(run -- sh -c 'echo here')" here
}
check "a working directory that is gone" gone_directory

printf 'echo "$0" "$@"\n' > "$scratch/plain.sh"
printf '#!/bin/sh\necho "$0" "$@"\n' > "$scratch/script.sh"
chmod +x "$scratch/plain.sh" "$scratch/script.sh"
same "a script, by a relative path" ./script.sh 1 '2 3'
same "a script that names no interpreter" ./plain.sh 1 '2 3'
check "a script found through PATH" equal "$(PATH=$scratch:$PATH run -- script.sh x)" "$scratch/script.sh x"

check "stdin is the command's" equal "$(seq 200000 | run -- cat | cksum)" "$(seq 200000 | cksum)"
check "stdout and stderr stay apart" equal "$(run -- sh -c 'echo out; echo err >&2' 2>/dev/null)" out
full_stdout() { run -- sh -c 'echo x || exit 9' > /dev/full 2>/dev/null; equal $? 9; }
check "a full stdout is the command's" full_stdout

open_files() {
	(
		exec 7</dev/null 9>/dev/null
		"$@" sh -c 'for f in /proc/$$/fd/*; do echo "${f##*/} $(readlink "$f")"; done' 2>&1 | grep -v 'pipe:'
	)
}
check "open files: none less, none more" equal "$(open_files run --)" "$(open_files)"
closed_files() { "$@" sh -c 'ls /proc/$$/fd' <&- 2>&- | tr '\n' ' '; }
check "closed files stay closed" equal "$(closed_files run --)" "$(closed_files)"

same "limits" cat /proc/self/limits
check "limits that were lowered" equal "$(ulimit -n 77 -l 64; run -- sh -c 'ulimit -n; ulimit -l')" $'77\n64'
same "credentials, capabilities, signals and CPUs" \
	grep -E '^(Uid|Gid|Groups|Sig(Blk|Ign|Cgt)|Cap|NoNewPrivs|Seccomp:|Cpus_allowed_list|Umask)' /proc/self/status
same "priority and adjustment for the OOM killer" sh -c 'cat /proc/self/oom_score_adj; nice; cat /proc/self/coredump_filter'

cat > "$scratch/with_signals.py" <<'PY'
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM, signal.SIGRTMIN + 3})
for s in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD, signal.SIGTTOU, signal.SIGRTMAX):
    signal.signal(s, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])
PY
signals_of() { python3 "$scratch/with_signals.py" "$@" grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status; }
check "blocked and ignored signals" equal "$(signals_of "$RECORDER" -q -o "$scratch/sig" --)" "$(signals_of)"

group_of() { "$@" sh -c 'ps -o pgid=,sid= -p $$'; }
check "process group and session" equal "$(group_of run --)" "$(group_of)"

# ---- who it is ----

id_of() { setpriv --reuid "$1" --regid "$2" --init-groups id; }
as_sudo() { env SUDO_UID="$1" SUDO_GID="$2" SUDO_USER="$3" "${@:4}"; }
user=$(getent group | awk -F: '$4 != "" { split($4, m, ","); print m[1]; exit }')
user=${user:-nobody}
uid=$(id -u "$user") gid=$(id -g "$user")
check "under sudo: the user who called it ($user), with all groups" \
	equal "$(as_sudo $uid $gid "$user" "$RECORDER" -q -o "$scratch/s1" -- id)" "$(id_of $uid $gid)"
check "under sudo: the output is that user's" \
	equal "$(find "$scratch/s1" ! -uid $uid -o ! -gid $gid | head -n 3)" ""
check "under sudo --as-root: root" \
	equal "$(as_sudo $uid $gid "$user" "$RECORDER" -q --as-root -o "$scratch/s2" -- id -u)" 0
check "under sudo --as-root: the output is the user's all the same" \
	equal "$(stat -c %u "$scratch/s2")" "$uid"
check "-u USER" equal "$("$RECORDER" -q -u nobody -o "$scratch/s3" -- id)" "$(id_of nobody "$(id -g nobody)")"
check "-u NUMBER of nobody known" equal "$("$RECORDER" -q -u 54321 -o "$scratch/s4" -- id -u)" 54321
no_caps() { "$RECORDER" -q -u nobody -o "$scratch/s5" -- grep -E '^Cap(Prm|Eff|Amb)' /proc/self/status | tr -d '0\t\n'; }
check "another user has no capability left" equal "$(no_caps)" CapPrm:CapEff:CapAmb:

home=$(getent passwd "$user" | cut -d: -f6)
roots_home=$(getent passwd root | cut -d: -f6)
check "under sudo: root's HOME and USER become the user's" equal \
	"$(HOME=$roots_home USER=root as_sudo $uid $gid "$user" "$RECORDER" -q -o "$scratch/s6" -- sh -c 'echo $HOME $USER')" "$home $user"
check "under sudo: a HOME that was chosen stays" equal \
	"$(HOME=/chosen as_sudo $uid $gid "$user" "$RECORDER" -q -o "$scratch/s7" -- sh -c 'echo $HOME')" /chosen
cp /bin/true "$scratch/roots_only" && chmod 700 "$scratch/roots_only"
roots_only() { run -u nobody -- "$scratch/roots_only" 2>"$scratch/said"; equal $? 126 && grep -q "as user 'nobody'" "$scratch/said"; }
check "126 when that user may not run it" roots_only

# ---- signals from elsewhere ----

# forwarded SIGNAL: what the command makes of a signal sent to recorder alone.
forwarded() {
	local pid
	rm -rf "$rec" "$rec.old" ready
	setsid "$RECORDER" -q --no-functions -o "$rec" -- \
		sh -c "trap 'exit 42' $1; : > ready; while :; do sleep 0.1; done" &
	pid=$!
	for _ in $(seq 100); do [ -e ready ] && break; sleep 0.1; done
	kill -"$1" $pid
	wait $pid
	equal $? 42
}
check "SIGTERM goes to the command, whose answer counts" forwarded TERM
check "SIGHUP goes to the command, whose answer counts" forwarded HUP

ignored() {
	local pid
	rm -rf "$rec" "$rec.old" ready
	"$RECORDER" -q --no-functions -o "$rec" -- sh -c ': > ready; sleep 1; exit 6' &	# in the background: SIGINT is ignored
	pid=$!
	for _ in $(seq 100); do [ -e ready ] && break; sleep 0.1; done
	kill -INT $pid; sleep 0.2; kill -INT $pid; sleep 0.2; kill -INT $pid
	wait $pid
	equal $? 6
}
check "a SIGINT we were started to ignore is ignored" ignored

stopped_alone() {
	local pid child
	rm -rf "$rec" "$rec.old" child
	setsid "$RECORDER" -q --no-functions -o "$rec" -- sh -c 'echo $$ > child; sleep 1; exit 8' &
	pid=$!
	for _ in $(seq 100); do [ -s child ] && break; sleep 0.1; done
	child=$(cat child)
	kill -STOP "$child"; sleep 0.5; kill -CONT "$child"
	wait $pid
	equal $? 8
}
check "a command stopped and continued from elsewhere" stopped_alone

to_its_group() {
	rm -rf "$rec" "$rec.old"
	setsid -w "$RECORDER" -q --no-functions -o "$rec" -- sh -c '
		trap "n=\$((n + 1))" TERM; trap : HUP INT USR1 USR2 ALRM VTALRM PROF IO PWR XCPU XFSZ
		n=0
		for s in HUP INT INT INT USR1 USR2 ALRM VTALRM PROF IO PWR XCPU XFSZ TERM; do kill -$s 0; sleep 0.05; done
		sleep 0.3; exit $((10 + n))'
	equal $? 11
}
check "signals a command sends to its process group are its own" to_its_group

cost() {
	record "$scratch/cost" -- true
	said "$scratch/cost" | awk -v cpus="$(nproc)" '/own cost/ { cpu = $4; run = $12 + 0; seen = 1; print }
		END { exit !(seen && cpu > 0 && run > 0 && cpu <= cpus * (run + 0.01)) }'
}
check "recorder's own CPU time is not more than its run has, however short the command" cost

under_timeout() { timeout 1 "$RECORDER" -q --no-functions -o "$scratch/to" -- sleep 100; equal $? 124; }
check "timeout(1) ends both" under_timeout

python3 "$LIVE/terminal.py" "$RECORDER"
