/*
 * bas32.c - a 32-bit program, without a C library: what it does to files by int 0x80 has the numbers of the other table.
 *
 * bas32 FOLDER: works there, and prints what `bas.py events` must print for it, from its Open on. It reads 50 times:
 * read is 3, which is close on x86-64. At last it forks; the child execs "bas32" of FOLDER, a link to this program.
 */
static char text[16384];
static int len, pid;
static const char *folder;

static long call(long nr, long a, long b, long c)
{
	long r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return r;
}

static void at(long nr, long a, long b, long c, long d, long e)
{
	long r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e) : "memory");
	(void)r;
}

static void put(const char *s)
{
	while (*s)
		text[len++] = *s++;
}

static void number(long n)
{
	char digits[24], *p = digits + 23;

	*p = 0;
	do
		*--p = '0' + n % 10;
	while (n /= 10);
	put(p);
}

static void begin(const char *tag, const char *key, long first)
{
	number(pid);
	put("\t");
	put(tag);
	put("\t");
	put(key);
	if (*key)
		number(first);
}

static void more(const char *key, long n)
{
	put(key);
	number(n);
}

static void path(const char *key, const char *name)
{
	put(key);
	put(folder);
	put("/");
	put(name);
}

static long opened(long fd, long flags, long mode, const char *name)
{
	begin("Open", "flags=", flags);
	more(",mode=", mode);
	more(",fd=", fd);
	path("\tFN=", name);
	path("\tFO=", name);
	put("\n");
	return fd;
}

static void shut(long fd)
{
	call(6, fd, 0, 0);
	begin("Close", "fd=", fd);
	put("\n");
}

static void two(const char *tag, const char *first, const char *second, const char *from, const char *to)
{
	begin(tag, "", 0);
	path(first, from);
	path(second, to);
	put("\n");
}

static void descriptors(void)
{
	int p[2];
	char byte;
	long fd = opened(call(5, (long)"a", 0102, 0600), 0102, 0600, "a"), other;

	for (int i = 0; i < 50; i++)
		call(3, fd, (long)&byte, 1);
	shut(fd);
	shut(opened(call(295, -100, (long)"a", 0100000), 0100000, 0, "a"));	/* openat; O_LARGEFILE */
	shut(opened(call(8, (long)"c", 0640, 0), 01101, 0640, "c"));		/* creat */
	call(5, (long)"nope", 0, 0);
	call(42, (long)p, 0, 0);						/* pipe */
	begin("Pipe", "fd1=", p[0]);
	more(",fd2=", p[1]);
	put(",flags=0\n");
	other = call(41, p[0], 0, 0);						/* dup */
	begin("Dup", "oldfd=", p[0]);
	more(",newfd=", other);
	put(",flags=0\n");
	call(63, p[1], 50, 0);							/* dup2 */
	begin("Dup", "oldfd=", p[1]);
	put(",newfd=50,flags=0\n");
	other = call(221, p[1], 0, 60);						/* fcntl64, F_DUPFD */
	begin("Dup", "oldfd=", p[1]);
	more(",newfd=", other);
	put(",flags=0\n");
	call(55, p[1], 3, 0);							/* fcntl, F_GETFL */
	shut(p[0]);
}

static void names(void)
{
	call(38, (long)"a", (long)"b", 0);
	two("RenameFrom", "\tRF=", "\tRT=", "a", "b");
	call(9, (long)"b", (long)"l", 0);
	two("LinkFrom", "\tLF=", "\tLT=", "b", "l");
	call(83, (long)"b", (long)"s", 0);
	begin("Symlink", "", 0);
	put("\tST=b");
	path("\tSR=", "b");
	path("\tSL=", "s");
	put("\n");
	at(353, -100, (long)"l", -100, (long)"l2", 0);				/* renameat2 */
	begin("Rename2From", "flags=", 0);
	path("\tRF=", "l");
	path("\tRT=", "l2");
	put("\n");
}

static void execs(void)
{
	char *argv[] = { (char *)"a 32-bit argument", (char *)0 }, *env[] = { (char *)0 };
	long child = call(2, 0, 0, 0);

	if (!child) {
		call(11, (long)"bas32", (long)argv, (long)env);
		call(1, 1, 0, 0);
	}
	call(7, child, 0, 0);							/* waitpid */
	begin("SchedFork", "pid=", child);
	put("\n");
	pid = child;
	begin("New_proc", "argsize=", 18);
	path("\tPI=", "bas32");
	path("\tPP=", "bas32");
	put("\tCW=");
	put(folder);
	put("\tA=a 32-bit argument\n");
	begin("Exit", "status=", 3);
	put("\n");
}

__attribute__((noreturn, used)) static void run(long argc, char **argv)
{
	if (argc < 2)
		call(1, 3, 0, 0);
	folder = argv[1];
	pid = call(20, 0, 0, 0);						/* getpid */
	call(12, (long)folder, 0, 0);						/* chdir */
	descriptors();
	names();
	execs();
	call(4, 1, (long)text, len);
	call(1, 0, 0, 0);
	__builtin_unreachable();
}

__asm__(".globl _start\n_start:\n\tmov (%esp), %eax\n\tlea 4(%esp), %edx\n\tand $-16, %esp\n\tsub $8, %esp\n"
	"\tpush %edx\n\tpush %eax\n\tcall run\n");
