# filter.sh - -F, -N and -D: what uftrace records with the same options, or where that drifts, what it shows of all.
# limit: 400
# beside others
. "$LIVE/lib.sh"
program chain.pg || exit 0

# uftrace's calls without those that only a -pg build makes.
calls() { replay "$@" 2> /dev/null | grep -v '^ *#' | grep -vE '^((__monstartup|__cxa_atexit)\(\);|WARN: cannot open record data)'; }
as_uftrace() {
	rm -rf pg.data
	uf record --no-event -d pg.data "$@" "$PROGRAMS/chain.pg" > /dev/null
	record chain.data --no-syscalls "$@" -- "$PROGRAMS/chain" > /dev/null
	diff <(calls pg.data) <(calls chain.data)
}
while read -r -a options; do
	check "as uftrace record ${options[*]}" as_uftrace "${options[@]}"
done << 'END'
-D 1
-F middle
-F middle -D 2
-F inner -F outer -D 2
-F outer -F inner -D 1
-F again -D 2
-N main
-F outer -N inner
-F outer -N inner -F deepest
-N inner -F deepest
-N again -F deepest -D 1
-F middle -N middle
-N middle -F middle
-F !few
-F side;inner -N deepest
-F nosuch -D 2
-N .* -F outer
-F ^.*e.*$ -D 1
--match glob -F [io]*er -D 2
--match simple -F inner -N deepe.t
-F atoi
-N atoi@PLT -D 4
END
check "a pattern that is no function's is said" grep -qF "warning: -F: no function matches 'nosuch'" \
	<(record no.data --no-syscalls -F nosuch -- "$PROGRAMS/chain" > /dev/null; cat no.data.err)

# Where calls are left by other ways than returning, uftrace record loses its place; uftrace replay of all does not.
whole() { command=("$PROGRAMS/$1" "${@:2}"); record whole.data --no-syscalls "${without[@]}" -- "${command[@]}" > /dev/null; }
as_replayed() {
	record part.data --no-syscalls "${without[@]}" "$@" -- "${command[@]}" > /dev/null
	diff <(replay whole.data "$@" | grep -v '^ *#') <(replay part.data | grep -v '^ *#')
}
replays() { for o; do check "${command[*]##*/} $o${without:+ (without ${without[1]})}: as replayed" as_replayed $o; done; }
without=()
whole chain leave && replays "-F leaver" "-N leaver" "-F catcher -D 2" "-N thrower -F side" "-N thrower" "-D 4" "-H side -F side"
whole longjmp && replays "-F jump_over -D 2" "-N down" "-F after" "-D 5"
whole coroutine && replays "-F step -D 1" "-F yield_home" "-N step" "-F routine" "-D 3"
whole tail && replays "-F middle" "-N middle" "-F first -N last" "-D 4" "-F last -D 1"
whole altstack && replays "-F in_handler" "-N raise_from" "-F jumps" "-D 3"
whole deep && replays "-F down -D 1" "-N down" "-D 250"
# Single perf events take a grace period each to let go of, 4 s a recording: with FULL=1 they do all that the others do.
for feature in uprobe-session uprobe-session,uprobe-multi; do
	without=(--no-feature $feature)
	[ "$feature" = uprobe-session ] || [ -n "${FULL-}" ] || {
		whole chain leave && replays "-F catcher -D 2"
		whole tail && replays "-N middle"
		continue
	}
	whole chain leave && replays "-F leaver" "-N leaver" "-F catcher -D 2" "-N many" "-F again -D 2"
	whole tail && replays "-F middle" "-N middle" "-D 4"
done

# Exceptions leave what is filtered out, in threads too.
record throw.data --no-syscalls --no-libcall -F catch_over -N throw_from -- "$PROGRAMS/throw" > throw.out
check "-F and -N with exceptions" truth throw.data <(grep ' catch_over ' throw.out)
check "... and nothing else" equal "$(calls_of throw.data | grep -v ' linux:')" \
	"$(calls_of throw.data | grep -E ' (catch_over|after)$')"

# C++ functions go by the names that uftrace shows.
sums() { uf report --no-pager "$@" -f call | awk '/====/ { s = 1; next } s { print }' | grep -v linux: | sort; }
as_counted() {
	record part.data --no-syscalls "$@" -- "$PROGRAMS/work" > /dev/null
	[ -n "$(sums -d part.data)" ] && diff <(sums -d whole.data "$@") <(sums -d part.data)
}
without=()
whole work
for f in shapes::square::area '^shapes::.*area$' std::vector::push_back; do
	check "work -F '$f' -D 1: as uftrace counts" as_counted -F "$f" -D 1
done

# What is filtered out reaches no ring, and is counted.
record out.data --no-syscalls -N fib -- "$PROGRAMS/nested" > out.out
fibs=$(awk '$2 == "fib" { print $3 }' out.out)
check "the summary counts what was filtered out" grep -q "^recorder: filtered out in the kernel: $fibs function" out.data.err
check "... and the recording has the rest, all of it" truth out.data <(grep -v ' fib ' out.out)
check "... and nothing of that" equal "$(report_calls out.data fib)" 0
record free.data --no-syscalls -- "$PROGRAMS/nested" > /dev/null
check "without a filter nothing is said of one" equal "$(grep -c 'filtered out' free.data.err)" 0

# With -D 1 what -F does not mean can only be filtered out, so it is not probed; unless -N needs it.
record flat.data --no-syscalls -F side -F inner -D 1 -- "$PROGRAMS/chain" > flat.out
check "-F with -D 1 probes nothing else" grep -q '^recorder: functions: 2 of' flat.data.err
check "... and counts right" truth flat.data <(grep -E ' (side|inner) ' flat.out)
record flat.data --no-syscalls -F side -D 1 -N few -- "$PROGRAMS/chain" > flat.out
check "... with -N it does" grep -q '^recorder: functions: 21 of' flat.data.err

# A thread begins outside of everything, a forked process where its parent is, an exec'd one outside again.
record thread.data --no-syscalls --no-libcall -F main -F outer -N inner -- "$PROGRAMS/threads" > thread.out
check "threads are not in main, and each has a place of its own" truth thread.data <(grep -E ' (main|outer) ' thread.out)
check "... so nothing else is there" equal "$(calls_of thread.data | grep -v ' linux:' | awk '{ print $2 }' | sort | paste -sd ' ')" \
	"main outer truth_print"
record fork.data --no-syscalls --no-libcall -F tree -- "$PROGRAMS/forks" 2 > fork.out
check "a forked process is where its parent is" truth fork.data <(grep -E ' (tree|in_child) ' fork.out)
check "an exec'd one is outside" equal "$(report_calls fork.data ended) $(report_calls fork.data main)" "0 0"
