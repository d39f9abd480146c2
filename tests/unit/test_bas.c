/*
 * test_bas.c - the sink of bas text: the lines of each event, and whose they are.
 *
 * The paths are in directories that are not there: so nothing of this machine comes into them.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/stat.h>

#include "basdesk.h"
#include "test.h"

/* ---- tasks ---- */

TEST(bas_a_fork_names_the_child_on_the_parent)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	forks(&d, 300, 300);
	turns_to(&d, 300, 300);
	exits(&d, 7 << 8, 0);
	CHECK_STR(lines(&d), "2:200 SchedFork|pid=3:300\n3:300 Exit|status=7\n");
	basdesk_clear(&d);
}

TEST(bas_a_clone_comes_directly_before_its_fork)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	plays(&d, file(&d, FILE_CLONE, 0, 18874385, 0, 0));
	forks(&d, 300, 300);
	CHECK_STR(lines(&d), "2:200 SysClone|flags=18874385\n2:200 SchedFork|pid=3:300\n");
	basdesk_clear(&d);
}

TEST(bas_a_clone_that_failed_says_so)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	plays(&d, file(&d, FILE_CLONE, -EAGAIN, 17, 0, 0));
	CHECK_STR(lines(&d), "2:200 SysClone|flags=17\n2:200 SysCloneFailed|\n");
	basdesk_clear(&d);
}

/* What follows a SysClone that nothing comes of is lost to the reader. */
TEST(bas_a_clone_whose_fork_was_lost_is_not_told)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	plays(&d, file(&d, FILE_CLONE, 0, 17, 0, 0));
	plays(&d, file(&d, FILE_CLOSE, 0, 3, 0, 0));
	forks(&d, 300, 300);
	CHECK_STR(lines(&d), "2:200 Close|fd=3\n2:200 SchedFork|pid=3:300\n");
	basdesk_clear(&d);
}

TEST(bas_a_task_whose_fork_was_lost_is_announced_before_its_first_line)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	turns_to(&d, PROG, 201);
	plays(&d, file(&d, FILE_CLOSE, 0, 3, 0, 0));
	turns_to(&d, 300, 300);
	plays(&d, file(&d, FILE_CLOSE, 0, 4, 0, 0));
	CHECK_STR(lines(&d), "2:200 SchedFork|pid=3:201\n3:201 Close|fd=3\n1:100 SchedFork|pid=4:300\n4:300 Close|fd=4\n");
	basdesk_clear(&d);
}

/* A process is heard of when its program is known. */
TEST(bas_tasks_that_were_there_before_are_announced_though_they_do_nothing)
{
	struct rec_image *program;
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	turns_to(&d, 300, 300);
	plays(&d, made(&d, REC_TASK_FOUND, sizeof(struct rec_task_found)));
	program = made(&d, REC_IMAGE, sizeof(*program));
	program->at = IMAGE_PHDR;
	plays(&d, program);
	turns_to(&d, 300, 301);
	plays(&d, made(&d, REC_TASK_FOUND, sizeof(struct rec_task_found)));
	turns_to(&d, PROG, PROG);
	plays(&d, file(&d, FILE_CLOSE, 0, 4, 0, 0));
	CHECK_STR(lines(&d), "1:100 SchedFork|pid=3:300\n3:300 SchedFork|pid=4:301\n2:200 Close|fd=4\n");
	basdesk_clear(&d);
}

static void finds(struct basdesk *d, uint32_t pid, uint32_t parent)
{
	struct rec_task_found *r;
	struct rec_image *program;

	turns_to(d, pid, pid);
	r = made(d, REC_TASK_FOUND, sizeof(*r));
	r->parent = parent;
	plays(d, r);
	program = made(d, REC_IMAGE, sizeof(*program));
	program->at = IMAGE_PHDR;
	plays(d, program);
}

TEST(bas_a_process_that_was_there_before_hangs_under_its_parent_or_the_root)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	finds(&d, 300, 17);
	finds(&d, 301, 300);
	finds(&d, 302, 301);
	exits(&d, 0, 0);
	CHECK_STR(lines(&d), "1:100 SchedFork|pid=3:300\n3:300 SchedFork|pid=4:301\n4:301 SchedFork|pid=5:302\n"
			     "5:302 Exit|status=0\n");
	basdesk_clear(&d);
}

