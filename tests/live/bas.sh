# bas.sh - bas text: what the rules of the format ask for, and what strace and the programs themselves say of the same run.
# limit: 200
. "$LIVE/lib.sh"
. "$LIVE/attached.sh"
. "$LIVE/basjudge.sh"
need python3 mkfifo pgrep findmnt

check "the judges find each damage and each difference" "$python" -B "$LIVE/basself.py"

# ---- the target is left as it is ----

record status --format bas -- sh -c 'echo out; echo err >&2; exit 7' > status.out
check "the target's exit status" equal $? 7
check "... and its output" equal "$(cat status.out; grep -v '^recorder: ' status.err)" "out
err"
check "... and the text" sound status --ended
check "... has its status" equal "$(bas events status Exit | cut -f3 | sort | uniq -c | awk '{ print $1, $2 }')" "1 status=7"
mkdir plain
(cd plain && "$RECORDER" --format bas -- true) 2> plain.err
check "without -o it is .nfsdb" sound plain/.nfsdb --ended
check "... begun where recorder was" equal "$(head -n 1 plain/.nfsdb)" "INITCWD=$PWD/plain"
check "... with .nfsdb.stats beside it, where nothing was dropped" \
	equal "$(grep dropped plain/.nfsdb.stats | sort -u)" "dropped events: 0"

# ---- what builds do ----

mkdir src repo
for f in one two three; do printf '#include <stdio.h>\nint %s(void) { return puts("%s"); }\n' $f $f > src/$f.c; done
printf 'int one(void), two(void), three(void);\nint main(void) { return one() + two() + three() < 0; }\n' > src/main.c
printf 'prog: main.o one.o two.o three.o\n\tgcc -o $@ $^\n%%.o: %%.c\n\tgcc -pipe -O1 -c -o $@ $<\n' > src/Makefile
cat > configure <<-'END'
	#!/bin/sh -e
	# Tries as such scripts do: small files made, compiled, moved, linked and removed.
	for f in stdio.h no/such.h; do
		printf '#include <%s>\nint main(void) { return 0; }\n' $f > conftest.c
		if gcc -E conftest.c > conftest.i 2> conftest.err; then echo "$f: yes"; else echo "$f: no"; fi
	done
	exec 5>> config.log 6> /dev/null 7<&0 < /dev/null
	echo "tried" >&5
	ln -s conftest.c conf$$.file; ln conftest.c conf$$.hard; mv conftest.c conf$$.moved
	mv conf$$.none x 2>&6 || :
	mkdir conf$$.dir; mv conf$$.file conf$$.dir/; cp -p conf$$.dir/file x 2>&6 || :
	rm -rf conf$$.* conftest.*
	(cd src; cat <<-EOF | sed 's/@x@/y/' > config.h
		#define X @x@
	EOF
	)
	echo `expr 1 + 2` "$@"
END
cat > pipes.py <<-'END'
	import os, subprocess, sys, threading
	r, w = os.pipe()
	if os.fork() == 0:
	    os.dup2(w, 1); os.close(r); os.close(w)
	    os.execvp("sh", ["sh", "-c", "echo from a child; exit 3"])
	os.close(w)
	print(os.read(r, 100), os.WEXITSTATUS(os.wait()[1]))
	print(subprocess.run("cat /dev/null | sort -u; echo $0", shell=True, capture_output=True, cwd="/").stdout)
	threads = [threading.Thread(target=lambda: open("/proc/self/stat").read()) for _ in range(5)]
	for t in threads: t.start()
	for t in threads: t.join()
	if os.fork() == 0:
	    os.kill(os.getpid(), 9)
	os.wait()
	os.rename("pipes.py", "pipes2.py"); os.link("pipes2.py", "pipes3.py"); os.symlink("pipes3.py", "pipes.py")
	try: os.rename("src", "repo/.git")
	except OSError as e: print(e.errno)
