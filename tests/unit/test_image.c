/*
 * test_image.c - what image_read() says of programs made here, beside what readelf and objdump say.
 */
#include <sys/stat.h>

#include "test_image.h"

/* Each function nm names is found, with its size, and nothing else is. */
static void check_against_nm(const char *path, const struct image *img)
{
	__cleanup(pclosep) FILE *nm = NULL;
	char cmd[256], line[4096];
	size_t known = 0;

	snprintf(cmd, sizeof(cmd), "readelf -sW --wide '%s' | grep -E ' (FUNC|IFUNC) ' | grep -v UND", path);
	nm = popen(cmd, "r");
	CHECK(nm);
	while (fgets(line, sizeof(line), nm)) {
		unsigned long long addr, size;
		const struct func *f;
		char name[2048], length[32];

		if (sscanf(line, " %*d: %llx %31s %*s %*s %*s %*s %2047s", &addr, length, name) != 3)
			continue;
		size = strtoull(length, NULL, 0);
		f = func_starting(img, addr - img->load_addr);
		if (strstr(name, ".cold")) {
			CHECK(!f);
			continue;
		}
		if (!f)
			printf("%s: %s\n", path, line);
		CHECK(f);
		CHECK(f->size >= size);
		CHECK(!(f->flags & FUNC_PLT));
		known++;
	}
	CHECK(known > 5);
	for (size_t i = 1; i < img->func_count; i++)
		CHECK(img->func[i].addr > img->func[i - 1].addr);
}

static const char *const all_flags[] = {
	"-O0", "-O2", "-O2 -fcf-protection", "-O2 -fcf-protection -Wl,-z,now", "-pg", "-O2 -pg -mfentry",
	"-O1 -fpatchable-function-entry=5", "-O2 -no-pie -Wl,-z,lazy", "-O2 -Wl,-z,now", "-O2 -fno-plt",
	"-O2 -fno-asynchronous-unwind-tables", "-O2 -Wl,--build-id=none", "-g -O3 -ffunction-sections",
};

/* The program, built with @flags; NULL: no compiler here takes them. */
static struct image *program_built(const char *flags)
{
	if (!build("program", "program.c", program_c, flags))
		return NULL;
	printf("%s\n", flags);
	return read_image(in_dir("program"));
}

TEST(image_finds_the_functions_readelf_names)
{
	SCRATCH;
	need("readelf");
	for (size_t i = 0; i < ARRAY_SIZE(all_flags); i++) {
		__cleanup(image_destroyp) struct image *img = program_built(all_flags[i]);

		if (!img)
			continue;
		check_against_nm(in_dir("program"), img);
		CHECK(func_named(img, "main", false));
		CHECK(func_named(img, "inner", false));
		CHECK_STR(image_func_at(img, func_named(img, "main", false)->addr + 7)->name, "main");
	}
}

#if defined(__x86_64__)
/* objdump names stubs by rules of its own; where it does, we agree. */
static void check_against_objdump(const char *path, const struct image *img)
{
	__cleanup(pclosep) FILE *objdump = NULL;
	char cmd[256], line[4096], *at;
	size_t seen = 0, have = 0;

	snprintf(cmd, sizeof(cmd), "objdump -d '%s' | grep '@plt>:' | grep -v ABS", path);
	objdump = popen(cmd, "r");
	CHECK(objdump);
	while (fgets(line, sizeof(line), objdump)) {
		unsigned long long addr;
		const struct func *f;
		char name[2048];

		CHECK(sscanf(line, "%llx <%2047[^>]>", &addr, name) == 2);
		at = strchr(name, '@');
		CHECK(at);
		*at = '\0';
		f = func_starting(img, addr - img->load_addr);
		if (!f)
			printf("%s: %s", path, line);
		CHECK(f && f->flags & FUNC_PLT);
		CHECK_STR(f->name, name);
		seen++;
	}
	for (size_t i = 0; i < img->func_count; i++)
		have += !!(img->func[i].flags & FUNC_PLT);
	CHECK_INT(have, seen);
}

TEST(image_names_the_stubs_as_objdump_does)
{
	SCRATCH;
	need("objdump");
	for (size_t i = 0; i < ARRAY_SIZE(all_flags); i++) {
		__cleanup(image_destroyp) struct image *img = program_built(all_flags[i]);

		if (!img)
			continue;
		check_against_objdump(in_dir("program"), img);
		if (!strstr(all_flags[i], "-fno-plt"))
			CHECK(func_named(img, "printf", true) || func_named(img, "__printf_chk", true));
	}
}

