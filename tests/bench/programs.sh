#!/bin/bash
# How much slower whole programs become when all their functions are recorded, beside other tools. Needs root.
#
#	tests/bench/programs.sh RECORDER	ROUNDS=5: how often each is measured; PEERS=no: recorder alone
#
# Each program says at its end what CPU time it took, its own traps included; what a tool takes to start, to write and to end
# is not in it. Ratios to the untraced program, medians, all measured in turn.
. "$(dirname "$0")/lib.sh"
LONG=$here/../long RECORDER=$recorder
. "$LONG/builds.sh"
rounds=${ROUNDS:-5}
export BPFTRACE_MAX_PROBES=100000

cat > work.lua <<'END'
local t = {}
for i = 1, 20000 do t[i] = string.format("%05d", (i * 7919) % 20011) end
table.sort(t, function(a, b) return a < b end)
print(os.clock())
END
cat > work.py <<'END'
import json, time
x = json.dumps([{"n": i, "s": str(i) * 3} for i in range(2000)], indent=1)
sorted(json.loads(x), key=lambda d: d["s"])
print(time.process_time())
END
cat > work.sql <<'END'
.timer on
with recursive n(i) as (select 1 union all select i + 1 from n where i < 50000)
	select sum(length(printf('%05d', i * 7919 % 20011))) from n;
END

# The program's own CPU time, seconds; sqlite3 says it as user and system time of its one statement.
own_time() { awk '/^Run Time/ { print $6 + $8 } /^[0-9.]+$/ && !/^[0-9]+$/ { print }' | tail -n 1; }

# keep NAME COMMAND...: one sample.
keep() { "${@:2}" < "$input" 2> /dev/null | own_time >> "$1"; }

once() {	# PROGRAM PATH ARG...: every tool's turn
	local p=$1 path=$2; shift 2
	keep $p.bare "$path" "$@"
	rm -rf data
	keep $p.recorder "$recorder" -q -o data --strict --no-syscalls --no-libcall -- "$path" "$@"
	rm -rf data
	[ "${PEERS-yes}" != no ] || return
	rm -rf data
	keep $p.uftrace-P uftrace record -d data -P . --no-libcall --no-event "$path" "$@"
	rm -rf data
	if [ -x "$bin/$p.pg" ]; then
		keep $p.pg-bare "$bin/$p.pg" "$@"
		keep $p.uftrace-pg uftrace record -d data --no-libcall --no-event "$bin/$p.pg" "$@"
		rm -rf data
	fi
	keep $p.perf perf record -F 10000 -g -o data -- "$path" "$@"
	rm -rf data
	[ -e $p.bpftrace ] || keep $p.bpftrace timeout 900 bpftrace -c "$path $*" <(counting "$path")
}

# bpftrace attaches nothing at all where one of the functions has no size, as '*' would have it.
counting() {
	nm -S --defined-only "$1" | awk -v p="$1" 'NF == 4 && $3 ~ /[tT]/ { print s "uprobe:" p ":" $4; s = ", " } END { print "{ @[func] = count(); }" }'
}

declare -A paths=([sqlite3]=$bin/sqlite3 [lua]=$bin/lua [python3]=/usr/bin/python3.11)
for p in sqlite3 lua; do
	[ -x "$bin/$p" ] || build_$p 2> /dev/null
	[ -x "$bin/$p.pg" ] || [ "${PEERS-yes}" = no ] || build_$p $p.pg -pg 2> /dev/null
done
for ((r = 0; r < rounds; r++)); do
	for p in sqlite3 lua python3; do
		[ -x "${paths[$p]}" ] || continue
		input=/dev/null
		case $p in
		sqlite3) input=work.sql; once $p "${paths[$p]}" :memory: ;;
		lua)	once $p "${paths[$p]}" work.lua ;;
		python3) once $p "${paths[$p]}" -I -S work.py ;;
		esac
	done
done

slower() { awk -v a="$(median "$1")" -v b="$(median "$2")" 'BEGIN { if (a == "-" || b + 0 == 0) print "-"; else printf "%.1f", a / b }'; }
printf '%-44s %9s %9s %9s\n' "times slower, all functions ($rounds rounds)" sqlite3 lua python3
row() {
	printf '  %-42s' "$1"
	for p in sqlite3 lua python3; do printf ' %9s' "$(slower $p.$2 $p.$3)"; done
	echo
}
printf '  %-42s' "untraced, s"
for p in sqlite3 lua python3; do printf ' %9s' "$(median $p.bare)"; done
echo
row recorder recorder bare
[ "${PEERS-yes}" != no ] || exit 0
row "uftrace -P ." uftrace-P bare
row "uftrace, of a -pg build" uftrace-pg pg-bare
row "perf record, 10 000 samples a second" perf bare
row "bpftrace, counting entries only" bpftrace bare
