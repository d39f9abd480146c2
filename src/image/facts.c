/*
 * facts.c - what an image is: build-id, interpreter, position, and whether Go made it.
 */
#include "base.h"
#include "reader.h"

#define INTERP_MAX	4096
#define NOTES_MAX	(1u << 20)
#define GO_ID_NOTE	4u	/* Go's cmd/internal/buildid: ELF note "Go\0\0", type 4 */

static int find_place(struct reader *r)
{
	struct image *img = r->img;
	uint64_t end = 0;
	bool have_first = false;

	for (size_t i = 0; i < r->elf.seg_count; i++) {
		const Elf64_Phdr *s = &r->elf.seg[i];

		if (s->p_type != PT_LOAD)
			continue;
		if (!have_first) {
			have_first = true;
			img->load_addr = s->p_vaddr / PAGE_BYTES * PAGE_BYTES;
		}
		end = s->p_vaddr + s->p_memsz;
		if (r->elf.head.e_phoff >= s->p_offset && r->elf.head.e_phoff - s->p_offset < s->p_filesz)
			img->phdr_addr = r->elf.head.e_phoff - s->p_offset + s->p_vaddr;
		if (s->p_flags & PF_X && !img->text_addr) {
			img->text_addr = s->p_vaddr;
			img->text_offset = s->p_offset;
		}
	}
	img->load_size = end - img->load_addr;
	img->is_pie = r->elf.head.e_type == ET_DYN;
	return 0;
}

static int read_interp(struct reader *r)
{
	const Elf64_Phdr *seg = elf_segment(&r->elf, PT_INTERP);
	struct piece p;
	int err;

	if (!seg || !seg->p_filesz)
		return 0;
	if (seg->p_filesz > INTERP_MAX)
		return -EBADMSG;
	err = elf_read(&r->elf, seg->p_offset, seg->p_filesz, &p);
	if (err)
		return err;
	r->img->interp = (char *)p.data;	/* elf_read() has ended it with a NUL */
	return 0;
}

static void take_note(struct image *img, uint32_t type, const char *owner, const uint8_t *desc, size_t len)
{
	if (type == NT_GNU_BUILD_ID && !strcmp(owner, "GNU") && len && len <= BUILD_ID_MAX)
		for (size_t i = 0; i < len; i++)
			snprintf(img->build_id + 2 * i, 3, "%02x", desc[i]);
	if (type == GO_ID_NOTE && !strcmp(owner, "Go"))
		img->is_go = true;
}

void notes_read(struct image *img, const struct piece *p)
{
	uint32_t name_len, desc_len, type;
	size_t at = 0;

	while (piece_u32(p, at, &name_len) && piece_u32(p, at + 4, &desc_len) && piece_u32(p, at + 8, &type)) {
		uint64_t name = at + 12, desc = name + ROUND_UP((uint64_t)name_len, 4);
		uint64_t end = desc + ROUND_UP((uint64_t)desc_len, 4);

		if (desc + desc_len > p->len || !name_len || p->data[name + name_len - 1])
			return;
		take_note(img, type, (const char *)p->data + name, p->data + desc, desc_len);
		at = end;
	}
}

static int find_notes(struct reader *r)
{
	for (size_t i = 0; i < r->elf.seg_count; i++) {
		const Elf64_Phdr *s = &r->elf.seg[i];
		struct piece p;
		int err;

		if (s->p_type != PT_NOTE)
			continue;
		err = elf_read(&r->elf, s->p_offset, MIN(s->p_filesz, (uint64_t)NOTES_MAX), &p);
		if (err)
			return err;
		notes_read(r->img, &p);
		piece_free(&p);
	}
	return 0;
}

/*
 * The minor number of "go1.19.8". Since Go 1.18 the version stands in
 * .go.buildinfo itself: magic, pointer size, flags with bit 1 set, and from byte
 * 32 on a string with its length before it (Go's debug/buildinfo).
 */
static unsigned go_minor(const struct piece *p)
{
	static const char magic[] = "\xff Go buildinf:";
	unsigned minor = 0;

	if (p->len < 40 || memcmp(p->data, magic, sizeof(magic) - 1) || !(p->data[15] & 2))
		return 0;
	if (memcmp(p->data + 33, "go1.", 4))
		return 0;
	for (const uint8_t *c = p->data + 37; *c >= '0' && *c <= '9' && minor < 1000; c++)
		minor = minor * 10 + (*c - '0');
	return minor;
}

static int find_go(struct reader *r)
{
	static const char *const marks[] = { ".note.go.buildid", ".go.buildinfo", ".gopclntab", ".data.rel.ro.gopclntab" };
	const Elf64_Shdr *info = elf_section(&r->elf, ".go.buildinfo");
	struct piece p;
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		r->img->is_go |= elf_section(&r->elf, marks[i]) != NULL;
	err = elf_read_section(&r->elf, info, &p);
	if (!err)
		r->img->go_minor = go_minor(&p);
	piece_free(&p);
	return err == -ENOENT ? 0 : err;
}

/* One more name; those that are paths, or would not stand in a list of names, are left out. */
static int add_needed(struct image *img, const char *name)
{
	size_t had = img->needed ? strlen(img->needed) + 1 : 0, len = strlen(name);
	char *more;

	if (!len || strpbrk(name, "/:") || had + len + 1 > NEEDED_MAX)
		return 0;
	more = realloc(img->needed, had + len + 1);
	if (!more)
		return -ENOMEM;
	img->needed = more;
	if (had)
		more[had - 1] = ':';
	strcpy(more + had, name);
	return 0;
}

static int add_all_needed(struct reader *r, const struct piece *tags, const struct piece *strings)
{
	int err = 0;

	for (size_t at = 0; at + sizeof(Elf64_Dyn) <= tags->len && !err; at += sizeof(Elf64_Dyn)) {
		Elf64_Dyn dyn;

		memcpy(&dyn, tags->data + at, sizeof(dyn));
		if (dyn.d_tag == DT_NULL)
			break;
		if (dyn.d_tag == DT_NEEDED)
			err = add_needed(r->img, piece_string(strings, dyn.d_un.d_val));
	}
	return err;
}

static int find_needed(struct reader *r)
{
	const Elf64_Phdr *seg = elf_segment(&r->elf, PT_DYNAMIC);
	struct piece tags = { 0 }, strings = { 0 };
	struct dynamic d;
	int err;

	if (!seg || dynamic_read(&r->elf, &d) || !d.value[DT_NEEDED])
		return 0;
	err = elf_read(&r->elf, seg->p_offset, seg->p_filesz, &tags);
	err = err ?: elf_read_addr(&r->elf, d.value[DT_STRTAB], d.value[DT_STRSZ], &strings);
	err = err ?: add_all_needed(r, &tags, &strings);
	piece_free(&tags);
	piece_free(&strings);
	return err == -ENOMEM ? err : 0;	/* a file that tells it wrong is mapped without */
}

int facts_read(struct reader *r)
{
	int err = find_place(r);

	err = err ?: read_interp(r);
	err = err ?: find_notes(r);
	err = err ?: find_go(r);
	err = err ?: find_needed(r);
	if (err)
		return err;
	debug_link(r);
	r->img->has_unwinder = elf_section(&r->elf, ".gcc_except_table") != NULL;
	return 0;
}
