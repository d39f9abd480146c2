/*
 * folder.c - the folder of a process: MonDD_HHMMSS_PID, by when the process began, as NEUTRINO names it.
 *
 * NEUTRINO runs inside the process and takes its own number of it, in a container the
 * innermost. Here both come from /proc as long as the process is there; of one that has
 * ended the number is the one that recorder counts by.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "about.h"
#include "base.h"
#include "clock.h"
#include "log.h"
#include "out.h"
#include "process.h"
#include "sink/neutrino/neutrino.h"

#define SAME_NS		(20 * 1000 * 1000ull)	/* /proc tells the start in hundredths of a second */
#define SAME_BOOT_NS	(2 * (int64_t)NSEC_PER_SEC)
#define NAMES_TRIED	1000
#define CMDLINE_MAX	4096

/* What the folder's name and the first lines are made of. */
struct facts {
	bool	 is_seen;	/* in /proc */
	uint64_t start;
	uint32_t pid;
	char	 cmd[CMDLINE_MAX + 1];	/* words, each ended by a NUL */
	size_t	 cmd_len;
};

static ssize_t read_file(int dirfd, const char *name, char *to, size_t room)
{
	__cleanup(close_fd) int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, to, room - 1);

	to[MAX(n, 0)] = '\0';
	return n;
}

/* When the process at @dirfd began, ns of CLOCK_MONOTONIC; 0: unknown. proc(5): field 22 of stat. */
static uint64_t start_of(int dirfd)
{
	uint64_t now = clock_now(), suspended = clock_read(CLOCK_BOOTTIME) - now, ns;
	char text[1024], *at;

	if (read_file(dirfd, "stat", text, sizeof(text)) <= 0)
		return 0;
	at = strrchr(text, ')');
	for (int field = 3; at && field <= 22; field++)
		at = strchr(at + 1, ' ');
	ns = at ? strtoull(at, NULL, 10) * (NSEC_PER_SEC / sysconf(_SC_CLK_TCK)) : 0;
	return ns > suspended ? ns - suspended : 0;
}

/* What the process at @dirfd calls itself: the last number of NSpid. */
static uint32_t own_number(int dirfd)
{
	char text[4096], *line, *last;

	if (read_file(dirfd, "status", text, sizeof(text)) <= 0)
		return 0;
	line = strstr(text, "\nNSpid:");
	if (!line)
		return 0;
	line[1 + strcspn(line + 1, "\n")] = '\0';
	last = strrchr(line, '\t');
	return last ? strtoul(last, NULL, 10) : 0;
}

/* May the process in /proc be the one that is meant? Not when a recording of another boot is replayed. */
static bool is_of_this_boot(const struct about *about, uint64_t time)
{
	int64_t off = about->utc_offset - clock_utc_offset();

	return off < SAME_BOOT_NS && off > -SAME_BOOT_NS && time <= clock_now() && process_proc_is_ours();
}

/* @time: of a call it made. */
static void find_facts(struct facts *f, const struct cuda_process *of, const struct about *about, uint64_t time)
{
	__cleanup(close_fd) int dirfd = is_of_this_boot(about, time) ? process_open(of->pid) : -1;
	uint64_t start = dirfd < 0 ? 0 : start_of(dirfd);
	const char *path = of->cmdline ?: "";
	bool is_it = start && start < time + SAME_NS;

	if (of->start && is_it)
		is_it = start < of->start + SAME_NS && of->start < start + SAME_NS;
	*f = (struct facts){ .is_seen = is_it, .start = of->start ?: is_it ? start : time, .pid = of->pid };
	if (is_it) {
		f->pid = own_number(dirfd) ?: f->pid;
		f->cmd_len = MAX(read_file(dirfd, "cmdline", f->cmd, sizeof(f->cmd)), 0);
	}
	if (!f->cmd_len) {
		snprintf(f->cmd, sizeof(f->cmd), "%s", path);
		f->cmd_len = strlen(f->cmd) + 1;
	}
}

static int new_dir(int dirfd, const char *name)
{
	int fd = out_open_new_dir(dirfd, name);

	return fd < 0 ? fail(fd, "format 'neutrino': cannot make the directory '%s'", name) : fd;
}

static int new_empty_dir(int dirfd, const char *name)
{
	__cleanup(close_fd) int fd = new_dir(dirfd, name);

	return MIN(fd, 0);
}

/* Month names as the C locale has them, whatever ours is. Two processes may have one name: in two containers, say. */
static int make_folder(int dirfd, const struct facts *f, const struct about *about)
{
	static const char month[][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	time_t seconds = (int64_t)(f->start + about->utc_offset) / (int64_t)NSEC_PER_SEC;
	char name[64], *end;
	struct tm t = {};
	int fd;

	localtime_r(&seconds, &t);
	end = name + snprintf(name, sizeof(name) - 16, "%s%02d_%02d%02d%02d_%u", month[(unsigned)t.tm_mon % 12], t.tm_mday,
			      t.tm_hour, t.tm_min, t.tm_sec, f->pid);
	for (unsigned i = 2; i < NAMES_TRIED; i++) {
		fd = out_open_new_dir(dirfd, name);
		if (fd != -EEXIST)
			break;
		sprintf(end, "_%u", i);
	}
	return fd < 0 ? fail(fd, "format 'neutrino': cannot make the directory '%s'", name) : fd;
}

int nt_file(int dirfd, const char *name, const char *fmt, ...)
{
	__cleanup(free_ptr) char *text = NULL;
	struct out *o = NULL;
	va_list args;
	int n, err;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0) {
		text = NULL;
		return -ENOMEM;
	}
	err = out_create(&o, dirfd, name);
	if (!err) {
		out_bytes(o, text, n);
		err = out_seal(o);
	}
	out_destroy(o);
	return err;
}

