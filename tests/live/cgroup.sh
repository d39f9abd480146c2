# cgroup.sh - a cgroup of version 2: who is in it and below, who comes into it, and nobody else.
# limit: 120
. "$LIVE/lib.sh"
. "$LIVE/attached.sh"
need mkfifo findmnt
program serves cgroup || exit 0
mount=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
[ -n "$mount" ] || { skip cgroup "version 2 is mounted nowhere"; exit 0; }
group=recorder-test-$$
top=$mount/$group
mkdir "$top" "$top/a" "$top/a/b" || { skip cgroup "no cgroup can be made"; exit 0; }
leave_cgroups() {
	local status=$?
	find "$top" -depth -type d -exec rmdir {} + 2>/dev/null
	(exit $status); leave_nothing
}
trap leave_cgroups EXIT

# inside CGROUP COMMAND...: as systemd or cgexec starts it, by the process itself.
inside() { sh -c 'echo $$ > "$0/cgroup.procs" && exec "$@"' "$@"; }
put() { echo "$1" > "$2/cgroup.procs"; }
come() { wait_for grep -q 'who came' "$1.err"; }

# Programs put there while it is recorded, in it and below: to the unit, from their first instruction.
started() {
	attach started.data --cgroup "$1"
	grep -q 'recording 0 processes' started.data.err || { cat started.data.err; return 1; }
	for i in 1 2 3 4 5; do
		inside "$top/a/b" "$PROGRAMS/nested" || return
		inside "$top" sh -c '"$0"; "$0"; :' "$PROGRAMS/nested" || return
		"$PROGRAMS/nested" > /dev/null		# a bystander
	done > started.out
	detach || { cat started.data.err; return 1; }
	uftrace_accepts started.data || return
	equal "$(report_calls started.data main)" 15 || return
	truth started.data started.out
}
check "empty at first: programs put into it, by a path below its mount" started "$group"
check "so by an absolute path, without multi links" started "$top" --no-feature uprobe-session,uprobe-multi

storm() {
	attach storm.data --cgroup "$group" --no-syscalls
	inside "$top/a" "$PROGRAMS/forkstorm" 2000 > storm.out || return
	"$PROGRAMS/forkstorm" 50 > /dev/null
	detach || { cat storm.data.err; return 1; }
	uftrace_accepts storm.data || return
	equal "$(report_calls storm.data in_child)" 2000
}
program forkstorm storm && check "many short processes" storm

# There before, with a thread and a child; and the same put there by somebody else in mid-life: all its threads.
present() {
	serve inside "$top/a" "$PROGRAMS/serves"
	attach present.data --cgroup "$group"
	grep -q 'recording 2 processes' present.data.err || { cat present.data.err; return 1; }
	tell begin "all 100" "thread 50" "fork 20"
	done_all
	detach || { cat present.data.err; return 1; }
	served_status
	equal $? 7 || return
	uftrace_accepts present.data && truth present.data served.out
}
check "who is there already, with threads and children" present

moved() {
	serve "$PROGRAMS/serves"
	attach moved.data -v --cgroup "$group"
	tell begin "all 5"
	put "$served" "$top/a"
	come moved.data
	tell "all 100" "thread 50" "fork 20"
	done_all
	detach || { cat moved.data.err; return 1; }
	served_status
	equal $? 7 || return
	uftrace_accepts moved.data || return
	# Its child, which was there before, was not moved; what came before the move is not in the recording.
	equal "$(report_calls moved.data step)" 270
}
check "who is moved there in mid-life, by its threads too; not its child" moved

# A child made there by somebody outside (systemd does so): no move, no exec.
cloned() {
	cat > cloned.py <<-'PY'
	import ctypes, os, struct, sys, time
	fd = os.open(sys.argv[1], os.O_RDONLY)
	args = struct.pack("11Q", 0x200000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, fd)	# CLONE_INTO_CGROUP
	libc = ctypes.CDLL(None)
	buf = ctypes.create_string_buffer(args)
	pid = libc.syscall(435, buf, 88)
	if pid < 0:
	    sys.exit(5)
	if pid == 0:
	    os.execv(sys.argv[2], sys.argv[2:])
	os.waitpid(pid, 0)
	PY
	attach cloned.data --cgroup "$group"
	python3 cloned.py "$top/a/b" "$PROGRAMS/nested" > cloned.out || return
	detach || { cat cloned.data.err; return 1; }
	uftrace_accepts cloned.data && truth cloned.data cloned.out
}
command -v python3 >/dev/null && check "a child cloned into it" cloned

