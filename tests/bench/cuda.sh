#!/bin/bash
# What recording costs a launch of the CUDA driver, beside an empty BPF program at the same function. No GPU: the stand-in driver.
#
#	tests/bench/cuda.sh RECORDER		ROUNDS=7
#
# Medians over rounds in which all ways come in turn. The stand-in's launch is some tens of ns, a real driver's some 4000.
. "$(dirname "$0")/lib.sh"
programs=$(realpath -m "$here/../../build/programs")
build_targets
make -s -C "$here/../programs" OUT="$programs" fakecuda || exit 2
driver=$programs/fakecuda/libcuda.so.580.0
rounds=${ROUNDS:-7} launches=100000
export LD_LIBRARY_PATH=$programs/fakecuda

# ns of a launch, as the program itself measured them.
per_launch() { sed -nE 's/^([0-9]+) launches in ([0-9]+) us.*/\1 \2/p' | awk '{ printf "%.1f\n", $2 * 1000 / $1 }'; }
bare() { "$programs/cumany" $launches 2>&1 | per_launch; }
empty() {
	coproc FLOOR { exec "$bin/floor" "$bin/floor.bpf.o" empty_session "$driver" cuLaunchKernel; }
	local floor_pid=$FLOOR_PID out=${FLOOR[0]} in=${FLOOR[1]}
	read -r _ <&"$out" || return 1
	bare
	exec {in}>&-
	wait "$floor_pid"
}
recorded() {
	rm -rf data
	"$recorder" -o data --no-functions --no-syscalls "$@" -- "$programs/cumany" $launches > /dev/null 2> err
	per_launch < err
	grep -q 'lost: nothing' err || echo "$*: $(grep 'lost:' err)" >> loss
	sed -nE 's/.*own cost: ([0-9.]+) s of CPU.*/\1/p' err > cpu
}
for ((r = 0; r < rounds; r++)); do
	bare >> bare
	empty >> empty
	recorded --cuda=launch --format raw >> both
	cat cpu >> own
	recorded --cuda=launch --returns=never --format raw >> entry
	stat -c %s data/recording.raw >> entry.bytes
	recorded --cuda=launch,module --format neutrino >> neutrino
	recorded --cuda=launch,module --format uftrace >> uftrace
done
added() { awk -v a="$(median "$1")" -v b="$(median bare)" 'BEGIN { printf "%.0f", a - b }'; }
ratio() { awk -v a="$(added "$1")" -v f="$(added empty)" 'BEGIN { printf "%.2f", a / f }'; }
recorded --cuda=launch --format raw > /dev/null
bytes=$(stat -c %s data/recording.raw)
echo "added to a launch, ns (medians of $rounds rounds of $launches launches; bare: $(median bare) ns)"
for way in empty both entry neutrino uftrace; do
	case $way in
	empty) what="an empty session at cuLaunchKernel" ;;
	both) what="recorded, entry and return (raw)" ;;
	entry) what="recorded, entry only (raw)" ;;
	*) what="recorded into $way" ;;
	esac
	printf '  %-42s %8s %8s\n' "$what" "$(added $way)" "$(ratio $way)"
done
printf '  %-42s %8s\n' "most that entry and return may be" 1.3
echo "bytes of a launch in a raw recording: $((bytes / launches)), entry only $(($(median entry.bytes) / launches))"
echo "recorder's own CPU for $launches launches: $(median own) s, set-up included"
[ ! -s loss ] || { echo "lost:"; cat loss; exit 1; }
