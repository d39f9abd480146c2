#!/bin/bash
# What bas text costs: a real build, bare and under tools that see the same calls, and an open with its path. Needs root.
#
#	tests/bench/bas.sh RECORDER		ROUNDS=5: how often each is measured
#
# The build's time is taken within: the tools' own start and end are in a column of their own. Medians, all measured in
# turn. The figures of one run belong together; those of two runs do not.
set -u
here=$(cd "$(dirname "$0")" && pwd)
recorder=$(realpath "${1:?usage: tests/bench/bas.sh RECORDER}") || exit 2
[ "$(id -u)" = 0 ] || { echo "the benchmark needs root"; exit 2; }
bin=${BENCH:-$(realpath -m "$here/../../build/bench")}
make -s -C "$here" OUT="$bin" "$bin/opens" || exit 2
rounds=${ROUNDS:-5}
work=$(mktemp -d "${TMPDIR:-/tmp}/recorder-bas-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
export LC_ALL=C
unset SUDO_UID SUDO_GID SUDO_USER
RECORDER=$recorder LONG=$here/../long
calls=execve,execveat,open,openat,openat2,creat,close,close_range,pipe,pipe2,dup,dup2,dup3,fcntl,rename,renameat,renameat2
calls+=,link,linkat,symlink,symlinkat,clone,clone3,fork,vfork,exit_group,exit

. "$LONG/builds.sh"
from=$(source_of lua5.4)/src
cd "$work" || exit 1
if [ -f "$from/lua.c" ]; then
	what="lua, make -j2"
	cp -r "$from" build && echo '#define DEB_HOST_MULTIARCH ""' > build/lua5.4-deb-multiarch.h
else	# as many files of our own
	what="40 small files, make -j2"
	mkdir build
	for ((i = 0; i < 40; i++)); do
		printf '#include <stdio.h>\n#include <stdlib.h>\n#include <pthread.h>\nint f%d(void) { return printf("%%d", %d); }\n' $i $i > build/f$i.c
	done
	echo 'int main(void) { return 0; }' > build/lua.c
fi
printf 'O := $(patsubst %%.c,%%.o,$(filter-out luac.c,$(wildcard *.c)))\nlua: $O\n\tgcc -o $@ $^ -lm -ldl\n%%.o: %%.c\n\tgcc -pipe -I. -O1 -DLUA_USE_LINUX -c -o $@ $<\n' > build/makefile.here
cat > within <<-'END'
	#!/bin/bash
	rm -f build/*.o build/lua
	begin=$(date +%s%N)
	make -s -j2 -C build -f makefile.here > /dev/null || exit
	echo $((($(date +%s%N) - begin) / 1000)) > within.us
END
chmod 755 within
have() { command -v "$1" > /dev/null; }

# sample NAME COMMAND...: the build's own ms and the whole command's into NAME.ms.
sample() {
	local name=$1 begin; shift
	rm -f within.us
	begin=$(date +%s%N)
	"$@" >> messages 2>&1
	[ -s within.us ] && echo "$(cat within.us) $((($(date +%s%N) - begin) / 1000))" | awk '{ print $1 / 1000, $2 / 1000 }' >> "$name.ms"
}
record() {
	rm -rf out
	"$recorder" -o out --strict --format bas "$@"
	[ $? -ne 3 ] || echo "$*" >> lossy
}

./within > messages 2>&1
for ((r = 0; r < rounds; r++)); do
	sample bare ./within
	sample recorder record -- ./within
	sample bare2 ./within
	have strace && sample strace strace -f -qq -y -v -s 99999 -e signal=none -e trace=$calls -o log ./within
	have strace && sample seccomp strace --seccomp-bpf -f -qq -y -v -s 99999 -e signal=none -e trace=$calls -o log ./within
	have perf && sample perf perf trace -o log -e "${calls//creat,/}" ./within
done
record -- ./within >> messages 2>&1
[ -f out ] && { lines=$(wc -l < out) bytes=$(wc -c < out) execs=$(grep -ac '!New_proc|' out) opened=$(grep -ac '!Open|' out); }

median() { [ -s "$1" ] && awk -v f="${2-1}" '{ print $f }' "$1" | sort -g | awk '{ v[NR] = $1 } END { printf "%.0f\n", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }' || echo -; }
ratio() { awk -v a="$(median "$1.ms")" -v b="$(median bare.ms)" 'BEGIN { if (a == "-" || b + 0 == 0) print "-"; else printf "%.2f", a / b }'; }
verdict() { awk -v r="$1" -v most="$2" 'BEGIN { print r == "-" ? "not measured" : r + 0 <= most ? "met" : "MISSED" }'; }
echo "Linux $(uname -r), $(nproc) CPUs, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $rounds rounds"
echo
printf '%-44s %10s %8s %12s   %s\n' "$what" "build, ms" ratio "in all, ms" ""
for name in bare bare2 recorder strace seccomp perf; do
	case $name in
	bare) title="bare" ;; bare2) title="bare again, after recorder" ;; recorder) title="recorder --format bas" ;;
	strace) title="strace -f, the same calls" ;; seccomp) title="strace -f --seccomp-bpf" ;; perf) title="perf trace, the same calls" ;;
	esac
	said=
	[ $name = recorder ] && said="at most 1.05: $(verdict "$(ratio recorder)" 1.05)"
	printf '  %-42s %10s %8s %12s   %s\n' "$title" "$(median $name.ms)" "$(ratio $name)" "$(median $name.ms 2)" "$said"
done
echo "  ${execs:--} execs, ${opened:--} opens, ${lines:--} lines, ${bytes:--} bytes of text"

echo
for ((r = 0; r < rounds; r++)); do
	for depth in 3 10 30 100; do
		"$bin/opens" $depth >> open.bare.$depth
		record -- "$bin/opens" $depth 2>> messages >> open.recorder.$depth
	done
done
printf '%-44s %10s %10s %10s\n' "open + close, ns of wall time" bare recorder added
for depth in 3 10 30 100; do
	b=$(median open.bare.$depth) a=$(median open.recorder.$depth)
	printf '  %-42s %10s %10s %10s\n' "a path of $depth components" "$b" "$a" "$(awk -v a="$a" -v b="$b" 'BEGIN { print a == "-" ? "-" : a - b }')"
done

echo
most=0
for mib in 1 2 3 4 5; do
	record -- bash -c 'ulimit -s unlimited; exec python3 -c "
import os
os.execve(\"/bin/true\", [\"true\"] + [\"x\" * 131071] * ('$mib' * 8), {})"' >> messages 2>&1 || continue
	size=$(grep -ao '!New_proc|argsize=[0-9]*' out | sed 's/.*=//' | sort -n | tail -n 1)
	[ "${size:-0}" -gt "$most" ] && most=$size
done
echo "the longest arguments recorded whole: $most bytes"
[ ! -s lossy ] || { echo "records were lost with:"; sort lossy | uniq -c; }
exit 0
