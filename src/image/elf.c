/*
 * elf.c - bytes of an ELF file somebody else made: each look is bounded.
 */
#include <sys/stat.h>

#include "base.h"
#include "elf.h"

#define SEGMENTS_MAX	512	/* real files have about a dozen */
#define SECTIONS_MAX	65280	/* SHN_LORESERVE: above it the count is kept elsewhere, and linked files never need it */

int elf_read(const struct elf *e, uint64_t offset, uint64_t len, struct piece *ret)
{
	uint8_t *data;
	uint64_t got = 0;

	*ret = (struct piece){ 0 };
	if (offset > e->file_bytes || len > e->file_bytes - offset)
		return -EBADMSG;
	if (len > PIECE_MAX)
		return -EFBIG;
	data = malloc(len + 1);
	if (!data)
		return -ENOMEM;
	if (e->memory) {
		memcpy(data, e->memory + offset, len);
		got = len;
	}
	while (got < len) {
		ssize_t n = pread(e->fd, data + got, len - got, offset + got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {	/* 0: the file became shorter under our hands */
			int err = n < 0 ? -errno : -EBADMSG;

			free(data);
			return err;
		}
		got += n;
	}
	data[len] = '\0';
	ret->data = data;
	ret->len = len;
	return 0;
}

void piece_free(struct piece *p)
{
	free(p->data);
	*p = (struct piece){ 0 };
}

int elf_read_section(const struct elf *e, const Elf64_Shdr *sec, struct piece *ret)
{
	int err;

	*ret = (struct piece){ 0 };
	if (!sec || sec->sh_type == SHT_NOBITS)
		return -ENOENT;
	if (sec->sh_flags & SHF_COMPRESSED)
		return -ENOENT;
	err = elf_read(e, sec->sh_offset, sec->sh_size, ret);
	ret->addr = sec->sh_addr;
	return err;
}

int elf_read_addr(const struct elf *e, uint64_t addr, uint64_t max, struct piece *ret)
{
	*ret = (struct piece){ 0 };
	for (size_t i = 0; i < e->seg_count; i++) {
		const Elf64_Phdr *s = &e->seg[i];
		int err;

		if (s->p_type != PT_LOAD || addr < s->p_vaddr || addr - s->p_vaddr >= s->p_filesz)
			continue;
		err = elf_read(e, s->p_offset + (addr - s->p_vaddr), MIN(max, s->p_filesz - (addr - s->p_vaddr)),
			       ret);
		ret->addr = addr;
		return err;
	}
	return -ENOENT;
}

const char *piece_string(const struct piece *table, uint64_t at)
{
	return at < table->len ? (const char *)table->data + at : "";
}

bool piece_u32(const struct piece *p, size_t at, uint32_t *ret)
{
	if (at > p->len || p->len - at < sizeof(*ret))
		return false;
	memcpy(ret, p->data + at, sizeof(*ret));
	return true;
}

bool piece_u64(const struct piece *p, size_t at, uint64_t *ret)
{
	if (at > p->len || p->len - at < sizeof(*ret))
		return false;
	memcpy(ret, p->data + at, sizeof(*ret));
	return true;
}

const char *elf_section_name(const struct elf *e, const Elf64_Shdr *sec)
{
	return piece_string(&e->names, sec->sh_name);
}

const Elf64_Shdr *elf_section(const struct elf *e, const char *name)
{
	for (size_t i = 0; i < e->sec_count; i++)
		if (!strcmp(elf_section_name(e, &e->sec[i]), name))
			return &e->sec[i];
	return NULL;
}

const Elf64_Shdr *elf_section_of_type(const struct elf *e, uint32_t type)
{
	for (size_t i = 0; i < e->sec_count; i++)
		if (e->sec[i].sh_type == type)
			return &e->sec[i];
	return NULL;
}

const Elf64_Phdr *elf_segment(const struct elf *e, uint32_t type)
{
	for (size_t i = 0; i < e->seg_count; i++)
		if (e->seg[i].p_type == type)
			return &e->seg[i];
	return NULL;
}

static int check_head(const Elf64_Ehdr *h)
{
	static const unsigned char ident[] = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT };

	if (memcmp(h->e_ident, ident, sizeof(ident)))
		return -ENOEXEC;
	return h->e_machine == ELF_MACHINE ? 0 : -ENOEXEC;
}

/* Of what can be run, or mapped. */
static int check_program(const Elf64_Ehdr *h)
{
	if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
		return -ENOEXEC;
	if (h->e_phentsize != sizeof(Elf64_Phdr) || !h->e_phnum || h->e_phnum > SEGMENTS_MAX)
		return -EBADMSG;
	return 0;
}

/* What the kernel would not load is malformed to us; then all that follows may add p_offset and p_filesz freely. */
static int check_segments(const struct elf *e)
{
	const Elf64_Phdr *before = NULL;

	for (size_t i = 0; i < e->seg_count; i++) {
		const Elf64_Phdr *s = &e->seg[i];

		if (s->p_type != PT_LOAD)
			continue;
		if (s->p_filesz > s->p_memsz || s->p_memsz > (1ull << 46) || s->p_vaddr > (1ull << 47))
			return -EBADMSG;
		if (s->p_offset > e->file_bytes || s->p_filesz > e->file_bytes - s->p_offset)
			return -EBADMSG;
		if (s->p_filesz && (s->p_vaddr - s->p_offset) % PAGE_BYTES)
			return -EBADMSG;
		if (before && s->p_vaddr < before->p_vaddr + before->p_memsz)
			return -EBADMSG;	/* the ELF standard asks for ascending order */
		before = s;
	}
	return before ? 0 : -EBADMSG;
}

/* A file without a sound section table is read by its segments alone, as the kernel and ld.so do. */
static int read_sections(struct elf *e)
{
	const Elf64_Ehdr *h = &e->head;
	struct piece table;
	int err;

	if (!h->e_shoff || !h->e_shnum || h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shnum > SECTIONS_MAX)
		return 0;
	err = elf_read(e, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr), &table);
	if (err)
		return err;
	e->sec = (void *)table.data;
	e->sec_count = h->e_shnum;
	if (h->e_shstrndx >= e->sec_count)
		return -EBADMSG;
	err = elf_read_section(e, &e->sec[h->e_shstrndx], &e->names);
	return err == -ENOENT ? -EBADMSG : err;
}

static int read_head(struct elf *e)
{
	struct piece piece;
	int err = elf_read(e, 0, sizeof(e->head), &piece);

	if (err)
		return err == -EBADMSG ? -ENOEXEC : err;	/* shorter than any ELF file */
	memcpy(&e->head, piece.data, sizeof(e->head));
	piece_free(&piece);
	return check_head(&e->head);
}

int elf_open_sections(struct elf *e)
{
	return read_head(e) ?: read_sections(e);
}

int elf_open(struct elf *e, int fd)
{
	struct piece piece;
	struct stat st;
	int err;

	*e = (struct elf){ .fd = fd };
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	e->file_bytes = st.st_size;
	err = read_head(e) ?: check_program(&e->head);
	if (err)
		return err;
	err = elf_read(e, e->head.e_phoff, e->head.e_phnum * sizeof(Elf64_Phdr), &piece);
	if (err)
		return err;
	e->seg = (void *)piece.data;
	e->seg_count = e->head.e_phnum;
	err = check_segments(e);
	return err ?: read_sections(e);
}

void elf_close(struct elf *e)
{
	free(e->seg);
	free(e->sec);
	piece_free(&e->names);
	*e = (struct elf){ .fd = -1 };
}
