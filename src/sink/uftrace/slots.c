/*
 * slots.c - slots, and the files that tell a reader of them: syscall.sym and syscall.dbg.
 */
#include "base.h"
#include "out.h"
#include "sink/uftrace/calls.h"

#define SLOTS_SPARE	4096	/* kept for the plainest slot of each call */
#define SLOTS_PER_CALL	64	/* a call that is shown in more ways shows all else as hexadecimal */
#define FUNCS_MAX	8192	/* names of uf_calls_named(), and probes by the forms of their arguments */
#define UNKNOWN		"unknown"	/* what comes after those */

static const char *const spec_of[FORMATS] = {
	[F_DEC]	   = "i64",
	[F_HEX]	   = "x64",
	[F_STRING] = "s",
	[F_NAMED]  = "e:",
	[F_ERRNO]  = "e:errno",
};

const struct uf_unreal uf_unreal[UF_UNREALS] = {
	[UF_CALLS] = { UF_CALLS_START, UF_CALLS_END, "syscall", "/recorder/syscall" },
	[UF_CUDA]  = { UF_CALLS_END, UF_CUDA_END, "cuda", "/recorder/cuda" },
};

int uf_calls_create(struct uf_calls **ret, const struct about *about, enum uf_unreal_module which)
{
	struct uf_calls *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->about = about;
	c->where = &uf_unreal[which];
	c->hash_size = 256;
	c->hash = calloc(c->hash_size, sizeof(*c->hash));
	c->info = calloc(syscall_count(), sizeof(*c->info));
	if (!c->hash || !c->info) {
		uf_calls_destroy(c);
		return -ENOMEM;
	}
	c->has_new_slots = c->has_new_names = true;	/* there must be files, if empty ones */
	*ret = c;
	return 0;
}

void uf_calls_destroy(struct uf_calls *c)
{
	if (!c)
		return;
	for (unsigned i = 0; c->info && i < syscall_count(); i++)
		for (unsigned j = 0; j <= RESULT; j++)
			column_destroy(c->info[i].column[j]);
	column_destroy(c->dims);
	for (size_t i = 0; i < c->slot_count; i++) {
		free(c->slot[i].name);
		free(c->slot[i].spec);
	}
	free(c->slot);
	free(c->hash);
	free(c->info);
	free(c);
}

/* Where @key's slot is noted, or would be. */
static uint32_t *slot_entry(const struct uf_calls *c, uint64_t key)
{
	size_t i = hash_key(key) & (c->hash_size - 1);

	while (c->hash[i] && c->slot[c->hash[i] - 1].key != key)
		i = (i + 1) & (c->hash_size - 1);
	return &c->hash[i];
}

static int widen_hash(struct uf_calls *c)
{
	uint32_t *old = c->hash;

	if (c->slot_count * 2 < c->hash_size)
		return 0;
	c->hash = calloc(c->hash_size * 2, sizeof(*c->hash));
	if (!c->hash) {
		c->hash = old;
		return -ENOMEM;
	}
	c->hash_size *= 2;
	for (size_t i = 0; i < c->slot_count; i++)
		*slot_entry(c, c->slot[i].key) = i + 1;
	free(old);
	return 0;
}

uint32_t slot_add(struct uf_calls *c, const struct slot *slot)
{
	if (grow(&c->slot, &c->slot_room, c->slot_count, sizeof(*c->slot)) || widen_hash(c))
		return 0;
	c->slot[c->slot_count++] = *slot;
	*slot_entry(c, slot->key) = c->slot_count;
	c->has_new_slots = true;
	return c->slot_count;
}

uint32_t slot_find(const struct uf_calls *c, uint64_t key)
{
	return *slot_entry(c, key);
}

static size_t slots_max(const struct uf_calls *c)
{
	return (c->where->end - c->where->start) / UF_SLOT_BYTES;
}

uint64_t slot_addr(const struct uf_calls *c, uint32_t slot)
{
	return c->where->start + (uint64_t)(slot - 1) * UF_SLOT_BYTES;
}

bool slot_may_be_added(const struct uf_calls *c, const struct info *info)
{
	return info->slots < SLOTS_PER_CALL && c->slot_count < slots_max(c) - SLOTS_SPARE;
}

#define KEY_FUNC	(1ull << 63)	/* no call has such a key */

static uint64_t hash_text(uint64_t key, const char *text)
{
	for (; *text; text++)
		key = (key ^ (unsigned char)*text) * 1099511628211ull;
	return (key ^ '\n') * 1099511628211ull;
}

uint64_t slot_of_function(struct uf_calls *c, const char *name, const char *spec, const char *result)
{
	struct slot slot = { .key = hash_text(hash_text(0, name), spec ?: "") | KEY_FUNC, .result = result };
	uint32_t known = slot_find(c, slot.key);

	if (known)
		return slot_addr(c, known);
	if ((c->funcs >= FUNCS_MAX || c->slot_count + 1 >= slots_max(c)) && strcmp(name, UNKNOWN))
		return 0;
	slot.name = strdup(name);
	slot.spec = spec ? strdup(spec) : NULL;
	known = slot.name && (slot.spec || !spec) ? slot_add(c, &slot) : 0;
	if (!known) {
		free(slot.name);
		free(slot.spec);
		return 0;
	}
	c->funcs++;
	return slot_addr(c, known);
}

uint64_t uf_calls_named(struct uf_calls *c, const char *name)
{
	return slot_of_function(c, name, NULL, NULL) ?: slot_of_function(c, UNKNOWN, NULL, NULL) ?: c->where->start;
}

