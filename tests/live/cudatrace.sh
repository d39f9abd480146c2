# cudatrace.sh - calls of the CUDA driver in trace.dat, as trace-cmd reads it. The programs run on the stand-in for the driver
# (tests/fakecuda): what they say they did, and what it counted, is the truth.
. "$LIVE/lib.sh"
need trace-cmd python3
program cudriver "$script" || exit 0
export LD_LIBRARY_PATH=$PROGRAMS/fakecuda

report() { trace-cmd report "${@:2}" -i "$1" 2>> complaints; }
# cuda NAME [OPTION...] -- COMMAND...: NAME.dat, its report in NAME.report; the program's words in said.out, the driver's in driver.out.
cuda() {
	local name=$1 status; shift
	rm -rf "$name.dat" "$name.dat.part" driver.out
	STUBCUDA_COUNT=driver.out "$RECORDER" --format trace-dat --cuda --no-syscalls -o "$name.dat" "$@" > said.out 2> "$name.err"
	status=$?
	report "$name.dat" > "$name.report"
	return $status
}
# texts EVENT NAME: what the report has of each, without how long it took.
texts() { sed -nE "s/^.* [0-9.]+: $1: +//; T; s/ [0-9]+\.[0-9]+ us( \([a-z ]+\))?( by |$)/\1\2/; p" "$2.report"; }
# fields EVENT NAME FIELD...: those of its fields, as numbers.
fields() {
	report "$2.dat" -R -F "$1" | awk -v event="$1:" -v want="${*:3}" '
	BEGIN { n = split(want, w) }
	{ for (at = 1; at <= NF && $at != event; at++) ; }
	at <= NF {
		for (i = at + 1; i <= NF; i++)
			if (k = index($i, "="))
				f[substr($i, 1, k - 1)] = substr($i, k + 1)
		for (i = 1; i <= n; i++)
			printf "%s%s", f[w[i]], i < n ? " " : "\n"
	}'
}
sums() { awk -v w="$1" '$1 == w && $3 ~ /^[0-9]+$/ { n[$2] += $3 } END { for (f in n) print f, n[f] }' "$2" | sort; }
tally() { sort | uniq -c | awk '{ n = $1; sub(/^ *[0-9]+ /, ""); print $0, n }' | sort; }
# kernels NAME [-e|-v TEXT]: how often each was launched, of those lines.
kernels() { texts launch "$1" | grep ${2-} "${3->>>}" | sed 's/<<<.*//' | tally; }

# What the numbers of streams and results stand for: cuda_api.h and the program tell.
sed -nE 's/^\t(CUDA_[A-Z_]+)\s+= ([0-9]+),.*/result \2 \1/p' "$LIVE/../fakecuda/cuda_api.h" > results
# said AWK: over what the program said; s[] has the streams, r[] the results.
said() {
	awk 'BEGIN { s[0] = "0x0"; s[8] = "0x1"; s[9] = "0x2" } $1 == "result" { r[$2] = $3 } $1 == "stream" { s[$2] = $3 }
	'"$1" results said.out
}

# --- one of each kind of call, and each is said ---
cuda one --no-functions -- "$PROGRAMS/cudriver" 7 .
check "the program ends as it does" equal $? 7
check "each launch: kernel, grid, block, shared bytes, cluster, stream, kind, result" diff <(said '
	function flag(name, is) { if (is) flags = flags (flags ? "|" : " flags=") name }
	$1 == "launch" {
		flags = ""
		flag("ex", $12 ~ /Ex$/)
		flag("cooperative", $12 ~ /Cooperative/ || $13 == "cooperative")
		flag("per-thread", $12 ~ /_ptsz$/)
		flag("multi", $12 ~ /Multi/)
		flag("legacy", $12 ~ /^cuLaunch(Grid(Async)?)?$/)
		flag("cluster", $13 == "cluster")
		cluster = $13 == "cluster" ? " cluster=(" $14 "," $15 "," $16 ")" : ""
		printf "%s<<<(%s,%s,%s),(%s,%s,%s),%s>>>%s stream=%s%s result=%s by %s\n", $2, $3, $4, $5, $6, $7, $8, $9, cluster,
			s[$10], flags, r[$11], $12
	}') <(texts launch one | sed -E 's/ seq=[0-9]+ func=0x[0-9a-f]+//')
# Of a batch that is too long to be read whole fewer bytes are told, and that there are more.
copies() { texts memcpy one | sed -E 's/ 0x[0-9a-f]+ -> 0x[0-9a-f]+//'; }
said '$1 == "copy" {
		printf "%s %s bytes stream=%s result=%s by %s\n", $3 == "copy" ? "unified" : $3, $4, s[$5], r[$6], $2 }' > copies.said