END
(cd repo && git init -q && cp ../src/*.c . && git add . && git -c user.name=a -c user.email=a@b commit -qm first) > git.out 2>&1
git=$?
chmod 700 configure
cat > work.sh <<-'END'
	python3 pipes.py
	./configure one 'two
	lines' ''
	make -s -j2 -C src && src/prog
	[ ! -d repo/.git ] || git clone -q repo cloned && ls cloned
	"$PROGRAMS"/nested.static > /dev/null
END
export PYTHONDONTWRITEBYTECODE=1 HOME=$scratch GIT_CONFIG_NOSYSTEM=1
[ -e repo/.git ] && [ $git -eq 0 ] || skip "git clone" "no repository could be made"

if command -v strace > /dev/null; then
	check "as strace has it: python, configure, make -j2, git clone, static" same_as_strace traced sh work.sh
	for kind in exec open close pipe dup rename link symlink fork exit; do
		check "... something of each kind: $kind" at_least "$(awk -v k=$kind '$1 == k { print $2 }' traced.same)" 1
	done
	cp traced.out plain.out
	rm -rf src/*.o src/prog src/config.h cloned x; mv pipes2.py pipes.py; rm -f pipes3.py
else
	skip "as strace has it" "strace is not there"
	sh work.sh > plain.out
	rm -rf src/*.o src/prog src/config.h cloned x; mv pipes2.py pipes.py; rm -f pipes3.py
fi
record work --format bas -- sh work.sh > work.out
check "the same without strace: it does what it did" equal "$? $(cat work.out)" "0 $(cat plain.out)"
check "... and its text is sound" sound work --ended
check "... of as many programs" at_least "$(count_of work New_proc)" 30

record many --format bas -- sh -c 'i=0; while [ $i -lt 2000 ]; do /bin/true; i=$((i + 1)); done'
check "2 000 short processes" sound many --ended
check "... each with its exec and its end" equal "$(count_of many New_proc) $(count_of many Exit)" "2001 2001"
rm -f many*

# ---- what they do not do ----

# alone NAME COMMAND...: in a fresh folder; the text is NAME.bas, what was said NAME.said.
alone() {
	local name=$1; shift
	rm -rf "$name.dir"; mkdir "$name.dir"
	(cd "$name.dir" && exec "$RECORDER" --format bas -o "../$name.bas" "${options[@]}" -- "$@") > "$name.said" 2> "$name.err"
}
options=()

if program basnames names; then
	alone names "$PROGRAMS/basnames"
	check "odd and long names: sound" sound names.bas --ended
	check "... each as the program has it" told_the_same names.bas names.said "${bas_files[@]}"
fi

race() {
	alone race "$PROGRAMS/basrace" 800
	sound race.bas --ended || return
	[ -s race.said ] || { echo "the program said nothing"; return 1; }
	sort -s -n -k1,1 race.said > race.want
	bas events race.bas Open | cut -f1-4 | awk -F'\t' 'NR == FNR { want[$1] = 1; next } $1 in want' race.said - |
		sed -E 's!/(flip|a-name-that-is-much-longer-than-the-other-one)/!/?/!' | sort -s -n -k1,1 > race.got
	diff race.want race.got > race.diff || { echo "$(grep -c '^>' race.diff) of $(wc -l < race.want)"; head -n 6 race.diff; return 1; }
}
program basrace race && check "descriptors and names in a race of threads" race

execs() {
	alone execs "$PROGRAMS/basexecs"
	sound execs.bas --ended || return
	bas events execs.bas New_proc | awk -F'\t' 'NR == FNR { want[$1] = 1; next } $1 in want' execs.said - > execs.got
	[ "$(wc -l < execs.said)" -ge 13 ] || { echo "the program did not come to its end"; cat execs.err; return 1; }
	diff execs.said execs.got > execs.diff || { cut -c1-300 execs.diff | head -n 8; return 1; }
}
if program basexecs execs; then
	check "every way to exec, arguments of 1 MiB" execs
	options=(--no-feature steady-tracepoints)
	check "... told by perf events" execs
	options=()
	if command -v strace > /dev/null; then
		mkdir traced.dir
		check "... as strace has it" same_as_strace execs.traced sh -c 'cd traced.dir && exec "$PROGRAMS/basexecs"'
	fi
fi

thirty_two() {
	local link=bits.dir/bas32
	mkdir -p bits.dir && ln -s "$PROGRAMS/bas32" $link
	record bits --format bas -- "$PROGRAMS/bas32" "$PWD/bits.dir" > bits.said || { echo "status $?"; return 1; }
	sound bits --ended || return
	local parent child
	parent=$(head -n 1 bits.said | cut -f1) child=$(tail -n 1 bits.said | cut -f1)
	diff <(grep "^$parent	" bits.said) <(told bits "$parent" "${bas_files[@]}" SchedFork) || return
	diff <(grep "^$child	" bits.said) <(bas events -p "$child" bits)
}
if program bas32 "a 32-bit program"; then
	if mkdir tried && "$PROGRAMS/bas32" "$PWD/tried" > tried.out 2>&1; then
		check "a 32-bit program, by its own numbers" thirty_two
		if command -v strace > /dev/null; then
			rm -rf tried; mkdir tried; ln -s "$PROGRAMS/bas32" tried/
			check "... as strace has it" same_as_strace bits.traced "$PROGRAMS/bas32" "$PWD/tried"
		fi
	else
		skip "a 32-bit program" "this kernel runs none"
	fi
fi

# A root of its own, with a /proc; the host's names do not come in.
other_root() {
	mkdir root
	alone rooted unshare -m sh -c 'cd .. && mount -t tmpfs none root && mkdir root/proc root/w && cp "$PROGRAMS/basnames" root/ &&
		mount -t proc none root/proc && exec chroot root /basnames /w' || { cat rooted.err; return 1; }
	sound rooted.bas --ended || return
	root=gone told_the_same rooted.bas rooted.said "${bas_files[@]}" || return
	equal "$(bas events -p "$(head -n 1 rooted.said | cut -f1)" rooted.bas New_proc | tail -n 1 | cut -f4-6)" \
		"PI=/basnames	PP=/basnames	CW=/"
}
# What was a root can be unmounted as soon as nobody has it: recorder keeps none. In its own mount namespace, and in another.
let_go() {
	cat > let-go.sh <<-'END'
		mkdir -p busy && mount -t tmpfs none busy && mkdir busy/w && cp "$PROGRAMS/basnames" busy/ &&
			chroot busy /basnames /w > /dev/null && umount busy
	END
	"$@" sh let-go.sh 2> let-go.err || { cat let-go.err; return 1; }
	sound let-go.bas --ended
}
if program basnames "a root of its own" && unshare -m true 2> /dev/null; then
	check "a root that is unmounted after use: in recorder's namespace" let_go unshare -m "$RECORDER" --format bas -o let-go.bas
	check "... and in another" let_go "$RECORDER" --format bas -o let-go.bas unshare -m
	check "a root of its own: names as seen from in there" other_root
	# The kernel gives the second mount the number, and tmpfs its root the inode, that the first one's had.
	one_after_another() {
		cat > enters.py <<-'END'
			import os, sys, time
			os.chroot(sys.argv[1])
			os.chdir("/w")
			os.rename("link/f", "link/g")
			time.sleep(0.05)
		END
		cat > one-after.sh <<-'END'
			for x in red blue red blue; do
				mkdir -p $x && mount -t tmpfs none $x && mkdir -p $x/w/real && ln -s real $x/w/link && touch $x/w/real/f &&
					python3 enters.py $x && umount $x || exit 1
			done
		END
		"$RECORDER" --format bas -o after.bas -- sh one-after.sh 2> after.err || { cat after.err; return 1; }
		sound after.bas --ended && equal "$(bas events after.bas RenameFrom | cut -f4- | sort | uniq -c)" "      4 RF=/w/real/f	RT=/w/real/g"
	}
	check "roots one after another, of the same number: names of each as seen from there" one_after_another
else
	skip "a root of its own" "no mount namespace can be made here"
fi

# ---- what cannot be looked up, or told ----

# A link leads to where its server has to be asked, and that is stopped: the run ends, and says so.
no_answer() {
	mkdir -p served serves
	bindfs -f served serves 2> /dev/null & local server=$! status
	until mountpoint -q serves; do sleep 0.05; done
	kill -STOP $server
	timeout -s KILL 10 "$RECORDER" --format bas -o waits.bas -- sh -c "ln -s $PWD/serves/never waits; exit 4" 2> waits.err
	status=$?
	kill -CONT $server
	umount serves
	wait $server
	equal $status 4 && grep -q 'did not answer in time: 1$' waits.err && sound waits.bas --ended &&
		equal "$(bas events waits.bas Symlink | grep -c "resolvedname")" 0
}
if command -v bindfs > /dev/null && mkdir -p tried && bindfs tried tried 2> /dev/null; then
	umount tried
	check "a file system that does not answer" no_answer
else
	skip "a file system that does not answer" "bindfs cannot mount here"
fi

# Of a raw recording: what has another place by now is told as it was, and nothing is looked up where something else is.
replayed() {
	record rawbas --format raw,bas -- sh -c 'mkdir a; cd a; echo > x; mv x y; ln y h; ln -s y z; ln -s y ../a/w' || return
	mv a real && ln -s /usr a
	"$RECORDER" --format bas --replay rawbas/recording.raw -o again.bas 2> again.err || { cat again.err; return 1; }
	sound again.bas --ended || return
	equal "$(bas events again.bas RenameFrom LinkFrom LinkatFrom Symlink | sed 's/	SR=[^	]*//')" \
		"$(bas events rawbas/.nfsdb RenameFrom LinkFrom LinkatFrom Symlink | sed 's/	SR=[^	]*//')" &&
		grep -q 'for a replay looks nothing up: [1-9]' again.err
}
check "a raw recording replayed: names as they were" replayed

