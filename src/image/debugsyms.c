/*
 * debugsyms.c - what was taken out of a file and lies elsewhere: in its debug file or, symbols, packed in .gnu_debugdata.
 *
 * Addresses there are those of the file itself. What is no debug file of it, or is
 * damaged, is as if it were not there.
 */
#include <limits.h>
#ifdef HAVE_LZMA
#include <lzma.h>
#endif
#include <sys/stat.h>
#include <zlib.h>

#include "base.h"
#include "reader.h"

#define LINK_MAX_BYTES	4096		/* of .gnu_debuglink: a file name and a number */
#define PACKED_MAX	(32u << 20)	/* bytes of .gnu_debugdata; Fedora's largest have less than one million */
#define UNPACKED_MAX	(128u << 20)	/* what it may grow to; more is no symbol table but an attack */
#define NOTE_MAX	(1u << 20)

void debug_link(struct reader *r)
{
	const Elf64_Shdr *sec = elf_section(&r->elf, ".gnu_debuglink");
	struct piece p = { 0 };
	bool is_sane = false;

	if (sec && sec->sh_size < LINK_MAX_BYTES && !elf_read_section(&r->elf, sec, &p)) {
		size_t len = strlen((char *)p.data);

		is_sane = len && len <= NAME_MAX && !strchr((char *)p.data, '/') &&
			  strcmp((char *)p.data, ".") && strcmp((char *)p.data, "..") &&
			  piece_u32(&p, ROUND_UP(len + 1, 4), &r->link_crc);
	}
	r->img->debug_link = is_sane ? strdup((char *)p.data) : NULL;
	piece_free(&p);
}

static bool has_crc(int fd, uint32_t want)
{
	__cleanup(free_ptr) uint8_t *buf = malloc(1 << 20);
	uint32_t crc = crc32(0, NULL, 0);
	uint64_t at = 0;
	ssize_t n;

	while (buf && (n = pread(fd, buf, 1 << 20, at)) > 0) {
		crc = crc32(crc, buf, n);
		at += n;
	}
	return at && crc == want;
}

static bool has_build_id(const struct elf *e, const char *want)
{
	struct image of = { 0 };

	for (size_t i = 0; i < e->sec_count; i++) {
		struct piece p;

		if (e->sec[i].sh_type == SHT_NOTE && e->sec[i].sh_size <= NOTE_MAX &&
		    !elf_read_section(e, &e->sec[i], &p)) {
			notes_read(&of, &p);
			piece_free(&p);
		}
	}
	return !strcmp(of.build_id, want);
}

static int open_sections(struct elf *e, int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -ENOENT;
	*e = (struct elf){ .fd = fd, .file_bytes = st.st_size };
	return elf_open_sections(e);
}

/* A build-id tells more than the sum, and without reading hundreds of megabytes. */
int debug_open(struct reader *r, struct elf *e)
{
	int err = open_sections(e, r->files.debug);
	bool is_it;

	if (err)
		return err;
	is_it = *r->img->build_id ? has_build_id(e, r->img->build_id) :
				    r->img->debug_link && has_crc(r->files.debug, r->link_crc);
	return is_it ? 0 : -ENOENT;
}

/* A path, ended by a NUL, and the build-id of what lies there. */
bool common_read(struct reader *r, const struct elf *e)
{
	const Elf64_Shdr *sec = elf_section(e, ".gnu_debugaltlink");
	struct elf common = { .fd = -1 };
	struct image *img = r->img;
	struct piece p = { 0 };
	bool is_it;

	if (sec && sec->sh_size < LINK_MAX_BYTES && !elf_read_section(e, sec, &p)) {
		size_t len = strlen((char *)p.data);

		if (len && len + 1 < p.len && p.len - len - 1 <= BUILD_ID_MAX)
			img->common_link = strdup((char *)p.data);
		for (size_t i = len + 1; img->common_link && i < p.len; i++)
			snprintf(img->common_id + 2 * (i - len - 1), 3, "%02x", p.data[i]);
	}
	piece_free(&p);
	if (!img->common_link)
		return false;
	is_it = !open_sections(&common, r->files.common) && has_build_id(&common, img->common_id) &&
		elf_section(&common, ".debug_info");		/* libdw refuses one of texts alone */
	elf_close(&common);
	return is_it;
}

#ifdef HAVE_LZMA
static int unpack(const struct piece *in, struct piece *out)
{
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret said = lzma_stream_decoder(&s, UNPACKED_MAX, 0);
	size_t room = 0;

	*out = (struct piece){ 0 };
	s.next_in = in->data;
	s.avail_in = in->len;
	while (said == LZMA_OK && room < UNPACKED_MAX) {
		uint8_t *data = realloc(out->data, room += 8u << 20);

		if (!data)
			break;
		out->data = data;
		s.next_out = data + out->len;
		s.avail_out = room - out->len;
		said = lzma_code(&s, LZMA_FINISH);
		out->len = room - s.avail_out;
	}
	lzma_end(&s);
	return said == LZMA_STREAM_END ? 0 : -EBADMSG;
}
#else
static int unpack(const struct piece *in, struct piece *out)
{
	(void)in;
	*out = (struct piece){ 0 };
	return -ENOENT;
}
#endif

static int open_packed(struct reader *r, struct elf *e, struct piece *memory)
{
	const Elf64_Shdr *sec = elf_section(&r->elf, ".gnu_debugdata");
	struct piece p = { 0 };
	int err = sec && sec->sh_size <= PACKED_MAX ? elf_read_section(&r->elf, sec, &p) : -ENOENT;

	err = err ?: unpack(&p, memory);
	piece_free(&p);
	if (err)
		return err;
	*e = (struct elf){ .fd = -1, .memory = memory->data, .file_bytes = memory->len };
	return elf_open_sections(e);
}

int debug_read(struct reader *r)
{
	struct elf e = { .fd = -1 };
	struct piece memory = { 0 };
	const Elf64_Shdr *table;
	size_t found = r->found_count;
	int err = r->files.debug >= 0 ? debug_open(r, &e) : open_packed(r, &e, &memory);

	table = err ? NULL : elf_section_of_type(&e, SHT_SYMTAB);
	if (table)
		err = symbols_table(r, &e, table, true);
	r->img->is_stripped = r->found_count == found;
	elf_close(&e);
	piece_free(&memory);
	return err == -ENOMEM || err == -EFBIG ? err : 0;
}
