/*
 * syscall.c - finding rows of the table, by number and by name, and what BPF is told of them.
 *
 * The table is for reading: its rows stand in no order a machine could use. So
 * one array per ABI, made at the first question, leads from number to row.
 */
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base.h"
#include "args.h"

#define X32_BIT	0x40000000u	/* set in the numbers of x32 programs, which run under x86-64 */

static const struct sysdef *rows[ABIS][SYS_MAX];
static struct sysdef	    nameless[SYS_MAX + 1];	/* numbers without a row; last: all from SYS_MAX on */
static char		    names[SYS_MAX + 1][16];
static pthread_once_t	    once = PTHREAD_ONCE_INIT;

static void name_the_nameless(void)
{
	for (unsigned nr = 0; nr <= SYS_MAX; nr++) {
		struct sysdef *def = &nameless[nr];

		if (nr < SYS_MAX)
			snprintf(names[nr], sizeof(names[nr]), "syscall_%u", nr);
		else
			snprintf(names[nr], sizeof(names[nr]), "syscall_other");
		*def = (struct sysdef) { N(NO, NO, NO, NO), .name = names[nr], .arg = {
			HEX("arg1"), HEX("arg2"), HEX("arg3"), HEX("arg4"), HEX("arg5"), HEX("arg6") } };
	}
}

static void find_rows(void)
{
	for (unsigned i = 0; i < syscall_table_rows; i++) {
		for (unsigned abi = 0; abi < ABIS; abi++) {
			int32_t nr = syscall_table[i].nr[abi];

			if (nr >= 0 && nr < SYS_MAX)
				rows[abi][nr] = &syscall_table[i];
		}
	}
	name_the_nameless();
}

/* ARM has a few calls with numbers of their own, far above all others. */
static const struct sysdef *find_high(uint32_t nr, enum abi abi)
{
	for (unsigned i = 0; i < syscall_table_rows; i++) {
		if (syscall_table[i].nr[abi] == (int32_t)nr)
			return &syscall_table[i];
	}
	return NULL;
}

const struct sysdef *syscall_def_abi(uint32_t nr, enum abi abi)
{
	pthread_once(&once, find_rows);
	if (nr < SYS_MAX)
		return rows[abi][nr];
	if (nr > INT32_MAX || abi != ABI_ARM)
		return NULL;
	return find_high(nr, abi);
}

const struct sysdef *syscall_def(uint32_t nr, bool compat)
{
	enum abi abi = compat ? ABI_COMPAT : ABI_NATIVE;
	const struct sysdef *def;

	if (abi == ABI_X86_64)
		nr &= ~X32_BIT;
	def = syscall_def_abi(nr, abi);
	return def ?: &nameless[MIN(nr, (uint32_t)SYS_MAX)];
}

const struct sysdef *syscall_named(const char *name)
{
	for (unsigned i = 0; i < syscall_table_rows; i++) {
		if (!strcmp(syscall_table[i].name, name))
			return &syscall_table[i];
	}
	return NULL;
}

unsigned syscall_count(void)
{
	return syscall_table_rows + ARRAY_SIZE(nameless);
}

unsigned syscall_index(const struct sysdef *def)
{
	if (def >= nameless && def < nameless + ARRAY_SIZE(nameless))
		return syscall_table_rows + (def - nameless);
	return def - syscall_table;
}

const struct sysdef *syscall_at(unsigned index)
{
	pthread_once(&once, find_rows);
	return index < syscall_table_rows ? &syscall_table[index] : &nameless[index - syscall_table_rows];
}

unsigned syscall_args(const struct sysdef *def)
{
	unsigned n = 0;

	while (n < 6 && def->arg[n].kind != ARG_NONE)
		n++;
	return n;
}

#define CREATES		(O_CREAT | __O_TMPFILE)
#define MOVES		(MREMAP_FIXED | MREMAP_DONTUNMAP)
#define FUTEX(op, used)	{ "futex", 1, FUTEX_CMD_MASK, op, used }
#define FCNTL(cmd)	{ "fcntl", 1, ~0u, cmd, 2 }

/* Where the bits @mask of argument @key are @value, the kernel looks at the first @used arguments only. */
static const struct shorter {
	const char *name;
	unsigned    key;
	uint32_t    mask, value;
	unsigned    used;
} shorter[] = {
	{ "open", 1, CREATES, 0, 2 }, { "openat", 2, CREATES, 0, 3 }, { "mq_open", 1, O_CREAT, 0, 2 },
	{ "mremap", 3, MOVES, 0, 4 },
	FUTEX(FUTEX_WAKE, 3), FUTEX(FUTEX_WAIT, 4), FUTEX(FUTEX_LOCK_PI, 4), FUTEX(FUTEX_LOCK_PI2, 4),
	FUTEX(FUTEX_UNLOCK_PI, 2), FUTEX(FUTEX_TRYLOCK_PI, 2), FUTEX(FUTEX_REQUEUE, 5),
	FCNTL(F_GETFD), FCNTL(F_GETFL), FCNTL(F_GETOWN), FCNTL(F_GETSIG), FCNTL(F_GETLEASE),
	FCNTL(F_GETPIPE_SZ), FCNTL(F_GET_SEALS),
};

/* Is there a row above for the call at all? Asked of every call, so names are compared once. */
static bool has_shorter[SYS_MAX * 2];
static pthread_once_t shorter_once = PTHREAD_ONCE_INIT;

static void find_shorter(void)
{
	for (unsigned row = 0; row < syscall_table_rows && row < ARRAY_SIZE(has_shorter); row++)
		for (unsigned i = 0; i < ARRAY_SIZE(shorter); i++)
			has_shorter[row] |= !strcmp(shorter[i].name, syscall_table[row].name);
}

unsigned syscall_args_used(const struct sysdef *def, const uint64_t *args)
{
	unsigned row = syscall_index(def);

	pthread_once(&shorter_once, find_shorter);
	if (row >= ARRAY_SIZE(has_shorter) || !has_shorter[row])
		return syscall_args(def);
	for (unsigned i = 0; i < ARRAY_SIZE(shorter); i++) {
		const struct shorter *s = &shorter[i];

		if ((args[s->key] & s->mask) == s->value && !strcmp(s->name, def->name))
			return s->used;
	}
	return syscall_args(def);
}

void syscall_plans(struct sys_plan plan[SYS_MAX], const bool wanted[SYS_MAX])
{
	for (unsigned nr = 0; nr < SYS_MAX; nr++) {
		const struct sysdef *def = syscall_def(nr, false);

		memset(&plan[nr], 0, sizeof(plan[nr]));
		plan[nr].wanted = wanted[nr] && !(def->classes & TX);
		plan[nr].at_entry = def->ret == RET_EXEC || def->ret == RET_NEVER;
		for (unsigned i = 0; i < 6; i++) {
			enum sys_take take = plan[nr].take[i] = syscall_arg_take(def, i);

			plan[nr].gives |= take == TAKE_STRING || take == TAKE_BUF;
			plan[nr].gets |= take == TAKE_BUF_RET || take == TAKE_FDS;
		}
	}
}