TEST(image_counts_library_calls_that_use_no_stub)
{
	SCRATCH;
	__cleanup(image_destroyp) struct image *img = NULL;

	CHECK(build("program", "program.c", program_c, "-O2 -fno-plt"));
	img = read_image(in_dir("program"));
	CHECK(!func_named(img, "printf", true));
	CHECK(img->no_plt_calls >= 3);
	image_destroy(TAKE(img));
	CHECK(build("program", "program.c", program_c, "-O2"));
	img = read_image(in_dir("program"));
	CHECK_INT(img->no_plt_calls, 0);
}
#endif

TEST(image_finds_functions_of_a_static_program)
{
	SCRATCH;
	static const char *const flags[] = { "-O2 -static", "-O2 -static-pie" };

	need("readelf");
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		__cleanup(image_destroyp) struct image *img = NULL;

		if (!build("program", "program.c", program_c, flags[i]))
			SKIP("no static libc here");
		img = read_image(in_dir("program"));
		check_against_nm(in_dir("program"), img);
		CHECK(!img->interp);
		CHECK_INT(img->is_pie, i == 1);
		CHECK(img->has_unwinder);	/* libc's own, for pthread_exit() */
		CHECK(func_named(img, "_Unwind_RaiseException", false)->flags & FUNC_ENTRY_ONLY);
		CHECK(func_named(img, "uw_init_context_1", false)->flags & FUNC_ENTRY_ONLY);
		CHECK(func_named(img, "_start", false)->flags & FUNC_NEVER);
		CHECK(!(func_named(img, "main", false)->flags & (FUNC_NEVER | FUNC_ENTRY_ONLY)));
	}
}

TEST(image_takes_one_name_of_many_that_others_can_call)
{
	SCRATCH;
	__cleanup(image_destroyp) struct image *img = NULL;

	CHECK(build("program", "program.c", program_c, "-O1"));
	img = read_image(in_dir("program"));
	CHECK(func_named(img, "outer", false));
	CHECK(!func_named(img, "alias_of_outer", false));
	CHECK(!func_named(img, "__hidden_outer", false));
	CHECK(!func_named(img, "local_outer", false));
}

TEST(image_leaves_out_the_cold_half_of_a_function)
{
	SCRATCH;
	__cleanup(image_destroyp) struct image *img = NULL, *stripped = NULL;

	CHECK(build("program", "program.c", program_c, "-O2"));
	if (!run("nm '%s' | grep -q 'rare.cold'", in_dir("program")))
		SKIP("this compiler makes no cold half here");
	img = read_image(in_dir("program"));
	for (size_t i = 0; i < img->func_count; i++)
		CHECK(!strstr(img->func[i].name, ".cold"));
	CHECK(func_named(img, "rare", false));

	CHECK(run("strip '%s'", in_dir("program")));
	stripped = read_image(in_dir("program"));
	CHECK(func_starting(stripped, func_named(img, "rare", false)->addr));
	CHECK(stripped->func_count <= img->func_count);
}

/* As BOLT and others name what they move; no return address lies where such a piece begins. */
TEST(image_never_probes_what_begins_in_the_middle_of_a_frame)
{
	SCRATCH;
	__cleanup(image_destroyp) struct image *warm = NULL, *other = NULL;

	CHECK(build("program", "program.c", program_c, "-O2"));
	if (!run("nm '%s' | grep -q 'rare.cold'", in_dir("program")))
		SKIP("this compiler makes no cold half here");
	CHECK(run("cd '%s' && objcopy --redefine-sym rare.cold=rare.warm program warm && "
		  "objcopy --redefine-sym rare.cold=rare.moved program other", in_dir(".")));
	warm = read_image(in_dir("warm"));
	CHECK(func_named(warm, "rare", false) && !func_named(warm, "rare.warm", false));
	other = read_image(in_dir("other"));
	CHECK(func_named(other, "rare.moved", false));
	CHECK_INT(func_named(other, "rare.moved", false)->flags & FUNC_NEVER, FUNC_NEVER);
	CHECK_INT(func_named(other, "rare", false)->flags & FUNC_NEVER, 0);
}

