# functions.sh - which functions are recorded, and what is said about those that are not.
# limit: 180
# beside others
. "$LIVE/lib.sh"

record all.data -- "$PROGRAMS/nested" > all.out
check "the program's own functions" truth all.data all.out
check "its library calls" equal "$(report_calls all.data atoi)" 7

record nolib.data --no-libcall -- "$PROGRAMS/nested" > /dev/null
check "--no-libcall leaves library calls out" equal "$(report_calls nolib.data atoi)" 0
check "--no-libcall keeps the functions" equal "$(report_calls nolib.data fib)" 1973

record nofun.data --no-functions -- "$PROGRAMS/nested" > /dev/null
check "--no-functions leaves all functions out" equal "$(calls_of nofun.data | awk '$2 !~ /^sys_/' | wc -l)" 0
check "--no-functions keeps the system calls" [ "$(report_calls nofun.data sys_exit_group)" = 1 ]

# A function of two instructions, neither of which is cheap to probe.
record tiny.data --no-syscalls -- "$PROGRAMS/tiny.O2" > tiny.out
check "tiny functions are recorded, too" equal "$(report_calls tiny.data tiny)" 100000
record nodear.data --no-syscalls --no-dear -- "$PROGRAMS/tiny.O2" > tiny.out
if [ "$(uname -m)" = x86_64 ]; then
	if [ "${SLOW:-1}" = 1 ]; then
		check "... and named as what cost most, with what leaves them out" \
			grep -q 'probes cost some .* s of it, most: tiny .* s (100000 calls).*; -H FUNC .*--no-dear' <(said tiny.data)
	else
		skip "... and named as what cost most" "what probes cost was measured on a real machine, and this is a slower one"
	fi
	check "--no-dear leaves them out" equal "$(report_calls nodear.data tiny)" 0
	check "... and the summary says so" grep -q 'left out: .*, --no-dear' <(said nodear.data)
else
	skip "what probes cost is said" "it was not measured on this machine's architecture"
fi
record one.data --no-syscalls -- "$PROGRAMS/tiny.O2" 1 > tiny.out
check "what cost little is not spoken of" [ "$(grep -c 'probes cost' <(said one.data))" = 0 ]

check "the entry point is never probed" equal "$(report_calls all.data _start)" 0
check "the summary counts functions" grep -qi 'function' <(said all.data)
check "the summary says how to open it" grep -q 'uftrace .*all.data' <(said all.data)
lines=$(said all.data | wc -l)
check "the summary has 5 to 8 lines" [ "$lines" -ge 5 -a "$lines" -le 8 ]

"$RECORDER" --dry-run -o dry.data -- "$PROGRAMS/nested" > dry.out 2> dry.err
check "--dry-run succeeds" equal $? 0
check "--dry-run says what would be probed" grep -qi 'function' dry.out dry.err
check "--dry-run does not run the program" equal "$(grep -c '^fib ' dry.out)" 0
check "--dry-run writes nothing" [ ! -e dry.data ]

# What an exec brings is probed too, and the children of a fork.
record shell.data -- sh -c '"$PROGRAMS/nested" > shell.out; "$PROGRAMS/deep" > /dev/null'
check "programs that a shell starts" equal "$(report_calls shell.data fib) $(report_calls shell.data down)" "1973 3003"
check "uftrace opens it without a complaint" uftrace_accepts shell.data

record alone.data --no-follow -- sh -c '"$PROGRAMS/nested" > /dev/null; true'
check "--no-follow leaves children out" equal "$(report_calls alone.data fib)" 0

# More long files than are kept open: a call in each of them is in its place.
record long.data -b 64M --memory 2G --no-syscalls -- "$PROGRAMS/threads" 24 20000 > long.out
check "2.4 million calls of 24 threads, none lost" grep -q 'lost: nothing' <(said long.data)
check "2.4 million calls of 24 threads, all of them read" truth long.data long.out
rm -rf long.data

# Every reader of uftrace gets along with it.
for reader in graph "dump --chrome" "dump --flame-graph" "dump --graphviz" info "report --task" "report -f total,self,call"; do
	check "uftrace $reader" uf $reader --no-pager -d all.data
done
uf dump --chrome -d all.data > all.json
if command -v python3 > /dev/null; then
	check "the chrome file is JSON" python3 -c 'import json; json.load(open("all.json"))'
else
	skip "the chrome file is JSON" "python3 is not there"
fi

# A name that nothing has is said: the recording would be of system calls only.
record none.data --functions='no_such_*' -- "$PROGRAMS/nested" > /dev/null
check "--functions=GLOB that matches nothing is said" grep -q 'warning: --functions: no function' <(said none.data)
