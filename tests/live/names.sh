# names.sh - functions have the names a user would give them, wherever those have to be found.
. "$LIVE/lib.sh"
need gcc objcopy
program chain || exit 0

# has DIR FUNCTION...: each was recorded by its name.
has() {
	local dir=$1 f; shift
	for f; do
		[ "$(report_calls "$dir" "$f")" -gt 0 ] || { echo "no $f; there is: $(calls_of "$dir" | head -n 20 | tr '\n' ' ')"; return 1; }
	done
}

# Stripped programs: a debug file, found as gdb finds it.
mkdir -p at/.debug
objcopy --only-keep-debug "$PROGRAMS/chain" at/.debug/chain.debug
(cd at/.debug && objcopy --strip-all --add-gnu-debuglink=chain.debug "$PROGRAMS/chain" ../chain)
record link.data --no-syscalls -- at/chain > link.out
check "a stripped program has the names of its .debug/ file" has link.data main inner deepest
check "... and uftrace reads it" uftrace_accepts link.data
record named.data --no-syscalls -- "$PROGRAMS/chain" > named.out
check "... as many calls of each as when it is not stripped" diff <(calls_of named.data | sort) <(calls_of link.data | sort)

if command -v xz > /dev/null; then
	objcopy --strip-all --remove-section .gnu_debuglink at/chain bare
	xz -k at/.debug/chain.debug
	objcopy --add-section .gnu_debugdata=at/.debug/chain.debug.xz bare mini
	record mini.data --no-syscalls -- ./mini > mini.out
	check "names packed into the file (.gnu_debugdata) are used" has mini.data main inner deepest
	head -c 200M /dev/zero | xz > bomb.xz
	objcopy --add-section .gnu_debugdata=bomb.xz bare bomb
	record bomb.data --no-syscalls -- ./bomb > bomb.out
	check "what grows without end when it is unpacked is not used, and the rest is recorded" \
		[ $? = 0 -a "$(calls_of bomb.data | awk '/sub_/ { n += $1 } END { print (n > 5) }')" = 1 ]
fi

# A folder of the target may have anything planted in it.
refused() {	# NAME: what was made at at/.debug/chain.debug is left alone
	record bad.data --no-syscalls -v -- at/chain > bad.out
	check "$1: it is recorded without names" [ $? = 0 -a "$(calls_of bad.data | grep -c 'sub_')" -gt 3 -a "$(report_calls bad.data inner)" = 0 ]
}
mv at/.debug/chain.debug right
mkfifo at/.debug/chain.debug; refused "a FIFO for a debug file"
ln -sf /dev/zero at/.debug/chain.debug; refused "/dev/zero for a debug file"
rm at/.debug/chain.debug
head -c 3000 right > at/.debug/chain.debug; refused "a debug file cut short"
objcopy --only-keep-debug "$PROGRAMS/threads" at/.debug/chain.debug; refused "another program's debug file"
check "... and -v says so" grep -q "chain.debug' has no symbols for" bad.data.err

# Rust's new mangling is not known to uftrace 0.13: it is shown demangled by us, and options take what is shown.
if program v0; then
	record v0.data --no-syscalls -- "$PROGRAMS/v0" > v0.out
	check "Rust's v0 names are shown as in the source" has v0.data v0::main v0::m::plain v0::m::generic '<v0::m::Wrap<u32> as v0::m::Go>::go'
	check "... and none is shown mangled" equal "$(calls_of v0.data | grep -c ' _R')" 0
	check "... and uftrace reads them" uftrace_accepts v0.data
	record plain.data --no-syscalls -F v0::m::plain -- "$PROGRAMS/v0" > v0.out
	check "-F takes such a name" equal "$(calls_of plain.data | grep -v core:: | tr '\n' ';')" "1 v0::m::plain;"
	record plain.data --no-syscalls -A 'v0::m::plain@arg1/u32' -- "$PROGRAMS/v0" > v0.out
	check "-A takes it" grep -q 'v0::m::plain(2)' <(replay plain.data)
fi

# Two libraries of one file name, each with functions of its own.
mkdir a b
echo 'int from_a(int n) { __asm__(""); return n + 1; }' | gcc -x c -O1 -shared -fPIC -o a/libsame.so -
echo 'int from_b(int n) { __asm__(""); return n + 2; } int also_b(int n) { __asm__(""); return n; }' |
	gcc -x c -O1 -shared -fPIC -o b/libsame.so -