TEST(image_finds_functions_of_a_stripped_program_by_its_unwind_tables)
{
	SCRATCH;
	static const char *const names[] = { "main", "outer", "inner", "rare" };
	__cleanup(image_destroyp) struct image *img = NULL, *stripped = NULL, *bare = NULL;

	CHECK(build("program", "program.c", program_c, "-O2"));
	img = read_image(in_dir("program"));
	CHECK(!img->is_stripped);
	CHECK(run("strip -o '%s' '%s'", in_dir("stripped"), in_dir("program")));
	stripped = read_image(in_dir("stripped"));
	CHECK(stripped->is_stripped);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct func *f = func_named(img, names[i], false), *g = func_starting(stripped, f->addr);
		char want[32];

		CHECK(g);
		snprintf(want, sizeof(want), "sub_%llx", (unsigned long long)f->addr);
		CHECK_STR(g->name, want);
		CHECK_INT(g->size, f->size);
		CHECK_INT(g->site, f->site);
		CHECK_INT(g->flags & ~(FUNC_MOVED | FUNC_LOADS | FUNC_ARGS_GONE | FUNC_TINY), 0);
	}
	/* without section headers, as sstrip leaves a file: the segments tell enough */
	CHECK(run("cp '%s' '%s' && dd if=/dev/zero of='%s' bs=1 seek=40 count=8 conv=notrunc status=none &&"
		  "dd if=/dev/zero of='%s' bs=1 seek=58 count=6 conv=notrunc status=none",
		  in_dir("stripped"), in_dir("bare"), in_dir("bare"), in_dir("bare")));
	bare = read_image(in_dir("bare"));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		CHECK(func_starting(bare, func_named(img, names[i], false)->addr));
	CHECK(func_named(bare, "setjmp", true) || func_named(bare, "_setjmp", true));
}

TEST(image_trusts_no_return_of_a_stripped_static_program)
{
	SCRATCH;
	__cleanup(image_destroyp) struct image *img = NULL;

	if (!build("program", "program.c", program_c, "-O2 -static -s"))
		SKIP("no static libc here");
	img = read_image(in_dir("program"));
	CHECK(img->func_count > 200);
	CHECK(img->has_unwinder);
	for (size_t i = 0; i < img->func_count; i++)
		CHECK(img->func[i].flags & (FUNC_ENTRY_ONLY | FUNC_NEVER));
}

TEST(image_knows_which_returns_must_not_be_probed)
{
	SCRATCH;
	__cleanup(image_destroyp) struct image *img = NULL;
	const struct func *f;

	CHECK(build("program", "program.c", program_c, "-O2"));
	img = read_image(in_dir("program"));
	CHECK(func_named(img, "_start", false)->flags & FUNC_NEVER);
	CHECK(func_named(img, "_setjmp", true)->flags & FUNC_ENTRY_ONLY);
	CHECK(func_named(img, "vfork", true)->flags & FUNC_ENTRY_ONLY);
	CHECK(func_named(img, "exit", true)->flags & FUNC_ENTRY_ONLY);
	f = func_named(img, "longjmp", true) ?: func_named(img, "__longjmp_chk", true);
	CHECK(f && f->flags & FUNC_ENTRY_ONLY);
	CHECK(!(func_named(img, "main", false)->flags & (FUNC_NEVER | FUNC_ENTRY_ONLY)));
	CHECK(!img->has_unwinder);
	CHECK(!img->switches_stacks);
}

TEST(image_probes_no_return_where_stacks_are_switched)
{
	SCRATCH;
	static const char source[] =
		"#include <ucontext.h>\n"
		"ucontext_t a, b;\n"
		"void f(void) { swapcontext(&a, &b); }\n"
		"int main(void) { getcontext(&b); makecontext(&b, f, 0); f(); return 0; }\n";
	__cleanup(image_destroyp) struct image *img = NULL;

	CHECK(build("program", "program.c", source, "-O2"));
	img = read_image(in_dir("program"));
	CHECK(img->switches_stacks);
	CHECK(func_named(img, "main", false)->flags & FUNC_ENTRY_ONLY);
	CHECK(func_named(img, "swapcontext", true)->flags & FUNC_ENTRY_ONLY);
}

