# lib.sh - what the live tests share. Each script: . "$LIVE/lib.sh", then ok/not_ok/skip once for each thing it tests.
#
# Given by tests/live/run: RECORDER (the binary), PROGRAMS (where tests/programs were built), LIVE (this folder).
# The script runs in $scratch, an empty folder of its own that is removed at its end.
# A comment "# limit: SECONDS" in a script is the time it may take (120 without it).
set -u
: "${RECORDER:?run me by tests/live/run}" "${PROGRAMS:?}" "${LIVE:?}"
export LC_ALL=C
script=$(basename "$0" .sh)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/recorder-$script-XXXXXX") || exit 1
chmod 755 "$scratch"
cd "$scratch" || exit 1
leave_nothing() {
	local status=$?
	cd /
	[ -n "${KEEP-}" ] && echo "kept: $scratch" >&2 || rm -rf "$scratch"
	exit $status
}
trap leave_nothing EXIT
trap 'exit 143' TERM

ok() { echo "ok $1"; }
not_ok() { echo "not_ok $1: ${*:2}"; }
skip() { echo "skip $1: ${*:2}"; }

# check NAME COMMAND...: ok when the command succeeds; what it printed is the reason when it does not.
check() {
	local name=$1 said; shift
	if said=$("$@" 2>&1); then
		ok "$name"
	else
		not_ok "$name" "$(printf '%s' "${said:-$* failed}" | head -n 12 | cut -c1-400 | tr '\n' ';')"
		return 1
	fi
}

# equal GOT WANT: to be used with check.
equal() {
	[ "$1" = "$2" ] || { echo "is '$1', want '$2'"; return 1; }
}

# The whole script is skipped unless each tool is there.
need() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || { skip "$script" "$tool is not there"; exit 0; }
	done
}

# One program of tests/programs, skipping (status 1) what could not be built here.
program() { [ -x "$PROGRAMS/$1" ] || { skip "${2-$1}" "$1 could not be built here"; return 1; }; }

# record DIR [OPTION...] -- COMMAND...: a fresh recording in DIR; what went to stderr is in DIR.err.
record() {
	local dir=$1; shift
	rm -rf "$dir" "$dir.old" "$dir.err" "$dir.calls"
	"$RECORDER" -o "$dir" "$@" 2>"$dir.err"
	set -- $?
	[ $1 -ne 125 ] || tail -n 5 "$dir.err" >&2	# recorder's own failure: into the log
	return $1
}

# From here on memory lies the same in each run: on arm64 it depends on that how often the dynamic linker unmaps something.
lie_the_same() {
	setarch -R true 2> /dev/null || return 0
	printf '#!/bin/sh\nexec setarch -R "%s" "$@"\n' "$RECORDER" > recorder
	chmod +x recorder
	RECORDER=$PWD/recorder
}

# What recorder itself said, without what the program wrote to stderr.
said() { grep '^recorder: ' "$1.err"; }

uf() { command uftrace "$@" 2>&1; }

# replay DIR [OPTION...]: without times, plain.
replay() { uf replay --no-pager -d "$1" -f none "${@:2}"; }

# Calls and names of every function, as `uftrace report` counts them: "COUNT NAME", copies of a function (.isra.0) as one.
calls_of() {
	local new=$1.calls.$BASHPID
	[ -s "$1.calls" ] || { uf report --no-pager -d "$1" -f call |
		awk 'seen && $1 ~ /^[0-9]+$/ { n = $1; $1 = ""; sub(/^ +/, ""); sub(/\.(isra|constprop)\.[0-9]+$/, "");
			sum[$0] += n } /=====/ { seen = 1 } END { for (f in sum) print sum[f], f }' > "$new" &&
		mv "$new" "$1.calls"; }	# at once: two may ask at a time
	cat "$1.calls"
}

# report_calls DIR FUNCTION: how often it was called; 0 when it is not there.
report_calls() { calls_of "$1" | awk -v f="$2" '{ n = $1; $1 = ""; sub(/^ /, ""); if ($0 == f) sum += n } END { print sum + 0 }'; }

# truth DIR OUTPUT: the lines "calls F N", "calls>= F N" and "syscalls NAME N" of a program's output, against the recording.
truth() {
	awk '
	NR == FNR {
		if ($1 ~ /^(calls|calls>=|syscalls)$/) {
			name = $1 == "syscalls" ? "sys_" $2 : $2
			want[name] += $3
			if ($1 == "calls>=") least[name] = 1
		}
		next
	}
	{ n = $1; $1 = ""; sub(/^ /, ""); sub(/\(.*\)$/, ""); got[$0] += n }
	END {
		for (f in want)
			if (least[f] ? got[f] < want[f] : got[f] != want[f]) {
				print f " was called " want[f] " times, the recording has " got[f] + 0
				bad = 1
			}
		for (f in want) count++
		if (!count) { print "the program told no truth"; bad = 1 }
		exit bad
	}' "$2" <(calls_of "$1")
}

# Complaints of uftrace about a recording: nothing when all is well.
uftrace_accepts() {
	local said
	said=$(uf replay --no-pager -d "$1" 2>&1 >/dev/null | head -n 3)
	uf replay --no-pager -d "$1" > "$1.replay" || { echo "uftrace replay: status $?: $(tail -n 2 "$1.replay")"; return 1; }
	uf report --no-pager -d "$1" > /dev/null || { echo "uftrace report: status $?"; return 1; }
	uf info --no-pager -d "$1" > /dev/null || { echo "uftrace info: status $?"; return 1; }
	if grep -m 3 -iE '^(WARN|ERROR|uftrace:)|inverted time|broken' "$1.replay"; then return 1; fi
	[ -z "$said" ] || { echo "$said"; return 1; }
}

# How many records uftrace shows as lost, summed over its "LOST N records" lines.
lost_shown() { uf replay --no-pager -d "$1" | sed -n 's/.*LOST \([0-9]*\) record.*/\1/p' | awk '{ n += $1 } END { print n + 0 }'; }
