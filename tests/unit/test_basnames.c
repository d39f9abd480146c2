/*
 * test_basnames.c - names into paths: what is looked up, and for how long it holds.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "base.h"
#include "clock.h"
#include "sink/bas/bas.h"
#include "test.h"

/* A folder with the folders "one" and "two", and names as a task of the tests' own root gives them. */
struct desk {
	char		  dir[64];
	struct file_root  root;
	struct bas_whose  whose;
	struct bas_names *names;
};

static void desk_set(struct desk *d)
{
	struct statx root;
	struct stat ns;

	*d = (struct desk){ .dir = "/tmp/basnames.XXXXXX" };
	CHECK(mkdtemp(d->dir) && !chdir(d->dir) && !mkdir("one", 0755) && !mkdir("two", 0755));
	CHECK(!statx(AT_FDCWD, "/", 0, STATX_INO | STATX_MNT_ID, &root) && !stat("/proc/self/ns/mnt", &ns));
	d->root.mnt_ns = ns.st_ino;
	d->root.mnt_id = root.stx_mnt_id;
	d->root.ino = root.stx_attributes & STATX_ATTR_MOUNT_ROOT ? 0 : root.stx_ino;
	d->whose = (struct bas_whose){ &d->root, getpid(), gettid(), clock_now() };
	CHECK(!bas_names_create(&d->names, true));
	bas_names_root(d->names, &d->root, getpid(), 0);
}

static void desk_clear(struct desk *d)
{
	bas_names_destroy(d->names);
	(void)!unlink("link");
	CHECK(!rmdir("one") && !rmdir("two") && !chdir("/") && !rmdir(d->dir));
}

/* Where DIR/link/x is said to lie, behind DIR. */
static void leads(struct desk *d, const char *want)
{
	__cleanup(free_ptr) char *path = NULL, *found = NULL;

	CHECK(asprintf(&path, "%s/link/x", d->dir) > 0);
	found = bas_names_resolve(d->names, &d->whose, path, NULL);
	CHECK(found && !strncmp(found, d->dir, strlen(d->dir)));
	CHECK_STR(found + strlen(d->dir), want);
}

TEST(basnames_a_look_up_holds_for_what_was_done_before_it_and_no_longer)
{
	struct desk d;

	desk_set(&d);
	CHECK(!symlink("one", "link"));
	leads(&d, "/one/x");
	CHECK(!unlink("link") && !symlink("two", "link"));
	leads(&d, "/one/x");
	d.whose.time = clock_now();
	leads(&d, "/two/x");
	desk_clear(&d);
}

TEST(basnames_of_another_root_nothing_holds)
{
	struct desk d;

	desk_set(&d);
	CHECK(!symlink("one", "link"));
	leads(&d, "/one/x");
	d.root.mnt_id++;
	leads(&d, "/link/x");
	desk_clear(&d);
}

TEST(basnames_many_look_ups)
{
	struct desk d;
	char name[32];

	desk_set(&d);
	CHECK(!symlink("one", "link"));
	for (int i = 0; i < 300; i++) {
		__cleanup(free_ptr) char *path = NULL, *found = NULL;

		snprintf(name, sizeof(name), "link/../d%d", i);
		CHECK(asprintf(&path, "%s/%s/x", d.dir, name) > 0);
		CHECK(!mkdir(strrchr(name, '/') + 1, 0755));
		found = bas_names_resolve(d.names, &d.whose, path, NULL);
		CHECK(found && !strcmp(strrchr(name, '/') + 1, ({ *strrchr(found, '/') = 0; strrchr(found, '/') + 1; })));
		CHECK(!rmdir(strrchr(name, '/') + 1));
	}
	leads(&d, "/one/x");
	desk_clear(&d);
}