check "each copy: direction, bytes, stream, result" diff <(copies | grep -n flags=partial | cut -d: -f1 | sed 's/$/d/' | sed -f - copies.said) \
	<(copies | sed -E '/flags=partial/d; s/ flags=[a-z-]+//')
check "... or that it is more than is told" equal "$(copies | paste -d' ' copies.said - | awk '/flags=partial/ { print ($1 == $8 && $2 > $9) }')" 1
check "each set: bytes, stream, result" diff <(said '$1 == "set" {
		printf "%s bytes stream=%s result=%s by %s\n", $4, s[$5], r[$6], $2 }') \
	<(texts memset one | sed -E 's/ at 0x[0-9a-f]+//')
# How wide a row becomes the driver says, not the caller.
check "each allocation: bytes, result" diff <(said '$1 == "alloc" { print $2 ~ /Pitch/ ? "some" : $3, r[$4], $2 }') \
	<(texts alloc one | sed -E 's/^[a-z]+ ([0-9]+) .*result=([A-Z_]+) by (.*)/\1 \2 \3/; s/^[0-9]+ (.*Pitch)/some \1/')
check "... what was given is what is freed" equal "$(texts free one | awk '{ print $1, $2 }' | sort)" \
	"$(texts alloc one | awk '/CUDA_SUCCESS/ { print $1 == "managed" ? "device" : $1, $5 }' | sort)"
check "each free: result" diff <(said '$1 == "free" { print r[$4], $2 }') <(texts free one | sed -E 's/.*result=([A-Z_]+) by /\1 /')
check "each wait: for what, and result" diff <(said '$1 == "wait" && $2 ~ /Synchronize/ {
		print $2 ~ /Ctx/ ? "context 0x0" : $2 ~ /Stream/ ? "stream " s[$3] : "event", r[$4], $2 }') \
	<(texts sync one | sed -E 's/ flags=[a-z-]+//; s/^event 0x[0-9a-f]+/event/; s/ result=/ /; s/ by / /')
check "each load and unload: result" diff <(said '$1 == "module" && $2 !~ /Enumerate/ { print r[$4], $2 }') \
	<(texts module one | sed -nE 's/.*result=([A-Z_]+) by (.*(Load|Unload).*)/\1 \2/p')
check "... how many bytes, where the image says that" diff <(said '$1 == "module" && $3 && $2 ~ /DataEx|Fat|LibraryLoad/ { print $3 }') \
	<(texts module one | sed -nE 's/.*image=.* ([0-9]+) bytes .*/\1/p')
check "each handle and its name" diff <(said '$1 == "kernel" { print $4 ~ /KernelGet/ ? "" : $2 " ", $3, $4 }' | sed 's/^ *//; s/  / /') \
	<(texts module one | sed -nE 's/handle=(0x[0-9a-f]+) .* by (.*Get.*)/\1 \2/p')
check "handles are those that are launched" equal \
	"$(texts launch one | sed -E 's/<<<.*func=(0x[0-9a-f]+).*/ \1/' | grep -vxFf <(said '$1 == "kernel" { print $2, $3 }'))" ""
check "launches are numbered in their order" equal "$(fields launch one seq | tr '\n' ' ')" \
	"$(seq -s ' ' 0 $(($(texts launch one | wc -l) - 1))) "
# By the driver's own count; a function that has no line is none that is recorded.
check "as many of each function as the driver counted" diff \
	<(for event in launch memcpy memset alloc free sync module call; do fields $event one api; done | tally) \
	<(sums call driver.out | grep -vE '^cu(DeviceGet|DeviceGetDefaultMemPool|ModuleEnumerateFunctions) ')
check "a filter finds what has failed" equal "$(report one.dat -F 'launch: result != 0' | grep -c 'launch:')" \
	"$(said '$1 == "launch" && $11 != 0 { n++ } END { print n }')"
check "nothing is told that trace-cmd does not understand" equal "$(grep -cE 'UNKNOWN|FAILED|unseen' one.report)" 0

