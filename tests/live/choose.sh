# choose.sh - the functions that options choose are those that uftrace would show.
# beside others
. "$LIVE/lib.sh"
program chain.pg || exit 0

# The calls under main, without comments: start-up and profiling calls differ between the two builds.
tree() { replay "$@" | sed -n '/^main()/,$p' | grep -v '^ *#'; }
record all.data --no-syscalls -- "$PROGRAMS/chain" > all.out
uf record --no-event -d pg.data "$PROGRAMS/chain.pg" > /dev/null
check "the program counts what was recorded" truth all.data all.out
check "unfiltered, the same tree as uftrace's" diff <(tree pg.data -F main) <(tree all.data -F main)

# uftrace hides when it shows; we do not probe.
hides() {
	local args=(); for f; do args+=(-H "$f"); done
	record hide.data --no-syscalls "${args[@]}" -- "$PROGRAMS/chain" > /dev/null
	diff <(tree pg.data -F main "${args[@]}") <(tree hide.data -F main)
}
for f in middle inner again side atoi strtol@PLT 'side@chain' 'deep' 'i.n' '^(in|out)er$' 'in*er'; do
	check "-H '$f': as uftrace replay -H" hides "$f"
done
check "-H twice" hides side again
record hide.data --no-syscalls --match glob -H '[mi]*e*' --hide 'aga?n;side' -- "$PROGRAMS/chain" > /dev/null
check "--match glob, wherever it stands" diff <(tree pg.data -F main --match glob -H '[mi]*e*' -H 'aga?n' -H side) <(tree hide.data)
record hide.data --no-syscalls -H 'in.er' --match exact -- "$PROGRAMS/chain" > /dev/null
check "--match exact: a name that no function has hides none" equal "$(report_calls hide.data inner)" "$(report_calls all.data inner)"
check "... and that is said" grep -qF "warning: -H: no function matches 'in.er'" hide.data.err
record hide.data -H deepest -- "$PROGRAMS/chain" > /dev/null
check "what is hidden is not probed" grep -q '^recorder: functions: 20 of' hide.data.err
check "... and the summary says why" grep -q '^recorder: left out: .*--hide' hide.data.err

# Sizes: what uftrace would patch. Its size is in the symbol table.
if program chain.patchable; then
	size=$((0x$(nm -S "$PROGRAMS/chain.patchable" | awk '$4 == "side" { print $2 }')))
	for s in $size $((size + 1)); do
		uf record --no-event --no-libcall -P . -Z $s -d size.pg.data "$PROGRAMS/chain.patchable" > /dev/null
		record size.data --no-syscalls --no-libcall --size-filter $s -- "$PROGRAMS/chain.patchable" > /dev/null
		check "--size-filter $s: the same functions as uftrace -Z" \
			diff <(calls_of size.pg.data | sort) <(calls_of size.data | sort)
		rm -rf size.pg.data*
	done
fi

# --list: the functions of the symbol table, each with what would be done.
"$RECORDER" --list -o list.data -- "$PROGRAMS/chain" > list.txt 2> list.err
check "--list succeeds" equal $? 0
check "--list runs nothing and writes nothing" [ ! -e list.data -a "$(grep -c '^sum' list.txt)" = 0 ]
of_nm() { nm -S "$PROGRAMS/chain" | while read -r addr size kind name; do
	[ -z "$name" ] || [[ $kind != [tT] ]] || printf '%x %d %s\n' "0x$addr" "0x$size" "$name"; done | sort; }
listed() { awk '!/^ *#/ { print $1, $2, $6 }' list.txt | sort; }
check "--list has each function of nm, with its address and size" equal "$(comm -23 <(of_nm) <(listed))" ""
row() { awk -v f="$1" '$6 == f { $5 = $1 = $2 = ""; $0 = $0; $1 = $1; print }' list.txt; }	# without its cost
check "--list: one that is probed" equal "$(row inner)" "cheap probed inner"
check "--list: one that is not, and why" equal "$(row _start)" "never - _start (left out: never safe)"
check "--list: setjmp's return is not probed" equal "$(row _setjmp@PLT | cut -d' ' -f2)" inferred
probed=$(awk '!/^ *#/ && !/left out/' list.txt | wc -l)
# Costs go by the site's class, and are more where the return is probed too.
costs() { awk -v class="$1" -v at="$2" '!/^ *#/ && $3 == class && $4 == at && $5 ~ /^[0-9]+$/ { print $5 }' list.txt | sort -u; }
check "--list: a cost for each class, said to be of one machine" equal \
	"$(costs cheap probed | wc -l) $(costs single-stepped probed | wc -l) $(grep -c 'varies with the machine' list.txt)" "1 1 1"
check "... more for the dear ones, and for returns" [ "$(costs cheap probed)" -lt "$(costs single-stepped inferred)" -a \
	"$(costs single-stepped inferred)" -lt "$(costs single-stepped probed)" ]
check "... and none for what is never probed" equal "$(awk '$3 == "never" { print $5 }' list.txt | sort -u)" -
check "--list: as many as the summary says" grep -q "^recorder: functions: $probed of " list.err
"$RECORDER" --list='^in' -H inner -- "$PROGRAMS/chain" > list.txt 2> /dev/null
check "--list=FUNC shows those only, and what was chosen" equal "$(grep -v '^ *#' list.txt | wc -l) $(row inner)" \
	"1 cheap - inner (left out: --hide)"
"$RECORDER" -l --match exact --size-filter 40000 -- "$PROGRAMS/chain" > list.txt 2> /dev/null
check "-l is --list" equal "$(row inner)" "cheap - inner (left out: --size-filter)"