# Of the user who called sudo: the text tells nothing that this user could not find out.
rights() {
	chmod 755 . && mkdir theirs && chown 65534:65534 theirs && mkdir closed && ln -s /etc closed/link || return
	ln -s /etc open-link && chmod 700 closed
	SUDO_UID=65534 SUDO_GID=65534 "$RECORDER" --format bas -o theirs/rights.bas -- \
		sh -c "ln -s $PWD/closed/link theirs/a; ln -s $PWD/open-link theirs/b; mv $PWD/closed/link theirs/c" 2> rights.err
	mv theirs/rights.bas* . && sound rights.bas --ended && grep -q 'nobody may look there but others: [1-9]' rights.err || return
	equal "$(bas events rights.bas Symlink RenameFrom RenameFailed | cut -f4- | sed "s|$PWD/||g")" "ST=closed/link	SL=theirs/a
ST=open-link	SR=/etc	SL=theirs/b
failed"
}
check "what the text's owner may not look into is not told" rights

cat > ring.py <<-'END'
	import ctypes, os
	libc = ctypes.CDLL(None, use_errno=True)
	if libc.syscall(425, 1, ctypes.create_string_buffer(120)) < 0:
	    raise SystemExit(os.strerror(ctypes.get_errno()))
END
if why=$(python3 ring.py 2>&1); then
	rings() {
		"$RECORDER" --format bas -o ring.bas -- python3 ring.py 2> ring.err
		sound ring.bas --ended && grep -q "nothing of what was done by io_uring: 1 ring was made" ring.err
	}
	check "what goes through io_uring is not told, but that there is such" rings
