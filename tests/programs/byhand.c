/*
 * byhand.c - functions written in assembly that do with their return address and their stack what compilers do not, under
 * names that nobody knows: they run another function above their own frame (as libffi does), return twice, and look who
 * called them. One that leaves its stack: coroutine.c, -DBYHAND.
 */
#include "truth.h"

#define ABOVE	64	/* bytes of the caller's stack */

long run_above(void *place, long bytes, long (*fn)(long), long arg);
int  note_place(void **place);
void go_to(void **place, int value);
void *who_calls(void);

__asm__(
	".text\n"
	/* Its frame moves to the end of @place, and what it calls runs above where it was called. */
	"run_above: .cfi_startproc\n"
	"	mov (%rsp), %r10\n"
	"	lea (%rdi,%rsi), %rax\n"
	"	mov %rbp, 16(%rax)\n"
	"	mov %r10, 24(%rax)\n"
	"	mov %rax, %rbp\n"
	"	.cfi_def_cfa %rbp, 32\n"
	"	mov %rdi, %rsp\n"
	"	mov %rcx, %rdi\n"
	"	call *%rdx\n"
	"	lea 16(%rbp), %rsp\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"note_place: .cfi_startproc\n"
	"	pop %rdx\n"
	"	mov %rdx, (%rdi)\n"
	"	mov %rsp, 8(%rdi)\n"
	"	mov %rbp, 16(%rdi)\n"
	"	mov %rbx, 24(%rdi)\n"
	"	xor %eax, %eax\n"
	"	jmp *%rdx\n"
	"	.cfi_endproc\n"
	"go_to: .cfi_startproc\n"
	"	mov %esi, %eax\n"
	"	mov 16(%rdi), %rbp\n"
	"	mov 24(%rdi), %rbx\n"
	"	mov 8(%rdi), %rsp\n"
	"	jmp *(%rdi)\n"
	"	.cfi_endproc\n"
	"who_calls: .cfi_startproc\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	mov 8(%rbp), %rax\n"
	"	pop %rbp\n"
	"	ret\n"
	"	.cfi_endproc\n"
);

static unsigned long sum;

static long triple(long n)
{
	ENTER();
	sum += n;
	KEEP_FRAME();
	return 3 * n;
}

static long middle(long n)
{
	ENTER();
	long r = triple(n) + triple(n + 1);

	KEEP_FRAME();
	return r;
}

static long above(long n)
{
	ENTER();
	char place[ABOVE + 32] __attribute__((aligned(16)));	/* 32: what it keeps there */
	long r = run_above(place, ABOVE, middle, n);

	KEEP_FRAME();
	return 5 * r + 1;
}

static int again(void)
{
	ENTER();
	static void *place[4];
	volatile int rounds = 0;
	int got = note_place(place);

	rounds += got;
	triple(rounds);
	if (rounds < 5)
		go_to(place, 1);
	KEEP_FRAME();
	return rounds;
}

static int knows_caller(void)
{
	ENTER();
	char *who = who_calls();

	KEEP_FRAME();
	return who > (char *)knows_caller && who < (char *)knows_caller + 4096;
}

int main(void)
{
	long r = 0;

	for (int i = 0; i < 20; i++)
		r = r * 7 + above(i);
	printf("above %ld, again %d, caller known: %d\n", r, again(), knows_caller());
	printf("sum %lu\n", sum);
	truth_print();
	return 0;
}