TEST(image_tells_who_unwinds)
{
	SCRATCH;
	static const char throws[] =
		"#include <stdexcept>\n#include <cstdio>\n"
		"struct T { T(); ~T() { puts(\"~\"); } int x; };\n"
		"T::T() : x(1) {}\n"
		"int f(int n) { T t; if (n > 2) throw std::runtime_error(\"x\"); return f(n + 1) + t.x; }\n"
		"int main(int c, char **) { try { return f(c); } catch (std::exception &e) { puts(e.what()); } return 0; }\n";
	static const char leaves[] =
		"#include <pthread.h>\nint main(void) { pthread_exit(0); }\n";
	__cleanup(image_destroyp) struct image *img = NULL;

	need("g++");
	CHECK(build("program", "program.cc", throws, "-O2"));
	img = read_image(in_dir("program"));
	CHECK(img->has_unwinder);
	CHECK(func_named(img, "__cxa_throw", true)->flags & FUNC_ENTRY_ONLY);
	CHECK(func_named(img, "_Unwind_Resume", true)->flags & FUNC_ENTRY_ONLY);
	CHECK(!(func_named(img, "__cxa_begin_catch", true)->flags & FUNC_ENTRY_ONLY));
	CHECK(func_named(img, "_ZN1TC1Ev", false) || func_named(img, "_ZN1TC2Ev", false));
	check_against_nm(in_dir("program"), img);
	image_destroy(TAKE(img));

	CHECK(build("program", "program.c", leaves, "-O2"));
	img = read_image(in_dir("program"));
	CHECK(img->has_unwinder);
	CHECK(func_named(img, "pthread_exit", true)->flags & FUNC_ENTRY_ONLY);
}

TEST(image_says_what_readelf_says_of_a_program)
{
	SCRATCH;
	__cleanup(image_destroyp) struct image *img = NULL;
	char cmd[256];

	need("readelf");
	CHECK(build("program", "program.c", program_c, "-O2 -no-pie"));
	img = read_image(in_dir("program"));
	snprintf(cmd, sizeof(cmd), "readelf -n '%s' | sed -n 's/.*Build ID: //p'", in_dir("program"));
	CHECK_STR(img->build_id, line_of(cmd));
	snprintf(cmd, sizeof(cmd), "readelf -lW '%s' | sed -n 's/.*interpreter: \\(.*\\)]/\\1/p'", in_dir("program"));
	CHECK_STR(img->interp, line_of(cmd));
	snprintf(cmd, sizeof(cmd), "readelf -dW '%s' | sed -n 's/.*(NEEDED).*\\[\\(.*\\)]/\\1/p' | paste -sd:", in_dir("program"));
	CHECK_STR(img->needed, line_of(cmd));
	snprintf(cmd, sizeof(cmd), "readelf -hW '%s' | sed -n 's/.*Entry point address: *//p'", in_dir("program"));
	CHECK_INT(img->unwind_site - img->text_offset + img->text_addr, strtoll(line_of(cmd), NULL, 0));
	CHECK(!img->is_pie);
	CHECK_INT(img->load_addr, 0x400000);
	CHECK_INT(img->phdr_addr, 0x400040);
	CHECK(!img->is_go);
	image_destroy(TAKE(img));

	CHECK(build("program", "program.c", program_c, "-O2 -pie -fPIE -Wl,--build-id=none"));
	img = read_image(in_dir("program"));
	CHECK(img->is_pie);
	CHECK_STR(img->build_id, "");
	CHECK_INT(img->load_addr, 0);
}

TEST(image_knows_a_go_program_even_stripped)
{
	SCRATCH;
	static const char source[] = "package main\nfunc add(a, b int) int { return a + b }\n"
				     "func main() { println(add(1, 2)) }\n";
	static const char *const flags[] = { "", "-ldflags='-s -w'" };

	need("go");
	write_file(in_dir("program.go"), source, strlen(source));
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		__cleanup(image_destroyp) struct image *img = NULL;
		const struct func *goexit;

		if (!run("cd '%s' && HOME='%s' GOCACHE='%s/cache' GOFLAGS=-p=1 go build %s -o program program.go >errors 2>&1",
			 dir, dir, dir, flags[i]))
			SKIP("go does not build here");
		img = read_image(in_dir("program"));
		CHECK(img->is_go);
		CHECK(img->go_minor > 10);
		for (size_t j = 0; j < img->func_count; j++)
			CHECK(img->func[j].flags & (FUNC_ENTRY_ONLY | FUNC_NEVER));
		CHECK(func_named(img, "main.main", false));
		CHECK(func_named(img, "runtime.mcall", false)->flags & FUNC_NEVER);
		goexit = func_named(img, "runtime.goexit", false) ?: func_named(img, "runtime.goexit.abi0", false);
		CHECK(goexit && goexit->flags & FUNC_NEVER);
		CHECK(!(func_named(img, "main.main", false)->flags & FUNC_NEVER));
	}
}

