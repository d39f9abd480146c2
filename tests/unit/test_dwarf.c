/*
 * test_dwarf.c - what DWARF and the table of library functions tell of arguments, and what hostile DWARF does.
 */
#include <sys/stat.h>

#include "argspec.h"
#include "config.h"
#include "debug.h"
#include "debugfile.h"
#include "debuginfo.h"
#include "filter.h"
#include "libcalls.h"
#include "test_image.h"

static const char types_c[] =
	"enum color { RED = 1, GREEN, DARK = -7 }; typedef enum { ONE } digit; typedef const char *text;\n"
	"struct two { int x, y; }; struct mixed { double d; long n; }; struct big { long a, b, c; };\n"
	"struct odd { char c; int n; } __attribute__((packed)); typedef unsigned long size;\n"
	"#define F __attribute__((noinline)) \n"
	"F int plain(int a, unsigned char b, size c, char d, _Bool e) { return a + b + c + d + e; }\n"
	"F text texts(text s, char *t, unsigned char *u, void *v) { return t && u && v ? s : t; }\n"
	"F enum color named(digit d, enum color c) { return d ? c : RED; }\n"
	"F long many(int a, int b, int c, int d, int e, int f, long g, short h) { return a+b+c+d+e+f+g+h; }\n"
	"F double floats(int a, float f, double d, int b) { return a + f + d + b; }\n"
	"F int two(struct two p, int n) { return p.x + p.y + n; }\n"
	"F int mixed(struct mixed m, int n) { return m.d + m.n + n; }\n"
	"F int big(struct big b, int n) { return b.a + b.b + b.c + n; }\n"
	"F int odd(struct odd o, int n) { return o.c + o.n + n; }\n"
	"F struct big gives(int n) { struct big b = { n, n, n }; return b; }\n"
	"F int wide(int a, long double f, int n) { return a + f + n; }\n"
	"F int wide_later(int a1,int a2,int a3,int a4,int a5,int a6,int a7,long double f,int n)"
	" { return a1+a2+a3+a4+a5+a6+a7+f+n; }\n"
	"F int last(int a, __int128 w, int n) { return a + w + n; }\n"
	"struct own { long double x; }; F struct own gives_own(int n) { struct own o = { n }; return o; }\n"
	"F int old(a, b, c, d, e) char a; short b; float c; double d; int e; { return a + b + c + d + e; }\n"
	"long sink; __attribute__((ms_abi)) F void windows(int a, const char *s) { sink += a + *s; }\n"
	"__attribute__((ms_abi)) F void windows_struct(struct two p, struct big b, char n) { sink += p.x + b.a + n; }\n"
	"__attribute__((ms_abi)) F void windows_float(double f, int n) { sink += f + n; }\n"
	"F void none(void) { }\n"
	"int main(int c, char **v) { struct two p = {c,c}; struct mixed m = {c,c}; struct big b = {c,c,c}; struct odd o = {c,c};\n"
	" none(); windows(c, *v); windows_struct(p, b, c); windows_float(c, c);\n"
	" return plain(c,c,c,c,c) + !!texts(*v,*v,(void *)v,v) + named(c,c) + many(c,c,c,c,c,c,c,c) + floats(c,c,c,c)\n"
	" + two(p,c) + mixed(m,c) + big(b,c) + odd(o,c) + gives(c).a + wide(c,c,c) + wide_later(c,c,c,c,c,c,c,c,c) + last(c,c,c)\n"
	" + gives_own(c).x + old(c, c, (float)c, 1.0 * c, c); }\n";

