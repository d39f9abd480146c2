# fakecuda.sh - the stand-in for the CUDA driver: what its programs say they did is what it counted, it answers as it should,
# and its functions can be recorded as those of any library.
. "$LIVE/lib.sh"
program cudriver "$script" || exit 0
export LD_LIBRARY_PATH=$PROGRAMS/fakecuda
driver=$PROGRAMS/fakecuda/libcuda.so.1

# told PROGRAM...: runs it; what it says is in said.out, what the driver counted in driver.out.
told() {
	rm -f driver.out
	STUBCUDA_COUNT=driver.out "$PROGRAMS/$1" "${@:2}" > said.out 2> said.err
}

# sums WORD FILE: lines "WORD NAME NUMBER", summed by name.
sums() { awk -v w="$1" '$1 == w && $3 ~ /^[0-9]+$/ { n[$2] += $3 } END { for (f in n) print f, n[f] }' "$2" | sort; }

agree() {
	check "$1: the launches that ran" diff <(sums launch said.out) <(sums launch driver.out)
	check "$1: the launches that were captured" diff <(sums captured said.out) <(sums captured driver.out)
	check "$1: it launched something" grep -q '^launch ' driver.out
}

for command in "cugraph 7" "cuthreads 4 500" "culate 0 5" "cumany 100000" "curuntime 6" "curuntime.shared 6" "vectoradd 6" \
	       "vectoradd.shared 6" "vectoradd.ptds 6"; do
	program ${command% *} || continue
	told $command
	check "$command: ends well" equal $? 0
	agree "$command"
done
export STUBCUDA_PRIVATE=1
told culate 0 5
agree "a function that is not exported"
check "it was handed out by both forms" equal "$(sums call driver.out | grep LaunchKernel | tr '\n' ' ')" "cuLaunchKernel 5 private_cuLaunchKernel 10 "
unset STUBCUDA_PRIVATE
told cuthreads 2 10 7
check "a status that is asked for" equal $? 7

# A line for each call that cudriver makes; only what ended with 0 ran or moved bytes.
told cudriver 0 .
check "cudriver ends well" equal $? 0
check "cudriver: the launches that ran" diff <(awk '$1 == "launch" && $11 == 0 && $12 ~ /^cu/ { n[$2]++ }
	$1 == "launch" && $10 == 0 && $11 ~ /^cu/ { n[$2]++ } END { for (f in n) print f, n[f] }' said.out | sort) <(sums launch driver.out)
check "cudriver: the bytes that moved" diff <(awk '$1 ~ /^(copy|set)$/ && $6 == 0 { n[$3] += $4 }
	END { for (k in n) print k, n[k] }' said.out | sort) <(sums bytes driver.out | grep -v alloc | grep -v managed)
check "cudriver: the bytes that were allocated" equal \
	"$(awk '$1 == "alloc" && $4 == 0 { n += $3 } END { print n }' said.out)" \
	"$(sums bytes driver.out | awk '/alloc|managed/ { n += $2 } END { print n }')"
check "cudriver: each call" diff <(grep -oE '\bcu[A-Z][A-Za-z0-9_]*' said.out | sort | uniq -c | awk '{ print $2, $1 }') \
	<(sums call driver.out | grep -f <(grep -oE '\bcu[A-Z][A-Za-z0-9_]*' said.out | sort -u | sed 's/.*/^& /'))

# Each process has its own lines.
by_pid() { awk '$1 == "pid" { pid = $2 } $1 == "launch" { print $4 == "pid" ? $5 : pid, $2, $3 }' "$1" | sort; }
told cufork
check "cufork ends well" equal $? 0
check "cufork: the launches of each process" diff <(by_pid said.out) <(by_pid driver.out)
check "cufork: there are four, one with two lives" equal "$(by_pid said.out | wc -l) $(by_pid said.out | cut -d' ' -f1 | sort -u | wc -l)" "5 4"
check "a child that was forked too late cannot begin" grep -qx 'forked too late: 3' said.out

told cuserve 100 & server=$!
until grep -qs ready said.out || ! kill -0 $server 2> /dev/null; do sleep 0.02; done
kill "$(awk '{ print $2 }' said.out)"
wait $server
check "cuserve ends well" equal $? 0
agree cuserve

# Lines of its own: ok and not_ok.
STUBCUDA_KERNEL_NS=2000000 "$PROGRAMS/cuchecks"
check "cuchecks ends well" equal $? 0
check "a library is injected once, by cuInit" \
	equal "$(CUDA_INJECTION64_PATH=$PROGRAMS/fakecuda/libinjected.so "$PROGRAMS/cuchecks" | grep -c injected)" 1

check "no two exported functions are one" equal "$(nm -D --defined-only "$driver" | cut -d' ' -f1 | sort | uniq -d)" ""
check "none calls another" equal "$(objdump -dR "$driver" | grep -E '(call|j[a-z]+|bl?) +.*<cu[A-Z][A-Za-z0-9_]*(@plt)?>')" ""
check "it is found through a link" test -L "$driver"

# Recorded as any library, by the name of the file behind the link. What the driver counted is the truth.
counted() { awk '$1 == "call" { print "calls", $2, $3 }' driver.out; }
recorded() {
	rm -f driver.out
	STUBCUDA_COUNT=driver.out record cuda.data --no-syscalls --functions='cu*@libcuda' "$@" > said.out
	counted > counted.out
}
dims='cuLaunchKernel@libcuda,arg2/u32,arg3/u32,arg4/u32,arg5/u32,arg6/u32,arg7/u32,arg8/u32'
for command in "culate 100 20" "cuthreads 4 500" "curuntime.shared 6"; do
	recorded -- "$PROGRAMS/"$command
	check "$command: every call of the driver, and none twice" truth cuda.data counted.out
done
recorded -A "$dims" -- "$PROGRAMS/cudriver" 0 .
check "cudriver: every call, and none twice" truth cuda.data counted.out
check "cudriver: the dimensions of each launch" diff <(awk '$1 == "launch" && $NF == "cuLaunchKernel" {
		printf "cuLaunchKernel(%s, %s, %s, %s, %s, %s, %s)\n", $3 == 2147483647 ? "0x7fffffff" : $3, $4, $5, $6, $7, $8, $9 }' said.out) \
	<(replay cuda.data | grep -o 'cuLaunchKernel([^)]*)')

# In the middle of its life: as many as were recorded, it made at least.
rm -f driver.out
STUBCUDA_COUNT=driver.out "$PROGRAMS/cuserve" 500 > said.out & server=$!
until grep -qs ready said.out || ! kill -0 $server 2> /dev/null; do sleep 0.02; done
record cuda.data --no-syscalls --functions='cuLaunch*@libcuda' --duration 300ms -p $server
kill $server
wait $server
got=$(report_calls cuda.data cuLaunchKernel) made=$(sums call driver.out | awk '$1 == "cuLaunchKernel" { print $2 }')
check "cuserve, attached to: $got launches of $made" test "$got" -gt 0 -a "$got" -lt "$made"
