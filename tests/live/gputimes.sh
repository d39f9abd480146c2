# gputimes.sh - device times: what CUPTI says of each launch comes to it, whatever order it comes in, and without CUPTI the
# host's facts are there. The stand-in for CUPTI (tests/fakecuda/cupti.c) times each kernel with STUBCUDA_KERNEL_NS.
. "$LIVE/lib.sh"
need python3
program cugraph "$script" || exit 0
library=$(dirname "$RECORDER")/librecorder_cupti.so
[ -e "$library" ] || { skip "$script" "$library was not built"; exit 0; }
export LD_LIBRARY_PATH=$PROGRAMS/fakecuda STUBCUDA_KERNEL_NS=70000
unset CUDA_INJECTION64_PATH STUBCUPTI
read_folder() { python3 "$LIVE/neutrino-read.py" "$@"; }

# timed OPTION... -- COMMAND...: recorded into trace; what the program said in said.out, what the driver counted in driver.out.
timed() {
	rm -f driver.out
	STUBCUDA_COUNT=$PWD/driver.out record trace --format neutrino --gpu-times --no-syscalls --no-functions "$@" > said.out
}
ran() { awk '$1 == "launch" { n += $3 } END { print n + 0 }' driver.out; }
in_folders() { for folder in trace/*/; do read_folder "$folder" || return; done; }
# The number before WORD in what the reader says, over all folders.
number() { awk -F', ' -v w="$1" '{ for (i = 1; i <= NF; i++) if ($i ~ " " w "$") { split($i, x, " "); n += x[1] } } END { print n + 0 }' read.out; }

all_timed() {
	check "$1: its folders are read by both readers" in_folders > said.check
	in_folders > read.out
	cat said.check
	check "$1: each launch that ran has its time on the device" equal "$(number timed)" "$(ran)"
	check "$1: it is what each kernel took" equal "$(grep -o '\[.*\] ns' read.out | sort -u)" "[$STUBCUDA_KERNEL_NS] ns"
	check "$1: nothing is of a launch unseen" grep -q "device times: $(ran) kernels, 0 of no launch that was seen" trace.err
	check "$1: each has its line" equal "$(cat trace/*/event.log | grep -c '^\[recorder\] gpu kernel seq ')" "$(ran)"
}

for command in "cugraph 7" "cuthreads 4 200" "culate 0 5" "curuntime.shared 6" "cumany 300"; do
	program ${command% *} || continue
	timed -- "$PROGRAMS/"$command
	all_timed "$command"
done
STUBCUPTI=late timed -- "$PROGRAMS/cugraph" 7
all_timed "kernels before their calls"
STUBCUPTI=clock timed -- "$PROGRAMS/cuthreads" 2 20
all_timed "a CUPTI that cannot be given our clock"
STUBCUPTI=all timed -- "$PROGRAMS/cuthreads" 2 20
all_timed "a CUPTI that tells of all calls or none"
timed -- unshare -pf "$PROGRAMS/cugraph" 3
all_timed "a process that counts threads otherwise"

# Graphs: a node's time is that of the kernel which has its place in the graph.
timed -- "$PROGRAMS/cugraph" 7
shapes() {
	python3 - "$1" <<-'END'
	import sys, os, struct
	for name in os.listdir(sys.argv[1]):
	    if name[0].isdigit():
	        data = open(os.path.join(sys.argv[1], name), "rb").read()
	        flags, = struct.unpack_from("<I", data, 64 + 56)
	        node, = struct.unpack_from("<Q", data, struct.unpack_from("<Q", data, 56)[0] + 24)
	        if bool(flags & 16) != bool(node):
	            sys.exit(f"{name}: flags {flags} node {node}")
	END
}
check "nodes of graphs, and only they, have the number of a node" shapes "$(echo trace/*/result)"