static const struct wanted {
	const char *name, *args, *result;
} wanted[] = {
	{ "plain", "arg1/i32,arg2/u8,arg3/u64,arg4/c,arg5/u8", "retval/i32" },
	{ "texts", "arg1/s,arg2/s,arg3/p,arg4/p", "retval/s" },
	{ "named", "arg1/e:digit,arg2/e:color", "retval/e:color" },
	{ "many", "arg1/i32,arg2/i32,arg3/i32,arg4/i32,arg5/i32,arg6/i32,arg7/i64,arg8/i16", "retval/i64" },
	{ "floats", "arg1/i32,fparg1/32,fparg2/64,arg2/i32", "retval/f64" },
	{ "two", "?,arg2/i32", "retval/i32" },				/* one register, as arg1 would have */
	{ "mixed", "?,arg2/i32", "retval/i32" },			/* one of each kind */
	{ "big", "?,arg2/i32%rdi", "retval/i32" },			/* on the stack */
	{ "odd", "?,arg2/i32%rdi", "retval/i32" },			/* not aligned: on the stack */
	{ "gives", "arg1/i32%rsi", "" },				/* the first register says where to */
	{ "wide", "arg1/i32,?,arg2/i32", "retval/i32" },
	{ "wide_later", "arg1/i32,arg2/i32,arg3/i32,arg4/i32,arg5/i32,arg6/i32,arg7/i32,?,arg8/i32%stack+5", "retval/i32" },
	{ "last", "arg1/i32,?", "retval/i32" },
	{ "gives_own", "", "" },				/* in a register of its own: no pointer is handed in */
	{ "old", "arg1/c,arg2/i16,?,fparg2/64,arg3/i32", "retval/i32" },	/* the float is passed as a double */
	{ "windows", "", "" }, { "windows_struct", "", "" }, { "windows_float", "", "" },	/* in other registers */
	{ "none", "", "" },
};

static struct image *read_debug(struct image_child *c, const char *path, int want)
{
	__cleanup(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct image *img = NULL;

	CHECK(fd >= 0);
	CHECK_INT(image_child_read(c, &img, fd, IMAGE_DEBUG_LINES), want);
	return img;
}

static const struct debug_func *debug_of(const struct image *told, const struct image *img, const char *name)
{
	const struct func *f = func_named(img, name, false);

	return f ? debug_find(told->debug, f->addr) : NULL;
}

#if defined(__x86_64__)
static void check_types(const char *compiler, const char *level)
{
	__cleanup(image_child_stopp) struct image_child *c = NULL;
	__cleanup(image_destroyp) struct image *told = NULL, *img = NULL;

	write_file(in_dir("types.c"), types_c, strlen(types_c));
	if (!run("cd %s && %s -w -g -%s -fno-inline -o types types.c 2>errors", dir, compiler, level))
		SKIP("no such compiler here");
	CHECK_INT(image_child_start(&c), 0);
	img = read_image(in_dir("types"));
	told = read_debug(c, in_dir("types"), 0);
	CHECK(!told->debug->is_cut);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		const struct debug_func *f = debug_of(told, img, wanted[i].name);

		if (!f && level[1] > '1')
			continue;		/* there is only a copy of it, with another name */
		CHECK(f);
		CHECK_STR(debug_at(told->debug, f->args), wanted[i].args);
		CHECK_STR(debug_at(told->debug, f->result), wanted[i].result);
		CHECK_STR(debug_at(told->debug, f->file), "types.c");
		CHECK(debug_whole_path(told->debug, f->file)[0] == '/');
		CHECK_STR(strrchr(debug_whole_path(told->debug, f->file), '/'), "/types.c");
		CHECK(f->line > 4 && f->line < 40);
	}
	CHECK_INT(told->debug->enum_count, 2);
	CHECK_STR(debug_at(told->debug, told->debug->enumeration[1]), "digit{ONE=0}");
	CHECK_STR(debug_at(told->debug, told->debug->enumeration[0]), "color{RED=1,GREEN=2,DARK=-7}");
}

TEST(gcc_tells_arguments_unoptimized) { SCRATCH; check_types("gcc", "O0"); }
TEST(gcc_tells_arguments_optimized) { SCRATCH; check_types("gcc", "O2 -fno-ipa-cp -fno-ipa-sra"); }
TEST(clang_tells_arguments_unoptimized) { SCRATCH; check_types("clang", "O0"); }
TEST(clang_tells_arguments_optimized) { SCRATCH; check_types("clang", "O1"); }
TEST(older_dwarf_tells_the_same) { SCRATCH; check_types("gcc", "O1 -gdwarf-3 -fno-ipa-cp -fno-ipa-sra"); }
#endif

