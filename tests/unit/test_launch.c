/* Launching: no kernel and no root needed, the command is only started and waited for. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base.h"
#include "config.h"
#include "identity.h"
#include "launch.h"
#include "test.h"

static struct config *command(char *const *argv)
{
	struct config *cfg = calloc(1, sizeof(*cfg));

	cfg->argv = (char **)argv;
	CHECK_INT(launch_resolve(argv[0], &cfg->exec_path), 0);
	return cfg;
}

static enum launch_action next_action(struct launch *l)
{
	struct pollfd p = { .fd = launch_signal_fd(l), .events = POLLIN };
	enum launch_action action;

	do {
		poll(&p, 1, 10000);
		action = launch_on_signal(l);
	} while (action == LAUNCH_RUNNING);
	return action;
}

/* The status of a shell script, as wait(2) encodes it. */
static int status_of(const char *script)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	struct launch *l;
	int status;

	CHECK_INT(launch_start(&l, command(argv)), 0);
	CHECK_INT(launch_go(l), 0);
	CHECK_INT(next_action(l), LAUNCH_EXITED);
	status = launch_status(l);
	launch_destroy(l);
	return status;
}

/* The status of a process that leaves as a command of @status did. */
static int passed_on(int status)
{
	int got;
	pid_t pid = fork();

	if (pid == 0)
		launch_exit_like_child(status);
	CHECK(waitpid(pid, &got, 0) == pid);
	return got;
}

TEST(every_exit_status_is_passed_on)
{
	char script[32];

	launch_save_signals();
	for (int n = 0; n < 256; n++) {
		int status;

		snprintf(script, sizeof(script), "exit %d", n);
		status = status_of(script);
		CHECK_INT(status, n << 8);
		CHECK_INT(passed_on(status), n << 8);
	}
}

TEST(death_by_a_signal_is_passed_on)
{
	static const int signals[] = {
		SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2,
		SIGPIPE, SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ, SIGSYS,
	};
	char script[64];

	launch_save_signals();
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		int status;

		snprintf(script, sizeof(script), "ulimit -c 0; kill -%d $$", signals[i]);
		status = status_of(script);
		CHECK(WIFSIGNALED(status));
		CHECK_INT(WTERMSIG(status), signals[i]);
		CHECK_INT(passed_on(status), signals[i]);	/* and no core of ours: bit 0x80 */
	}
}

TEST(a_command_that_was_not_let_go_never_runs)
{
	char *argv[] = { (char *)"touch", (char *)"/tmp/recorder-unit-never", NULL };
	struct launch *l;
	pid_t pid;

	unlink(argv[1]);
	launch_save_signals();
	CHECK_INT(launch_start(&l, command(argv)), 0);
	pid = launch_pid(l);
	CHECK(!kill(pid, 0));
	launch_destroy(l);
	CHECK(kill(pid, 0) && errno == ESRCH);
	CHECK(access(argv[1], F_OK));
}

TEST(a_command_whose_recorder_dies_before_the_start_never_runs)
{
	char *argv[] = { (char *)"touch", (char *)"/tmp/recorder-unit-never", NULL };
	struct launch *l;
	pid_t ours, child;
	int pair[2];

	unlink(argv[1]);
	CHECK(!pipe(pair));
	ours = fork();
	if (ours == 0) {
		launch_save_signals();
		CHECK_INT(launch_start(&l, command(argv)), 0);
		child = launch_pid(l);
		CHECK(write(pair[1], &child, sizeof(child)) == sizeof(child));
		raise(SIGKILL);
	}
	close(pair[1]);
	CHECK(read(pair[0], &child, sizeof(child)) == sizeof(child));
	waitpid(ours, NULL, 0);
	CHECK(read(pair[0], &child, 1) == 0);	/* its end of the pipe is closed, so it is gone */
	CHECK(access(argv[1], F_OK));
}

