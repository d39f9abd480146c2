/*
 * coroutine.c - stacks that are switched in the middle of calls, with swapcontext(); with -DBYHAND by an instruction or two,
 * under a name that nobody knows.
 */
#include <ucontext.h>

#include "truth.h"

#define COROUTINES 3
#define ROUNDS	50

#ifdef BYHAND
typedef void *place;			/* %rsp, on top of six registers and where to go on */
void change(place *from, const place *to);

__asm__(
	".text\n"
	"change: .cfi_startproc\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov (%rsi), %rsp\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	"	.cfi_endproc\n"
);
#else
typedef ucontext_t place;
#define change	swapcontext
#endif

static place home, self[COROUTINES];
static int running, alive;
static unsigned long sum;

static void yield_home(void)
{
	ENTER();
	change(&self[running], &home);
	KEEP_FRAME();
}

static void step(int n)
{
	ENTER();
	if (n > 0)
		step(n - 1);
	else
		yield_home();
	sum = sum * 31 + n;
	KEEP_FRAME();
}

static void routine(int id)
{
	ENTER();
	for (int i = 0; i < ROUNDS; i++)
		step(id + 2);
	alive--;
	yield_home();
}

static void run_all(void)
{
	ENTER();
	while (alive)
		for (running = 0; running < COROUTINES; running++)
			change(&home, &self[running]);
}

#ifdef BYHAND
static void start(void) { routine(running); }

static void prepare(int id, char *stack, size_t size)
{
	void **top = (void **)(stack + size) - 2;	/* start()'s own return address, which it does not use */

	*top = (void *)start;
	self[id] = top - 6;
}
#else
static void prepare(int id, char *stack, size_t size)
{
	getcontext(&self[id]);
	self[id].uc_stack.ss_sp = stack;
	self[id].uc_stack.ss_size = size;
	makecontext(&self[id], (void (*)(void))routine, 1, id);
}
#endif

int main(void)
{
	static char stack[COROUTINES][1 << 16] __attribute__((aligned(16)));

	ENTER();
	for (int i = 0; i < COROUTINES; i++)
		prepare(i, stack[i], sizeof(stack[i]));
	/* One stack must not end before the others: all take the same number of turns. */
	alive = COROUTINES;
	run_all();
	printf("sum %lx\n", sum);
	truth_print();
	return 0;
}