else
	skip "what goes through io_uring" "$why"
fi

# ---- attached, killed, lost ----

attached() {
	mkfifo go
	sh -c 'read x < go; ls / > /dev/null; (exit 5) | cat; sh -c "exit 4"; read x < go' & local target=$!
	attach at --format bas -p $target
	echo > go
	sleep 0.5
	detach || { cat at.err; return 1; }
	echo > go
	wait $target
	sound at || return
	[ "$(bas events -p $target at New_proc SchedFork | grep -c SchedFork)" -ge 4 ] || { bas events -p $target at; return 1; }
	equal "$(bas events at Exit | cut -f3 | sort | uniq -c | awk '{ print $1, $2 }' | tr '\n' ' ')" "2 status=0 1 status=4 1 status=5 "
}
check "a process that runs already, with an invented root" attached

# A parent and a child, there before: who is recorded hangs as it does, under a root that is recorder.
there_before() {
	mkfifo stay
	sh -c 'sh -c "read x < stay; /bin/true; exit 3"; exit 2' & local target=$! child
	wait_for pgrep -P $target > /dev/null
	child=$(pgrep -P $target)
	[ -z "${1-}" ] || { echo $target; echo $child; } | while read -r pid; do echo "$pid" > "$1/cgroup.procs"; done
	attach "$2" --format bas "${@:3:1}" "${4-$target}"
	echo > stay
	wait $target
	detach || { cat "$2.err"; return 1; }
	rm stay
	sound "$2" --ended || return
	equal "$(bas events "$2" SchedFork | head -n 2 | cut -f1,3)" "$recorder	pid=$target
$target	pid=$child" || return
	equal "$(bas events "$2" Exit | cut -f3 | tr '\n' ' ')" "status=0 status=3 status=2 "
}
check "with --tree the children that are there, under their parents" there_before "" tree --tree
mount=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
group=$mount/recorder-bas-$$
if [ -n "$mount" ] && mkdir "$group"; then
	check "a cgroup: who is there, and what they start" there_before "$group" group --cgroup "$group"
	rmdir "$group"
else
	skip "a cgroup" "none can be made here"
fi

killed() {
	"$RECORDER" --format bas -o killed -- sh -c 'until [ -e stop ]; do /bin/true; done; echo done' > killed.out 2> killed.err &
	local pid=$! left
	sleep 2
	kill -9 $pid; wait $pid
	touch stop
	wait_for grep -q done killed.out || return
	left=$(ls -d killed.*part* 2> /dev/null | head -n 1)
	[ -n "$left" ] || { echo "nothing was left: $(ls -d killed*)"; return 1; }
	"$RECORDER" --recover "$left" > recover.out 2>&1 || { cat recover.out; return 1; }
	left=$(ls -d killed killed.recovered 2> /dev/null | head -n 1)
	sound "$left" || return
	at_least "$(count_of "$left" New_proc)" 20
}
check "recorder killed, what it had is recovered whole" killed

