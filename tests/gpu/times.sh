#!/bin/bash
# times.sh [-o DIR] [-t SECONDS] [PROGRAM...] - device times on a machine with an NVIDIA GPU: what --gpu-times finds of real programs.
#
# Run in the folder that tests/gpu/pack makes (recorder, librecorder_cupti.so and programs/ lie beside it), or in a source tree
# where that was run. Needs root and python3; the Python programs need PyTorch. Prints, and writes to DIR/times.txt, of each
# program how many launches it made, how many have their time on the device, and whether those times can be true. After
# SECONDS (150) no other program is begun.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ -x "$here/recorder" ] || here=$(cd "$here/../.." && pwd)/build/gpu
out=$here/times end=150
[ "${1-}" = -o ] && { out=$2; shift 2; }
[ "${1-}" = -t ] && { end=$2; shift 2; }
mkdir -p "$out" || exit 1
recorder=$here/recorder programs=$here/programs
[ -x "$recorder" ] && [ -e "$here/librecorder_cupti.so" ] || { echo "times.sh: no recorder, or no librecorder_cupti.so, in $here"; exit 2; }
say() { echo "$*" | tee -a "$out/times.txt"; }

# facts FOLDER...: read from the tables alone, by the layout of NEUTRINO's containers.
cat > "$out/facts.py" <<'END'
import glob, os, statistics, struct, sys

HOST, GPU = struct.Struct("<6Q4I"), struct.Struct("<4Q4I")
CAPTURED, GRAPH = 1 << 3, 1 << 4


def section(data, i, layout):
    size, _, at = struct.unpack_from("<IIQ", data, 32 + 16 * i)
    rows, = struct.unpack_from("<I", data, 0)
    return [layout.unpack_from(data, at + n * size) for n in range(rows)]


def main():
    for folder in sys.argv[1:]:
        data = open(os.path.join(folder, "result", "launches.bin"), "rb").read()
        host = section(data, 0, HOST)
        if struct.unpack_from("<I", data, 28)[0] < 2:
            print("  no device times in", os.path.basename(folder))
            continue
        gpu = section(data, 1, GPU)
        ran = [(h, g) for h, g in zip(host, gpu) if not h[8] & CAPTURED]
        timed = [(h, g) for h, g in ran if g[6]]
        took = [g[1] - g[0] for _, g in timed]
        print("  %d launches ran, %d of them in graphs; %d timed, %d in graphs; %d captured, %d of those timed" % (
            len(ran), sum(1 for h, _ in ran if h[8] & GRAPH), len(timed), sum(1 for h, _ in timed if h[8] & GRAPH),
            len(host) - len(ran), sum(1 for h, g in zip(host, gpu) if h[8] & CAPTURED and g[6])))
        if not timed:
            continue
        print("  ns on the device: median %d, %d..%d; begun after the call by: median %d, least %d" % (
            statistics.median(took), min(took), max(took), statistics.median(g[0] - h[0] for h, g in timed),
            min(g[0] - h[0] for h, g in timed)))
        print("  before their call %d; ended after a wait that proves them complete %d, of %d with one; end before start %d" % (
            sum(1 for h, g in timed if g[0] < h[0]), sum(1 for h, g in timed if h[2] and g[1] > h[2]),
            sum(1 for h, _ in timed if h[2]), sum(1 for t in took if t < 0)))
        streams, inverted = {}, 0
        for h, g in timed:
            inverted += g[0] < streams.get((g[4], g[5]), 0)
            streams[g[4], g[5]] = g[1]
        print("  streams %d; begun before the one before it in its stream had ended: %d; registers %s" % (
            len(streams), inverted, sorted({g[7] for _, g in timed})[:8]))
        long = [t for t in took if 9_000_000 < t < 12_000_000]
        if long:
            print("  of about 10 ms: %d, median %d, %d..%d ns" % (len(long), statistics.median(long), min(long), max(long)))
        lines = open(os.path.join(folder, "event.log"), errors="replace").read().split("\n")
        kinds = {}
        for line in lines:
            if line.startswith("[recorder] gpu "):
                w = line.split()
                kinds[w[2], w[3]] = kinds.get((w[2], w[3]), 0) + 1
        print("  lines:", ", ".join("%s %s %d" % (*k, n) for k, n in sorted(kinds.items())))