#if defined(__x86_64__)
static const char classes_cc[] =
	"#define F extern \"C\" __attribute__((noinline)) \n"
	"struct owner { owner(int v) : n(v) {} owner(const owner &o) : n(o.n + 1) {} ~owner() { n = 0; } int n;"
	" __attribute__((noinline)) owner copy(int more) const __asm__(\"copy\"); };\n"
	"owner owner::copy(int more) const { return owner(n + more); }\n"
	"struct two { int x, y; }; struct big { long a, b, c; };\n"
	"struct child : two { int z; }; struct holder { owner o; long more[4]; };\n"
	"F owner gives_owner(int n, const char *s) { return owner(n + *s); }\n"
	"F holder gives_holder(const owner &o, int n) { return holder{ o, { n } }; }\n"
	"F big gives_big(int n) { return big{ n, n, n }; }\n"
	"F two gives_two(int n) { return two{ n, n }; }\n"
	"F int takes_owner(owner o, int n) { return o.n + n; }\n"
	"F owner floats(int a, double d, int n) { return owner(a + d + n); }\n"
	"F int takes_child(child c, int n) { return c.x + c.z + n; }\n"
	"F int takes_big(big b, holder h, int n) { return b.a + h.more[0] + n; }\n"
	"int main(int c, char **v) { owner o(c); child k; k.x = k.y = k.z = c; holder h = gives_holder(o, c);\n"
	" return gives_owner(c, *v).n + gives_big(c).a + gives_two(c).x + takes_owner(o, c) + floats(c, c, c).n + o.copy(c).n\n"
	" + takes_child(k, c) + takes_big(big{ c, c, c }, h, c); }\n";

static const struct wanted of_classes[] = {
	{ "gives_owner", "arg1/i32%rsi,arg2/s%rdx", "retval/p" },
	{ "gives_holder", "arg1/p%rsi,arg2/i32%rdx", "retval/p" },
	{ "gives_big", "arg1/i32%rsi", "" },
	{ "gives_two", "arg1/i32", "" },
	{ "takes_owner", "arg1/p,arg2/i32", "retval/i32" },
	{ "floats", "arg1/i32%rsi,fparg1/64,arg2/i32%rdx", "retval/p" },
	{ "copy", "arg1/p%rsi,arg2/i32%rdx", "retval/p" },
	{ "takes_child", "?,arg2/i32%rdx", "retval/i32" },
	{ "takes_big", "?,arg2/p%rdi,arg3/i32%rsi", "retval/i32" },
};

/* gcc does not say of a class how it is passed. */
static const struct wanted of_gcc_classes[] = {
	{ "gives_owner", "", "" }, { "gives_holder", "", "" }, { "gives_big", "", "" }, { "gives_two", "", "" },
	{ "takes_owner", "?", "retval/i32" }, { "floats", "", "" }, { "copy", "", "" }, { "takes_child", "?", "retval/i32" },
	{ "takes_big", "?", "retval/i32" },
};

static void check_told(const struct image *told, const struct image *img, const struct wanted *w, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct debug_func *f = debug_of(told, img, w[i].name);

		CHECK(f);
		CHECK_STR(debug_at(told->debug, f->args), w[i].args);
		CHECK_STR(debug_at(told->debug, f->result), w[i].result);
	}
}

static void check_source(const char *compile, const char *name, const char *source, const struct wanted *w, size_t count)
{
	__cleanup(image_child_stopp) struct image_child *c = NULL;
	__cleanup(image_destroyp) struct image *told = NULL, *img = NULL;

	write_file(in_dir(name), source, strlen(source));
	if (!run("cd %s && %s -w -g -fno-inline -o built %s 2>errors", dir, compile, name))
		SKIP("no such compiler here");
	CHECK_INT(image_child_start(&c), 0);
	img = read_image(in_dir("built"));
	told = read_debug(c, in_dir("built"), 0);
	check_told(told, img, w, count);
}

