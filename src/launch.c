/*
 * launch.c - the command, between its fork and its end.
 *
 * The child is forked before the probes exist and waits at a pipe, the gate;
 * a byte opens it, its end (we died) makes the child leave. A second pipe tells
 * how the child fares: 0 once it stands at the gate, an errno when something
 * failed, the pipe's end once exec has closed it.
 *
 * Between fork and exec the child only makes system calls, raw ones where the
 * C library's do more: the parent has prepared everything else.
 */
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <paths.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base.h"
#include "config.h"
#include "copies.h"
#include "gputime.h"
#include "identity.h"
#include "launch.h"
#include "log.h"
#include "process.h"

#define SIGNAL_LAST	64	/* _NSIG of every architecture but mips */
#define SAME_PRESS_NS	50000000ull	/* closer interrupts are one: timeout(1) sends each signal twice */

/* What the command inherits and recorder may change for itself; taken before it does. */
static struct {
	uint64_t      mask;			/* blocked signals, as the kernel has it: bit N - 1 for N */
	bool	      ignored[SIGNAL_LAST + 1];
	mode_t	      umask;
	struct rlimit limit[RLIM_NLIMITS];
	int	     *fd;			/* open files, ascending */
	size_t	      fd_count, fd_room;
	bool	      fds_known;
} saved;

struct launch {
	pid_t		pid;		/* 0: none, or waited for */
	int		pidfd;
	int		gate;		/* write end */
	int		report;		/* read end */
	int		signals;	/* signalfd(2) */
	bool		was_let_go;
	bool		has_ended;
	bool		was_told_to_stop;	/* Ctrl-Z reached us too */
	bool		was_told_to_end;	/* without a command: by a signal other than Ctrl-C */
	unsigned	interrupts;
	unsigned	asked;		/* bit N: signal N, SIGUSR1 or SIGUSR2 */
	uint64_t	interrupted;	/* when last, ns */
	int		status;
	struct rusage	usage;

	const char     *name;		/* as the user wrote it; lent by the config */
	const char     *path;
	char	      **argv;		/* lent by the config */
	char	      **sh_argv;	/* the same for a script that names no interpreter */
	char	      **env;
	char	      **strings;	/* env as identity_environ() made it, whose strings are in it; NULL: env is that */
	char	      **gpu_setting;	/* of env: has the CUDA driver load gpu_library; NULL: nothing does */
	const char     *gpu_library;
	struct identity id;
	bool		has_copies;	/* of libraries: copies.h */
};

DEFINE_CLEANUP(launch_destroy, struct launch *)

/* The kernel's struct sigaction: <signal.h> describes the C library's. */
struct kernel_sigaction {
	void	     (*handler)(int);
	unsigned long  flags;
	void	     (*restorer)(void);
	uint64_t       mask;
};

static int compare_fds(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void save_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *e;

	if (!dir)
		return;
	saved.fds_known = true;
	while ((e = readdir(dir))) {
		int fd = atoi(e->d_name);

		if (e->d_name[0] == '.' || fd == dirfd(dir))
			continue;
		if (grow(&saved.fd, &saved.fd_room, saved.fd_count, sizeof(int)))
			saved.fds_known = false;
		else
			saved.fd[saved.fd_count++] = fd;
	}
	closedir(dir);
	qsort(saved.fd, saved.fd_count, sizeof(int), compare_fds);
}

void launch_save_signals(void)
{
	struct kernel_sigaction act;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &saved.mask, sizeof(saved.mask));
	for (int sig = 1; sig <= SIGNAL_LAST; sig++)
		saved.ignored[sig] = !syscall(SYS_rt_sigaction, sig, NULL, &act, sizeof(act.mask)) &&
				     act.handler == SIG_IGN;
	saved.umask = umask(0);
	umask(saved.umask);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		getrlimit(i, &saved.limit[i]);
	save_fds();
	/* A parent that ignores its children's end would let ours vanish unseen. */
	signal(SIGCHLD, SIG_DFL);
}

