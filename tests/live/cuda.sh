# cuda.sh - calls of the CUDA driver are recorded as they were made: against what the stand-in driver counted.
. "$LIVE/lib.sh"
need python3 uftrace
program cudriver "$script" || exit 0
fake=$PROGRAMS/fakecuda
truth_of() { grep "^$1 " "$2" | awk '{ n[$1 " " $2] += $3 } END { for (k in n) if (n[k]) print k, n[k] }' | LC_ALL=C sort; }

# run NAME OPTION... -- COMMAND...: records NAME with the stand-in's truth in NAME.count.
run() {
	local name=$1; shift
	rm -f "$name.count"
	STUBCUDA_COUNT=$PWD/$name.count LD_LIBRARY_PATH=$fake record "$name" "$@" > "$name.out"
}

# Launches, graphs and copies, as NEUTRINO's tables have them: whatever way the program goes to the driver.
for command in "cudriver 3 ." "cugraph 7" "cuthreads 4 500" "culate 10 5" "cufork" "cumany 500" "curuntime 6" \
	       "vectoradd.shared 6" "vectoradd.ptds 6"; do
	name=${command%% *}
	program $name || continue
	run $name.trace --format neutrino -- "$PROGRAMS/"$command
	status=$?
	LD_LIBRARY_PATH=$fake "$PROGRAMS/"$command > alone.out 2>/dev/null
	check "$name: ends as alone" equal $status $?
	python3 "$LIVE/cudarows.py" $name.trace > rows
	for what in launch captured; do
		check "$name: $what" diff <(truth_of $what $name.trace.count) <(truth_of $what rows)
	done
done
for what in HtoD DtoH DtoD hostalloc managed set peer; do
	check "cudriver: bytes of $what" equal "$(python3 "$LIVE/cudarows.py" cudriver.trace | truth_of "bytes $what" /dev/stdin)" \
		"$(truth_of "bytes $what" cudriver.trace.count)"
done
check "of threads that begin beside each other every return is seen" equal "$(grep -h return-not-seen cuthreads.trace/*/event.log | wc -l)" 0
check "each process has a folder" equal "$(ls cufork.trace | wc -l)" \
	"$(awk '$1 == "pid" { p = $2 } $1 == "call" { n[p] } END { print length(n) }' cufork.trace.count)"

# In uftrace.data they are functions, shown with what they were told; by default, with nothing asked for.
run all.data -- "$PROGRAMS/cudriver" 0 .
check "uftrace reads it" uftrace_accepts all.data
replay all.data > all.replay
calls() { awk '$1 == "call" { n[$2] += $3 } END { for (f in n) print f, n[f] }' "$1" | sort; }
check "each call of each function that is recorded" diff <(calls all.data.count | while read -r f n; do
		got=$(report_calls all.data $f); [ "$got" = 0 ] || echo $f $n; done) \
	<(calls all.data.count | while read -r f n; do got=$(report_calls all.data $f); [ "$got" = 0 ] || echo $f $got; done)
check "most functions are" [ "$(calls all.data.count | while read -r f n; do report_calls all.data $f; done | grep -vcx 0)" -gt 60 ]
# launch NAME gx gy gz bx by bz shared STREAM RESULT FUNCTION of the program, against cuLaunchKernel("NAME", GRID, BLOCK, SHARED, ...) = RESULT.
check "name, grid, block, shared memory and result of each launch" diff \
	<(awk '$1 == "launch" && $11 ~ /^[0-9]+$/ && $12 ~ /^cuLaunch(Coop|Kernel)/ {
		printf "%s(\"%s\", %sx%sx%s, %sx%sx%s, %s) = %s\n", $12, $2, $3, $4, $5, $6, $7, $8, $9, $11 }' all.data.out) \
	<(sed -nE 's/^ *(cuLaunch(Cooperative)?Kernel(Ex)?(MultiDevice)?(_ptsz)?\(.*), (0x)?[0-9a-f]+\) = ([0-9]+);$/\1) = \7/p' all.replay)
check "a second mapping of the name is no second module" equal "$(grep -c 'path name: /recorder/cuda' all.data/cuda.sym)" 1