#define CHECK_SOURCE(compile, name, source, w)	check_source(compile, name, source, w, ARRAY_SIZE(w))

/* The words of a _BitInt(33) have 31 bits that mean nothing. */
TEST(integers_of_any_width_are_left_out)
{
	static const char source[] =
		"#define F __attribute__((noinline)) \n"
		"F int first(_BitInt(33) a, int n) { return a + n; } F int later(int n, unsigned _BitInt(20) a) { return a + n; }\n"
		"F _BitInt(40) gives(int n) { return n; } int main(int c, char **v) { return first(c, c) + later(c, c) + gives(c); }\n";
	static const struct wanted of_widths[] = {
		{ "first", "?", "retval/i32" }, { "later", "arg1/i32,?", "retval/i32" }, { "gives", "", "" },
	};

	SCRATCH;
	CHECK_SOURCE("clang -O0", "widths.c", source, of_widths);
}

TEST(gcc_tells_no_arguments_behind_a_class)
{
	SCRATCH;
	CHECK_SOURCE("g++ -O0", "classes.cc", classes_cc, of_gcc_classes);
}

TEST(clang_tells_arguments_behind_a_class)
{
	SCRATCH;
	CHECK_SOURCE("clang++ -O0", "classes.cc", classes_cc, of_classes);
}

TEST(clang_tells_arguments_behind_a_class_optimized)
{
	SCRATCH;
	CHECK_SOURCE("clang++ -O1", "classes.cc", classes_cc, of_classes);
}
#endif

TEST(what_the_image_child_tells_survives_packing)
{
	SCRATCH;
	__cleanup(image_destroyp) struct image *img = NULL, *copy = NULL;
	void *block;
	size_t len;

	CHECK(build("types", "types.c", types_c, "-g -O1"));
	img = read_image(in_dir("types"));
	img->debug = debug_create();
	CHECK_INT(debug_add(img->debug, &(struct debug_func){ .addr = 16, .args = debug_text(img->debug, "arg1/s") }), 0);
	CHECK_INT(debug_add_enum(img->debug, "a b{A=1}\n"), 0);
	CHECK_INT(image_pack(img, &block, &len), 0);
	CHECK_INT(image_unpack(&copy, block, len), 0);
	CHECK_STR(debug_at(copy->debug, debug_find(copy->debug, 16)->args), "arg1/s");
	CHECK_STR(debug_at(copy->debug, copy->debug->enumeration[0]), "a_b{A=1}_");
	for (size_t cut = 1; cut < 200; cut++) {
		struct image *none = NULL;

		CHECK_INT(image_unpack(&none, block, len - cut), -EBADMSG);
		CHECK(!none);
	}
	free(block);
}

TEST(a_block_that_lies_is_refused)
{
	struct debug *d = debug_create(), *none = NULL;
	size_t len;
	char *block;

	CHECK_INT(debug_add(d, &(struct debug_func){ .addr = 16, .args = debug_text(d, "arg1/s") }), 0);
	len = debug_packed_len(d);
	block = malloc(len);
	debug_pack(d, block);
	block[len - 3] = '\n';			/* it would begin a line of its own in a file */
	CHECK_INT(debug_unpack(&none, block, len), -EBADMSG);
	debug_pack(d, block);
	memset(block + 32 + 8, 0x7f, 4);	/* a text outside */
	CHECK_INT(debug_unpack(&none, block, len), -EBADMSG);
	debug_pack(d, block);
	memset(block, 0xff, 8);			/* more functions than there can be */
	CHECK_INT(debug_unpack(&none, block, len), -EBADMSG);
	CHECK(!none);
	free(block);
	debug_destroy(d);
}