TEST(bas_a_number_used_again_is_another_task)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	for (int i = 0; i < 2; i++) {
		forks(&d, 300, 300);
		turns_to(&d, 300, 300);
		exits(&d, 0, 0);
		turns_to(&d, PROG, PROG);
	}
	CHECK_STR(lines(&d), "2:200 SchedFork|pid=3:300\n3:300 Exit|status=0\n"
			     "2:200 SchedFork|pid=4:300\n4:300 Exit|status=0\n");
	basdesk_clear(&d);
}

TEST(bas_the_status_is_that_of_exit_and_0_of_a_signal)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	forks(&d, 300, 300);
	exits(&d, SIGKILL, 0);
	turns_to(&d, 300, 300);
	exits(&d, 255 << 8, 0);
	CHECK_STR(lines(&d), "2:200 SchedFork|pid=3:300\n2:200 Exit|status=0\n3:300 Exit|status=255\n");
	basdesk_clear(&d);
}

TEST(bas_who_is_alive_at_the_end_has_no_exit)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	forks(&d, PROG, 201);
	CHECK_STR(lines(&d), "2:200 SchedFork|pid=3:201\n");
	basdesk_clear(&d);
}

/* The leader's number and upid go on; the thread's own end, and so do its siblings. */
TEST(bas_a_thread_that_execs_goes_on_as_its_leader)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	forks(&d, PROG, 201);
	forks(&d, PROG, 202);
	turns_to(&d, PROG, 202);
	exits(&d, SIGKILL, 0);
	turns_to(&d, PROG, PROG);
	exits(&d, 0, REC_F_REPLACED);
	execs(&d, 201);
	starts(&d, "/no/bin/x", "/no/bin/x", "x", 2, 100);
	exits(&d, 3 << 8, 0);
	CHECK_STR(lines(&d), "2:200 SchedFork|pid=3:201\n2:200 SchedFork|pid=4:202\n4:202 Exit|status=0\n"
			     "3:201 Exit|status=0\n"
			     "2:200 New_proc|argsize=2,prognameisize=9,prognamepsize=9,cwdsize=7\n"
			     "2:200 PI|/no/bin/x\n2:200 PP|/no/bin/x\n2:200 CW|/no/cwd\n2:200 A[0]x\n2:200 End_of_args|\n"
			     "2:200 Exit|status=3\n");
	basdesk_clear(&d);
}

/* Its number comes again, of another task: made by that thread, so that it hangs where the process did. */
TEST(bas_a_thread_that_execs_after_its_leader_has_exited_starts_anew)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	forks(&d, PROG, 201);
	exits(&d, 0, 0);
	execs(&d, 201);
	exits(&d, 3 << 8, 0);
	CHECK_STR(lines(&d), "2:200 SchedFork|pid=3:201\n2:200 Exit|status=0\n3:201 SchedFork|pid=4:200\n"
			     "3:201 Exit|status=0\n4:200 Exit|status=3\n");
	basdesk_clear(&d);
}

TEST(bas_after_its_exit_a_task_says_nothing)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	exits(&d, 0, 0);
	turns_to(&d, PROG, PROG);
	plays(&d, file(&d, FILE_CLOSE, 0, 3, 0, 0));
	/* a record that came late is of a task that is not known any more: it has another upid */
	CHECK_STR(lines(&d), "2:200 Exit|status=0\n1:100 SchedFork|pid=3:200\n3:200 Close|fd=3\n");
	basdesk_clear(&d);
}

/* ---- descriptors ---- */

/* An open in /no/cwd of @name that led to @path. */
static void opens(struct basdesk *d, const char *name, const char *path, uint64_t flags, uint64_t mode)
{
	struct rec_file *r = file(d, FILE_OPEN, 3, flags, mode, 0);

	if (path)
		with_path(r, FILE_TEXT_PATH, 0, path);
	with(r, FILE_TEXT_NAME, 0, name);
	if (*name != '/')
		with_path(r, FILE_TEXT_BASE, 0, "/no/cwd");
	plays(d, r);
}

