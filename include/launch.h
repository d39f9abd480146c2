/*
 * launch.h - the command: started as if we were not there, watched, and its end made ours.
 *
 * Order: launch_save_signals() first thing in main; launch_start() forks a
 * child that waits; mark and probe it; launch_go() lets it exec;
 * launch_on_signal() whenever launch_signal_fd() can be read; at the very end
 * launch_exit_like_child().
 *
 * The command gets argv, environment, working directory, umask, resource
 * limits, open files, controlling terminal, process group, signal mask and
 * dispositions as recorder itself was started with. It stays in recorder's
 * process group, so what the terminal sends reaches both.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <sys/resource.h>
#include <sys/types.h>

#define EXIT_RECORDER	125	/* as env(1): recorder itself failed */
#define EXIT_NO_EXEC	126	/* the command was found and cannot be run */
#define EXIT_NOT_FOUND	127

struct config;
struct launch;

/*
 * Where execve(2) will find @name, as execvp(3) looks for it: @name itself when
 * it has a slash, else the first executable file in PATH. Returns 0; -ENOENT
 * not found; -EACCES not executable; -EISDIR.
 */
int  launch_resolve(const char *name, char **ret);

/*
 * Say that the command cannot be run, and why. @name as the user wrote it;
 * @path as execve(2) was or would be given it, @name if it was not found; @user
 * who was to run it, NULL: ourselves. Returns the exit status to leave with, as
 * env(1): EXIT_NOT_FOUND for -ENOENT, else EXIT_NO_EXEC.
 */
int  launch_failed(const char *name, const char *path, const char *user, int err);

/* Note what the command is to inherit, before anything of it changes. */
void launch_save_signals(void);

/* What --signal gives a meaning waits until somebody reads it: it must not end us before. After launch_save_signals(). */
void launch_hold_signals(const struct config *cfg);

/*
 * Fork the child and let it wait. Signals that are ours to handle are blocked
 * from here on, also in threads made later; start no thread before. Returns 0,
 * or after a message the exit status to leave with: EXIT_RECORDER when the
 * fault is ours, else EXIT_NO_EXEC or EXIT_NOT_FOUND, as far as can be told
 * before the exec.
 */
int  launch_start(struct launch **ret, const struct config *cfg);

/*
 * There is no command: only the signals become ours, as above. Then the first that
 * would end us asks for LAUNCH_DETACH. Returns 0 or a negative errno, having said why.
 */
int  launch_nothing(struct launch **ret, const struct config *cfg);
void launch_destroy(struct launch *l);		/* a child that was not let go never runs */

pid_t launch_pid(const struct launch *l);
int   launch_pidfd(const struct launch *l);	/* lent */

/*
 * Let the child exec and wait until it has. Its next system call is the execve.
 * Returns 0, or as launch_start() the exit status to leave with.
 */
int  launch_go(struct launch *l);

enum launch_action {
	LAUNCH_RUNNING,
	LAUNCH_EXITED,		/* the command has ended */
	LAUNCH_DETACH,		/* second Ctrl-C: leave the command running, finish the files */
	LAUNCH_HURRY,		/* third: skip what can be skipped */
};

int  launch_signal_fd(const struct launch *l);	/* lent; readable when launch_on_signal() has work */

/* What the signals that came ask for. May stop and continue recorder as a whole, with the command (Ctrl-Z). */
enum launch_action launch_on_signal(struct launch *l);

/* Which of SIGUSR1 and SIGUSR2 came since the last time, of those that --signal names: bit N for signal N. */
unsigned launch_asked(struct launch *l);

unsigned launch_interrupts(const struct launch *l);	/* how often Ctrl-C was typed */

/* Once LAUNCH_EXITED was returned: as wait(2) encodes it; of the command and those children it waited for. */
int  launch_status(const struct launch *l);
const struct rusage *launch_usage(const struct launch *l);

/* Leave as the command did: with its exit status, or by its signal, without a core file of our own. */
void launch_exit_like_child(int status) __attribute__((noreturn));

#endif
