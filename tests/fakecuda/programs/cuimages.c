/*
 * cuimages.c - code images in all places that a program may have them in, each given to the driver once or twice.
 *
 *	cuimages FOLDER
 *
 * Before the last it waits until its input ends.
 * Says of each call "image WORD", where WORD is the name of a file in FOLDER that holds the image as it was at the call, or
 * what hinders anybody from having it: "long", "broken", "nothing".
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "cu.h"

#define PAGE	4096ul
#define MIB	(1ul << 20)

static const char *folder;
static unsigned files;

static void must(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "%s: %s\n", what, strerror(errno));
		exit(91);
	}
}

static void give(const void *image, const char *word)
{
	CUmodule m;

	cuModuleLoadData(&m, image);
	printf("image %s\n", word);
}

/* It is overwritten right behind the call: what it was then is in a file. */
static void give_whole(void *image, size_t len, int is_file)
{
	char name[32], path[4096];
	FILE *f;

	snprintf(name, sizeof(name), "image.%u", files++);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	must(f && fwrite(image, len, 1, f) == 1 && !fclose(f), path);
	give(image, name);
	if (!is_file)
		memset(image, 'x', len);
}

/* Memory of @len bytes, @before of a page's begin, with nothing behind it. */
static char *memory(size_t len, size_t before, size_t behind)
{
	size_t room = (before + len + behind + PAGE - 1) / PAGE * PAGE;
	char *p = mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(p != MAP_FAILED, "mmap");
	munmap(p + room, PAGE);
	return p + room - behind - len;
}

static void fill(char *p, size_t len, unsigned seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (i * 2654435761u + seed) >> 13;
}

/* A fat binary of @len bytes in all, whose head says @said. */
static char *fatbin(char *p, size_t len, unsigned long said)
{
	static const unsigned int magic = 0xba55ed50u;
	static const unsigned short version = 1, head = 16;
	unsigned long body = said - head;

	fill(p, len, len);
	memcpy(p, &magic, 4);
	memcpy(p + 4, &version, 2);
	memcpy(p + 6, &head, 2);
	memcpy(p + 8, &body, 8);
	return p;
}

static char *text(size_t len)
{
	static const char head[] = "//\n.version 8.0\n";
	char *p = memory(len + 1, 0, 0);

	memset(p, '\n', len);
	memcpy(p, head, sizeof(head) - 1);
	p[len] = '\0';
	return p;
}

/* A file of ours with a fat binary at @at, mapped; the file has no name any more. */
static char *in_a_file(size_t len, size_t at, unsigned long said)
{
	char path[4096], *p, *copy = malloc(len);
	int fd;

	snprintf(path, sizeof(path), "%s/mapped", folder);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	must(fd >= 0 && copy && pwrite(fd, fatbin(copy, len, said), len, at) == (ssize_t)len, path);
	p = mmap(NULL, at % PAGE + len, PROT_READ, MAP_PRIVATE, fd, at / PAGE * PAGE);
	must(p != MAP_FAILED, "mmap");
	must(!unlink(path) && !close(fd), path);
	free(copy);
	return p + at % PAGE;
}

/* A fat binary of the program's own file, too long to be taken along. */
static const struct {
	unsigned int magic;
	unsigned short version, head;
	unsigned long body;
	char code[MIB];
} own = { 0xba55ed50u, 1, 16, MIB, "device code" };

/* The program's copy of what it has mapped is another than the file, and may not be written to any more. */
static char *changed(char *p, size_t len)
{
	char *page = (char *)((unsigned long)p / PAGE * PAGE);

	must(!mprotect(page, len, PROT_READ | PROT_WRITE), "mprotect");
	p[len / 2] ^= 1;
	must(!mprotect(page, len, PROT_READ), "mprotect");
	return p;
}

int main(int argc, char **argv)
{
	char *p;

	must(argc > 1, "cuimages FOLDER");
	folder = argv[1];
	cu_begin();
	printf("image ptx\n");
	give_whole(text(200), 200, 0);
	give_whole(text(3 * PAGE + 17), 3 * PAGE + 17, 0);
	give(text(MIB + PAGE), "long");
	give_whole(fatbin(memory(PAGE, 0, 0), PAGE, PAGE), PAGE, 0);
	give_whole(fatbin(memory(MIB, 100, 77), MIB, MIB), MIB, 0);
	give(fatbin(memory(MIB + 8, 0, 0), MIB + 8, MIB + 8), "long");
	give_whole(in_a_file(3 * MIB, 5 * PAGE + 8, 3 * MIB), 3 * MIB, 1);
	p = in_a_file(3 * MIB, 64, 3 * MIB);	/* the same again, elsewhere: one content */
	give_whole(p, 3 * MIB, 1);
	give(in_a_file(3 * MIB, 0, 1ul << 60), "long");
	give(changed(in_a_file(3 * MIB, 0, 3 * MIB), 3 * MIB), "long");
	give(fatbin(memory(2 * PAGE, 0, 0), 2 * PAGE, 3 * PAGE), "broken");
	give("\1\2\3\4 is no image", "nothing");
	fflush(stdout);
	while (getchar() != EOF)
		;
	give_whole((void *)&own, sizeof(own), 1);
	fflush(stdout);
	return 0;
}
