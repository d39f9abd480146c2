#!/bin/bash
# What bas text costs: a real build, bare and under tools that see the same calls, and an open with its path. Needs root.
#
#	tests/bench/bas.sh RECORDER		ROUNDS=5: how often each is measured
#
# The build's time and the CPU time of its processes are taken within; "in all" has the tools' own start and end too. Medians,
# all measured in turn. A ratio is the median of the rounds', each to the mean of the two bare builds of its round. The
# figures of one run belong together; those of two runs do not.
. "$(dirname "$0")/lib.sh"
build_targets "$bin/opens"
rounds=${ROUNDS:-5}
targets=$bin RECORDER=$recorder LONG=$here/../long	# what follows has a $bin of its own
calls=execve,execveat,open,openat,openat2,creat,close,close_range,pipe,pipe2,dup,dup2,dup3,fcntl,rename,renameat,renameat2
calls+=,link,linkat,symlink,symlinkat,clone,clone3,fork,vfork,exit_group,exit

. "$LONG/builds.sh"
from=$(source_of lua5.4)/src
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
	TIMEFORMAT='%R %U %S'
	{ time make -s -j2 -C build -f makefile.here > /dev/null 2>> messages; } 2> within.s
END
chmod 755 within
have() { command -v "$1" > /dev/null; }

# sample NAME COMMAND...: ms into NAME.ms: the build's, its CPU time, the whole command's.
sample() {
	local name=$1 begin; shift
	rm -f within.s
	begin=$(date +%s%N)
	"$@" >> messages 2>&1
	[ -s within.s ] && echo "$(cat within.s) $((($(date +%s%N) - begin) / 1000))" |
		awk '{ print $1 * 1000, ($2 + $3) * 1000, $4 / 1000 }' >> "$name.ms"
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
	have strace && sample strace strace -f -qq -y -v -s 99999 -e signal=none -e trace=$calls -o log ./within
	have strace && sample seccomp strace --seccomp-bpf -f -qq -y -v -s 99999 -e signal=none -e trace=$calls -o log ./within
	have perf && sample perf perf trace -o log -e "$calls" ./within
	sample bare2 ./within
done
record -- ./within >> messages 2>&1
[ -f out ] && { lines=$(wc -l < out) bytes=$(wc -c < out) execs=$(grep -ac '!New_proc|' out) opened=$(grep -ac '!Open|' out); }

# whole FILE [FIELD]: its median, without a fraction.
whole() { median "$@" | awk '{ print $1 == "-" ? $1 : sprintf("%.0f", $1) }'; }
# ratio NAME FIELD
ratio() {
	[ "$(wc -l < "$1.ms")" = "$rounds" ] || { echo -; return; }
	paste bare.ms bare2.ms "$1.ms" | awk -v f="$2" '{ print 2 * $(6 + f) / ($f + $(3 + f)) }' | sort -g |
		awk '{ v[NR] = $1 } END { printf "%.2f", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}
# Where two bare builds of a round differ by more than what is asked for, nothing can be said of a third.
speed() {
	local ratio noise
	ratio=$(ratio recorder 1)
	noise=$(paste bare.ms bare2.ms | awk '{ r = $1 / $4; print r < 1 ? 1 / r : r }' | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }')
	if awk -v r="$ratio" -v n="$noise" 'BEGIN { exit !(r > 1.05 && n > 1.05) }'; then
		printf 'at most 1.05: not to be said, two bare builds differ by %.2f' "$noise"
	else
		echo "at most 1.05: $(verdict "$ratio" 1.05)"
	fi
}
echo "Linux $(uname -r), $(nproc) CPUs, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $rounds rounds"
echo
row() { printf '%-36s %10s %7s %10s %7s %12s   %s\n' "$@"; }
row "$what" "build, ms" ratio "CPU, ms" ratio "in all, ms" ""
for name in bare bare2 recorder strace seccomp perf; do
	case $name in
	bare) title="bare" ;; bare2) title="bare again, at the round's end" ;; recorder) title="recorder --format bas" ;;
	strace) title="strace -f, the same calls" ;; seccomp) title="strace -f --seccomp-bpf" ;; perf) title="perf trace, the same calls" ;;
	esac
	[ -s $name.ms ] || continue
	said=
	[ $name = recorder ] && said=$(speed)
	row "  $title" "$(whole $name.ms)" "$(ratio $name 1)" "$(whole $name.ms 2)" "$(ratio $name 2)" "$(whole $name.ms 3)" "$said"
done
echo "  ${execs:--} execs, ${opened:--} opens, ${lines:--} lines, ${bytes:--} bytes of text"

echo
for ((r = 0; r < rounds; r++)); do
	for depth in 3 10 30 100; do
		"$targets/opens" $depth >> open.bare.$depth
		record -- "$targets/opens" $depth 2>> messages >> open.recorder.$depth
	done
done
printf '%-44s %10s %10s %10s\n' "open + close, ns of wall time" bare recorder added
for depth in 3 10 30 100; do
	b=$(whole open.bare.$depth) a=$(whole open.recorder.$depth)
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
