# pg.sh - what uftrace itself records of a program built with -pg, and what recorder records of the plain build, agree:
# the same functions, called as often, and for one task the same tree of calls.
. "$LIVE/lib.sh"

# The start-up files' functions are not compiled with -pg, and those of profiling are in that build only.
startup='^(_init|_fini|_start|_dl_relocate_static_pie|frame_dummy|(de)?register_tm_clones|__do_global_dtors_aux|__libc_csu_.*|__cxa_finalize|__gmon_start__)$'
profiling='^(__monstartup|_mcleanup|mcount|__cxa_atexit|atexit|__gmon_start__|_init|_fini|_start)$'

# Of library calls uftrace 0.13 misses some when several threads make their first at once, so those are compared for
# one task only.
calls_alike() {
	local own=.
	[ "$3" = threads ] && own=" ($(nm "$PROGRAMS/$3" | awk '$2 ~ /[tT]/ { print $3 }' | paste -sd '|'))\$"
	diff <(calls_of "$1" | grep -v ' linux:' | awk -v skip="$profiling" '$2 !~ skip' | grep -E "$own" | sort -k2) \
	     <(calls_of "$2" | grep -vE ' (sys_|linux:)' | awk -v skip="$startup" '$2 !~ skip' | grep -E "$own" | sort -k2)
}

for p in nested threads; do
	program $p.pg || continue
	uf record --no-event -d $p.pg.data "$PROGRAMS/$p.pg" > /dev/null
	record $p.data -- "$PROGRAMS/$p" > /dev/null
	check "$p: the same functions, called as often" calls_alike $p.pg.data $p.data $p
done

tree() { replay "$1" -F main "${@:2}" | grep -v '^ *#'; }
record tree.data --no-syscalls -- "$PROGRAMS/nested" > /dev/null
check "nested: the same tree of calls" diff <(tree nested.pg.data) <(tree tree.data)

# A build with -pg is recorded like any other, mcount and all.
record both.data -- "$PROGRAMS/nested.pg" > both.out
check "a -pg build, recorded by recorder" truth both.data both.out
