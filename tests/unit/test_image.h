/*
 * test_image.h - what the tests of src/image share: programs made on the spot, and looking things up in them.
 *
 * Each test runs in a process of its own, so a static variable here is of one test.
 */
#ifndef TEST_IMAGE_H
#define TEST_IMAGE_H

#include <fcntl.h>
#include <stdarg.h>

#include "base.h"
#include "image/child.h"
#include "image/reader.h"
#include "test.h"

DEFINE_CLEANUP(image_destroy, struct image *)
DEFINE_CLEANUP(image_child_stop, struct image_child *)
DEFINE_CLEANUP(pclose, FILE *)

__attribute__((unused)) static char dir[64];	/* of the running test */

static inline void remove_dir(int *unused)
{
	char cmd[128];

	(void)unused;
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	if (dir[0] && system(cmd))
		printf("cannot remove %s\n", dir);
}

/* First in a test that makes files: they go when it passes, and stay to be looked at when it fails. */
#define SCRATCH		__cleanup(remove_dir) int scratch_ = 0; (void)scratch_

static inline void need(const char *tool)
{
	char cmd[128], why[128];

	snprintf(cmd, sizeof(cmd), "command -v %s >/dev/null", tool);
	if (system(cmd)) {
		snprintf(why, sizeof(why), "no %s here", tool);
		SKIP(strdup(why));
	}
}

static inline const char *in_dir(const char *name)
{
	static char path[4][128];
	static unsigned n;

	if (!dir[0]) {
		snprintf(dir, sizeof(dir), "/tmp/test_image.XXXXXX");
		CHECK(mkdtemp(dir));
	}
	n = (n + 1) % 4;
	snprintf(path[n], sizeof(path[n]), "%s/%s", dir, name);
	return path[n];
}

static inline void write_file(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "w");

	CHECK(f);
	CHECK(fwrite(data, 1, len, f) == len);
	CHECK(fclose(f) == 0);
}

__attribute__((format(printf, 1, 2)))
static inline bool run(const char *fmt, ...)
{
	char cmd[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	return system(cmd) == 0;
}

/* Compiles @source (its name's ending says the language) with @flags; false when this compiler cannot. */
static inline bool build(const char *program, const char *name, const char *source, const char *flags)
{
	const char *path = in_dir(name);

	need("gcc");
	write_file(path, source, strlen(source));
	return run("%s -x %s -w '%s' -o '%s/%s' %s 2>'%s/errors'", strstr(name, ".cc") ? "g++" : "gcc",
		   strstr(name, ".cc") ? "c++" : strstr(name, ".s") ? "assembler" : "c", path, dir, program, flags, dir);
}

static inline struct image *read_image(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct image *img = NULL;

	CHECK(fd >= 0);
	CHECK_INT(image_read(&img, fd, IMAGE_FUNCTIONS), 0);
	close(fd);
	return img;
}

static inline const struct func *func_named(const struct image *img, const char *name, bool is_plt)
{
	for (size_t i = 0; i < img->func_count; i++)
		if (!strcmp(img->func[i].name, name) && !!(img->func[i].flags & FUNC_PLT) == is_plt)
			return &img->func[i];
	return NULL;
}

static inline const struct func *func_starting(const struct image *img, uint64_t addr)
{
	const struct func *f = image_func_at(img, addr);

	return f && f->addr == addr ? f : NULL;
}

/* What a shell command prints on its first line, without the newline. */
static inline const char *line_of(const char *cmd)
{
	__cleanup(pclosep) FILE *f = popen(cmd, "r");
	static char line[4096];

	line[0] = '\0';
	CHECK(f);
	if (fgets(line, sizeof(line), f))
		line[strcspn(line, "\n")] = '\0';
	return line;
}

__attribute__((unused)) static const char program_c[] =
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"#include <setjmp.h>\n"
	"#include <unistd.h>\n"
	"jmp_buf place;\n"
	"volatile int sink;\n"
	"__attribute__((noinline)) static int inner(int x) { return x * 3 + sink; }\n"
	"__attribute__((noinline)) int outer(int x) { char b[200]; memset(b, x, sizeof b); sink += b[x & 7];\n"
	"	return inner(x) + inner(x + 1); }\n"
	"int alias_of_outer(int) __attribute__((alias(\"outer\")));\n"
	"int __hidden_outer(int) __attribute__((alias(\"outer\")));\n"
	"static int local_outer(int) __attribute__((alias(\"outer\")));\n"
	"__attribute__((noinline)) int rare(int x) { if (__builtin_expect(x > 1000000, 0)) {\n"
	"	fprintf(stderr, \"much\"); for (int i = 0; i < x; i++) sink += inner(i); abort(); } return x + 1; }\n"
	"int main(int c, char **v) { if (setjmp(place)) exit(3); printf(\"%d %d\\n\", outer(c), rare(c));\n"
	"	if (c > 6) vfork(); if (c > 5) longjmp(place, 1); return local_outer(2) & 0; }\n";

#endif
