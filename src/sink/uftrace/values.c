/*
 * values.c - the values of an argument that have names, and the others seen among them.
 *
 * A value with a name is written as an enumerator. All of an enumeration is in
 * the file when a reader comes, so each lists the values that were seen and no
 * others, whole: "O_RDONLY|O_CLOEXEC=524288". What the reader cannot hold is
 * kept out of them (utils/auto-args.c:parse_enum_string, convert_enum_val):
 * values of more than 32 bits, and names that begin with a punctuation mark. A
 * number never goes into one, since what is not listed is shown as a sum of what
 * is.
 */
#include <ctype.h>

#include "base.h"
#include "sink/uftrace/calls.h"

#define NAME_MAX_OUT	100	/* bytes of an enumerator: a reader has 1024 for a call, 255 for a token */
#define NAMES_MAX	1000	/* enumerators of one argument; beyond that values are shown as numbers */
#define SEEN_MAX	1024	/* values of one argument whose text is remembered */
#define FIRST_VALUE	0x40000000	/* for names without a value of their own: far from others */

struct column *column_create(void)
{
	struct column *col = calloc(1, sizeof(*col));

	if (col)
		col->next_value = FIRST_VALUE;
	return col;
}

static void forget_seen(struct column *col)
{
	for (size_t i = 0; i < col->seen_room; i++)
		free(col->seen[i].text);
	free(TAKE(col->seen));
	col->seen_room = col->seen_count = 0;
}

void column_destroy(struct column *col)
{
	if (!col)
		return;
	forget_seen(col);
	for (size_t i = 0; i < col->named_count; i++)
		free(col->named[i].text);
	free(col->named);
	free(col);
}

static struct seen *seen_entry(const struct column *col, uint64_t key)
{
	size_t i = hash_key(key) & (col->seen_room - 1);

	while (col->seen[i].is_used && col->seen[i].key != key)
		i = (i + 1) & (col->seen_room - 1);
	return &col->seen[i];
}

/* Double the memory of values, or begin anew when it is as large as it may be. */
static int widen_seen(struct column *col)
{
	struct column wide = { .seen_room = col->seen_room ? col->seen_room * 2 : 16 };

	if (col->seen_count * 2 < col->seen_room)
		return 0;
	if (wide.seen_room > SEEN_MAX) {
		forget_seen(col);
		wide.seen_room = 16;
	}
	wide.seen = calloc(wide.seen_room, sizeof(*wide.seen));
	if (!wide.seen)
		return -ENOMEM;
	for (size_t i = 0; i < col->seen_room; i++)
		if (col->seen[i].is_used)
			*seen_entry(&wide, col->seen[i].key) = col->seen[i];
	free(col->seen);
	col->seen = wide.seen;
	col->seen_room = wide.seen_room;
	return 0;
}

/* Make @text an enumerator. False: it cannot be one. */
static bool tame_name(char *text)
{
	size_t len = strlen(text);

	if (!isalnum((unsigned char)*text) && *text != '_')
		return false;
	if (len >= NAME_MAX_OUT)
		strcpy(text + NAME_MAX_OUT - 4, "...");
	for (; *text; text++)
		if (*text <= ' ' || *text > '~' || strchr("=,{};\"\\", *text))
			*text = '_';
	return true;
}

static bool value_is_taken(const struct column *col, int32_t value)
{
	for (size_t i = 0; i < col->named_count; i++)
		if (col->named[i].value == value)
			return true;
	return false;
}

/* The number that stands for @text in the enumeration of @col. False: it has no room. */
static bool name_value(struct column *col, const char *text, int64_t value, int64_t *ret)
{
	struct named *n;

	for (n = col->named; n < col->named + col->named_count; n++)
		if (!strcmp(n->text, text)) {
			*ret = n->value;
			return true;
		}
	if (col->named_count >= NAMES_MAX ||
	    grow(&col->named, &col->named_room, col->named_count, sizeof(*n)))
		return false;
	n = &col->named[col->named_count];
	n->text = strdup(text);
	if (!n->text)
		return false;
	n->value = value;
	if (value != n->value || value_is_taken(col, value)) {
		while (value_is_taken(col, col->next_value))
			col->next_value++;
		n->value = col->next_value++;
	}
	col->named_count++;
	*ret = n->value;
	return true;
}

/* How @text, which says all about @value, is best written. */
static void choose(struct column *col, struct seen *s, char *text, uint64_t value)
{
	char number[32];

	s->value = value;
	s->text = NULL;
	snprintf(number, sizeof(number), "%lld", (long long)value);
	if (!strcmp(text, number)) {
		s->format = F_DEC;
		return;
	}
	snprintf(number, sizeof(number), "%#llx", (unsigned long long)value);
	if (!strcmp(text, number)) {
		s->format = F_HEX;
		return;
	}
	s->format = F_STRING;
	if (!strcmp(text, "NULL"))
		return;
	if (!tame_name(text)) {
		s->text = strdup(text);
	} else if (name_value(col, text, value, &s->value)) {
		s->format = F_NAMED;
	} else {
		s->format = F_HEX;
	}
}

const struct seen *column_find(const struct column *col, uint64_t key)
{
	const struct seen *s = col->seen_room ? seen_entry(col, key) : NULL;

	return s && s->is_used ? s : NULL;
}

const struct seen *column_add(struct column *col, uint64_t key, uint64_t value, char *text)
{
	struct seen *s;

	if (widen_seen(col))
		return NULL;
	s = seen_entry(col, key);
	s->key = key;
	s->is_used = true;
	col->seen_count++;
	choose(col, s, text, value);
	return s;
}
