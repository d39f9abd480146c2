# lib.sh - what every benchmark begins with, and what is made of its samples. Sourced with the benchmark's own arguments.
#
# Gives $recorder, $bin (targets are built there: build_targets), $here (this folder), $work (where it runs, removed at its end).
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=$(basename "$0" .sh)
recorder=$(realpath "${1:?usage: tests/bench/$name.sh RECORDER}") || exit 2
[ "$(id -u)" = 0 ] || { echo "the benchmark needs root"; exit 2; }
bin=${BENCH:-$(realpath -m "$here/../../build/bench")}
work=$(mktemp -d "${TMPDIR:-/tmp}/recorder-$name-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work" || exit 1
export LC_ALL=C
unset SUDO_UID SUDO_GID SUDO_USER name

# build_targets [FILE...]: BENCH is a folder in which they are already, for a machine without a compiler.
build_targets() { [ -n "${BENCH-}" ] || make -s -C "$here" OUT="$bin" "$@" || exit 2; }

# median FILE [FIELD]: of a sample a line; - where there is none
median() {
	[ -s "$1" ] || { echo -; return; }
	awk -v f="${2-1}" '{ print $f }' "$1" | sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}
verdict() { awk -v r="$1" -v most="$2" 'BEGIN { print r == "-" ? "not measured" : r + 0 <= most ? "met" : "MISSED" }'; }
