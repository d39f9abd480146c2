/*
 * apart.c - the libraries that are mapped now, copied; then the same program again.
 */
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "apart.h"
#include "base.h"
#include "log.h"

#define MARK		"RECORDER_APART"	/* how many copies there are, then LD_PRELOAD as it was, if it was */
#define COPIES_MAX	32

#ifndef MFD_EXEC
#define MFD_EXEC	0x10u	/* Linux 6.3 */
#endif

static bool has_arrived;
static bool ignores_children;	/* as we were started */

/* The copies have the numbers that LD_PRELOAD tells. */
static void close_copies(const char *preload, long count)
{
	for (int fd; count-- > 0 && sscanf(preload, "/proc/self/fd/%d", &fd) == 1; preload += strcspn(preload, ":") + 1) {
		close(fd);
		if (!preload[strcspn(preload, ":")])
			break;
	}
}

void apart_arrive(void)
{
	const char *mark = getenv(MARK), *preload = getenv("LD_PRELOAD"), *old;
	struct sigaction act;

	ignores_children = !sigaction(SIGCHLD, NULL, &act) && act.sa_handler == SIG_IGN;
	if (!mark)
		return;
	has_arrived = true;
	close_copies(preload ?: "", atol(mark));
	old = strchr(mark, ':');
	if (old)
		setenv("LD_PRELOAD", old + 1, 1);
	else
		unsetenv("LD_PRELOAD");
	unsetenv(MARK);
}

static int copy_file(const char *path)
{
	__cleanup(close_fd) int from = open(path, O_RDONLY | O_CLOEXEC);
	const char *name = strrchr(path, '/') + 1;
	__cleanup(close_fd) int to = -1;
	struct stat st;
	off_t at = 0;

	if (from < 0 || fstat(from, &st))
		return -errno;
	to = memfd_create(name, MFD_EXEC);
	if (to < 0)
		to = memfd_create(name, 0);
	if (to < 0)
		return -errno;
	while (at < st.st_size)
		if (sendfile(to, from, &at, st.st_size - at) <= 0)
			return -EIO;
	return TAKE_FD(to);
}

struct copies {
	int	 fd[COPIES_MAX];
	unsigned count;
	int	 err;
};

/* Not the dynamic linker, which the kernel maps, nor what is no file: the program itself and the vDSO. */
static int copy_library(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct copies *c = ctx;
	int fd;

	(void)size;
	if (*info->dlpi_name != '/' || info->dlpi_addr == getauxval(AT_BASE))
		return 0;
	fd = c->count < COPIES_MAX ? copy_file(info->dlpi_name) : -E2BIG;
	if (fd < 0)
		return c->err = fd;
	c->fd[c->count++] = fd;
	return 0;
}

static int set_environment(const struct copies *c)
{
	const char *old = getenv("LD_PRELOAD");
	char *preload = NULL, *mark = NULL;
	int err = 0;

	for (unsigned i = 0; i < c->count && !err; i++) {
		__cleanup(free_ptr) char *before = preload;

		if (asprintf(&preload, "%s%s/proc/self/fd/%d", before ?: "", before ? ":" : "", c->fd[i]) < 0)
			err = -ENOMEM;
	}
	if (!err && asprintf(&mark, "%u%s%s", c->count, old ? ":" : "", old ?: "") < 0)
		err = -ENOMEM;
	if (!err && old) {
		__cleanup(free_ptr) char *before = preload;

		if (asprintf(&preload, "%s:%s", before, old) < 0)
			err = -ENOMEM;
	}
	if (!err && (setenv(MARK, mark, 1) || setenv("LD_PRELOAD", preload, 1)))
		err = -errno;
	free(preload);
	free(mark);
	return err;
}

void apart_go(char **argv)
{
	struct copies c = {};
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (has_arrived || n < 0)
		return;
	self[n] = '\0';
	dl_iterate_phdr(copy_library, &c);
	if (!c.err && c.count)
		c.err = set_environment(&c);
	if (!c.err && c.count) {
		signal(SIGCHLD, ignores_children ? SIG_IGN : SIG_DFL);
		execv(self, argv);
		c.err = -errno;
		signal(SIGCHLD, SIG_DFL);
		apart_arrive();
	} else {
		for (unsigned i = 0; i < c.count; i++)
			close(c.fd[i]);
	}
	detail("recorder shares its libraries with what it records: %s", strerror(-c.err));
}