TEST(bas_an_open_has_the_path_and_the_name_as_it_was_given)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	opens(&d, "/no//x.h", "/no/y.h", O_RDONLY | O_CLOEXEC, 0);
	opens(&d, "./x.h", "/no/cwd/x.h", O_RDONLY, 0);
	CHECK_STR(lines(&d), "2:200 Open|fnamesize=7,forigsize=8,flags=524288,mode=0,fd=3\n2:200 FN|/no/y.h\n2:200 FO|/no//x.h\n"
			     "2:200 Open|fnamesize=11,forigsize=13,flags=0,mode=0,fd=3\n2:200 FN|/no/cwd/x.h\n"
			     "2:200 FO|/no/cwd/./x.h\n");
	basdesk_clear(&d);
}

TEST(bas_a_mode_is_told_of_what_makes_a_file)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	opens(&d, "/a", "/a", O_RDONLY, 0644);
	opens(&d, "/a", "/a", O_WRONLY | O_CREAT, 0644);
	opens(&d, "/a", "/a", O_WRONLY | O_TMPFILE, 0600);
	opens(&d, "/a", "/a", O_DIRECTORY, 0600);
	(void)lines(&d);
	CHECK(strstr(d.text, "flags=0,mode=0,"));
	CHECK(strstr(d.text, "flags=65,mode=420,"));
	CHECK(strstr(d.text, ",mode=384,fd=3"));
	CHECK(strstr(d.text, "flags=65536,mode=0,"));
	basdesk_clear(&d);
}

TEST(bas_flags_are_printed_as_an_int)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	opens(&d, "/a", "/a", 0xffffffff80000000, 0);
	CHECK(strstr(lines(&d), "flags=-2147483648,"));
	basdesk_clear(&d);
}

TEST(bas_a_deleted_file_is_marked_as_the_kernel_does)
{
	struct basdesk d;
	struct rec_file *r;

	basdesk_set(&d);
	basdesk_start(&d);
	r = file(&d, FILE_OPEN, 3, 0, 0, 0);
	with_path(r, FILE_TEXT_PATH, TEXT_DELETED, "/no/gone");
	with(r, FILE_TEXT_NAME, 0, "/proc/self/fd/4");
	plays(&d, r);
	CHECK(strstr(lines(&d), "Open|fnamesize=18,forigsize=15,"));
	CHECK(strstr(d.text, "FN|/no/gone (deleted)\n"));
	basdesk_clear(&d);
}

TEST(bas_an_open_whose_path_could_not_be_walked_has_the_name_for_it)
{
	struct basdesk d;
	struct rec_file *r;

	basdesk_set(&d);
	basdesk_start(&d);
	r = file(&d, FILE_OPEN, 3, 0, 0, 0);
	with_bytes(r, FILE_TEXT_PATH, TEXT_FAULT, "", 0);
	with(r, FILE_TEXT_NAME, 0, "x");
	with_bytes(r, FILE_TEXT_BASE, TEXT_FAULT, "", 0);
	plays(&d, r);
	CHECK_STR(lines(&d), "2:200 Open|fnamesize=1,forigsize=1,flags=0,mode=0,fd=3\n2:200 FN|x\n2:200 FO|x\n");
	basdesk_clear(&d);
}

/* Its root is the tests' own: so what the name leads to can be looked up. */
TEST(bas_an_open_whose_descriptor_was_closed_meanwhile_is_looked_up_by_its_name)
{
	__cleanup(free_ptr) char *link = NULL, *want = NULL;
	struct basdesk d;
	struct rec_file *r;
	struct statx root;
	struct stat ns;

	basdesk_set(&d);
	CHECK(!statx(AT_FDCWD, "/", 0, STATX_INO | STATX_MNT_ID, &root) && !stat("/proc/self/ns/mnt", &ns));
	CHECK(asprintf(&link, "%s/link", d.dir) > 0 && asprintf(&want, "FN|%s\n", d.dir) > 0 && !symlink(d.dir, link));
	basdesk_start(&d);
	turns_to(&d, getpid(), getpid());
	r = file(&d, FILE_OPEN, 3, 0, 0, 0);
	with_bytes(r, FILE_TEXT_PATH, TEXT_FAULT, "", 0);
	with(r, FILE_TEXT_NAME, 0, link);
	r->root.mnt_ns = ns.st_ino;
	r->root.mnt_id = root.stx_mnt_id;
	r->root.ino = root.stx_attributes & STATX_ATTR_MOUNT_ROOT ? 0 : root.stx_ino;
	plays(&d, r);
	CHECK(strstr(lines(&d), want));
	basdesk_clear(&d);
}