void launch_hold_signals(const struct config *cfg)
{
	sigset_t set;

	sigemptyset(&set);
	if (cfg->on_usr1)
		sigaddset(&set, SIGUSR1);
	if (cfg->on_usr2)
		sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* ---- finding the command ---- */

/* A script whose "#!" names a program that does not exist: execve(2) says ENOENT of the script. */
static bool lacks_interpreter(const char *path)
{
	__cleanup(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char line[256] = "", *name;	/* BINPRM_BUF_SIZE: what the kernel looks at */

	if (fd < 0 || pread(fd, line, sizeof(line) - 1, 0) < 3 || line[0] != '#' || line[1] != '!')
		return false;
	name = line + 2 + strspn(line + 2, " \t");
	name[strcspn(name, " \t\n")] = '\0';
	return access(name, F_OK) && errno == ENOENT;
}

/* 0 when execve(2) of @path can be tried with hope. */
static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS))
		return -EACCES;
	return lacks_interpreter(path) ? -ENOENT : 0;
}

/* The element of PATH at *@at, moved on to the next; false after the last. */
static bool next_dir(const char **at, const char **dir, size_t *len)
{
	if (!*at)
		return false;
	*dir = *at;
	*len = strcspn(*at, ":");
	*at = (*at)[*len] ? *at + *len + 1 : NULL;
	return true;
}

int launch_resolve(const char *name, char **ret)
{
	const char *path = getenv("PATH") ?: _PATH_DEFPATH, *dir;
	int err, worst = -ENOENT;
	size_t len;
	char *file;

	if (!*name)
		return -ENOENT;
	if (strchr(name, '/')) {
		err = check_executable(name);
		*ret = err ? NULL : strdup(name);
		return err ?: *ret ? 0 : -ENOMEM;
	}
	while (next_dir(&path, &dir, &len)) {
		/* An empty element is the working directory. */
		if (asprintf(&file, "%.*s%s%s", (int)len, dir, len ? "/" : "./", name) < 0)
			return -ENOMEM;
		err = check_executable(file);
		if (!err) {
			*ret = file;
			return 0;
		}
		if (err == -EACCES || err == -EISDIR)
			worst = -EACCES;	/* as execvp(3): found, but nothing to run */
		free(file);
	}
	return worst;
}

int launch_failed(const char *name, const char *path, const char *user, int err)
{
	if (err == -ENOENT && !*name) {
		fail(0, "cannot run '': the command is empty");
	} else if (err == -ENOENT && !strchr(path, '/')) {
		fail(0, "cannot run '%s': there is no such program in PATH", name);
		if (!access(name, X_OK))
			hint("recorder ./%s", name);
	} else if (err == -ENOENT && !access(path, F_OK)) {
		fail(0, "cannot run '%s': the interpreter it names does not exist", name);
		hint("head -1 '%s' for a script, readelf -l '%s' for a program", path, path);
	} else if (user) {
		fail(err, "cannot run '%s' as user '%s'", name, user);
		if (err == -EACCES)
			hint("--as-root, or -u with a user who may run it");
	} else {
		fail(err, "cannot run '%s'", name);
		if (err == -EACCES && strchr(path, '/') && !access(path, F_OK))
			hint("chmod +x '%s', or naming the program that reads it first", path);
	}
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NO_EXEC;
}

/* ---- the child ---- */

static void restore_signals(void)
{
	for (int sig = 1; sig <= SIGNAL_LAST; sig++) {
		struct kernel_sigaction act = {}, now;

		act.handler = saved.ignored[sig] ? SIG_IGN : SIG_DFL;
		if (!syscall(SYS_rt_sigaction, sig, NULL, &now, sizeof(act.mask)) && now.handler != act.handler)
			syscall(SYS_rt_sigaction, sig, &act, NULL, sizeof(act.mask));
	}
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &saved.mask, NULL, sizeof(saved.mask));
}

/* Every file we were not started with goes at the exec, also one a library opened without that flag. */
static void hide_our_fds(void)
{
	unsigned first = 0;

	for (size_t i = 0; i < saved.fd_count; i++) {
		unsigned fd = saved.fd[i];

		if (fd > first)
			syscall(SYS_close_range, first, fd - 1, CLOSE_RANGE_CLOEXEC);
		first = fd + 1;
	}
	if (saved.fds_known)
		syscall(SYS_close_range, first, ~0u, CLOSE_RANGE_CLOEXEC);
}

/* Limits that a library raised for us, and only those. */
static void restore_limits(void)
{
	struct rlimit now;

	for (int i = 0; i < RLIM_NLIMITS; i++)
		if (!getrlimit(i, &now) && memcmp(&now, &saved.limit[i], sizeof(now)))
			setrlimit(i, &saved.limit[i]);
}