TEST(a_command_that_cannot_be_executed_is_told_by_its_status)
{
	char dir[] = "/tmp/recorder-unit-XXXXXX", *argv[] = { NULL, NULL };
	struct launch *l;
	struct config *cfg;
	int fd;

	CHECK(mkdtemp(dir));
	CHECK(asprintf(&argv[0], "%s/broken", dir) > 0);
	fd = open(argv[0], O_CREAT | O_WRONLY, 0755);
	/* The beginning of an ELF file of no known machine: execve() says ENOEXEC, and sh finds no script either. */
	CHECK(write(fd, "\177ELF\2\1\1", 8) == 8);
	close(fd);
	launch_save_signals();
	cfg = command(argv);
	unlink(argv[0]);			/* gone between the search and the fork */
	CHECK_INT(launch_start(&l, cfg), EXIT_NOT_FOUND);
	fd = open(argv[0], O_CREAT | O_WRONLY, 0644);
	close(fd);
	CHECK_INT(launch_start(&l, cfg), EXIT_NO_EXEC);
	chmod(argv[0], 0755);
	CHECK_INT(launch_start(&l, cfg), 0);
	unlink(argv[0]);			/* gone between the fork and the exec */
	CHECK_INT(launch_go(l), EXIT_NOT_FOUND);
	rmdir(dir);
}

TEST(interrupts_are_counted_and_a_double_one_is_one)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)"trap '' INT; sleep 20", NULL };
	struct timespec pause = { .tv_nsec = 120000000 };
	struct launch *l;

	launch_save_signals();
	CHECK_INT(launch_start(&l, command(argv)), 0);
	CHECK_INT(launch_go(l), 0);
	kill(getpid(), SIGINT);
	CHECK_INT(launch_on_signal(l), LAUNCH_RUNNING);
	kill(getpid(), SIGINT);			/* timeout(1) sends each signal twice */
	CHECK_INT(launch_on_signal(l), LAUNCH_RUNNING);
	CHECK_INT(launch_interrupts(l), 1);
	nanosleep(&pause, NULL);
	kill(getpid(), SIGINT);
	CHECK_INT(launch_on_signal(l), LAUNCH_DETACH);
	nanosleep(&pause, NULL);
	kill(getpid(), SIGINT);
	CHECK_INT(launch_on_signal(l), LAUNCH_HURRY);
	kill(launch_pid(l), SIGKILL);
}

TEST(nobody_else_is_known_by_root_or_user)
{
	struct identity id;

	unsetenv("SUDO_UID");
	CHECK_INT(identity_find(&id, NULL, false), 0);
	CHECK(!id.is_other);
	CHECK_INT(id.uid, geteuid());
	identity_release(&id);
	CHECK_INT(identity_find(&id, "no-such-user", false), -ENOENT);
}

/* The value of a variable in @env, or NULL. */
static const char *value_in(char **env, const char *name)
{
	size_t n = strlen(name);

	for (; *env; env++)
		if (!strncmp(*env, name, n) && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

TEST(the_user_who_called_sudo_gets_a_home)
{
	struct identity id;
	uid_t uid;
	gid_t gid;
	char **env;

	if (geteuid() != 0)
		SKIP("only root can be called by sudo");
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	CHECK_INT(identity_find(&id, NULL, false), 0);
	CHECK(id.is_other);
	CHECK_INT(id.uid, 65534);
	CHECK_INT(id.gid, 65534);
	identity_owner(&uid, &gid);
	CHECK_INT(uid, 65534);

	setenv("HOME", "/root", 1);
	setenv("USER", "root", 1);
	setenv("LOGNAME", "somebody", 1);
	env = identity_environ(&id);
	CHECK_STR(value_in(env, "HOME"), id.home);
	CHECK_STR(value_in(env, "USER"), id.name);
	CHECK_STR(value_in(env, "LOGNAME"), "somebody");
	free(env);
	identity_release(&id);

	CHECK_INT(identity_find(&id, NULL, true), 0);
	CHECK(!id.is_other);
	env = identity_environ(&id);
	CHECK_STR(value_in(env, "HOME"), "/root");
	free(env);
	identity_release(&id);

	setenv("SUDO_UID", "65534x", 1);	/* nothing sudo would write */
	CHECK_INT(identity_find(&id, NULL, false), 0);
	CHECK(!id.is_other);
}