all=$(grep -c ' \[0' one.report)
check "version 6 has as many" equal "$(trace-cmd convert --file-version 6 -i one.dat -o six.dat > /dev/null 2>&1; report six.dat | grep -c ' \[0')" "$all"
if kshark=$(ls /usr/lib/*/libkshark.so 2> /dev/null) && [ -d /usr/include/kernelshark ] && gcc -o kshark "$LIVE/tracedat.c" \
	-I/usr/include/kernelshark $(pkg-config --cflags libtracecmd libtraceevent libtracefs 2> /dev/null) "$kshark" 2> kshark.err; then
	check "KernelShark's library reads as many" equal "$(./kshark one.dat | wc -l)" "$all"
else
	skip "KernelShark's library" "libkshark-dev is not there"
fi

# --- graphs ---
cuda graph --no-functions -- "$PROGRAMS/cugraph" 7
check "graphs: kernels that ran" diff <(kernels graph -v flags=captured) <(sums launch driver.out)
check "graphs: launches that were captured" diff <(kernels graph -e flags=captured) <(sums captured driver.out)
check "graphs: as many launches as replays" equal "$(texts graph_launch graph | wc -l)" "$(sums replay said.out | awk '{ n += $2 } END { print n }')"
check "graphs: each launch is followed by its kernels" equal "$(awk '
	/: graph_launch: / { if (left) bad++; match($0, /kernels=[0-9]+/); left = substr($0, RSTART + 8, RLENGTH - 8); next }
	/: launch: .*flags=graph/ { left--; n++; next }
	/: (launch|call|sync): / { if (left) bad++; left = 0 }
	END { print bad + 0, n }' graph.report)" "0 $(texts launch graph | grep -c flags=graph)"

# --- how long waits took: a stream is busy for as long as its kernels are ---
export STUBCUDA_KERNEL_NS=3000000
for command in "cugraph 3" "cumany 8 4"; do
	cuda wait --no-functions -- "$PROGRAMS/"$command
	check "$command: waits took as long as the kernels" python3 "$LIVE/cudatrace.py" $STUBCUDA_KERNEL_NS < <(report wait.dat -t -R)
done
unset STUBCUDA_KERNEL_NS

# --- threads, processes, a driver that is opened late ---
cuda threads -- "$PROGRAMS/cuthreads" 4 200
check "threads: the launches of all" diff <(kernels threads) <(sums launch driver.out)
check "... each has its number" equal "$(fields launch threads seq | sort -n | tr '\n' ' ')" "$(seq -s ' ' 0 $(($(texts launch threads | wc -l) - 1))) "
check "... functions around them nest" python3 "$LIVE/tracedat.py" < threads.report
cuda fork --no-functions -- "$PROGRAMS/cufork"
check "processes: the launches of each" diff <(fields launch fork tgid kernel | tally) \
	<(awk '$1 == "pid" { pid = $2 } $1 == "launch" { print pid, $2, $3 }' driver.out | sort)
cuda late --no-functions -- "$PROGRAMS/culate" 100 5
check "opened late: all launches" diff <(kernels late) <(sums launch driver.out)
check "... and what was asked for by name" equal "$(texts module late | awk '/ by cuGetProcAddress/ { print $1 }' | tally)" "cuLaunchKernel 2"

# --- ends that were not seen ---
cuda unprobed --no-functions --returns=never -- "$PROGRAMS/cudriver" 0 .
check "without returns: each launch has its line, marked" equal \
	"$(texts launch unprobed | grep -c 'result=unseen (return not probed) by ')" "$(grep -c '^launch' said.out)"
check "... nothing is made up" equal "$(fields memcpy unprobed result duration | sort -u)" "-1 0"
STUBCUDA_KERNEL_NS=60000000000 "$RECORDER" --format trace-dat --cuda --no-functions -o killed.dat "$PROGRAMS/cumany" 1 > said.out 2> killed.err &
pid=$!
for _ in $(seq 300); do
	child=$(pgrep -P $pid -x cumany) && grep -q nanosleep "/proc/$child/wchan" && break
	sleep 0.05
done
kill -9 "$child"
wait $pid
report killed.dat > killed.report
check "killed in a wait: it is there, and has no end" equal "$(texts sync killed)" "context 0x0 result=unseen (no end) by cuCtxSynchronize"

# --- when they ran on the device, as the stand-in for CUPTI tells it: as the NEUTRINO tables have it ---
# timed PROGRAM...: into times/, its report in times.report
timed() {
	rm -rf times
	"$RECORDER" --format trace-dat,neutrino --gpu-times --no-syscalls --no-functions -o times -- "$PROGRAMS/"$1 > said.out 2> times.err
	report times/trace.dat > times.report
	ran=$(cat times/trace/*/event.log | grep -c '^\[recorder\] gpu ')
}
in_lanes() { python3 "$LIVE/gpulanes.py" < <(report times/trace.dat -t -R); }
each_once() { python3 "$LIVE/gputrace.py" times < <(report times/trace.dat -R); }
if [ -e "$(dirname "$RECORDER")/librecorder_cupti.so" ]; then
	export STUBCUDA_KERNEL_NS=70000
	for how in "- cufork" "late cugraph 7" "lossy cuthreads 4 50" "- cudriver 7 ."; do
		STUBCUPTI=${how%% *} timed "${how#* }"
		check "device times ($how): each is there once, as it is in the tables" each_once
		# What is of no launch is told at the end; the stand-in has one number for all default streams, which cudriver uses at once.
		case $how in lossy*|*cudriver*) continue ;; esac
		check "... each stream has a CPU, on which each begins and ends when it did" in_lanes
	done
	check "... there are kernels, copies and sets" equal "$(sed -nE 's/.* (gpu_[a-z]+): .*/\1/p' times.report | sort -u | xargs)" \
		"gpu_end gpu_kernel gpu_memcpy gpu_memset"
	check "... they ran on no CPU that there is" equal "$(sed -nE 's/.* \[0*([0-9]+)\] .*: gpu_.*/\1/p' times.report |
		awk -v cpus="$(report one.dat | sed -n 's/^cpus=//p')" '$1 < cpus' | wc -l)" 0
	check "... a filter finds those that took longer" equal \
		"$(report times/trace.dat -F "cuda/gpu_kernel: duration > $((STUBCUDA_KERNEL_NS - 1))" | grep -c ': gpu_kernel: ')
		$(report times/trace.dat -F "cuda/gpu_kernel: duration > $STUBCUDA_KERNEL_NS" | grep -c ': gpu_')" \
		"$(grep -c ': gpu_kernel: ' times.report)
		0"
	check "... version 6 has as many" equal "$(trace-cmd convert --file-version 6 -i times/trace.dat -o six.dat > /dev/null 2>&1
		report six.dat | grep ': gpu_' | grep -vc ': gpu_end')" "$ran"
	[ ! -x kshark ] || check "... KernelShark's library reads all" equal "$(./kshark times/trace.dat | wc -l)" "$(grep -c ' \[0' times.report)"
	unset STUBCUDA_KERNEL_NS