/* xorshift: the same variants each time. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

TEST(debug_information_with_bytes_flipped_hurts_nobody)
{
	SCRATCH;
	__cleanup(image_child_stopp) struct image_child *c = NULL;
	__cleanup(image_destroyp) struct image *whole = NULL;
	unsigned long from[4] = {}, bytes[4] = {}, died = 0, read = 0;
	uint64_t state = 42;
	char data[65536];
	size_t len;
	FILE *f;

	CHECK(build("types", "types.c", types_c, "-g -O2"));
	for (int i = 0; i < 4; i++) {
		static const char *const name[] = { "info", "abbrev", "loclists", "line" };
		char cmd[256];

		snprintf(cmd, sizeof(cmd), "readelf -SW %s | sed -n 's/.*debug_%s *PROGBITS *//p'", in_dir("types"), name[i]);
		CHECK_INT(sscanf(line_of(cmd), "%*x %lx %lx", &from[i], &bytes[i]), 2);
	}
	f = fopen(in_dir("types"), "r");
	CHECK(f);
	len = fread(data, 1, sizeof(data), f);
	fclose(f);
	CHECK_INT(image_child_start_with(&c, image_read_with, 8000), 0);
	for (int variant = 0; variant < 200; variant++) {
		__cleanup(close_fd) int fd = -1;
		struct image *img = NULL;
		char bad[sizeof(data)];
		int err;

		memcpy(bad, data, len);
		for (unsigned n = 1 + next_random(&state) % 8; n; n--) {
			unsigned which = next_random(&state) % 4;

			bad[from[which] + next_random(&state) % bytes[which]] = next_random(&state);
		}
		write_file(in_dir("bad"), bad, len);
		fd = open(in_dir("bad"), O_RDONLY | O_CLOEXEC);
		err = image_child_read(c, &img, fd, IMAGE_DEBUG_LINES);
		died += err == -EPIPE || err == -ETIMEDOUT;
		read += !err;
		image_destroy(img);
	}
	printf("  %lu read, %lu killed the child\n", read, died);
	CHECK(read > 50);
	whole = read_debug(c, in_dir("types"), 0);
	CHECK(whole->debug->count > 10);
}

/* "types" and another program whose common parts dwz(1) moved to the file "common". */
static void build_common(const char *compile)
{
	need("dwz");
	write_file(in_dir("types.c"), types_c, strlen(types_c));
	CHECK(run("cd '%s' && sed 's/F void none/int more(int m) { return m; } &/' types.c > more.c &&"
		  "%s -fno-inline -Wl,--build-id -o types types.c && %s -fno-inline -Wl,--build-id -o more more.c &&"
		  "dwz -m common -M '%s/common' types more", dir, compile, compile, dir));
}

static struct image *read_common(struct image_child *c, const char *common)
{
	__cleanup(close_fd) int fd = open(in_dir("types"), O_RDONLY | O_CLOEXEC);
	__cleanup(close_fd) int common_fd = open(common, O_RDONLY | O_CLOEXEC);
	const struct image_files files = { fd, -1, common_fd };
	struct image *img = NULL;

	CHECK(fd >= 0 && common_fd >= 0);
	CHECK_INT(image_child_read_with(c, &img, &files, IMAGE_DEBUG_LINES), 0);
	return img;
}

TEST(what_dwz_moved_to_another_file_is_read_from_there)
{
	SCRATCH;
	__cleanup(image_child_stopp) struct image_child *c = NULL;
	__cleanup(image_destroyp) struct image *img = NULL, *without = NULL, *with = NULL, *found = NULL;
	__cleanup(close_fd) int proc = open("/proc/self", O_PATH | O_CLOEXEC), fd = -1;
	const struct debug_func *f;

	build_common("gcc -w -g -O0");
	CHECK_INT(image_child_start(&c), 0);
	img = read_image(in_dir("types"));
	without = read_debug(c, in_dir("types"), 0);
	CHECK_STR(without->common_link, in_dir("common"));
	f = debug_of(without, img, "named");
	CHECK(!f || !strstr(debug_at(without->debug, f->args), "e:color"));
	with = read_common(c, in_dir("common"));
	CHECK(!with->common_link);
	fd = open(in_dir("types"), O_RDONLY | O_CLOEXEC);
	CHECK_INT(debugfile_read_whole(c, &found, &(struct image_files){ fd, -1, -1 }, in_dir("types"), proc, IMAGE_DEBUG), 0);
	CHECK(!found->common_link);
	CHECK_STR(debug_at(found->debug, debug_of(found, img, "named")->args), "arg1/e:digit,arg2/e:color");
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		f = debug_of(with, img, wanted[i].name);
		CHECK_STR(debug_at(with->debug, f->args), wanted[i].args);
		CHECK_STR(debug_at(with->debug, f->result), wanted[i].result);
	}
}