TEST(image_finds_the_functions_of_a_rust_program)
{
	SCRATCH;
	static const char source[] = "#[inline(never)] #[no_mangle] pub fn triple(x: u64) -> u64 { x * 3 + x / 7 }\n"
				     "fn main() { println!(\"{}\", triple(std::env::args().count() as u64)); }\n";
	__cleanup(image_destroyp) struct image *img = NULL;

	need("rustc");
	write_file(in_dir("program.rs"), source, strlen(source));
	if (!run("cd '%s' && rustc -O program.rs -o program >errors 2>&1", dir))
		SKIP("rustc does not build here");
	img = read_image(in_dir("program"));
	CHECK(func_named(img, "triple", false));
	CHECK(func_named(img, "main", false));
	CHECK(img->has_unwinder);
	check_against_nm(in_dir("program"), img);
}

TEST(image_refuses_what_is_no_program_of_this_machine)
{
	SCRATCH;
	static const struct {
		const char *source;
		int	    want;
	} files[] = {
		{ "/etc/passwd", -ENOEXEC }, { "/dev/null", -ENOEXEC }, { "/tmp", -ENOEXEC },
	};
	struct image *img = NULL;
	uint8_t head[64] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		fd = open(files[i].source, O_RDONLY);
		CHECK_INT(image_read(&img, fd, IMAGE_FUNCTIONS), files[i].want);
		close(fd);
	}
	head[16] = 2;		/* ET_EXEC */
	head[18] = 8;		/* of a MIPS */
	write_file(in_dir("mips"), head, sizeof(head));
	fd = open(in_dir("mips"), O_RDONLY);
	CHECK_INT(image_read(&img, fd, IMAGE_FUNCTIONS), -ENOEXEC);
	close(fd);
	CHECK(img == NULL);
}

/* A whole file as bytes, to be damaged. */
static uint8_t *bytes_of(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	uint8_t *data;

	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	data = malloc(st.st_size);
	CHECK(data && read(fd, data, st.st_size) == st.st_size);
	close(fd);
	*len = st.st_size;
	return data;
}

/* Reads what @fd holds; whatever it says, it must be sane. */
static int try_damaged(int fd)
{
	__cleanup(image_destroyp) struct image *img = NULL, *copy = NULL;
	__cleanup(free_ptr) void *block = NULL;
	size_t len;
	int err = image_read(&img, fd, IMAGE_FUNCTIONS);

	if (err) {
		CHECK(err < 0 && !img);
		return err;
	}
	CHECK_INT(image_pack(img, &block, &len), 0);
	CHECK_INT(image_unpack(&copy, block, len), 0);
	return 0;
}

static const char small_c[] = "#include <stdio.h>\nint f(int x) { return x * 3; }\nint main(int c, char **v) "
			      "{ printf(\"%d\", f(c)); return 0; }\n";