TEST(bas_an_open_whose_name_could_not_be_read_is_counted_not_told)
{
	__cleanup(free_ptr) char *stats = NULL;
	struct basdesk d;
	struct rec_file *r;

	basdesk_set(&d);
	basdesk_start(&d);
	r = file(&d, FILE_OPEN, 3, 0, 0, 0);
	with_path(r, FILE_TEXT_PATH, 0, "/a");
	with_bytes(r, FILE_TEXT_NAME, TEXT_FAULT, "", 0);
	plays(&d, r);
	CHECK_STR(lines(&d), "CPU:1 [LOST 1 EVENTS]\n");
	stats = basdesk_file(&d, "out.stats", NULL);
	CHECK(stats && strstr(stats, "CPU: 1\nentries: 1\ndropped events: 1\n"));
	basdesk_clear(&d);
}

TEST(bas_a_path_that_is_not_whole_is_told_and_counted)
{
	__cleanup(free_ptr) char *stats = NULL;
	struct basdesk d;
	struct rec_file *r;

	basdesk_set(&d);
	basdesk_start(&d);
	r = file(&d, FILE_OPEN, 3, 0, 0, 0);
	with_path(r, FILE_TEXT_PATH, TEXT_CUT, "/end/of/a");
	with(r, FILE_TEXT_NAME, 0, "/x");
	plays(&d, r);
	CHECK(strstr(lines(&d), "end/of/a\n2:200 FO|/x\n"));
	stats = basdesk_file(&d, "out.stats", NULL);
	CHECK(stats && strstr(stats, "cut paths: 1\n") && strstr(stats, "entries: 2\n"));
	basdesk_clear(&d);
}

TEST(bas_close_pipe_and_dup)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	plays(&d, file(&d, FILE_PIPE, 0, 3, 4, O_CLOEXEC));
	plays(&d, file(&d, FILE_DUP, 1, 4, O_CLOEXEC, 0));
	plays(&d, file(&d, FILE_CLOSE, 0, 4, 0, 0));
	CHECK_STR(lines(&d), "2:200 Pipe|fd1=3,fd2=4,flags=524288\n2:200 Dup|oldfd=4,newfd=1,flags=524288\n2:200 Close|fd=4\n");
	basdesk_clear(&d);
}

/* ---- names ---- */

static struct rec_file *pair(struct basdesk *d, enum file_op op, int ret, const char *from, const char *to)
{
	struct rec_file *r = file(d, op, ret, 0, 0, 0);

	with(r, FILE_TEXT_NAME, 0, from);
	with(r, FILE_TEXT_NAME2, 0, to);
	return r;
}

TEST(bas_a_rename_has_both_names)
{
	struct basdesk d;
	struct rec_file *r;

	basdesk_set(&d);
	basdesk_start(&d);
	plays(&d, pair(&d, FILE_RENAME, 0, "/no/a", "/no/bc"));
	r = pair(&d, FILE_RENAME, 0, "/no/a", "/no/bc");
	r->arg[0] = 2;
	r->arg[1] = 1;
	plays(&d, r);
	CHECK_STR(lines(&d), "2:200 RenameFrom|fnamesize=5\n2:200 RF|/no/a\n2:200 RenameTo|fnamesize=6\n2:200 RT|/no/bc\n"
			     "2:200 Rename2From|fnamesize=5,flags=2\n2:200 RF|/no/a\n2:200 RenameTo|fnamesize=6\n"
			     "2:200 RT|/no/bc\n");
	basdesk_clear(&d);
}