char *nt_escaped(const char *text, bool is_word)
{
	__cleanup(free_ptr) char *safe = log_escaped(text);
	char *to = safe ? malloc(4 * strlen(safe) + 1) : NULL, *end = to;

	for (const char *s = safe; to && *s; s++) {
		if (*s == '[' || (*s == ' ' && is_word))
			end += sprintf(end, "\\x%02x", *s);
		else
			*end++ = *s;
	}
	if (to)
		*end = '\0';
	return to;
}

static int write_first_lines(struct nt_process *p, struct facts *f)
{
	__cleanup(free_ptr) char *cmd = NULL;

	for (size_t i = 0; i + 1 < f->cmd_len; i++)
		if (!f->cmd[i])
			f->cmd[i] = ' ';
	cmd = nt_escaped(f->cmd, false);
	if (!cmd)
		return -ENOMEM;
	out_printf(p->log, "[init] pid %u\n[init] cmd %zu %s \n[init] success\n", f->pid, f->cmd_len, cmd);
	if (!f->is_seen)
		out_printf(p->log, "[recorder] it was not there any more: pid is recorder's number of it, cmd its program only\n");
	if (f->pid != p->pid)
		out_printf(p->log, "[recorder] pid %u outside its namespace\n", p->pid);
	out_printf(p->log, "[recorder] bins are named by the time since the first call that was seen\n");
	return out_flush(p->log);
}

static int fill_folder(struct nt_process *p, struct facts *f)
{
	struct stat st;
	int err;

	p->resultfd = new_dir(p->dirfd, "result");
	if (p->resultfd < 0)
		return p->resultfd;
	if (fstat(p->resultfd, &st))
		return -errno;
	p->dev = st.st_dev;
	err = new_empty_dir(p->dirfd, "kernel") ?: new_empty_dir(p->dirfd, "module");
	if (err)
		return err;
	err = out_create(&p->log, p->dirfd, "event.log");
	err = err ?: write_first_lines(p, f);
	err = err ?: nt_write_readers(p->dirfd, p->has_gpu);
	err = err ?: nt_table_create(&p->launches, p->resultfd, "launches.bin", 1 + p->has_gpu);
	err = err ?: nt_table_create(&p->mem, p->resultfd, "mem.bin", 1);
	if (!err && p->has_gpu)
		err = nt_gpu_create(p);
	return err ?: nt_process_checkpoint(p);		/* of many processes not all may have all files open */
}

DEFINE_CLEANUP(nt_process_destroy, struct nt_process *)

int nt_process_create(struct nt_process **ret, int dirfd, unsigned slot, const struct about *about,
		      const struct cuda_process *of, uint64_t time)
{
	__cleanup(nt_process_destroyp) struct nt_process *p = calloc(1, sizeof(*p));
	__cleanup(free_ptr) struct facts *f = malloc(sizeof(*f));
	int err;

	if (!p || !f)
		return -ENOMEM;
	p->about = about;
	p->slot = slot;
	p->pid = of->pid;
	p->execs = of->execs;
	p->first = time;
	p->resultfd = p->gpufd = -1;
	p->has_gpu = about->gpu_times;
	find_facts(f, of, about, time);
	p->dirfd = make_folder(dirfd, f, about);
	err = p->dirfd < 0 ? p->dirfd : fill_folder(p, f);
	if (!err)
		*ret = TAKE(p);
	return err;
}

/* The rows before the lines that speak of them. */
int nt_process_checkpoint(struct nt_process *p)
{
	int err = nt_table_checkpoint(&p->launches);

	err = err ?: nt_table_checkpoint(&p->mem);
	return err ?: out_park(p->log);
}

int nt_process_seal(struct nt_process *p)
{
	int err;

	if (p->waits.was_cut)
		out_printf(p->log, "[recorder] sync_ns is 0 for some launches: too many were waiting to be complete\n");
	err = nt_table_checkpoint(&p->launches);
	if (p->has_gpu && !err)
		err = nt_table_add_map(&p->launches, p->gpufd, NT_GPU_ROW);
	err = nt_table_seal(&p->launches) ?: err;
	err = nt_table_seal(&p->mem) ?: err;
	return out_seal(p->log) ?: err;
}

void nt_process_destroy(struct nt_process *p)
{
	if (!p)
		return;
	out_destroy(p->log);
	out_destroy(p->launches.out);
	out_destroy(p->mem.out);
	nt_waits_release(&p->waits);
	close_fd(&p->dirfd);
	close_fd(&p->resultfd);
	close_fd(&p->gpufd);
	free(p->open);
	free(p->bin);
	free(p->kernel);
	nt_images_free(p);
	free(p);
}
