# place.sh - -L: the functions of these source files and folders, as uftrace record -L of a -pg build has them.
. "$LIVE/lib.sh"
need gcc

# Sources in two folders and a header, functions of which call each other.
mkdir sub
cat > inl.h <<'C'
static __attribute__((noipa)) int hdr(int x) { return x * 3; }
C
cat > main.c <<'C'
#include "inl.h"
int lib_a(int), lib_b(int), cb(int);
static __attribute__((noipa)) int local(int x) { return x + 1; }
int cb(int x) { return local(x) + 1; }
int main(int c, char **v) { (void)v; return (cb(c) + lib_a(c) + hdr(c) > 1000) + (lib_b(c) > 1000); }
C
cat > sub/lib.c <<'C'
#include <stdlib.h>
int cb(int), lib_a(int), lib_b(int);
__attribute__((noipa)) int lib_b(int x) { return cb(x) + atoi("4"); }
__attribute__((noipa)) int lib_a(int x) { return lib_b(x) + 1; }
C
flags=(-O1 -fno-inline -fno-omit-frame-pointer -fno-optimize-sibling-calls)
gcc -g "${flags[@]}" -o placed main.c sub/lib.c && gcc -pg -g "${flags[@]}" -o placed.pg main.c sub/lib.c &&
	gcc "${flags[@]}" -o bare main.c sub/lib.c || exit 1

calls() { replay "$@" 2> /dev/null | grep -v '^ *#' | grep -vE '^((__monstartup|__cxa_atexit)\(\);|WARN: cannot open record data)'; }
as_uftrace() {
	rm -rf pg.data*
	uf record --no-event -d pg.data "$@" ./placed.pg > /dev/null
	record placed.data --no-syscalls "$@" -- ./placed > /dev/null
	diff <(calls pg.data) <(calls placed.data)
}
while read -r -a options; do
	check "as uftrace record ${options[*]}" as_uftrace "${options[@]}"
done << 'END'
-L main.c
-L lib.c
-L sub
-L inl.h
-L main.c@hide
-L !lib.c
-L li.*c$
-L main.c;sub/
-L main.c -L lib.c@hide
-L sub -L lib.c@hide -L main.c
--match glob -L *lib.c
-L main.c -D 2
-L main.c -T lib_b@trace_off
-L main.c -T lib_b@notrace
-L main.c -C cb
END

# A function elsewhere, of which uftrace record does not see the end: uftrace replay does.
record whole.data --no-syscalls --srcline -- ./placed > /dev/null
as_replayed() {
	record placed.data --no-syscalls "$@" -- ./placed > /dev/null
	diff <(calls whole.data "$@") <(calls placed.data)
}
check "-F lib_a -L main.c: as replayed" as_replayed -F lib_a -L main.c
check "-L main.c -N lib_a: as replayed" as_replayed -L main.c -N lib_a

# The folder a unit was compiled in is part of its files' paths, though what is shown leaves it out.
of_nm() { nm -l placed | awk -v place="$1" '$2 ~ /[tT]/ && index($4, place) { print $3 }' | sort; }
for place in "$PWD/sub" "$PWD"; do
	record placed.data --no-syscalls --no-libcall -L "$place" -- ./placed > /dev/null
	check "-L ${place/$PWD/FOLDER}: the functions nm -l says are there" equal \
		"$(calls_of placed.data | cut -d' ' -f2 | sort)" "$(of_nm "$place/")"
done
check "and their lines are shown, as with --srcline" grep -q 'lib_b() {.*/\* sub/lib.c:3 \*/' <(replay placed.data --srcline)

record placed.data --no-syscalls -L lib.c -- ./placed > /dev/null
check "what is elsewhere is not probed" grep -q '^recorder: functions: 2 of ' placed.data.err
check "... and the summary says why" grep -q '^recorder: left out: .*--loc-filter' placed.data.err
record placed.data --no-syscalls -L lib.c@notrace -- ./placed > /dev/null
cp -r placed.data notrace.data
record placed.data --no-syscalls -L lib.c@hide -- ./placed > /dev/null
check "@notrace is @hide" diff <(calls notrace.data) <(calls placed.data)
record placed.data --no-syscalls -L nothing.c -- ./placed > /dev/null
check "a place nothing is from is said" grep -qF "warning: -L: no function's source matches 'nothing.c'" placed.data.err
check "... and nothing is recorded" equal "$(calls placed.data)" ""
"$RECORDER" --list='^lib_' -L main.c -- ./placed > list.txt 2> /dev/null
check "--list says which are left out" equal "$(grep -c '(left out: --loc-filter)' list.txt)" 2

