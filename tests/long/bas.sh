# bas.sh - bas text of real work: a Debian package's configure and make -j2 with gcc, git clone, 10 000 processes, arguments
# of MiBs, and a container, each against strace's log of the same run or against what the programs say of themselves.
# limit: 1800
. "$LIVE/lib.sh"
. "$LIVE/basjudge.sh"
need python3 strace
LONG=${LIVE%/live}/long
. "$LONG/builds.sh"
export PYTHONDONTWRITEBYTECODE=1 HOME=$scratch GIT_CONFIG_NOSYSTEM=1

# of_each NAME KIND...: something of each kind was compared.
of_each() {
	local name=$1 kind; shift
	for kind; do
		at_least "$(awk -v k="$kind" '$1 == k { print $2 }' "$name.same")" 1 || { echo "$kind"; return 1; }
	done
}

# ---- a real project ----

project() {
	local from
	from=$(source_of zlib) && [ -n "$from" ] || return
	cp -r "$from" zlib
}
if command -v apt-get > /dev/null && command -v dpkg-source > /dev/null && project; then
	check "zlib: configure, make -j2, as strace has it" same_as_strace zlib.traced sh -c 'cd zlib && ./configure && make -j2'
	check "... of each kind" of_each zlib.traced exec open close pipe dup rename fork exit
	rm -rf zlib; project
	record zlib.bas --format bas -- sh -c 'cd zlib && ./configure && make -j2' > zlib.out
	check "zlib without strace: builds" [ $? -eq 0 -a -e zlib/libz.a ]
	check "... soundly" sound zlib.bas --ended
	check "... as many programs as with strace" equal "$(count_of zlib.bas New_proc)" \
		"$(($(bas events zlib.traced New_proc | wc -l) - 1))"
else
	skip zlib "its source cannot be had here"
fi
lua() {
	local from
	from=$(source_of lua5.4)/src && [ -f "$from/lua.c" ] || return
	rm -rf lua; cp -r "$from" lua && echo '#define DEB_HOST_MULTIARCH ""' > lua/lua5.4-deb-multiarch.h
	printf 'O := $(patsubst %%.c,%%.o,$(filter-out luac.c,$(wildcard *.c)))\nlua: $O\n\tgcc -o $@ $^ -lm -ldl\n%%.o: %%.c\n\tgcc -pipe -I. -O2 -DLUA_USE_LINUX -c -o $@ $<\n' > lua/makefile.here
}
if command -v apt-get > /dev/null && command -v dpkg-source > /dev/null && lua; then
	check "lua: make -j2 with gcc -pipe, as strace has it" same_as_strace lua.traced make -j2 -C lua -f makefile.here
	check "... of each kind" of_each lua.traced exec open close pipe dup fork exit
else
	skip lua "its source cannot be had here"
fi

# ---- processes ----

record many --format bas -- sh -c 'i=0; while [ $i -lt 10000 ]; do /bin/true; i=$((i + 1)); done'
check "10 000 short processes" sound many --ended
check "... each with its exec and its end" equal "$(count_of many New_proc) $(count_of many Exit)" "10001 10001"
check "1 000 short processes, as strace has them" same_as_strace some sh -c \
	'i=0; while [ $i -lt 1000 ]; do /bin/true; i=$((i + 1)); done'

cloned() {
	git init -q repo && (cd repo && for i in $(seq 50); do
		mkdir -p dir$((i % 7)); echo "$i" > dir$((i % 7))/file$i; git add .
		git -c user.name=A -c user.email=a@b commit -q -m "change $i" || exit
	done) || return
	same_as_strace clone sh -c 'git clone -q repo linked && git clone -q --no-local repo copied && cd copied && git gc -q && git fsck'
}
if command -v git > /dev/null; then check "git clone, gc, fsck, as strace has them" cloned; else skip "git clone" "git is not there"; fi

# ---- arguments ----

longest() {
	ulimit -s unlimited
	record most --format bas -- "$python" -c '
import os, sys
size = int(sys.argv[1])
args = ["true"] + ["x" * 131071] * (size // 131072 - 1) + ["%d\n" % i * 3 for i in range(3000)]
os.execve("/bin/true", args, {})' "$((5 << 20))" || return
	sound most --ended || return
	at_least "$(bas events most New_proc | sed -n 's/.*argsize=\([0-9]*\).*/\1/p' | sort -n | tail -n 1)" "$(((5 << 20) - 300000))"
}
check "arguments of 5 MiB" longest
arguments() {
	cat > args.py <<-'END'
	import subprocess
	subprocess.run(["/bin/true"] + ["%07d " % i + "x" * 91 for i in range(10500)])
	subprocess.run(["/bin/true"] + ["y" * 131071] * 8)
	subprocess.run(["/bin/true", ""] + ["%d\n" % i for i in range(100000)])
	END
	same_as_strace args "$python" args.py
}
check "arguments of 1 MiB in three shapes, as strace has them" arguments
race() {
	rm -rf race.dir; mkdir race.dir
	# Its six threads on two CPUs leave the thread that writes half of one: what it has not come to yet needs the memory.
	(cd race.dir && exec "$RECORDER" --format bas --memory 512M -o ../race.bas -- "$PROGRAMS/basrace" 60000) > race.said 2> race.err
	sound race.bas --ended || return
	sort -s -n -k1,1 race.said > race.want
	bas events race.bas Open | cut -f1-4 | awk -F'\t' 'NR == FNR { want[$1] = 1; next } $1 in want' race.said - |
		sed -E 's!/(flip|a-name-that-is-much-longer-than-the-other-one)/!/?/!' | sort -s -n -k1,1 > race.got
	at_least "$(wc -l < race.want)" 100000 || return
	diff race.want race.got > race.diff || { echo "$(grep -c '^>' race.diff) of $(wc -l < race.want)"; head -n 6 race.diff; return 1; }
}
program basrace && check "descriptors and names in a long race" race

# ---- a container ----

container() {
	local pid
	mkdir -p ct/root/proc ct/root/w ct/root/dev && cp "$PROGRAMS/basnames" ct/root/
	(cd ct && runc spec && "$python" - <<-'END'
		import json
		c = json.load(open("config.json"))
		c["process"].update(terminal=False, args=["/basnames", "/w"])
		c["root"] = {"path": "root", "readonly": False}
		c["process"]["capabilities"] = {k: v + ["CAP_SYS_CHROOT"] for k, v in c["process"]["capabilities"].items()}
		json.dump(c, open("config.json", "w"))
	END
	) || return
	record ct.bas --format bas -- sh -c 'cd ct && runc run "recorder-$$" 2> ../runc.err' > ct.said || { cat runc.err; return 1; }
	sound ct.bas || return
	pid=$(bas events ct.bas New_proc | awk -F'\t' '$5 == "PP=/basnames" { print $1 }' | tail -n 1)
	[ -n "$pid" ] || { echo "no exec of /basnames"; return 1; }
	# Nobody is left who has its root, so where its links lead cannot be told.
	diff <(cut -f2- ct.said | sed 's/\tSR=[^\t]*//') <(told ct.bas "$pid" "${bas_files[@]}" | cut -f2- | sed 's/\tSR=[^\t]*//') > ct.diff || { cut -c1-300 ct.diff | head -n 8; return 1; }
}
if command -v runc > /dev/null && program basnames container; then
	check "a container of runc: names as seen from in there" container
else
	skip container "runc is not there"
fi

# What was compared, into the log.
for same in *.same; do echo "${same%.same}: $(awk '{ printf "%s %s, ", $1, $2 }' "$same")" >&2; done
