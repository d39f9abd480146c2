# any.sh - anything may have happened: tests/golden/any makes a story of it. No complaint of the reader is right then.

for seed in $(seq "${SEED-1}" $((${SEED-1} + ${SEEDS-15} - 1))); do
	begin "whatever happened, in whatever order ($seed)"
	"$here/any" "$seed" > story
	record < story
	uf replay
	uf report
	uf info
	uf dump
	[ -z "$trouble" ] || trouble+=$'\n'"of: tests/golden/any $seed | tests/golden/make > recording.raw"
done