TEST(bas_a_relative_name_begins_where_its_directory_is)
{
	struct basdesk d;
	struct rec_file *r;

	basdesk_set(&d);
	basdesk_start(&d);
	r = pair(&d, FILE_RENAME, 0, "a", "b");
	with_path(r, FILE_TEXT_BASE, 0, "/no/one");
	with_path(r, FILE_TEXT_BASE2, 0, "/no/two");
	plays(&d, r);
	CHECK(strstr(lines(&d), "RF|/no/one/a\n"));
	CHECK(strstr(d.text, "RT|/no/two/b\n"));
	basdesk_clear(&d);
}

TEST(bas_a_rename_of_what_is_not_there_only_fails)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	plays(&d, pair(&d, FILE_RENAME, -ENOENT, "/no/such", "/no/b"));
	plays(&d, pair(&d, FILE_LINK, -ENOENT, "/no/such", "/no/b"));
	CHECK_STR(lines(&d), "2:200 RenameFailed|\n2:200 LinkFailed|\n");
	basdesk_clear(&d);
}

/* It may be gone by now: the error knows. */
TEST(bas_a_rename_whose_error_tells_of_the_source_has_it)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	plays(&d, pair(&d, FILE_RENAME, -EEXIST, "/no/a", "/no/b"));
	plays(&d, pair(&d, FILE_RENAME, -ENOTDIR, "/no/a", "/no/b/"));
	plays(&d, pair(&d, FILE_RENAME, -ENOTDIR, "/no/a", "/no/b"));
	CHECK_STR(lines(&d), "2:200 RenameFrom|fnamesize=5\n2:200 RF|/no/a\n2:200 RenameFailed|\n"
			     "2:200 RenameFrom|fnamesize=5\n2:200 RF|/no/a\n2:200 RenameFailed|\n2:200 RenameFailed|\n");
	basdesk_clear(&d);
}

static void renames_with(struct basdesk *d, unsigned flags)
{
	struct rec_file *r = pair(d, FILE_RENAME, -EINVAL, "/no/a", "/no/b");

	r->arg[0] = flags;
	r->arg[1] = 1;
	plays(d, r);
}

/* What mv meets on FUSE; and flags that the kernel itself does not take. */
TEST(bas_a_rename_with_flags_that_the_file_system_does_not_know_has_its_source)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	renames_with(&d, RENAME_NOREPLACE);
	renames_with(&d, RENAME_NOREPLACE | RENAME_EXCHANGE);
	renames_with(&d, 8);
	CHECK_STR(lines(&d), "2:200 Rename2From|fnamesize=5,flags=1\n2:200 RF|/no/a\n2:200 RenameFailed|\n"
			     "2:200 RenameFailed|\n2:200 RenameFailed|\n");
	basdesk_clear(&d);
}

/* Both forms of what was not told whole would be wrong. */
TEST(bas_a_rename_whose_directory_could_not_be_walked_is_not_told)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	plays(&d, pair(&d, FILE_RENAME, 0, "a", "/no/b"));
	CHECK_STR(lines(&d), "CPU:1 [LOST 1 EVENTS]\n");
	basdesk_clear(&d);
}

TEST(bas_link_and_linkat)
{
	struct basdesk d;
	struct rec_file *r;

	basdesk_set(&d);
	basdesk_start(&d);
	plays(&d, pair(&d, FILE_LINK, 0, "/no/a", "/no/bc"));
	r = pair(&d, FILE_LINK, 0, "", "/no/bc");
	with_path(r, FILE_TEXT_PATH, 0, "/no/opened");
	r->arg[0] = AT_EMPTY_PATH;
	r->arg[1] = 1;
	plays(&d, r);
	CHECK_STR(lines(&d), "2:200 LinkFrom|fnamesize=5\n2:200 LF|/no/a\n2:200 LinkTo|fnamesize=6\n2:200 LT|/no/bc\n"
			     "2:200 LinkatFrom|fnamesize=10,flags=4096\n2:200 LF|/no/opened\n2:200 LinkTo|fnamesize=6\n"
			     "2:200 LT|/no/bc\n");
	basdesk_clear(&d);
}

