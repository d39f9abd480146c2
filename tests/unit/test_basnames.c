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
	d->whose = (struct bas_whose){ &d->root, getpid(), clock_now() };
	CHECK(!bas_names_create(&d->names));
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

/* The directory of a name that is one component is what BPF has walked, and is not looked up: "link" would be followed. */
TEST(basnames_a_plain_name_lies_in_its_directory)
{
	char texts[512] = "";
	struct rec_text *x = (void *)texts;
	struct desk d;
	struct bas_told t;
	__cleanup(free_ptr) char *found = NULL, *want = NULL;

	desk_set(&d);
	CHECK(!symlink("one", "link"));
	*x = (struct rec_text){ .arg = FILE_TEXT_NAME, .len = 1 };
	memcpy(x->bytes, "x", 1);
	x = (void *)(texts + 8);
	*x = (struct rec_text){ .arg = FILE_TEXT_BASE };
	x->len = snprintf(x->bytes, 100, "link%c%s%ctmp", 0, d.dir + strlen("/tmp/"), 0) + 1;
	t = (struct bas_told){ d.names, d.whose, texts, 8 + sizeof(*x) + ROUND_UP(x->len, 4) };
	found = bas_told_resolved(&t, FILE_TEXT_NAME, FILE_TEXT_BASE, NULL);
	CHECK(asprintf(&want, "%s/link/x", d.dir) > 0);
	CHECK_STR(found, want);
	desk_clear(&d);
}