TEST(what_dwz_moved_is_not_read_from_another_file)
{
	SCRATCH;
	__cleanup(image_child_stopp) struct image_child *c = NULL;
	__cleanup(image_destroyp) struct image *img = NULL, *told = NULL;
	const struct debug_func *f;
	struct stat st;

	build_common("gcc -w -g -O0");
	CHECK_INT(image_child_start(&c), 0);
	CHECK(run("cd '%s' && cp common whole && objcopy --remove-section .note.gnu.build-id whole noid", dir));
	CHECK_INT(stat(in_dir("whole"), &st), 0);
	for (int len = 0; len < st.st_size; len += 61) {
		__cleanup(image_destroyp) struct image *img = NULL;

		CHECK(run("head -c %d '%s' >'%s'", len, in_dir("whole"), in_dir("cut")));
		img = read_common(c, in_dir("cut"));
		CHECK_STR(img->common_link ?: "it was read", in_dir("common"));
	}
	for (int i = 0; i < 3; i++) {
		const char *other = i == 0 ? in_dir("noid") : i == 1 ? in_dir("types") : "/dev/zero";
		__cleanup(image_destroyp) struct image *img = read_common(c, other);

		CHECK(img->common_link);
	}
	/* A link without a build-id is none: any file without one would do. */
	CHECK(run("cd '%s' && printf 'common\\0' > link && objcopy --update-section .gnu_debugaltlink=link types", dir));
	img = read_image(in_dir("types"));
	told = read_common(c, in_dir("noid"));
	f = debug_of(told, img, "named");
	CHECK(!told->common_link && (!f || !strstr(debug_at(told->debug, f->args), "e:color")));
}

TEST(hostile_common_files_cost_the_debug_information_at_most)
{
	SCRATCH;
	__cleanup(image_child_stopp) struct image_child *c = NULL;
	__cleanup(image_destroyp) struct image *whole = NULL;
	__cleanup(close_fd) int fd = -1;
	unsigned long died = 0, read = 0;
	uint64_t state = 7;
	char data[16384];
	size_t len;
	FILE *f;

	build_common("gcc -w -g -O0");
	f = fopen(in_dir("common"), "r");
	CHECK(f);
	len = fread(data, 1, sizeof(data), f);
	fclose(f);
	fd = open(in_dir("types"), O_RDONLY | O_CLOEXEC);
	CHECK_INT(image_child_start_with(&c, image_read_with, 8000), 0);
	for (int variant = 0; variant < 100; variant++) {
		struct image_files files = { fd, -1, -1 };
		struct image *img = NULL;
		char bad[sizeof(data)];
		int err;

		memcpy(bad, data, len);
		for (unsigned n = 1 + next_random(&state) % 8; n; n--)
			bad[200 + next_random(&state) % (len - 200)] = next_random(&state);
		write_file(in_dir("bad"), bad, len);
		files.common = open(in_dir("bad"), O_RDONLY | O_CLOEXEC);
		err = image_child_read_with(c, &img, &files, IMAGE_DEBUG);
		died += err == -EPIPE || err == -ETIMEDOUT;
		read += !err && !img->common_link;
		image_destroy(img);
		close(files.common);
	}
	printf("  %lu read, %lu killed the child\n", read, died);
	CHECK(read > 25);
	whole = read_common(c, in_dir("common"));
	CHECK(!whole->common_link);
}

/* As the image child, until it is asked for debug information. */
static int dies_of_debug(struct image **ret, const struct image_files *files, enum image_depth depth)
{
	if (depth >= IMAGE_DEBUG)
		abort();
	return image_read_with(ret, files, depth);
}