TEST(bas_a_symlink_that_leads_nowhere_has_two_names)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	plays(&d, pair(&d, FILE_SYMLINK, 0, "../to", "/no/link"));
	CHECK_STR(lines(&d), "2:200 Symlink|targetnamesize=5,linknamesize=8\n2:200 ST|../to\n2:200 SL|/no/link\n");
	basdesk_clear(&d);
}

TEST(bas_mounts_are_told_when_asked_for)
{
	struct basdesk d;

	for (int asked = 0; asked < 2; asked++) {
		struct rec_file *r;

		basdesk_set(&d);
		d.options.mounts = asked;
		basdesk_start(&d);
		r = pair(&d, FILE_MOUNT, 0, "none-such", "/no/where");
		with_path(r, FILE_TEXT_BASE2, 0, "/no/cwd");
		with(r, FILE_TEXT_TYPE, 0, "tmpfs");
		plays(&d, r);
		plays(&d, file(&d, FILE_UMOUNT, -EINVAL, 0, 0, 0));
		CHECK_STR(lines(&d), asked ? "2:200 Mount|sourcenamesize=9,targetnamesize=9,typenamesize=5,flags=0\n"
					     "2:200 MS|none-such\n2:200 MT|/no/where\n2:200 MX|tmpfs\n2:200 UmountFailed|\n" : "");
		basdesk_clear(&d);
	}
}

TEST(bas_names_of_threads_are_told_when_asked_for)
{
	struct basdesk d;

	for (int asked = 0; asked < 2; asked++) {
		struct rec_task_name *r;

		basdesk_set(&d);
		d.options.thread_names = asked;
		basdesk_start(&d);
		r = made(&d, REC_TASK_NAME, sizeof(*r));
		memcpy(r->comm, "a\nb", 4);
		plays(&d, r);
		CHECK_STR(lines(&d), asked ? "2:200 Comm|size=3\n2:200 CN|a\n2:200 Cont|b\n2:200 Cont_end|\n" : "");
		basdesk_clear(&d);
	}
}

/* ---- what was lost ---- */

TEST(bas_lost_events_have_the_line_of_ftrace_and_are_counted)
{
	__cleanup(free_ptr) char *stats = NULL;
	struct basdesk d;
	struct rec_lost *r;

	basdesk_set(&d);
	basdesk_start(&d);
	plays(&d, file(&d, FILE_CLOSE, 0, 3, 0, 0));
	r = made(&d, REC_LOST, sizeof(*r));
	r->count[CLASS_TASK] = 2;
	r->count[CLASS_SYSCALL] = 5;
	r->count[CLASS_FUNCTION] = 11;
	plays(&d, r);
	CHECK_STR(lines(&d), "2:200 Close|fd=3\nCPU:1 [LOST 7 EVENTS]\n");
	stats = basdesk_file(&d, "out.stats", NULL);
	CHECK_STR(stats, "cut paths: 0\nCPU: 1\nentries: 2\ndropped events: 7\n");
	basdesk_clear(&d);
}

/* ---- the file ---- */