cat > two.c <<'C'
#include <dlfcn.h>
int main(void)
{
	int (*a)(int) = dlsym(dlopen("./a/libsame.so", RTLD_NOW), "from_a");
	void *h = dlopen("./b/libsame.so", RTLD_NOW);
	int (*b)(int) = dlsym(h, "from_b"), (*also)(int) = dlsym(h, "also_b");

	return a(1) + b(1) + also(1) != 6;
}
C
gcc -o two two.c -ldl
record two.data --no-syscalls --functions='*@libsame*' -- ./two
check "two libraries of one file name: each function has its own name" has two.data from_a from_b also_b

# Calls of libraries without a stub are not seen, and that is said.
cat > direct.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(void) { puts("a"); puts("b"); return atoi("0"); }
C
gcc -O1 -fno-plt -o direct direct.c
record direct.data --no-syscalls -- ./direct > direct.out
check "-fno-plt: how many calls are not seen is said" grep -q '^recorder: calls of library functions at 3 places go around' direct.data.err
gcc -O1 -fno-builtin -o stubs direct.c
record stubs.data --no-syscalls -- ./stubs > direct.out
check "... and nothing where all go through stubs" equal "$(grep -c 'go around' stubs.data.err),$(report_calls stubs.data puts)" 0,2
if gcc -O1 -fno-builtin -static-pie -o whole direct.c 2> /dev/null; then
	record whole.data --no-syscalls -- ./whole > direct.out
	check "static-pie: the library and its stubs for IFUNCs have names" has whole.data puts exit mempcpy
fi

# --list of a library's functions: of a command those it would load, of a process those it has.
listed() { awk -v f="$1" '$6 == f { print $3, $4 }' list.txt; }
"$RECORDER" --list='^mall@libc.so' -- "$PROGRAMS/chain" > list.txt 2> /dev/null
check "--list=FUNC@LIB lists functions of a library that the command would load" grep -qE '^(nop5|cheap|single-stepped) (probed|inferred)$' <(listed malloc)
check "... and only those" equal "$(awk '!/^ *#/ && $6 !~ /^mall/' list.txt | wc -l)" 0
sleep 60 & sleeper=$!
"$RECORDER" --list='^mall@libc.so' -p $sleeper > list.txt 2> /dev/null
check "... of a process that has it mapped" grep -qE '^(nop5|cheap|single-stepped) (probed|inferred)$' <(listed malloc)
kill $sleeper
"$RECORDER" --list='ns::|v0::' -- "$PROGRAMS/v0" > list.txt 2> /dev/null
[ ! -x "$PROGRAMS/v0" ] || check "--list shows plain names" grep -q ' v0::m::plain$' list.txt

# Names and paths are whatever the file's maker wanted: what a terminal would obey is shown, not sent.
cat > evil.c <<'C'
__attribute__((noipa)) int zzzzzzzzzzzz(int x) { return x + 1; }
__attribute__((noipa)) int yyyyyyyyyyyy(int x) { return x + 2; }
int main(void) { return zzzzzzzzzzzz(yyyyyyyyyyyy(1)) - 4; }
C
folder=$'evil\n\033[31m\xff' && mkdir "$folder" && gcc -O1 -o evil evil.c &&
	LC_ALL=C sed $'s/zzzzzzzzzzzz/z\033[1mz\xc2\x9b7mzz/g; s/yyyyyyyyyyyy/y\xffy\xe2\x80\xaeyy\x9b3\xc3\xa9/g' evil > "$folder/evil" &&
	chmod 755 "$folder/evil"
"$RECORDER" --list -- "$folder/evil" > list.txt 2>&1
record evil.data --no-syscalls -v --srcline -L nothing -- "$folder/evil"
no_control() { ! LC_ALL=C grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae|[\xfe\xff]' "$1"; }
check "--list shows no name that a terminal obeys" no_control list.txt
check "... but what it is" grep -qF 'y\xffy\xe2\x80\xaeyy\x9b3'$'\xc3\xa9' list.txt
check "... and of which file" grep -qF 'evil\n\x1b[31m\xff/evil' list.txt
check "no message has one" no_control evil.data.err
check "... though there are some of the file" grep -qF 'evil\n\x1b[31m\xff/evil' evil.data.err
record evil.data --no-syscalls -- "$folder/evil"
check "uftrace reads the recording" equal "$(calls_of evil.data | wc -l)" 3
