# safe.sh - every program of the list safe/list does under recorder what it does without: same output, same exit status, with
# what is probed by default and with all functions of all libraries.		ONLY=GLOB: only those of such names
# limit: 9000
. "$LIVE/lib.sh"
export PROGRAMS HERE=${LIVE%/live}/long/safe KEPT=${RECORDER%/*}/build/safe
mkdir -p "$KEPT"

# What differs from run to run by itself.
timeless() { sed -E 's/[0-9]+([.:][0-9]+)* ?(ns|us|ms|s|sec|seconds|min)\b/TIME/g; s/0x[0-9a-f]{6,}/ADDRESS/g; s/load avg: [0-9.]+/LOAD/'; }

# run NAME [PREFIX...]: the command in a folder of its own; its output is in NAME.out, its status is returned.
run() {
	local name=$1 status; shift
	rm -rf folder && mkdir folder
	(cd folder && exec timeout -k 5 1200 "$@" bash -c "$command" > ../run.out 2>&1 < /dev/null)
	status=$?
	timeless < run.out > "$name.out"
	return $status
}

try() {
	local name=$1 plain; shift
	run plain
	plain=$?
	for what in default everything; do
		run traced "$RECORDER" -q -o "$scratch/data" $([ $what = default ] || echo '--functions=*@*') --
		check "$name, $what: ends as untraced" equal $? $plain
		check "$name, $what: says what it says untraced" diff plain.out traced.out
		rm -rf data data.old
	done
}

while IFS='|' read -r name needed package command; do
	name=${name// /} package=${package// /}
	case $name in ''|'#'*) continue ;; ${ONLY:-*}) ;; *) continue ;; esac
	needed=$(eval "echo $needed")
	if [ ! -e "$needed" ] && ! command -v "$needed" > /dev/null; then
		skip "$name" "$needed is not there (Debian's package: $package)"
		continue
	fi
	try "$name" </dev/null
done < "$HERE/list"
