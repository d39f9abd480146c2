# autoargs.sh - --auto-args and --srcline: what is shown is what the program says of its own calls, or less, as gcc,
# clang and rustc build it; as uftrace shows it; library calls without debug information; debug information that lies.
# limit: 120
# beside others
. "$LIVE/lib.sh"
need python3
program autoargs || exit 0
autoargs=$PROGRAMS/autoargs
shown() { replay "$1" -f none "${@:2}" | sed 's/[A-Za-z0-9_]*:://g'; }
true_calls() { shown "$1" | python3 "$LIVE/autoargs.py" "$2"; }

for build in gcc.O0 gcc.O1 gcc.O2 gcc.O3 clang.O0 clang.O1 clang.O2 clang.O3 g++.O0 g++.O2 \
	     clang++.O0 clang++.O1 clang++.O2 rust0 rust2; do
	program autoargs.$build || continue
	record $build.data --no-syscalls --auto-args -- "$PROGRAMS/autoargs.$build" > $build.out
	check "$build: values are those that the program prints" true_calls $build.data $build.out
done

# as uftrace has it; floating-point numbers and structures are not built yet
# (uftrace's own recorder has a file open in the program, so its next descriptor is another)
tree() {
	replay "$1" -F main -f none "${@:2}" | sed 's/ close([34])/ close(FD)/; s/\( open(.*\) = [34];/\1 = FD;/' |
		grep -a -e ' x_' -e ' open(' -e ' close(' -e ' puts('
}
if program autoargs.pg "as uftrace shows it"; then
	uf record --no-event --auto-args --srcline -d pg.data "$PROGRAMS/autoargs.pg" > /dev/null
	check "uftrace shows them of the -pg build" grep -q 'x_three(1, "abc", GREEN) = 100;' <(tree pg.data)
	record plain.data --no-syscalls --auto-args --srcline -- "$autoargs" > plain.out
	check "the plain build is shown alike" diff <(tree pg.data) <(tree plain.data)
	check "with the same source lines" diff <(tree pg.data --srcline) <(tree plain.data --srcline)
	check "and there are some" grep -q 'x_three(.*/\* autoargs.c:[0-9]* \*/' <(tree plain.data --srcline)
	record without.data --no-syscalls --auto-args --no-feature uprobe-session -- "$autoargs" > /dev/null
	check "the same without sessions" diff <(tree pg.data) <(tree without.data)
	record raw --format raw --no-syscalls --auto-args --srcline -- "$autoargs" > /dev/null
	"$RECORDER" -o replayed.data --replay raw/recording.raw 2> replayed.err
	check "a raw recording brings its types along" diff <(tree pg.data --srcline) <(tree replayed.data --srcline)
fi
record named.data --no-syscalls --auto-args -A 'x_three@arg3/x' -- "$autoargs" > /dev/null
check "what -A says goes before" grep -q 'x_three(0x2);' <(replay named.data)

# As a container has a C library of the same build as its host's, but not the debug file.
mkdir one two; strip -g -o one/prog "$autoargs"; cp "$autoargs" two/prog
record copies.data --no-syscalls --auto-args -- sh -c 'one/prog; two/prog' > /dev/null
check "two files of one name and build-id, each with its own arguments" equal \
	"$(replay copies.data | sed -n 's/^[^"]*\(x_three([^)]*)\).*/\1/p')" \
	"$(printf 'x_three(%s)\n' '' '' '' '1, "abc", GREEN' '2, "abc", GREEN' '3, "abc", GREEN')"
check "... and nothing of that is complained of" uftrace_accepts copies.data

record lines.data --no-syscalls --srcline -- "$autoargs" > /dev/null
check "--srcline alone shows no arguments" grep -q 'x_three();.*autoargs.c:' <(replay lines.data --srcline)

# without debug information
strip -o stripped "$autoargs"
record stripped.data --no-syscalls --auto-args -- ./stripped > /dev/null
check "library calls come from a table" equal "$(replay stripped.data -f none | grep -a -e ' open(' -e 'puts(' |
	sed 's/^ *//' | sort -u | tr '\n' ' ')" 'open("/dev/null", O_CLOEXEC|O_WRONLY) = 3; puts("x_nothing()") = 12; '

# debug information that is none
python3 - "$autoargs" <<-'EOF'
	import random, subprocess, sys
	data = bytearray(open(sys.argv[1], 'rb').read())
	for line in subprocess.run(['readelf', '-SW', sys.argv[1]], capture_output=True, text=True).stdout.splitlines():
	    words = line.replace('[ ', '[').split()
	    if len(words) > 5 and words[1] in ('.debug_info', '.debug_abbrev'):
	        start, size = int(words[4], 16), int(words[5], 16)
	        random.seed(words[1])
	        data[start + 12:start + size] = random.randbytes(size - 12)
	open('broken', 'wb').write(data)
EOF
chmod 755 broken
record broken.data --no-syscalls --auto-args --srcline -- ./broken > broken.out
check "a program whose debug information is noise runs" equal $? 0
check "and is recorded" equal "$(replay broken.data -f none | grep -c 'x_nothing')" 6

# What dwz moved to a file of several programs, as in Debian's debug packages: types, or nothing but texts, which libdw does not read.
if command -v dwz > /dev/null && command -v gcc > /dev/null; then
	cat > types.h <<-'C'
		enum colour { RED, GREEN, BLUE_OF_THE_SKY }; struct point { int x, y; };
		struct big { struct point place[10]; long weight; char name[20]; double measure; };
		struct node { struct node *next, *before; struct big *big; enum colour colour; unsigned long long key; char *text; };
	C
	cat > first.c <<-'C'
		#include TYPES
		__attribute__((noipa)) int paint(enum colour c, const char *name, struct node *n) { return c + *name + n->key; }
		int main(void) { struct node n = { .key = 3 }; return paint(GREEN, "wall", &n) != 'w' + 4; }
	C
	sed 's/^int main/int more(int n) { return n; }\n&/' first.c > second.c
	echo 'enum colour { RED, GREEN }; struct node { struct node *next; enum colour colour; long key; };' | tee first.h > second.h
	built() {
		gcc -g -O1 -DTYPES="\"$1\"" -o first first.c && gcc -g -O1 -DTYPES="\"$2\"" -o second second.c &&
			rm -f common && dwz -m common -M "$PWD/common" first second
	}
	painted() { record dwz.data --no-syscalls --auto-args -- ./first; equal "$?" 0; }
	unused() { grep -q "warning: .*'$PWD/common' (dwz), which was not found, or cannot be used" <(said dwz.data); }
	built types.h types.h
	check "a program is recorded whose types lie in a common file" painted
	check "... with arguments of those types" grep -q 'paint(GREEN, "wall", ' <(replay dwz.data)
	mv common gone
	check "... and where that is not there" painted
	check "... which is said" unused
	built first.h second.h		# no type is declared in both at the same place
	check "dwz may move nothing but texts" equal "$(readelf -SW common | grep -oE 'debug_(str|info)' | xargs)" debug_str
	check "a program is recorded whose texts lie in a common file" painted
	check "... and it is said that they cannot be used" unused
else
	skip "arguments of types that lie in a common file" "there is no dwz, or no gcc"
fi