dropped() {
	record drops --format bas --simulate-drops 7 -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do ls -l / | sort > /dev/null; done' || return
	bas check drops > drops.check || { head -n 5 drops.check; return 1; }
	local lost
	lost=$(awk '$1 == "lost" { print $2 }' drops.check)
	at_least "$lost" 1 || return
	# The other drops on purpose may be of what this text has no line for; what it says is the least.
	at_least "$(awk '/dropped events/ { n += $3 } END { print n + 0 }' drops.stats)" "$lost"
}
check "drops on purpose: whole events are left, and what is gone is said" dropped

# ---- the switches ----

options=(--long-lines)
if program basnames; then
	alone long "$PROGRAMS/basnames"
	check "--long-lines: paths of 900 bytes and more on one line" sound long.bas --long-lines
	check "... as the program has them" told_the_same long.bas long.said "${bas_files[@]}" --long-lines
fi
options=()

record closes --format bas --implicit-closes -- sh -c 'exec 3</dev/null 4</dev/null 3<&-; exec cat /dev/null 4<&-'
check "--implicit-closes: sound" sound closes --ended
implied() {
	record implied --format bas --implicit-closes -- "$python" -c 'import os; os.open("/dev/zero", os.O_RDONLY); os.execv("/bin/true", ["true"])' || return
	sound implied --ended || return
	local fd
	fd=$(bas events implied Open | sed -n 's/.*fd=\([0-9]*\)\tFN=.dev.zero.*/\1/p')
	bas events implied | sed '/FN=.dev.zero/,/New_proc/!d' | grep -q "Close	fd=$fd$"
}
check "--implicit-closes: what exec closes has its Close before it" implied

repeats() {
	record repeats --format bas --ignore-repeated-opens -- "$python" -c 'for i in range(50): open("/dev/zero").close()' || return
	sound repeats --ended || return
	equal "$(bas events repeats Open | grep -c 'FO=/dev/zero')" 1
}
check "--ignore-repeated-opens: a file opened 50 times, once" repeats

environments() {
	env -i A=b "M=two
lines" PATH="$PATH" "$RECORDER" -q --format bas --env-vars -o envs -- sh -c 'A=c sh -c "exit 0"; true; /bin/true' || return
	sound envs --ended || return
	equal "$(bas events envs UPID | grep -c 'Env=A=b	')" 1 || return
	equal "$(bas events envs UPID | grep 'Env=M=' | tr '\t' '\n' | grep -c UPID=)" "$(count_of envs New_proc)" || return
	equal "$(bas events envs UPID | grep 'Env=A=c' | tr '\t' '\n' | grep -c UPID=)" 1
}
check "--env-vars: each string once, with who had it" environments

named() {
	cp /bin/true a-name-of-more-bytes-than-15
	record names2 --format bas --thread-names -- sh -c 'echo another > /proc/self/comm; ./a-name-of-more-bytes-than-15' || return
	sound names2 --ended || return
	bas events names2 Comm | grep -q 'CN=another' && bas events names2 Comm | grep -q 'CN=a-name-of-more-$'
}
check "--thread-names: of a program, and by itself" named

renamed() {
	record renamed --format bas --thread-names -- "$python" -c '
import threading
done = threading.Event()
t = threading.Thread(target=done.wait)
t.start()
open("/proc/self/task/%d/comm" % t.native_id, "w").write("by\nanother")
print(t.native_id)
done.set()' > renamed.out || return
	sound renamed --ended || return
	equal "$(bas events -p "$(cat renamed.out)" renamed Comm | tail -n 1 | cut -f4)" 'CN=by\nanother'
}
check "... by another thread, told of the one that is named" renamed

mounted() {
	mkdir -p here
	record mounts --format bas --mounts -- unshare -m sh -c 'mount -t tmpfs source here; umount here; umount not-there' 2> /dev/null
	sound mounts --ended || return
	bas events mounts Mount | grep -q "MS=source	MT=$PWD/here	MX=tmpfs" || { bas events mounts Mount; return 1; }
	bas events mounts Umount | grep -q "MT=$PWD/here"
}
if unshare -m true 2> /dev/null; then check "--mounts" mounted; else skip "--mounts" "no mount namespace can be made here"; fi