/* The kernel's own links are followed where the task that gives the name is. */
TEST(basnames_a_link_of_proc_leads_where_the_task_is)
{
	struct desk d;
	char path[4][256];
	int fd;

	desk_set(&d);
	fd = open(".", O_RDONLY);
	CHECK(fd >= 0 && !symlink("one", "link"));
	snprintf(path[0], sizeof(path[0]), "/proc/self/cwd/link/x");
	snprintf(path[1], sizeof(path[1]), "/proc/thread-self/root%s/link/x", d.dir);
	snprintf(path[2], sizeof(path[2]), "/proc/self/fd/%d/link/x", fd);
	snprintf(path[3], sizeof(path[3]), "/dev/fd/%d/link/../one//x", fd);
	for (size_t i = 0; i < ARRAY_SIZE(path); i++) {
		__cleanup(free_ptr) char *found = bas_names_resolve(d.names, &d.whose, path[i], NULL);

		CHECK(found && !strncmp(found, d.dir, strlen(d.dir)));
		CHECK_STR(found + strlen(d.dir), "/one/x");
	}
	close(fd);
	desk_clear(&d);
}

TEST(basnames_where_another_process_is_is_not_told)
{
	__cleanup(free_ptr) char *found = NULL;
	struct desk d;
	char path[64];

	desk_set(&d);
	snprintf(path, sizeof(path), "/proc/%d/cwd/x", getppid());
	found = bas_names_resolve(d.names, &d.whose, path, NULL);
	CHECK_STR(found, path);
	desk_clear(&d);
}

/* A record's texts: NAME, and BASE, which is the desk's folder and @more below it, with @flags. */
static struct bas_told texts_of(struct desk *d, char texts[512], const char *name, const char *more, unsigned flags)
{
	struct rec_text *x = (void *)texts;
	size_t at;

	memset(texts, 0, 512);
	*x = (struct rec_text){ .arg = FILE_TEXT_NAME, .len = strlen(name) };
	memcpy(x->bytes, name, x->len);
	at = sizeof(*x) + ROUND_UP(x->len, 4);
	x = (void *)(texts + at);
	*x = (struct rec_text){ .arg = FILE_TEXT_BASE, .flags = flags };
	x->len = snprintf(x->bytes, 100, "%s%s%s%ctmp", more, *more ? "|" : "", d->dir + strlen("/tmp/"), 0) + 1;
	if (*more)
		x->bytes[strlen(more)] = '\0';
	return (struct bas_told){ d->names, d->whose, texts, at + sizeof(*x) + ROUND_UP(x->len, 4) };
}

static void resolves(struct desk *d, const struct bas_told *t, const char *want)
{
	__cleanup(free_ptr) char *found = bas_told_resolved(t, FILE_TEXT_NAME, FILE_TEXT_BASE, NULL);

	CHECK(found && !strncmp(found, d->dir, strlen(d->dir)));
	CHECK_STR(found + strlen(d->dir), want);
}

/* The directory of a name that is one component is what BPF has walked, and is not looked up: "link" would be followed. */
TEST(basnames_a_plain_name_lies_in_its_directory)
{
	struct desk d;
	struct bas_told t;
	char texts[512];

	desk_set(&d);
	CHECK(!symlink("one", "link"));
	t = texts_of(&d, texts, "x", "link", 0);
	resolves(&d, &t, "/link/x");
	t = texts_of(&d, texts, "./x", "link", 0);
	resolves(&d, &t, "/one/x");
	desk_clear(&d);
}

/* What the task's root does not lead to is not looked up there: it may have another of that path. */
TEST(basnames_a_name_outside_the_root_is_as_it_was_called)
{
	__cleanup(free_ptr) char *followed = NULL;
	struct desk d;
	struct bas_told t;
	char texts[512];

	desk_set(&d);
	CHECK(!symlink("one", "link"));
	t = texts_of(&d, texts, "link/./x", "", 0);
	resolves(&d, &t, "/one/x");
	t = texts_of(&d, texts, "link/./x", "", TEXT_OUTSIDE);
	resolves(&d, &t, "/link/x");
	followed = bas_told_followed(&t, FILE_TEXT_NAME, FILE_TEXT_BASE);
	CHECK(!followed);
	desk_clear(&d);
}
