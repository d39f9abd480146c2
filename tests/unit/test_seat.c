/* Writing into a task at a gate: only into the one that waits there. A child of ours stands in for it. */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base.h"
#include "gate.h"
#include "process.h"
#include "source/seat.h"
#include "test.h"

static uint64_t words[2] = { 111, 222 };

/* A process that holds @words and stands still. */
static pid_t standing(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

/* A slot that asks to have 111 and 222 replaced by 1 and 2 in the process @pid. */
static struct gate_slot *slot_of(pid_t pid)
{
	struct gate_slot *s = calloc(1, sizeof(*s));

	s->state = GATE_SERVING;
	s->kind = GATE_WRITE;
	s->pid = s->tid = pid;
	s->count = 2;
	s->word[0] = (struct gate_word){ .addr = (uintptr_t)&words[0], .have = 111, .value = 1 };
	s->word[1] = (struct gate_word){ .addr = (uintptr_t)&words[1], .have = 222, .value = 2 };
	return s;
}

static void check_words(pid_t pid, uint64_t first, uint64_t second)
{
	struct iovec from = { words, sizeof(words) }, to = { (uint64_t [2]){}, sizeof(words) };

	if (process_vm_readv(pid, &to, 1, &from, 1, 0) != sizeof(words))
		SKIP("the memory of a child cannot be read here");
	CHECK_INT(((uint64_t *)to.iov_base)[0], first);
	CHECK_INT(((uint64_t *)to.iov_base)[1], second);
}

TEST(seat_the_task_that_waits_is_written_to)
{
	pid_t pid = standing();

	check_words(pid, 111, 222);
	CHECK(seat_write(slot_of(pid)));
	check_words(pid, 1, 2);
}

TEST(seat_a_process_that_holds_another_word_is_left_alone)
{
	pid_t pid = standing();
	struct gate_slot *s = slot_of(pid);

	s->word[1].have = 223;
	CHECK(!seat_write(s));
	check_words(pid, 111, 222);
}

TEST(seat_whose_task_has_left_is_not_written_for)
{
	pid_t pid = standing();
	struct gate_slot *s = slot_of(pid);

	s->state = GATE_LEFT;
	CHECK(!seat_write(s));
	check_words(pid, 111, 222);
}

TEST(seat_without_a_number_is_not_served)
{
	CHECK(!seat_write(slot_of(0)));
}

TEST(process_folder_is_that_of_the_number)
{
	pid_t pid = standing();
	int proc = process_open(pid);
	char text[32], want[32];
	int fd, n;

	CHECK(proc >= 0);
	fd = openat(proc, "stat", O_RDONLY);
	n = read(fd, text, sizeof(text) - 1);
	CHECK(n > 0);
	text[n] = '\0';
	snprintf(want, sizeof(want), "%d (", pid);
	CHECK(!strncmp(text, want, strlen(want)));
}

TEST(process_that_has_ended_has_no_folder)
{
	pid_t pid = standing();

	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
	CHECK(process_open(pid) < 0);
}
