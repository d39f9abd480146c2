/*
 * set.c - which calls a user means by --syscalls=SET.
 */
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base.h"
#include "nearest.h"
#include "args.h"

static const struct class {
	const char *name;
	uint16_t    bits;
} classes[] = {
	{ "%file", TF }, { "%desc", TD }, { "%process", TP }, { "%network", TN }, { "%net", TN },
	{ "%signal", TS }, { "%memory", TM }, { "%ipc", TI }, { "%creds", TC }, { "%clock", TK },
};

const char *syscall_classes(void)
{
	return "%file %desc %process %network %signal %memory %ipc %creds %clock";
}

static const struct class *find_class(const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(classes); i++) {
		if (!strcmp(classes[i].name, name))
			return &classes[i];
	}
	return NULL;
}

/* The name or class most like @word; NULL: that would be a guess. */
static const char *find_nearest(const char *word)
{
	struct nearest n = { .word = word };

	for (unsigned i = 0; i < ARRAY_SIZE(classes); i++) {
		if (!strcmp(classes[i].name + 1, word))
			return classes[i].name;
		nearest_offer(&n, classes[i].name);
	}
	for (unsigned i = 0; i < syscall_table_rows; i++) {
		if (!(syscall_table[i].classes & TX))
			nearest_offer(&n, syscall_table[i].name);
	}
	return n.found;
}

static void choose(enum abi abi, bool chosen[SYS_MAX], const struct sysdef *def)
{
	int32_t nr = def->nr[abi];

	if (nr >= 0 && nr < SYS_MAX)
		chosen[nr] = true;
}

static int choose_matching(enum abi abi, bool chosen[SYS_MAX], const char *expression)
{
	regex_t re;

	if (regcomp(&re, expression, REG_EXTENDED | REG_NOSUB))
		return -EINVAL;
	for (unsigned i = 0; i < syscall_table_rows; i++) {
		if (!regexec(&re, syscall_table[i].name, 0, NULL, 0))
			choose(abi, chosen, &syscall_table[i]);
	}
	regfree(&re);
	return 0;
}

static int choose_class(enum abi abi, bool chosen[SYS_MAX], const char *name)
{
	const struct class *class = find_class(name);

	if (!class)
		return -EINVAL;
	for (unsigned i = 0; i < syscall_table_rows; i++) {
		if (syscall_table[i].classes & class->bits)
			choose(abi, chosen, &syscall_table[i]);
	}
	return 0;
}

/* A name may belong to several rows, and to a call that this ABI does not have: then nothing is chosen. */
static int choose_named(enum abi abi, bool chosen[SYS_MAX], const char *name)
{
	int err = -EINVAL;

	if (!strncmp(name, "sys_", 4))
		name += 4;			/* as uftrace shows them */
	for (unsigned i = 0; i < syscall_table_rows; i++) {
		if (strcmp(syscall_table[i].name, name))
			continue;
		choose(abi, chosen, &syscall_table[i]);
		err = 0;
	}
	return err;
}

static int choose_word(enum abi abi, bool chosen[SYS_MAX], const char *word)
{
	if (!strcmp(word, "all") || !strcmp(word, "%all")) {
		memset(chosen, true, SYS_MAX);
		return 0;
	}
	if (!strcmp(word, "none"))
		return 0;
	if (word[0] == '/')
		return choose_matching(abi, chosen, word + 1);
	if (word[0] == '%')
		return choose_class(abi, chosen, word);
	return choose_named(abi, chosen, word);
}

static int refuse(const char *word, char *bad_word, size_t bad_size, const char **nearest)
{
	snprintf(bad_word, bad_size, "%s", word);
	*nearest = word[0] == '/' ? NULL : find_nearest(word);
	return -EINVAL;
}

/* The kernel's own calls are nobody's, whatever was asked for. */
static void leave_out_kernels_own(enum abi abi, bool chosen[SYS_MAX])
{
	for (unsigned i = 0; i < syscall_table_rows; i++) {
		int32_t nr = syscall_table[i].nr[abi];

		if (syscall_table[i].classes & TX && nr >= 0 && nr < SYS_MAX)
			chosen[nr] = false;
	}
}

int syscall_set_parse_abi(enum abi abi, bool wanted[SYS_MAX], const char *set,
			  char *bad_word, size_t bad_size, const char **nearest)
{
	bool is_rest = set[0] == '!', may_be_unknown;
	bool chosen[SYS_MAX] = { false };
	char word[128];
	size_t len;

	for (const char *s = set + is_rest;; s += len + 1) {
		may_be_unknown = *s == '?';
		s += may_be_unknown;
		len = strcspn(s, ",");
		snprintf(word, sizeof(word), "%.*s", (int)MIN(len, sizeof(word) - 1), s);
		if (choose_word(abi, chosen, word) && !may_be_unknown)
			return refuse(word, bad_word, bad_size, nearest);
		if (!s[len])
			break;
	}
	for (unsigned nr = 0; nr < SYS_MAX; nr++)
		wanted[nr] = chosen[nr] != is_rest;
	leave_out_kernels_own(abi, wanted);
	return 0;
}

int syscall_set_parse(bool wanted[SYS_MAX], const char *set,
		      char *bad_word, size_t bad_size, const char **nearest)
{
	return syscall_set_parse_abi(ABI_NATIVE, wanted, set, bad_word, bad_size, nearest);
}

bool syscall_set_has_all(const char *set)
{
	bool has = false;
	size_t len;

	for (const char *s = set + (*set == '!'); *s; s += len + (s[len] != '\0')) {
		len = strcspn(s, ",");
		has |= (len == 3 && !strncmp(s, "all", 3)) || (len == 4 && !strncmp(s, "%all", 4));
	}
	return has;
}