# The same from a raw recording, in each format.
run raw.data --cuda --format raw -- "$PROGRAMS/cugraph" 5
"$RECORDER" -q --replay raw.data/recording.raw --format neutrino -o replayed.trace
check "replayed: launches and captures" diff <(truth_of launch raw.data.count; truth_of captured raw.data.count) \
	<(python3 "$LIVE/cudarows.py" replayed.trace > rows; truth_of launch rows; truth_of captured rows)

# Nothing is lost silently.
cuda_records() { python3 "$LIVE/rawcount.py" $1/recording.raw | awk '$1 == "stored" || $1 == "lost" { n += $6 } END { print n }'; }
run whole.data --cuda --format raw -- "$PROGRAMS/cumany" 3000
run lossy.data --cuda --format raw --simulate-drops 5 -- "$PROGRAMS/cumany" 3000
check "stored and lost are what is stored where nothing is lost" equal "$(cuda_records lossy.data)" "$(cuda_records whole.data)"
check "each call has its return" [ "$(cuda_records whole.data)" -gt 6000 ]
# The second program launches while recorder stands still.
stands='"$0" 10; ${1:+kill -STOP $PPID}; "$0" 60000; ${1:+kill -CONT $PPID}; exit 0'
run many.data --cuda=launch --format raw -- sh -c "$stands" "$PROGRAMS/cumany"
run tiny.data --cuda=launch --format raw -b 16K -- sh -c "$stands" "$PROGRAMS/cumany" stop
check "a ring that is too small: stored and lost are what is stored in a large one" equal "$(cuda_records tiny.data)" "$(cuda_records many.data)"
check "... and some were lost" [ "$(python3 "$LIVE/rawcount.py" tiny.data/recording.raw | awk '$1 == "lost" { print $6 }')" -gt 0 ]
check "each launch is met by its return: the same function, the same place on the stack" equal \
	"$(python3 "$LIVE/rawcount.py" whole.data/recording.raw | sed -n 's/^launches //p')" "3000 3000"
check "the summary says so" grep -q ' CUDA records' lossy.data.err

# Waits last as long as the kernels they wait for.
STUBCUDA_KERNEL_NS=2000000 run waits.data --no-functions --cuda=sync,launch -- "$PROGRAMS/cugraph" 2
check "a wait takes its time" [ "$(uf report --no-pager -d waits.data -f total-max | awk '$NF ~ /^cuStreamSynchronize/ &&
	$2 == "ms" { print int($1); exit }')" -ge 2 ]
check "groups that were not asked for are not there" equal "$(report_calls waits.data cuModuleGetFunction)" 0

# Where returns are not probed, what a call gave is read at its ret; and the other ways of probing. Single perf events
# take a grace period each to let go of: 10 s, with FULL=1 only.
for way in --returns=never "--no-feature uprobe-session" ${FULL:+"--no-feature uprobe-session,uprobe-multi --cuda=launch,module"}; do
	run guess.trace --format neutrino $way -- "$PROGRAMS/cuthreads" 2 50
	check "$way: kernels have their names" diff <(truth_of launch guess.trace.count) \
		<(python3 "$LIVE/cudarows.py" guess.trace > rows; truth_of launch rows)
	check "$way: ... and the log says what their calls gave" equal \
		"$(grep -hcE '^\[mod\] cuModuleGetFunction(_v2)? func 0x[1-9a-f][0-9a-f]* ' guess.trace/*/event.log)" \
		"$(calls guess.trace.count | awk '$1 == "cuModuleGetFunction" { print $2 }')"
done

for way in "" --returns=never "--no-feature uprobe-session"; do
	run graph.trace --format neutrino $way -- "$PROGRAMS/cugraph" 5
	python3 "$LIVE/cudarows.py" graph.trace > rows
	for what in launch captured; do
		check "graphs, captures that fail and nodes that change, $way: $what" diff <(truth_of $what graph.trace.count) \
			<(truth_of $what rows)
	done
	check "graphs, $way: each graph and each node that changes is known" equal "$(grep -cE 'that (is|are) not known|made before|was not seen' graph.trace.err graph.trace/*/event.log |
		awk -F: '{ n += $NF } END { print n }')" 0