else
	skip "device times" "librecorder_cupti.so was not built"
fi

# --- the same again, and with losses ---
"$RECORDER" --format trace-dat,raw --cuda -o both -- "$PROGRAMS/cugraph" 2 > said.out 2> both.err
"$RECORDER" --replay both/recording.raw --format trace-dat -o again.dat 2> again.err
check "replayed: the same report" equal "$(report again.dat -t | cksum)" "$(report both/trace.dat -t | cksum)"
check "... in which there are launches" [ "$(report again.dat | grep -c ': launch: ')" -gt 1 ]
cuda lost --no-functions --simulate-drops 7 -- "$PROGRAMS/cumany" 500 50
lost=$(sed -nE 's/.*lost: .* ([0-9]+) CUDA records;.*/\1/p' lost.err)
check "losses: the file says how many" equal "$(sed -nE 's/.* lost: .* ([0-9]+) CUDA records$/\1/p' lost.report | awk '{ n += $1 } END { print n }')" "$lost"
# What has no line lost its entry; what has one and no end, its exit. Some lines are of calls that the program did not name.
made=$(sums call driver.out | awk '/^cu(Launch|CtxSync)/ { n += $2 } END { print n }')
have=$({ texts launch lost; texts sync lost; } | wc -l)
open=$(grep -cE '(end not seen|no end)' lost.report)
check "... and the calls that are missing are among them: $have of $made, $open without their end, $lost lost" \
	test "$have" -lt "$made" -a "$open" -gt 0 -a $((made - have + open)) -le "$lost"
check "trace-cmd never complained" equal "$(sort complaints | uniq | head -n 3)" ""