static int become(const struct identity *id)
{
	if (!id->is_other)
		return 0;
	if (syscall(SYS_setgroups, id->group_count, id->groups) ||
	    syscall(SYS_setresgid, id->gid, id->gid, id->gid) ||
	    syscall(SYS_setresuid, id->uid, id->uid, id->uid))
		return -errno;
	return 0;
}

static void tell(int report, int err)
{
	while (write(report, &err, sizeof(err)) < 0 && errno == EINTR)
		;
}

static __attribute__((noreturn)) void child(const struct launch *l, int gate, int report)
{
	char byte;
	int err;

	close(l->gate);			/* else our own copy would keep the gate from ending */
	restore_limits();
	umask(saved.umask);
	hide_our_fds();
	if (l->has_copies)
		copies_enter();
	err = become(&l->id);
	if (l->gpu_setting && access(l->gpu_library, R_OK))
		*l->gpu_setting = NULL;		/* in a folder that its user may not look into: then it is as if not asked for */
	if (!err && access(l->path, X_OK))
		err = -errno;
	restore_signals();
	tell(report, err);
	if (err || read(gate, &byte, 1) != 1)
		_exit(EXIT_RECORDER);
	/* Nothing between the gate and here: the recording begins with what the child does next. */
	execve(l->path, l->argv, l->env);
	if (errno == ENOEXEC)		/* text without "#!": execvp(3) and the shells give it to sh */
		execve(_PATH_BSHELL, l->sh_argv, l->env);
	tell(report, -errno);
	_exit(EXIT_RECORDER);
}

/* ---- the parent, up to the exec ---- */

/* The signals that are ours: not those the user had us ignore (nohup). */
static int take_signals(struct launch *l, const struct config *cfg)
{
	static const int ours[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP };
	/*
	 * What must not end or stop us: a closed stderr and a limit on the size of
	 * files are errors of write(2) instead, the terminal stays ours to write to
	 * when the command made a process group of its own its foreground, and the
	 * others come when the command sends something to its whole process group.
	 */
	static const int not_for_us[] = {
		SIGPIPE, SIGXFSZ, SIGXCPU, SIGTTOU, SIGTTIN,
		SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPWR, SIGSTKFLT,
	};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (!saved.ignored[ours[i]])
			sigaddset(&set, ours[i]);
	if (cfg->on_usr1)
		sigaddset(&set, SIGUSR1);
	if (cfg->on_usr2)
		sigaddset(&set, SIGUSR2);
	l->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->signals < 0)
		return -errno;
	sigaddset(&set, SIGIO);		/* read where the leases are: source/probed.c */
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(not_for_us); i++)
		signal(not_for_us[i], SIG_IGN);
	for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++)
		signal(sig, SIG_IGN);
	return 0;
}

/* The last of the environment, so that the child can take it away. */
static int add_setting(struct launch *l, const char *setting)
{
	size_t n = 0;
	char **env;

	while (l->env[n])
		n++;
	env = calloc(n + 2, sizeof(*env));
	if (!env)
		return -ENOMEM;
	memcpy(env, l->env, n * sizeof(*env));
	env[n] = (char *)setting;
	l->strings = l->env;
	l->env = env;
	l->gpu_setting = &env[n];
	l->gpu_library = strchr(setting, '=') + 1;
	return 0;
}

static int prepare_argv(struct launch *l, const struct config *cfg)
{
	size_t n = 0;

	while (cfg->argv[n])
		n++;
	l->name = cfg->argv[0];
	l->path = cfg->exec_path;
	l->argv = cfg->argv;
	l->sh_argv = calloc(n + 2, sizeof(*l->sh_argv));
	l->env = identity_environ(&l->id);
	if (!l->sh_argv || !l->env)
		return -ENOMEM;
	if (gputime_setting() && add_setting(l, gputime_setting()))
		return -ENOMEM;
	l->sh_argv[0] = (char *)_PATH_BSHELL;
	l->sh_argv[1] = (char *)l->path;
	memcpy(l->sh_argv + 2, l->argv + 1, n * sizeof(*l->argv));	/* its NULL too */
	return 0;
}

