/*
 * test_walker.c - what of a file walks the stack, told the same by its facts and by a whole reading.
 */
#include "test_image.h"

static const char throws[] =
	"#include <stdexcept>\n"
	"int f(int n) { if (n > 2) throw std::runtime_error(\"x\"); return f(n + 1) + 1; }\n"
	"int main(int c, char **) { try { return f(c); } catch (std::exception &) { return 0; } }\n";
static const char plain[] = "int main(int c, char **v) { return c - 1 + !v; }\n";
static const char looks[] =
	"#define _GNU_SOURCE\n#include <link.h>\n"
	"static int see(struct dl_phdr_info *i, size_t n, void *p) { return !i + !n + !!p; }\n"
	"int main(void) { return dl_iterate_phdr(see, 0); }\n";
static const char collects[] =
	"#include <stdlib.h>\n"
	"int main(void) { return getenv(\"OCAMLRUNPARAM\") != 0; }\n";

static const char plugin[] =		/* as Python's modules are: what they need, who loads them has loaded */
	"extern int host(int);\nint start(int n) { return host(n) + 1; }\n";

static struct image *read_facts(const char *path)
{
	__cleanup(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	__cleanup(free_ptr) void *block = NULL;
	struct image *img = NULL, *copy = NULL;
	size_t len;

	CHECK(fd >= 0);
	CHECK_INT(image_read(&img, fd, IMAGE_FACTS), 0);
	CHECK_INT(image_pack(img, &block, &len), 0);
	CHECK_INT(image_unpack(&copy, block, len), 0);
	CHECK_INT(copy->walker, img->walker);
	CHECK_INT(copy->func_count, img->func_count);
	image_destroy(img);
	return copy;
}

static const struct built {
	const char *name, *source, *flags;
	enum walker walker;
} programs[] = {
	{ "plain.c",	plain,	  "",			 WALKER_NONE },
	{ "plain.c",	plain,	  "-s",			 WALKER_NONE },
	{ "plain.c",	plain,	  "-static -s",		 WALKER_NAMELESS },	/* libc's own, for pthread_exit() */
	{ "plain.c",	plain,	  "-static-pie -s",	 WALKER_NAMELESS },
	{ "plugin.c",	plugin,	  "-shared -fPIC -nostdlib -s", WALKER_NONE },
	{ "throws.cc",	throws,	  "",			 WALKER_NONE },		/* libgcc_s has it */
	{ "throws.cc",	throws,	  "-s",			 WALKER_NONE },
	{ "throws.cc",	throws,	  "-static-libgcc",	 WALKER_NAMED },
	{ "throws.cc",	throws,	  "-static-libgcc -s",	 WALKER_NAMELESS },
	{ "throws.cc",	throws,	  "-static",		 WALKER_NAMED },
	{ "throws.cc",	throws,	  "-static -s",		 WALKER_NAMELESS },
	{ "looks.c",	looks,	  "",			 WALKER_NAMELESS },	/* it may have other uses for the tables: who knows */
	{ "collects.c",	collects, "",			 WALKER_RUNTIME },
	{ "collects.c",	collects, "-s",			 WALKER_RUNTIME },
};

TEST(walkers_are_told_by_what_stays_in_a_file)
{
	SCRATCH;

	need("g++");
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		const struct built *b = &programs[i];
		__cleanup(image_destroyp) struct image *img = NULL, *facts = NULL;

		CHECK(build("program", b->name, b->source, b->flags));
		img = read_image(in_dir("program"));
		facts = read_facts(in_dir("program"));
		if (img->walker != b->walker)
			printf("  %s %s\n", b->name, b->flags);
		CHECK_INT(img->walker, b->walker);
		CHECK_INT(facts->walker, b->walker);
	}
}

TEST(facts_have_the_functions_that_guards_stand_at)
{
	SCRATCH;
	__cleanup(image_destroyp) struct image *img = NULL, *facts = NULL;
	const struct func *f, *same;

	need("g++");
	CHECK(build("program", "throws.cc", throws, "-static"));
	img = read_image(in_dir("program"));
	facts = read_facts(in_dir("program"));
	CHECK(!func_named(facts, "main", false));
	f = func_named(facts, "_Unwind_RaiseException", false);
	same = func_named(img, "_Unwind_RaiseException", false);
	CHECK(f && same);
	CHECK_INT(image_offset(facts, f), image_offset(img, same));
	CHECK_INT(f->size, same->size);
	CHECK(func_named(facts, "__cxa_begin_catch", false));
}