# In uftrace.data: a track for each stream, whose calls are the kernels.
for command in "cugraph 5" "cuthreads 3 50"; do
	rm -f driver.out
	STUBCUDA_COUNT=$PWD/driver.out record gpu.data --gpu-times --no-syscalls --no-functions -- "$PROGRAMS/"$command > said.out
	check "$command: uftrace accepts the tracks" uftrace_accepts gpu.data
	calls_of gpu.data | awk '$2 !~ /^(cu[A-Z]|gpu[0-9])/' | sort > got.calls
	check "$command: each kernel is called as often as it ran" diff got.calls \
		<(awk '$1 == "launch" { n[$2] += $3 } END { for (f in n) print n[f], f }' driver.out | c++filt | sed 's/(.*//' | sort)
	check "$command: each takes as long as it did" equal \
		"$(uf replay --no-pager -d gpu.data -f duration | grep -E '}|;' | grep -E '\|   ' | grep -vE 'cu[A-Z]' | awk '{ print $1, $2 }' | sort -u)" \
		"$(awk -v n=$STUBCUDA_KERNEL_NS 'BEGIN { printf "%.3f us\n", n / 1000 }')"
done
check "their shapes are shown" grep -q 'vadd(1x1x1, 32x1x1)' <(replay gpu.data)

# Copies and sets.
timed -- "$PROGRAMS/cudriver" 0 .
check "copies and sets are timed, and their calls known" \
	grep -qE 'device times: .*; [1-9][0-9]* copies and sets, 0 of no call that was seen' trace.err
check "each has a line with its bytes" grep -qE '^\[recorder\] gpu copy call [0-9]+ of [0-9]+ start [0-9]+ end [0-9]+ .* bytesize [1-9]' trace/*/event.log

# What is not known is said.
STUBCUPTI=lossy timed -- "$PROGRAMS/cuthreads" 1 20
check "kernels whose calls CUPTI forgot are counted" grep -q "device times: 20 kernels, 20 of no launch that was seen" trace.err
check "and told as they are" equal "$(grep -c '^\[recorder\] gpu kernel unseen start' trace/*/event.log)" 20
in_folders > read.out
check "they are nobody's" equal "$(number timed)" 0

# Without CUPTI.
STUBCUPTI=busy timed -- "$PROGRAMS/cufork"
status=$?
check "another tool has CUPTI: said once" equal "$(grep -c 'another tool has CUPTI' trace.err)" 1
check "the program does not notice" equal "$status $(grep -c '^launch' said.out)" "0 $("$PROGRAMS/cufork" | grep -c '^launch')"
check "what the host saw is there" in_folders
mkdir without && cp -L "$PROGRAMS/fakecuda/libcuda.so.1" without
LD_LIBRARY_PATH=$PWD/without timed -- "$PROGRAMS/cuthreads" 1 5
check "no CUPTI, or a toolkit's, which this driver is no driver for: said" \
	equal "$? $(grep -cE 'no device times of 1 process: (there is no libcupti|CUPTI says)' trace.err)" "0 1"
cp "$RECORDER" without/
rm -rf alone
without/recorder --format neutrino --gpu-times -o alone -- "$PROGRAMS/cuthreads" 1 5 > said.out 2> alone.err
check "no library of ours: said" equal "$? $(grep -c 'librecorder_cupti.so is neither' alone.err)" "0 1"
CUDA_INJECTION64_PATH=$PROGRAMS/fakecuda/libinjected.so timed -- "$PROGRAMS/cuthreads" 1 5
check "who has another library loaded keeps it" equal "$? $(grep -c injected said.out)" "0 1"
check "and that is said" equal "$(grep -c 'CUDA_INJECTION64_PATH is set already' trace.err)" 1
check "its folder has one map" equal "$(grep -c '^\[map\.[a-z_]*\]' trace/*/probe.toml)" 1
timed -- true
check "without a driver: said" grep -q "no CUDA driver has loaded" trace.err