/* The next word of the child: 0, a negative errno; 1 when the pipe has ended. */
static int hear(const struct launch *l)
{
	int err;
	ssize_t n;

	do
		n = read(l->report, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	return n == sizeof(err) ? err : 1;
}

static int command_failed(const struct launch *l, int err)
{
	return launch_failed(l->name, l->path, l->id.is_other ? l->id.name : NULL, err);
}

static int fork_child(struct launch *l)
{
	__cleanup(close_fd) int gate = -1, report = -1;
	int pair[2];

	if (pipe2(pair, O_CLOEXEC))
		return -errno;
	gate = pair[0];
	l->gate = pair[1];
	if (pipe2(pair, O_CLOEXEC))
		return -errno;
	l->report = pair[0];
	report = pair[1];
	l->pid = fork();
	if (l->pid == 0)
		child(l, gate, report);
	if (l->pid < 0) {
		l->pid = 0;
		return -errno;
	}
	l->pidfd = syscall(SYS_pidfd_open, l->pid, 0);
	return l->pidfd < 0 ? -errno : 0;
}

static struct launch *launch_create(void)
{
	struct launch *l = calloc(1, sizeof(*l));

	if (l)
		l->pidfd = l->gate = l->report = l->signals = -1;
	return l;
}

int launch_nothing(struct launch **ret, const struct config *cfg)
{
	__cleanup(launch_destroyp) struct launch *l = launch_create();
	int err = l ? take_signals(l, cfg) : -ENOMEM;

	if (err)
		return fail(err, "cannot wait for signals");
	*ret = TAKE(l);
	return 0;
}

int launch_start(struct launch **ret, const struct config *cfg)
{
	__cleanup(launch_destroyp) struct launch *l = launch_create();
	int err;

	if (!l)
		return fail(-ENOMEM, "cannot start '%s'", cfg->argv[0]), EXIT_RECORDER;
	if (identity_find(&l->id, cfg->user, cfg->as_root))
		return EXIT_RECORDER;
	l->has_copies = !cfg->target_count && copies_wanted(cfg, &l->id);
	err = prepare_argv(l, cfg);
	err = err ?: take_signals(l, cfg);
	err = err ?: fork_child(l);
	if (err)
		return fail(err, "cannot start '%s'", cfg->argv[0]), EXIT_RECORDER;
	err = hear(l);
	if (err < 0)
		return command_failed(l, err);
	*ret = TAKE(l);
	return 0;
}

int launch_go(struct launch *l)
{
	ssize_t n;
	int err;

	do
		n = write(l->gate, "", 1);
	while (n < 0 && errno == EINTR);
	close_fd(&l->gate);
	l->gate = -1;
	l->was_let_go = true;
	err = hear(l);
	close_fd(&l->report);
	l->report = -1;
	return err < 0 ? command_failed(l, err) : 0;
}

void launch_destroy(struct launch *l)
{
	if (!l)
		return;
	if (l->pid && !l->was_let_go) {
		kill(l->pid, SIGKILL);
		while (waitpid(l->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close_fd(&l->pidfd);
	close_fd(&l->gate);
	close_fd(&l->report);
	close_fd(&l->signals);
	identity_release(&l->id);
	free(l->sh_argv);
	free(l->env);
	free(l->strings);
	free(l);
}

/* ---- the parent, while the command runs ---- */

/* Whether somebody at a terminal waits for us to stop when the command does, and can continue us. */
static bool has_terminal(void)
{
	__cleanup(close_fd) int fd = open(_PATH_TTY, O_RDWR | O_NOCTTY | O_CLOEXEC);

	return fd >= 0;
}

/*
 * The command has stopped: stop with it, so that the shell takes the terminal
 * back, and once it continues us see that the command goes on too. But when
 * neither Ctrl-Z reached us nor a terminal is there, somebody stopped the
 * command alone and will continue it alone; we would sleep on.
 */
static void stop_with_it(struct launch *l)
{
	siginfo_t info = {};

	if (!l->was_told_to_stop && !has_terminal())
		return;
	status_line(NULL);
	kill(getpid(), SIGSTOP);
	l->was_told_to_stop = false;
	/* fg continues the whole process group; a second SIGCONT would reach a handler twice. */
	if (!waitid(P_PID, l->pid, &info, WCONTINUED | WNOHANG) && !info.si_pid)
		kill(l->pid, SIGCONT);
}

static void look_after_child(struct launch *l)
{
	int status;
	pid_t pid;

	while ((pid = wait4(l->pid, &status, WNOHANG | WUNTRACED, &l->usage)) == l->pid) {
		if (WIFSTOPPED(status)) {
			stop_with_it(l);
			continue;
		}
		l->status = status;
		l->has_ended = true;
		return;
	}
}

static void note_interrupt(struct launch *l)
{
	struct timespec ts;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
	if (!l->interrupts || now - l->interrupted > SAME_PRESS_NS)
		l->interrupts++;
	l->interrupted = now;
}

/*
 * Sent by the command or something it started, so to its process group, which
 * is ours too ("kill 0"): the command has got it already, and means not us.
 */
static bool came_from_command(const struct launch *l, const struct signalfd_siginfo *info)
{
	__cleanup(close_fd) int sender = info->ssi_code == SI_KERNEL ? -1 : syscall(SYS_pidfd_open, info->ssi_pid, 0);
	pid_t pid = process_in_proc(sender), command = process_in_proc(l->pidfd);

	for (int level = 0; level < 64 && pid > 1; level++, pid = process_parent(pid))
		if (pid == command)
			return true;
	return false;
}

/* Whoever sends us one of these where there is no command means us. */
static void take_signal_alone(struct launch *l, const struct signalfd_siginfo *info)
{
	switch (info->ssi_signo) {
	case SIGCHLD:
		break;
	case SIGINT:
		note_interrupt(l);
		break;
	case SIGTSTP:
		status_line(NULL);
		kill(getpid(), SIGSTOP);
		break;
	default:
		l->was_told_to_end = true;
	}
}

static void take_signal(struct launch *l, const struct signalfd_siginfo *info)
{
	if (!l->was_let_go) {
		take_signal_alone(l, info);
		return;
	}
	if (info->ssi_signo == SIGCHLD || came_from_command(l, info))
		return;
	switch (info->ssi_signo) {
	case SIGINT:
		note_interrupt(l);
		break;
	case SIGTSTP:
		l->was_told_to_stop = true;
		break;
	case SIGTERM:
	case SIGHUP:
		/* From the kernel: the terminal is gone, which the command was told as we were. */
		if (info->ssi_code != SI_KERNEL && !l->has_ended)
			kill(l->pid, info->ssi_signo);
		break;
	}	/* SIGQUIT is the command's to answer */
}

enum launch_action launch_on_signal(struct launch *l)
{
	struct signalfd_siginfo info;

	while (read(l->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGUSR1 && info.ssi_signo != SIGUSR2)
			take_signal(l, &info);
		else if (!l->was_let_go || !came_from_command(l, &info))
			l->asked |= 1u << info.ssi_signo;
	}
	if (!l->was_let_go)
		return l->interrupts > 1 ? LAUNCH_HURRY :
		       l->interrupts || l->was_told_to_end ? LAUNCH_DETACH : LAUNCH_RUNNING;
	if (!l->has_ended)
		look_after_child(l);
	if (l->interrupts > 2)
		return LAUNCH_HURRY;
	if (l->has_ended)
		return LAUNCH_EXITED;
	return l->interrupts == 2 ? LAUNCH_DETACH : LAUNCH_RUNNING;
}

pid_t launch_pid(const struct launch *l)
{
	return l->pid;
}

int launch_pidfd(const struct launch *l)
{
	return l->pidfd;
}

unsigned launch_asked(struct launch *l)
{
	unsigned asked = l->asked;

	l->asked = 0;
	return asked;
}

int launch_signal_fd(const struct launch *l)
{
	return l->signals;
}

unsigned launch_interrupts(const struct launch *l)
{
	return l->interrupts;
}

int launch_status(const struct launch *l)
{
	return l->status;
}

const struct rusage *launch_usage(const struct launch *l)
{
	return &l->usage;
}

void launch_exit_like_child(int status)
{
	sigset_t set;

	if (!WIFSIGNALED(status))
		exit(WEXITSTATUS(status));
	fflush(NULL);
	prctl(PR_SET_DUMPABLE, 0);	/* a core file of ours would bury the command's */
	signal(WTERMSIG(status), SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, WTERMSIG(status));
	kill(getpid(), WTERMSIG(status));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	exit(128 + WTERMSIG(status));	/* as the shells show it: the first process of a PID namespace cannot kill itself */
}