TEST(image_survives_a_file_cut_anywhere)
{
	SCRATCH;
	size_t len, refused = 0, tried = 0;
	uint8_t *data;
	int fd;

	CHECK(build("program", "program.c", small_c, "-O2"));
	data = bytes_of(in_dir("program"), &len);
	fd = open(in_dir("cut"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	CHECK_INT(try_damaged(fd), 0);
	for (size_t at = len / 64 * 64; at; at -= 64) {
		int err;

		CHECK(ftruncate(fd, at) == 0);
		err = try_damaged(fd);
		tried++;
		refused += err == -EBADMSG || err == -ENOEXEC;
	}
	CHECK_INT(refused, tried);	/* the section headers come last: no cut leaves them whole */
	close(fd);
	free(data);
}

TEST(image_survives_bytes_that_are_wrong)
{
	SCRATCH;
	size_t len, good = 0, bad = 0;
	uint8_t *data;
	int fd;

	CHECK(build("program", "program.c", small_c, "-O2"));
	data = bytes_of(in_dir("program"), &len);
	fd = open(in_dir("wrong"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	srandom(1);
	for (unsigned i = 0; i < 3000; i++) {
		size_t at[8];
		unsigned n = 1 + random() % 8;

		for (unsigned j = 0; j < n; j++) {
			uint8_t byte = random() % 3 ? random() : 0xff;

			/* the headers, at both ends, more often than the rest */
			at[j] = random() % len;
			if (random() % 2)
				at[j] = random() % 2 ? at[j] % 1024 : len - 1 - at[j] % 4096;
			CHECK(pwrite(fd, &byte, 1, at[j]) == 1);
		}
		if (try_damaged(fd) == 0)
			good++;
		else
			bad++;
		for (unsigned j = 0; j < n; j++)
			CHECK(pwrite(fd, data + at[j], 1, at[j]) == 1);
	}
	printf("%zu read all the same, %zu refused\n", good, bad);
	CHECK(good && bad);
	CHECK_INT(try_damaged(fd), 0);
	close(fd);
	free(data);
}

TEST(image_packed_and_unpacked_is_the_same)
{
	SCRATCH;
	__cleanup(image_destroyp) struct image *img = NULL, *copy = NULL;
	__cleanup(free_ptr) void *block = NULL, *again = NULL;
	size_t len, len_again;

	CHECK(build("program", "program.c", program_c, "-O2"));
	img = read_image(in_dir("program"));
	img->path = strdup("/a path/to it");
	img->ino = 77;
	img->dev = 8 << 20 | 1;
	img->gen = 3;
	img->since = 123456789012;
	img->first_func = 1000;
	CHECK_INT(image_pack(img, &block, &len), 0);
	CHECK_INT(image_unpack(&copy, block, len), 0);
	CHECK_STR(copy->path, img->path);
	CHECK_STR(copy->interp, img->interp);
	CHECK_STR(copy->needed, img->needed);
	CHECK_STR(copy->build_id, img->build_id);
	CHECK_INT(copy->ino, 77);
	CHECK_INT(copy->since, 123456789012);
	CHECK_INT(copy->first_func, 1000);
	CHECK_INT(copy->func_count, img->func_count);
	for (size_t i = 0; i < img->func_count; i++) {
		CHECK_STR(copy->func[i].name, img->func[i].name);
		CHECK_INT(copy->func[i].site, img->func[i].site);
		CHECK_INT(copy->func[i].flags, img->func[i].flags);
	}
	CHECK_INT(image_pack(copy, &again, &len_again), 0);
	CHECK_INT(len_again, len);
	CHECK_MEM(again, block, len);
}

TEST(image_that_is_damaged_is_not_unpacked)
{
	SCRATCH;
	__cleanup(image_destroyp) struct image *img = NULL;
	__cleanup(free_ptr) void *block = NULL;
	struct image *copy = NULL;
	size_t len;

	CHECK(build("program", "program.c", small_c, "-O2"));
	img = read_image(in_dir("program"));
	img->path = strdup("/p");
	CHECK_INT(image_pack(img, &block, &len), 0);
	for (size_t cut = 0; cut < len; cut++) {
		void *part = malloc(cut ?: 1);	/* of its own, so that a read past the end is seen by a checker */

		memcpy(part, block, cut);
		CHECK_INT(image_unpack(&copy, part, cut), -EBADMSG);
		free(part);
	}
	for (size_t at = 0; at < len; at++) {
		uint8_t *byte = (uint8_t *)block + at, was = *byte;

		for (unsigned bit = 0; bit < 8; bit++) {
			*byte = was ^ 1u << bit;
			if (image_unpack(&copy, block, len) == 0) {
				for (size_t i = 0; i < copy->func_count; i++)
					CHECK(strlen(copy->func[i].name) < len);
				image_destroy(copy);
			}
		}
		*byte = was;
	}
}

TEST(image_heeds_every_name_of_a_function)
{
	SCRATCH;
	static const char source[] =
		"__attribute__((noinline)) int plain(int n) { __asm__(\"\"); return n + 1; }\n"
		"extern __typeof__(plain) _longjmp_unwind __attribute__((alias(\"plain\")));\n"
		"int once(int n) { __asm__(\"\"); return n + 2; }\n"
		"extern __typeof__(once) __restore_rt __attribute__((alias(\"once\")));\n"
		"int main(void) { return plain(1) + once(2); }\n";
	__cleanup(image_destroyp) struct image *img = NULL;

	CHECK(build("program", "program.c", source, "-O1"));
	img = read_image(in_dir("program"));
	CHECK_INT(func_named(img, "plain", false)->flags & FUNC_ENTRY_ONLY, FUNC_ENTRY_ONLY);
	CHECK_INT(func_named(img, "once", false)->flags & FUNC_NEVER, FUNC_NEVER);
}