# Where CUPTI is found: beside what a Python package has mapped, and in a toolkit.
packages=$PWD/site-packages toolkit=$PWD/toolkit
mkdir -p "$packages/cuda" "$packages/nvidia/cu13/lib" "$toolkit/extras/CUPTI/lib64"
cp -L "$PROGRAMS/fakecuda/libcuda.so.1" "$packages/cuda"
cp "$PROGRAMS/fakecuda/libcupti.so.13" "$packages/nvidia/cu13/lib"
cp "$PROGRAMS/fakecuda/libcupti.so.13" "$toolkit/extras/CUPTI/lib64"
LD_LIBRARY_PATH=$packages/cuda timed -- "$PROGRAMS/cuthreads" 1 5
check "CUPTI of a Python package is found" grep -q 'device times: 5 kernels, 0 of no launch' trace.err
if ldconfig -p | grep -q 'libcupti\.so'; then
	skip "CUPTI of a toolkit" "the loader knows one here, which comes first"
else
	CUDA_HOME=$toolkit LD_LIBRARY_PATH=$PWD/without timed -- "$PROGRAMS/cuthreads" 1 5
	check "CUPTI of a toolkit is found" grep -q 'device times: 5 kernels, 0 of no launch' trace.err
fi

# Recorder killed: the program goes on, and ends as it would.
"$RECORDER" -q --no-syscalls --no-functions --format neutrino --gpu-times -o killed -- "$PROGRAMS/cuserve" 200 > served.out 2> killed.err & killed=$!
until grep -qs ready served.out || ! kill -0 $killed 2> /dev/null; do sleep 0.02; done
sleep 0.3
kill -KILL $killed
wait $killed 2> /dev/null
server=$(awk '{ print $2; exit }' served.out)
sleep 0.3
check "recorder killed, the program runs on" kill -0 "$server"
kill "$server"
for _ in $(seq 100); do kill -0 "$server" 2> /dev/null || break; sleep 0.02; done
check "and ends by itself" grep -q '^launch ' served.out

# The program: same output, status and end, and none of it written by the library.
"$PROGRAMS/cufork" 2>&1 | sed 's/[0-9][0-9]*//g' | sort > plain
record trace --format neutrino --gpu-times -- sh -c "exec $PROGRAMS/cufork 2>&1" > out
sed 's/[0-9][0-9]*//g' out | sort > recorded
check "a program that forks says the same" diff plain recorded
timed -- "$PROGRAMS/cuthreads" 2 10 7
check "its status is its own" equal $? 7
timed -- sh -c "$PROGRAMS/cuserve 200 & sleep 0.6; kill -KILL \$!; wait"
check "of a program that is killed the times until shortly before are there" \
	grep -qE 'device times: [1-9][0-9]* kernels, 0 of no launch' trace.err

# Refused: nobody loads a library into what runs already.
"$RECORDER" --gpu-times -p $$ -o none 2> refused.err
check "a process that runs already is refused" equal "$? $(grep -c 'goes with a command that recorder starts' refused.err)" "2 1"
"$RECORDER" --gpu-times --no-cuda -o none true 2> refused.err
check "so is a recording without CUDA" equal "$? $(grep -c 'nothing to time' refused.err)" "2 1"

# Each entry of a batch counts: what was stored and what was lost are together what was made. Of launches alone: the first
# call's return is taken away where recorder is late to look at the library that the driver loads in it (bpf/gate.bpf.c).
counts() { python3 "$LIVE/rawcount.py" "$1/recording.raw" | awk '/^(stored|lost)/ { n += $6 } END { print n }'; }
for drops in 0 7; do
	record raw$drops --format raw,neutrino --gpu-times --cuda=launch --no-syscalls --no-functions --simulate-drops $drops -- "$PROGRAMS/cumany" 500 > out
done
check "produced is stored and lost, of batches too" equal "$(counts raw7)" "$(counts raw0)"
check "something was lost" grep -q 'lost: .* CUDA' raw7.err

# A raw recording becomes the same folder.
"$RECORDER" -q --replay raw0/recording.raw --format neutrino -o again
check "replayed, launches.bin is the same" cmp raw0/*/result/launches.bin again/*/result/launches.bin