# A container that runs: its own root, its own linker and libraries; what it starts from then on.
container() {
	local lib
	mkdir -p ct/root/bin ct/root/tmp ct/root/proc
	cp "$PROGRAMS/nested" ct/root/bin/
	cp /bin/sh ct/root/bin/sh
	for lib in $(ldd "$PROGRAMS/nested" /bin/sh | grep -o '/lib[^ ]*[^ :]' | sort -u); do
		[ -f "$lib" ] && mkdir -p "ct/root${lib%/*}" && cp -n "$lib" "ct/root$lib"
	done
	(cd ct && runc spec && sed -i 's/"terminal": true/"terminal": false/; s/"path": "rootfs"/"path": "root"/
		s|"linux": {|"linux": { "cgroupsPath": "/'$group'/a/ct",|
		s/"sh"$/"sh", "-c", "echo up; read x; for i in 1 2 3; do nested; done; echo down"/' config.json) || return
	mkfifo say; exec 7<> say
	(cd ct; runc run "recorder-$$" < ../say > ../container.out 2> ../container.err 7>&-) &
	local runc=$!
	wait_for grep -q up container.out || { cat container.err; return 1; }
	attach container.data --cgroup "$group/a"
	echo go >&7; exec 7>&-
	wait $runc || { cat container.err; return 1; }
	grep -q down container.out || return
	detach || { cat container.data.err; return 1; }
	uftrace_accepts container.data && truth container.data container.out
}
# One that is begun meanwhile: its first program is exec'd by the runtime, whose C library, if any, is nobody else's.
begun() {
	sed -i 's/"sh", "-c", .*$/"nested"/' ct/config.json
	attach begun.data --cgroup "$group/a"
	(cd ct; runc run "recorder-$$" < /dev/null > ../begun.out 2> ../begun.err) || { cat begun.err; return 1; }
	detach || { cat begun.data.err; return 1; }
	uftrace_accepts begun.data && truth begun.data begun.out
}
if ! command -v runc > /dev/null; then
	skip container "runc is not there"
else
	check "a container that runs" container
	if "$RECORDER" --doctor | grep -q '^ *task-work *yes'; then
		check "one that is begun, from its first call" begun
	else
		skip "one that is begun" "its first program is probed a little late on this kernel"
	fi
fi

# Recorder in the cgroup that it records, as in a container or the session of a shell: none of its own processes is recorded.
itself() {
	local names
	: > itself.data.err
	inside "$top/a" sh -c '"$0" -o itself.data --cgroup "$1" 2> itself.data.err &
		for i in $(seq 200); do grep -q "^recorder: recording" itself.data.err && break; sleep 0.05; done
		"$2"; kill $!; wait $!' "$RECORDER" "$group" "$PROGRAMS/nested" > itself.out || { cat itself.data.err; return 1; }
	uftrace_accepts itself.data || return
	names=$(uf report --no-pager -d itself.data --task)
	grep -qw nested <<< "$names" || { echo "$names"; return 1; }
	! grep -w recorder <<< "$names"
}
check "recorder in it does not record itself, nor its helpers" itself

# Who may not be looked at, by whom the right to do that was taken from, is missed aloud.
barred() {
	local guarded
	inside "$top/a" sleep 30 &
	wait_for grep -q . "$top/a/cgroup.procs"
	guarded=$(head -n 1 "$top/a/cgroup.procs")
	setpriv --bounding-set=-sys_ptrace "$RECORDER" --cgroup "$group" -o barred.data --duration 100ms 2> barred.err
	kill "$guarded"
	wait
	grep -q "process $guarded.* is not recorded" barred.err || { cat barred.err; return 1; }
}
if command -v setpriv > /dev/null; then
	check "who is in it, but may not be looked at, is told of" barred
else
	skip "who may not be looked at" "setpriv is not there"
fi

refused() {
	local status
	"$RECORDER" -q --cgroup "$1" -o refused.data "${@:3}" 2> refused.err
	status=$?
	equal $status 2 || return
	grep -qF -- "$2" refused.err || { cat refused.err; return 1; }
	[ ! -e refused.data ]
}
check "a wrong path is named" refused "$group/none" "$group/none"
check "so is a folder that is no cgroup" refused /usr /usr