static void put_file(struct basdesk *d, const char *name, const char *text)
{
	__cleanup(close_fd) int fd = openat(d->dirfd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

TEST(bas_a_foreign_file_of_the_statistics_name_stays)
{
	__cleanup(free_ptr) char *stats = NULL;
	struct basdesk d;

	basdesk_set(&d);
	put_file(&d, "out.stats", "precious\n");
	basdesk_start(&d);
	(void)lines(&d);
	stats = basdesk_file(&d, "out.stats", NULL);
	CHECK_STR(stats, "precious\n");
	basdesk_clear(&d);
}

TEST(bas_a_link_of_the_statistics_name_is_not_followed)
{
	__cleanup(free_ptr) char *stats = NULL;
	struct basdesk d;

	basdesk_set(&d);
	put_file(&d, "target", "cut paths: 0\n");
	CHECK(!symlinkat("target", d.dirfd, "out.stats"));
	basdesk_start(&d);
	plays(&d, file(&d, FILE_CLOSE, 0, 3, 0, 0));
	(void)lines(&d);
	stats = basdesk_file(&d, "target", NULL);
	CHECK_STR(stats, "cut paths: 0\n");
	basdesk_clear(&d);
}

TEST(bas_the_spool_goes_when_the_file_is_whole)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	(void)lines(&d);
	CHECK(faccessat(d.dirfd, SPOOL, F_OK, 0) && !faccessat(d.dirfd, "out", F_OK, 0));
	basdesk_clear(&d);
}

/* @torn, cut off at each of its bytes, behind what is whole: only if all of it is there it is kept. */
static void check_torn(const char *torn)
{
	static const char whole[] = "INITCWD=/w\n0: 4194404,0,1,1!SchedFork|pid=8388808\n0: 8388808,0,1,2!Close|fd=3\n";
	size_t len = strlen(torn);
	struct basdesk d;

	basdesk_set(&d);
	for (size_t cut = 0; cut <= len; cut++) {
		__cleanup(free_ptr) char *left = NULL, *text = NULL;

		CHECK(asprintf(&text, "%s%.*s", whole, (int)cut, torn) > 0);
		put_file(&d, SPOOL "/text", text);
		CHECK_INT(sink_bas.recover(d.spoolfd, d.dirfd, "out"), 0);
		left = basdesk_file(&d, "out", NULL);
		CHECK_STR(left, cut == len ? text : whole);
		CHECK(!unlinkat(d.dirfd, "out", 0));
	}
	basdesk_clear(&d);
}

TEST(bas_what_a_killed_recorder_left_ends_with_a_whole_event)
{
	check_torn("0: 8388808,0,1,3!Open|fnamesize=2,forigsize=7,flags=0,mode=0,fd=3\n"
		   "0: 8388808,0,1,4!FN|/a\n0: 8388808,0,1,5!FO|/a|\n0: 8388808,0,1,6!Cont|F[1\n0: 8388808,0,1,7!Cont_end|\n");
	check_torn("0: 8388808,0,1,3!Open|fnamesize=6,forigsize=2,flags=0,mode=0,fd=3\n"
		   "0: 8388808,0,1,4!FN[0]/a\n0: 8388808,0,1,4!Cont|b\n0: 8388808,0,1,4!Cont_end|\n0: 8388808,0,1,4!FN[1]cd\n"
		   "0: 8388808,0,1,5!FN_end|\n0: 8388808,0,1,6!FO|/a\n");
	check_torn("0: 8388808,0,1,3!Rename2From|fnamesize=2,flags=1\n0: 8388808,0,1,4!RF|/a\n"
		   "0: 8388808,0,1,5!RenameTo|fnamesize=2\n0: 8388808,0,1,6!RT|/b\n");
	check_torn("0: 8388808,0,1,3!Symlink|targetnamesize=0,linknamesize=2\n0: 8388808,0,1,4!ST|\n0: 8388808,0,1,5!SL|/b\n");
	check_torn("0: 8388808,0,1,3!SysClone|flags=17\n0: 8388808,0,1,4!SchedFork|pid=12583212\n");
	check_torn("0: 8388808,0,1,3!New_proc|argsize=2,prognameisize=1,prognamepsize=1,cwdsize=1\n0: 8388808,0,1,4!PI|/\n"
		   "0: 8388808,0,1,5!PP|/\n0: 8388808,0,1,6!CW|/\n0: 8388808,0,1,7!A[0]Exit|\n0: 8388808,0,1,8!End_of_args|\n");
}

/* They come last, and nothing tells whether one is whole. */
TEST(bas_of_environments_a_killed_recorder_leaves_none)
{
	static const char whole[] = "INITCWD=/w\n0: 8388808,0,1,3!Open|fnamesize=2,forigsize=2,flags=0,mode=0,fd=3\n"
				    "0: 8388808,0,1,4!FN|/a\n0: 8388808,0,1,5!FO|/a\n";
	__cleanup(free_ptr) char *left = NULL, *text = NULL;
	struct basdesk d;

	basdesk_set(&d);
	CHECK(asprintf(&text, "%s0: 0,0,1,6!UPID|8388808\n0: 0,0,1,7!Env[0]A=1\n", whole) > 0);
	put_file(&d, SPOOL "/text", text);
	CHECK_INT(sink_bas.recover(d.spoolfd, d.dirfd, "out"), 0);
	left = basdesk_file(&d, "out", NULL);
	CHECK_STR(left, whole);
	basdesk_clear(&d);
}

TEST(bas_a_torn_event_of_many_bytes_is_found_too)
{
	static const char whole[] = "INITCWD=/w\n0: 8388808,0,1,2!Close|fd=3\n";
	__cleanup(free_ptr) char *left = NULL, *text = calloc(1, 4 << 20);
	struct basdesk d;
	size_t n;

	basdesk_set(&d);
	n = sprintf(text, "%s0: 8388808,0,1,2!New_proc|argsize=9999999,", whole);
	for (unsigned i = 0; n < 3 << 20; i++)
		n += sprintf(text + n, "\n0: 8388808,0,1,2!A[%u]Open|Exit|", i);
	put_file(&d, SPOOL "/text", text);
	CHECK_INT(sink_bas.recover(d.spoolfd, d.dirfd, "out"), 0);
	left = basdesk_file(&d, "out", NULL);
	CHECK_STR(left, whole);
	basdesk_clear(&d);
}

/* What recorder itself counts of a text is what stands in it. */
TEST(bas_what_a_killed_recorder_left_is_counted_by_its_text)
{
	static const char text[] =
		"INITCWD=/w\n0: 4194404,0,1,1!SchedFork|pid=8388808\n"
		"0: 8388808,1,1,3!New_proc|argsize=2,prognameisize=1,prognamepsize=1,cwdsize=1\n0: 8388808,1,1,4!PI|/\n"
		"0: 8388808,1,1,5!PP|/\n0: 8388808,1,1,6!CW|/\n0: 8388808,1,1,7!A[0]Exit|\n0: 8388808,1,1,8!End_of_args|\n"
		"0: 8388808,1,1,9!RenameFrom|fnamesize=1\n0: 8388808,1,2,0!RF|/\n0: 8388808,1,2,1!RenameFailed|\n"
		"0: 8388808,1,2,2!RenameFailed|\n"
		"CPU:1 [LOST 5 EVENTS]\nCPU:1 [LOST 2 EVENTS]\nCPU:0 [LOST 1 EVENTS]\n"
		"0: 8388808,1,2,3!SysClone|flags=17\n0: 8388808,1,2,4!SysCloneFailed|\n"
		"0: 8388808,0,2,5!Open|fnamesize=1,forigsize=5,flags=0,mode=0,fd=3\n0: 8388808,0,2,6!FN|/\n"
		"0: 8388808,0,2,7!FO|Exit|\n0: 8388808,0,2,8!Exit|status=0\n";
	__cleanup(free_ptr) char *stats = NULL;
	struct basdesk d;

	basdesk_set(&d);
	put_file(&d, SPOOL "/text", text);
	CHECK_INT(sink_bas.recover(d.spoolfd, d.dirfd, "out"), 0);
	stats = basdesk_file(&d, "out.stats", NULL);
	CHECK_STR(stats, "cut paths: unknown\nnot whole: recorder was killed\nCPU: 0\nentries: 3\ndropped events: 1\n"
			 "CPU: 1\nentries: 4\ndropped events: 7\n");
	basdesk_clear(&d);
}

TEST(bas_a_spooled_file_that_is_another_s_too_is_left_alone)
{
	__cleanup(free_ptr) char *other = NULL;
	struct basdesk d;

	basdesk_set(&d);
	put_file(&d, "other", "INITCWD=/w\n0: torn");
	CHECK(!linkat(d.dirfd, "other", d.spoolfd, "text", 0));
	CHECK_INT(sink_bas.recover(d.spoolfd, d.dirfd, "out"), -EBADMSG);
	other = basdesk_file(&d, "other", NULL);
	CHECK_STR(other, "INITCWD=/w\n0: torn");
	basdesk_clear(&d);
}
