/*
 * compat32.c - a 32-bit program, without a C library: system calls by int 0x80, whose numbers are another table's.
 *
 * It asks for its parent 100 times (getppid is 64 there, which is uname's 63 + 1 on no 64-bit table), opens a file that
 * is there and one that is not, writes a line and exits with 3.
 */
static long call(long nr, long a, long b, long c)
{
	long r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return r;
}

void _start(void);
void _start(void)
{
	static const char said[] = "compat32: 100 getppid\n";

	for (int i = 0; i < 100; i++)
		call(64, 0, 0, 0);				/* getppid */
	call(5, (long)"/etc/passwd", 0, 0);			/* open */
	call(5, (long)"/no/such/file", 0, 0);
	call(4, 1, (long)said, sizeof(said) - 1);		/* write */
	call(1, 3, 0, 0);					/* exit */
}