/* --- the files --- */

static void put_name(struct out *o, const struct slot *slot)
{
	char clean[512];

	if (slot->info) {
		out_printf(o, "%ssys_%s\n", slot_is_compat(slot) ? "compat_" : "", slot->info->def->name);
		return;
	}
	uf_clean(clean, sizeof(clean), slot->name, UF_LINE);
	out_printf(o, "%s\n", *clean ? clean : "_");
}

static int create_file(struct out **ret, const struct uf_calls *c, int dirfd, const char *suffix)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%s", c->where->file, suffix);
	return out_create_replacing(ret, dirfd, name);
}

static int write_symbols(const struct uf_calls *c, int dirfd)
{
	struct out *o;
	int err = create_file(&o, c, dirfd, ".sym");

	if (err)
		return err;
	out_printf(o, "# symbols: %zu\n# path name: %s\n", c->slot_count + 1, c->where->path);
	for (size_t i = 0; i < c->slot_count; i++) {
		out_printf(o, "%016llx T ", (unsigned long long)(i * UF_SLOT_BYTES));
		put_name(o, &c->slot[i]);
	}
	if (!c->slot_count)
		out_printf(o, "%016x T __no_symbols\n", 0);
	out_printf(o, "%016zx ? __sym_end\n", MAX(c->slot_count, (size_t)1) * UF_SLOT_BYTES);
	err = out_seal(o);
	out_destroy(o);
	return err;
}

/* Two rows of the syscall table may bear one name: their enumerations must not. */
static void put_enum_name(struct out *o, const struct info *info, unsigned i)
{
	out_printf(o, "%s_%s", info->def->name, i == RESULT ? "ret" : info->def->arg[i].name);
	if (syscall_named(info->def->name) != info->def)
		out_printf(o, "_%u", info->index);
}

static void put_spec(struct out *o, const struct slot *slot, unsigned i, enum format format)
{
	if (i == RESULT)
		out_printf(o, "retval/%s", spec_of[format]);
	else
		out_printf(o, "arg%u/%s", i + 1, spec_of[format]);
	if (format == F_NAMED)
		put_enum_name(o, slot->info, i);
}

static void put_specs(struct out *o, const struct slot *slot)
{
	for (unsigned i = 0; i < RESULT && slot_format(slot, i); i++) {
		out_printf(o, i ? "," : "A: @");
		put_spec(o, slot, i, slot_format(slot, i));
	}
	if (slot_format(slot, 0))
		out_printf(o, "\n");
	if (slot_format(slot, RESULT)) {
		out_printf(o, "R: @");
		put_spec(o, slot, RESULT, slot_format(slot, RESULT));
		out_printf(o, "\n");
	}
}

static void put_enumerators(struct out *o, const struct column *col)
{
	for (size_t j = 0; j < col->named_count; j++)
		out_printf(o, "%s%s=%d", j ? "," : " {", col->named[j].text, col->named[j].value);
	out_printf(o, "}\n");
}

static void put_enum(struct out *o, const struct info *info, unsigned i)
{
	const struct column *col = info->column[i];

	if (!col || !col->named_count)
		return;
	out_printf(o, "E: enum ");
	put_enum_name(o, info, i);
	put_enumerators(o, col);
}

static void put_names(struct out *o, const struct column *col, const char *name)
{
	if (!col || !col->named_count)
		return;
	out_printf(o, "E: enum %s", name);
	put_enumerators(o, col);
}

static void put_errnos(struct out *o, const struct uf_calls *c)
{
	const char *before = "E: enum errno {";

	for (unsigned i = 0; i < ARRAY_SIZE(c->errno_seen); i++)
		if (c->errno_seen[i]) {
			out_printf(o, "%s%s=-%u", before, errno_name(i), i);
			before = ",";
		}
	if (*before == ',')
		out_printf(o, "}\n");
}

static int write_specs(const struct uf_calls *c, int dirfd)
{
	struct out *o;
	int err = create_file(&o, c, dirfd, ".dbg");

	if (err)
		return err;
	out_printf(o, "# path name: %s\n", c->where->path);
	put_errnos(o, c);
	put_names(o, c->dims, "dims");
	for (unsigned i = 0; i < syscall_count(); i++)
		for (unsigned j = 0; j <= RESULT; j++)
			put_enum(o, &c->info[i], j);
	for (size_t i = 0; i < c->slot_count; i++) {
		if (!c->slot[i].info && !c->slot[i].spec && !c->slot[i].result)
			continue;
		out_printf(o, "F: %llx ", (unsigned long long)(i * UF_SLOT_BYTES));
		put_name(o, &c->slot[i]);
		if (c->slot[i].spec)
			out_printf(o, "A: @%s\n", c->slot[i].spec);
		if (c->slot[i].result)
			out_printf(o, "R: @%s\n", c->slot[i].result);
		if (c->slot[i].info)
			put_specs(o, &c->slot[i]);
	}
	err = out_seal(o);
	out_destroy(o);
	return err;
}

bool uf_calls_must_write(const struct uf_calls *c)
{
	return c->has_new_slots;
}

int uf_calls_write(struct uf_calls *c, int dirfd)
{
	int err = 0;

	if (c->has_new_slots)
		err = write_symbols(c, dirfd);
	if (!err && (c->has_new_slots || c->has_new_names))
		err = write_specs(c, dirfd);
	if (!err)
		c->has_new_slots = c->has_new_names = false;
	return err;
}