# Without debug information nobody knows.
record bare.data --no-syscalls -L main.c -- ./bare > /dev/null
check "a binary without debug information is named" grep -q "warning: -L: '$PWD/bare' has no debug information" bare.data.err
check "... once" equal "$(grep -c 'no debug information' bare.data.err) $(calls bare.data)" "1 "
record bare.data --no-syscalls -L main.c@hide -- ./bare > /dev/null
check "... and has all of its functions where some are to be hidden" equal \
	"$(grep -c 'so none of its functions is left out' bare.data.err) $(report_calls bare.data cb)" "1 3"

# Debug information that was taken out of the file and put where gdb looks for it.
gcc -g "${flags[@]}" -Wl,--build-id -o built main.c sub/lib.c && objcopy --only-keep-debug built built.debug &&
	strip -g -o bare built && objcopy --add-gnu-debuglink=built.debug bare linked
record placed.data --no-syscalls --no-libcall -L sub -- ./built > /dev/null
from_debug_file() { diff <(calls_of placed.data) <(calls_of "$1") && ! said "$1" | grep 'no debug information'; }
record linked.data --no-syscalls --no-libcall -L sub --auto-args -- ./linked > /dev/null
check "-L with a debug file beside the program (.gnu_debuglink)" from_debug_file linked.data
check "... it has its lines" grep -q 'lib_b(.*/\* sub/lib.c:3 \*/' <(replay linked.data --srcline)
check "... and its arguments" grep -q 'lib_b(1)' <(replay linked.data)
record bare.data --no-syscalls --no-libcall -L sub -- ./bare > /dev/null
check "without one nobody knows" equal "$(grep -c 'no debug information' bare.data.err) $(calls bare.data)" "1 "
gcc -g "${flags[@]}" -Wl,--build-id -o other sub/lib.c -x c - <<< 'int cb(int x) { return x; } int main(void) { return 0; }' &&
	cp built.debug kept && objcopy --only-keep-debug other built.debug
record other.data --no-syscalls --no-libcall -L sub -- ./linked > /dev/null
check "another program's debug file is not used" equal "$(grep -c 'no debug information' other.data.err) $(calls other.data)" "1 "

id=$(readelf -n built | sed -n 's/.*Build ID: //p') folder=/usr/lib/debug
elsewhere() {	# a folder of debug files of our own, in a mount namespace of our own
	unshare -m sh -ec 'mount -t tmpfs none "$0"; mkdir -p "$0/.build-id/$1"; cp kept "$0/.build-id/$1/$2.debug"; shift 2; exec "$@"' \
		$folder "${id::2}" "${id:2}" "$@"
}
if [ -d $folder ] && elsewhere true 2> /dev/null; then
	elsewhere "$RECORDER" -o id.data --no-syscalls --no-libcall -L sub -- ./bare > /dev/null 2> id.data.err
	check "-L with a debug file found by build-id" from_debug_file id.data
else
	skip "-L with a debug file found by build-id" "there is no $folder, or nothing can be mounted here"
fi

# A separate process: conditions, and libraries by their own places.
gcc -shared -fPIC -g "${flags[@]}" -o libsub.so sub/lib.c && gcc -g "${flags[@]}" -o users main.c -L. -lsub '-Wl,-rpath,$ORIGIN' -rdynamic
record lib.data --no-syscalls --functions='*@libsub.so' -L sub -- ./users > /dev/null
check "of a library, too" equal "$(calls_of lib.data | sort -k2)" $'1 lib_a\n2 lib_b'
record if.data --no-syscalls -F lib_b@if:arg1==1 -L main.c -- ./placed > /dev/null
check "a condition of what is elsewhere" equal "$(calls_of if.data | sort -k2)" $'2 cb\n2 local'