TEST(a_child_that_dies_of_debug_information_costs_no_function)
{
	SCRATCH;
	__cleanup(image_child_stopp) struct image_child *c = NULL;
	__cleanup(image_destroyp) struct image *img = NULL, *again = NULL;
	__cleanup(close_fd) int fd = -1;
	struct config cfg = { .auto_args = true };

	CHECK_INT(filter_create(&cfg.filter), 0);
	CHECK(build("types", "types.c", types_c, "-g -O1"));
	CHECK_INT(image_child_start_with(&c, dies_of_debug, 8000), 0);
	fd = open(in_dir("types"), O_RDONLY | O_CLOEXEC);
	CHECK_INT(image_child_read(c, &img, fd, IMAGE_FUNCTIONS), 0);
	img->path = strdup("types");
	debuginfo_read(c, &cfg, img, -1, fd);
	filter_destroy(cfg.filter);
	CHECK(func_named(img, "plain", false) && !debug_find(img->debug, func_named(img, "plain", false)->addr));
	CHECK_INT(image_child_read(c, &again, fd, IMAGE_FUNCTIONS), 0);
}

TEST(a_file_without_debug_information_says_so)
{
	SCRATCH;
	__cleanup(image_child_stopp) struct image_child *c = NULL;

	CHECK(build("types", "types.c", types_c, "-O1"));
	CHECK_INT(image_child_start(&c), 0);
	CHECK(!read_debug(c, in_dir("types"), -ENOENT));
}

/* ---- the table ---- */

static const struct func any = { .name = "any" };

static unsigned items_of(const char *spec)
{
	unsigned n = *spec != '\0';

	for (; *spec; spec++)
		n += *spec == ',';
	return n;
}

TEST(every_row_of_the_table_can_be_read)
{
	for (size_t i = 0; i < libcall_count; i++) {
		const struct libcall *row = &libcalls[i];
		struct func_args args;

		CHECK(!i || strcmp(row[-1].name, row->name) < 0);
		CHECK(argspec_forms(&args, &any, row->args, row->result) || !*row->args);
		CHECK_INT(args.count, items_of(row->args));
		CHECK_INT(args.result_bytes > 0, *row->result != '\0');
	}
	CHECK(libcall_count > 150);
}

TEST(calls_of_libraries_are_told_by_the_table_and_functions_of_the_program_are_not)
{
	struct func func[] = {
		{ .addr = 16, .name = "open", .flags = FUNC_PLT }, { .addr = 32, .name = "open" },
		{ .addr = 48, .name = "strange", .flags = FUNC_PLT },
	};
	struct image img = { .path = (char *)"/opt/prog", .func = func, .func_count = 3, .debug = debug_create() };
	const struct debug_func *f;

	libcalls_add(&img);
	f = debug_find(img.debug, 16);
	CHECK(f);
	CHECK_STR(debug_at(img.debug, f->args), "arg1/s,arg2/e:rec_open_flags");
	CHECK(!debug_find(img.debug, 32) && !debug_find(img.debug, 48));
	CHECK(img.debug->enum_count > 5);
	img.path = (char *)"/lib/libc.so.6";
	img.debug->count = 0;
	libcalls_add(&img);
	CHECK(debug_find(img.debug, 32));
	debug_destroy(img.debug);
}

TEST(arguments_behind_one_that_is_not_known_are_not_shown)
{
	struct func_args args;

	CHECK(argspec_forms(&args, &any, "arg1/i32,?,arg2/i32%rdi", "retval/e:color"));
	CHECK_INT(args.count, 1);
	CHECK_INT(args.result.format, VALUE_ENUM);
	CHECK(argspec_forms(&args, &any, "arg1/e:color%rsi,arg2/s%stack+3", ""));
	CHECK_INT(args.count, 2);
	CHECK_INT(args.arg[0].place, 2);
	CHECK_INT(args.arg[0].size, 4);
	CHECK_INT(args.result_bytes, 0);
	CHECK(!argspec_forms(&args, &any, "?", "retval/?"));
}