main()
END

# record NAME COMMAND...
record() {
	local name=$1 status; shift
	[ -e "$1" ] || command -v "$1" > /dev/null || { say "$name: not there"; return; }
	rm -rf "$out/$name"
	timeout -k 5 "${LIMIT:-45}" "$recorder" --status never --no-syscalls --no-functions --format neutrino --gpu-times -o "$out/$name" -- "$@" \
		> "$out/$name.out" 2> "$out/$name.err"
	status=$?
	say "$name: status $status, it says: $(grep -v '^spin' "$out/$name.out" | tail -n 2 | tr '\n' ';')"
	grep -E '^recorder: (error|warning|device times|lost|CUDA|returns|own cost)' "$out/$name.err" | cut -c1-300 | sed 's/^/  /' | tee -a "$out/times.txt"
	grep -vE '^recorder' "$out/$name.err" | head -n 5 | cut -c1-300 | sed 's/^/  stderr: /' | tee -a "$out/times.txt"
	python3 "$out/facts.py" "$out/$name"/*/ 2>&1 | tee -a "$out/times.txt"
	find "$out/$name" -name '[0-9]*.bin' | sort | tail -n +4 | xargs -r rm -f	# of these there may be hundreds, with holes
}

# What a launch costs bare, recorded, and recorded with its time.
cost() {
	local how
	[ -x "$programs/driver" ] || return
	for how in bare host times; do
		case $how in
		bare) "$programs/driver" empty ;;
		host) "$recorder" -q --status never --no-syscalls --no-functions --format neutrino -o "$out/cost" -- "$programs/driver" empty ;;
		times) "$recorder" -q --status never --no-syscalls --no-functions --format neutrino --gpu-times -o "$out/cost" -- "$programs/driver" empty ;;
		esac > "$out/cost-$how.out" 2>&1
		say "cost, $how: $(grep 'ns per launch' "$out/cost-$how.out" | tail -n 1)"
	done
	python3 "$out/facts.py" "$out/cost"/*/ 2>&1 | tee -a "$out/times.txt"
	rm -rf "$out/cost"/*/result/[0-9]*.bin "$out"/cost.old
}

# The tracks of a program with graphs, to be looked at where uftrace is: DIR/uftrace.data.
tracks() {
	"$recorder" -q --status never --no-syscalls --gpu-times -o "$out/uftrace.data" -- "$programs/graph" 3 > "$out/uftrace.out" 2>&1
	say "uftrace: status $?, $(ls "$out/uftrace.data" | grep -c '^4194[3-9][0-9]*\.dat') tracks"
}

python() { LD_LIBRARY_PATH=$given record "$@"; }
given=${LD_LIBRARY_PATH-}
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$here/runtime
cublas=$(ls /usr/local/cuda*/targets/*/lib/libcublas.so.1[0-9] 2> /dev/null | tail -n 1)
[ -n "$cublas" ] && LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$(dirname "$cublas")
[ $# -gt 0 ] || set -- vectoradd spin graph torch-eager torch-graph uftrace cost driver gemm launches ptds \
	vectoradd-shared graph-shared
say "asked $(date -u '+%F %T') UTC, $(head -n 1 /proc/driver/nvidia/version 2> /dev/null)"
for program; do
	[ $SECONDS -lt "$end" ] || { say "$program: no time left"; continue; }
	case $program in
	cost) cost ;;
	uftrace) tracks ;;
	spin) record spin "$programs/spin" 2 100 ;;
	driver) record driver "$programs/driver" once ;;
	torch-eager) python torch-eager python3 "$programs/train.py" eager ;;
	torch-graph) python torch-graph python3 "$programs/graph_torch.py" ;;
	triton) python triton python3 "$programs/triton_add.py" ;;
	cupy) python cupy python3 "$programs/cupy_add.py" ;;
	*) record "$program" "$programs/$program" ;;
	esac
done
rm -f "$out/facts.py"
