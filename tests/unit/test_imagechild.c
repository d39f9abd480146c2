/*
 * test_imagechild.c - the image child reads as image_read() does, and nothing a file does to it reaches us.
 */
#include <signal.h>
#include <sys/wait.h>

#include "test_image.h"

/* Readers for the child: what a file that took it over might do. The file's first byte says which. */
static int bad_reader(struct image **ret, const struct image_files *files, enum image_depth depth)
{
	char what = '\0';

	if (pread(files->fd, &what, 1, 0) != 1)
		return -EIO;
	switch (what) {
	case 'c': abort();
	case 'h': for (;;) ;
	case 'o': return open("/etc/passwd", O_RDONLY) < 0 ? -errno : -EOWNERDEAD;
	case 'f': fork(); break;
	case 'k': kill(getppid(), SIGKILL); break;
	case 'x': _exit(0);
	case 'u': return (int)-getuid();
	case 'e': return -EUCLEAN;
	default:  return image_read_with(ret, files, depth);
	}
	return -EOWNERDEAD;	/* what was forbidden has worked */
}

static int ask_child(struct image_child *c, const char *text, struct image **img)
{
	__cleanup(close_fd) int fd = -1;

	write_file(in_dir("word"), text, strlen(text));
	fd = open(in_dir("word"), O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	return image_child_read(c, img, fd, IMAGE_FUNCTIONS);
}

static void check_child_lives(struct image_child *c)
{
	__cleanup(image_destroyp) struct image *img = NULL;
	__cleanup(close_fd) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	CHECK_INT(image_child_read(c, &img, fd, IMAGE_FUNCTIONS), 0);
	CHECK(func_named(img, "main", false));
	CHECK(func_named(img, "image_child_read", false));
}

TEST(child_reads_as_image_read_does)
{
	SCRATCH;
	__cleanup(image_child_stopp) struct image_child *c = NULL;
	__cleanup(image_destroyp) struct image *here = NULL, *there = NULL;
	__cleanup(close_fd) int fd = -1;
	struct image *none = NULL;

	CHECK_INT(image_child_start(&c), 0);
	CHECK(build("program", "program.c", program_c, "-O2"));
	fd = open(in_dir("program"), O_RDONLY | O_CLOEXEC);
	CHECK_INT(image_read(&here, fd, IMAGE_FUNCTIONS), 0);
	CHECK_INT(image_child_read(c, &there, fd, IMAGE_FUNCTIONS), 0);
	CHECK_INT(there->func_count, here->func_count);
	for (size_t i = 0; i < here->func_count; i++) {
		CHECK_STR(there->func[i].name, here->func[i].name);
		CHECK_INT(there->func[i].site, here->func[i].site);
	}
	CHECK_INT(ask_child(c, "no program at all", &none), -ENOEXEC);
	check_child_lives(c);
}

TEST(child_survives_a_file_that_kills_it)
{
	SCRATCH;
	__cleanup(image_child_stopp) struct image_child *c = NULL;
	struct image *img = NULL;

	CHECK_INT(image_child_start_with(&c, bad_reader, 10000), 0);
	check_child_lives(c);
	CHECK_INT(ask_child(c, "c", &img), -EPIPE);
	check_child_lives(c);
	CHECK_INT(ask_child(c, "x", &img), -EPIPE);
	CHECK_INT(ask_child(c, "c", &img), -EPIPE);
	CHECK_INT(ask_child(c, "e", &img), -EUCLEAN);
	check_child_lives(c);
	CHECK(!img);
}

TEST(child_that_hangs_is_replaced)
{
	SCRATCH;
	__cleanup(image_child_stopp) struct image_child *c = NULL;
	struct image *img = NULL;

	CHECK_INT(image_child_start_with(&c, bad_reader, 300), 0);
	CHECK_INT(ask_child(c, "h", &img), -ETIMEDOUT);
	CHECK_INT(ask_child(c, "e", &img), -EUCLEAN);
}

TEST(child_can_open_nothing_and_start_nothing)
{
	SCRATCH;
	__cleanup(image_child_stopp) struct image_child *c = NULL;
	struct image *img = NULL;

	CHECK_INT(image_child_start_with(&c, bad_reader, 10000), 0);
	CHECK_INT(ask_child(c, "o", &img), -EACCES);
	CHECK_INT(ask_child(c, "f", &img), -EPIPE);
	CHECK_INT(ask_child(c, "k", &img), -EPIPE);
	CHECK_INT(ask_child(c, "u", &img), -EPIPE);	/* it may not even ask who it is */
	check_child_lives(c);
}

TEST(child_holds_no_privilege_and_no_file_of_ours)
{
	__cleanup(image_child_stopp) struct image_child *c = NULL;
	int secret = open("/etc/passwd", O_RDONLY);	/* not close-on-exec, and no exec will come */
	pid_t nursery, worker;
	char cmd[128];

	need("pgrep");
	CHECK(secret >= 0);
	CHECK_INT(image_child_start(&c), 0);
	check_child_lives(c);
	snprintf(cmd, sizeof(cmd), "pgrep -P %d | head -1", (int)getpid());
	nursery = atoi(line_of(cmd));
	snprintf(cmd, sizeof(cmd), "pgrep -P %d | head -1", (int)nursery);
	worker = atoi(line_of(cmd));
	CHECK(nursery > 0 && worker > 0);
	snprintf(cmd, sizeof(cmd), "sed -n 's/^Seccomp:\t//p' /proc/%d/status", (int)worker);
	CHECK_STR(line_of(cmd), "2");
	snprintf(cmd, sizeof(cmd), "sed -n 's/^NoNewPrivs:\t//p' /proc/%d/status", (int)worker);
	CHECK_STR(line_of(cmd), "1");
	if (geteuid() == 0) {
		snprintf(cmd, sizeof(cmd), "sed -n 's/^Uid:\t//p' /proc/%d/status", (int)worker);
		CHECK_STR(line_of(cmd), "65534\t65534\t65534\t65534");
		snprintf(cmd, sizeof(cmd), "sed -n 's/^CapEff:\t//p' /proc/%d/status", (int)worker);
		CHECK_STR(line_of(cmd), "0000000000000000");
		snprintf(cmd, sizeof(cmd), "ls -l /proc/%d/fd | grep -vc -e socket: -e ^total", (int)worker);
		CHECK_STR(line_of(cmd), "0");
	}
	close(secret);
}

TEST(child_survives_the_loss_of_its_nursery)
{
	__cleanup(image_child_stopp) struct image_child *c = NULL;
	struct image *img = NULL;
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char cmd[64];

	need("pgrep");
	CHECK_INT(image_child_start(&c), 0);
	check_child_lives(c);
	snprintf(cmd, sizeof(cmd), "pgrep -P %d | head -1", (int)getpid());
	CHECK(kill(atoi(line_of(cmd)), SIGKILL) == 0);
	if (image_child_read(c, &img, self, IMAGE_FUNCTIONS) == 0)	/* one file may be lost: the worker dies while it reads */
		image_destroy(img);
	check_child_lives(c);
}

TEST(child_ends_with_its_recorder)
{
	pid_t recorder, nursery;
	char cmd[64];
	int status;

	need("pgrep");
	recorder = fork();
	if (!recorder) {
		struct image_child *c = NULL;

		if (image_child_start(&c))
			_exit(1);
		check_child_lives(c);
		for (;;)
			pause();
	}
	snprintf(cmd, sizeof(cmd), "sleep 0.5; pgrep -P %d", (int)recorder);
	nursery = atoi(line_of(cmd));
	CHECK(nursery > 0);
	CHECK(kill(recorder, SIGKILL) == 0);
	CHECK(waitpid(recorder, &status, 0) == recorder);
	for (unsigned i = 0; i < 200 && kill(nursery, 0) == 0; i++) {
		snprintf(cmd, sizeof(cmd), "ps -o stat= -p %d", (int)nursery);
		if (line_of(cmd)[0] == 'Z' || !line_of(cmd)[0])
			return;		/* whoever reaps orphans here is slow */
		usleep(20000);
	}
	CHECK(kill(nursery, 0) < 0);
}