done

# Attached in mid-life: handles from before have no names, which is said in them.
LD_LIBRARY_PATH=$fake STUBCUDA_COUNT=$PWD/serve.count "$PROGRAMS/cuserve" 200 > serve.out & server=$!
sleep 0.5
"$RECORDER" -p $server --format neutrino --duration 0.5s -o serve.trace 2> serve.trace.err
kill $server; wait $server
python3 "$LIVE/cudarows.py" serve.trace > rows
check "attached: launches are seen" grep -q '^launch func_' rows
check "attached: not more than were made" [ "$(awk '$1 == "launch" { n += $3 } END { print n }' rows)" -le \
	"$(awk '$1 == "launch" { n += $3 } END { print n }' serve.count)" ]

run two.trace --no-functions --format neutrino,trace-dat -- "$PROGRAMS/cumany" 10
check "a format of CUDA calls alone asks for them, also beside others" equal \
	"$(python3 "$LIVE/cudarows.py" two.trace/trace | truth_of launch /dev/stdin)" "launch vadd 10"
LD_LIBRARY_PATH=$fake "$RECORDER" -t 1ms --format neutrino,uftrace -o timed.trace -- "$PROGRAMS/cumany" 10 > timed.out 2>&1
check "with -t and -C it does not go" equal "$?" 2

# On a full disk there is what had room, and readers find it whole.
mkdir full && LD_LIBRARY_PATH=$fake unshare -m sh -c 'mount -t tmpfs -o size=1m none full && "$0" --cuda --no-functions --no-syscalls \
	--format neutrino -o full/trace -- "$1" 3000; cp -r full/trace full.trace' "$RECORDER" "$PROGRAMS/cumany" > full.out 2> full.err
check "a full disk is said" grep -q "format 'neutrino' stopped here: .*No space left" full.err
made=$(python3 "$LIVE/cudarows.py" full.trace | awk '$1 == "launch" { n += $3 } END { print n + 0 }')
check "its table has the rows it says, of nearly all bins" test "$made" -gt $(($(ls full.trace/*/result/0.*.bin | wc -l) - 65))
(cd full.trace/*/ && python3 read_launches.py) > full.shown
check "read_launches.py reads them" equal "$(grep -c '^block' full.shown)" "$made"

# So are fewer files than processes need (the programs for CUDA, loaded when its driver is mapped, take one a map):
# each has its whole folder, or none, and that is said.
mkdir -p served
cat > serve.sh <<'END'
for ((i = 0; i < 40; i++)); do
	"$0" 5000 > served/$i &
	until [ -s served/$i ]; do sleep 0.01; done
done
kill $(jobs -p)
wait
END
(ulimit -n 170; LD_LIBRARY_PATH=$fake record few.trace --cuda --no-functions --no-syscalls --format neutrino -- \
	bash -c "$(cat serve.sh)" "$PROGRAMS/cuserve")
refused=$(sed -nE "s/.*format 'neutrino': ([0-9]+) processes have no folder.*/\1/p" few.trace.err)
check "processes without a folder are counted" equal "$(($(ls few.trace | wc -l) + refused))" "$(ls served | wc -l)"
check "the others have all of it" equal "$(ls -d few.trace/*/result/launches.bin few.trace/*/event.log | wc -l)" \
	$((2 * ($(ls served | wc -l) - refused)))
check "some have none" test "$refused" -gt 0
run none.data --no-cuda --no-libcall -- "$PROGRAMS/cumany" 10
check "--no-cuda: none" equal "$(report_calls none.data cuLaunchKernel)" 0
LD_LIBRARY_PATH=$fake "$RECORDER" --cuda=launches -- "$PROGRAMS/cumany" 10 > wrong.out 2>&1
check "a group that is none" equal "$? $(grep -c "'launches' is no group" wrong.out)" "2 1"
"$RECORDER" --cuda -o away.data -- true 2> away.err
check "--cuda without a driver says so" grep -q 'no process had a CUDA driver mapped' away.err
