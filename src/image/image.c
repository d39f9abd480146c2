/*
 * image.c - an executable file, read: from its bytes to a list of functions with their sites.
 */
#include "base.h"
#include "debug.h"
#include "image.h"
#include "reader.h"

static void reader_free(struct reader *r)
{
	for (size_t i = 0; i < r->code_count; i++) {
		piece_free(&r->code[i].piece);
		free(r->code[i].target);
	}
	free(r->code);
	free(r->span);
	free(r->slot);
	free(r->found);
	free(r->names);
	image_destroy(r->img);
	elf_close(&r->elf);
}

/* Copies the segments with code; of facts it is enough where they lie. */
static int read_code(struct reader *r)
{
	r->code = calloc(r->elf.seg_count, sizeof(*r->code));
	if (!r->code)
		return -ENOMEM;
	for (size_t i = 0; i < r->elf.seg_count; i++) {
		const Elf64_Phdr *s = &r->elf.seg[i];
		struct code *c = &r->code[r->code_count];
		int err;

		if (s->p_type != PT_LOAD || !(s->p_flags & PF_X) || !s->p_filesz)
			continue;
		c->piece.len = s->p_filesz;
		err = !r->wants_sites ? 0 : elf_read(&r->elf, s->p_offset, s->p_filesz, &c->piece);
		if (err)
			return err;
		c->piece.addr = s->p_vaddr;
		c->offset = s->p_offset;
		r->code_count++;
	}
	return 0;
}

static int add_span(struct reader *r, uint64_t addr, uint64_t len, bool is_plt)
{
	const struct code *c = reader_code(r, addr);

	if (!c || !len)
		return 0;
	if (grow(&r->span, &r->span_room, r->span_count, sizeof(*r->span)))
		return -ENOMEM;
	r->span[r->span_count++] = (struct span){
		.addr = addr,
		.len = MIN(len, c->piece.addr + c->piece.len - addr),
		.is_plt = is_plt,
	};
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Sections that overlap are made apart, or a search by address would depend on luck. */
static void part_spans(struct reader *r)
{
	size_t n = 0;

	if (r->span_count)
		qsort(r->span, r->span_count, sizeof(*r->span), by_address);
	for (size_t i = 0; i < r->span_count; i++) {
		struct span s = r->span[i];
		uint64_t end = n ? r->span[n - 1].addr + r->span[n - 1].len : 0;

		if (s.addr + s.len <= end)
			continue;
		if (s.addr < end) {
			s.len -= end - s.addr;
			s.addr = end;
		}
		r->span[n++] = s;
	}
	r->span_count = n;
}

static int find_spans(struct reader *r)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->elf.sec_count; i++) {
		const Elf64_Shdr *s = &r->elf.sec[i];
		const char *name = elf_section_name(&r->elf, s);

		if (s->sh_flags & SHF_ALLOC && s->sh_flags & SHF_EXECINSTR && s->sh_type != SHT_NOBITS)
			err = add_span(r, s->sh_addr, s->sh_size,
				       !strncmp(name, ".plt", 4) || !strcmp(name, ".iplt"));
	}
	for (size_t i = 0; !err && !r->elf.sec_count && i < r->code_count; i++)
		err = add_span(r, r->code[i].piece.addr, r->code[i].piece.len, false);
	part_spans(r);
	return err;
}

/* A symbol may have no size, or one that reaches over its neighbours. */
static void mend_sizes(struct reader *r)
{
	for (size_t i = 0; i < r->found_count; i++) {
		struct found *f = &r->found[i];
		const struct span *s = reader_span(r, f->addr);
		uint64_t end = s ? s->addr + s->len : f->addr;

		if (f->size || !s)
			continue;
		if (i + 1 < r->found_count)
			end = MIN(end, r->found[i + 1].addr);
		f->size = end - f->addr;
	}
}

/* A stripped static program hides setjmp(), the unwinder and the rest among functions without a name. */
static bool hides_dangers(const struct reader *r)
{
	for (size_t i = 0; i < r->found_count; i++)
		if (r->found[i].name && !(r->found[i].flags & FUNC_PLT))
			return false;
	return r->is_static;
}

/*
 * The kernel keeps a thread's pending returns in one list and takes them last
 * in, first out. A coroutine that returns while its resumer's return is pending
 * would go back to the wrong place: so no returns where stacks are switched.
 *
 * An unwinder begins at its own frames: what of its library has no name may be
 * one of those.
 */
static int set_care(struct reader *r)
{
	bool hides_unwinder = r->is_library && r->img->walker == WALKER_NAMED;
	bool all_entry_only = hides_dangers(r) || r->img->is_go || r->img->switches_stacks;

	for (size_t i = 0; i < r->found_count; i++) {
		struct found *f = &r->found[i];

		if (hides_unwinder && !f->name)
			f->flags |= FUNC_ENTRY_ONLY;
		f->flags |= name_flags(r->names + f->name, r->img->is_go);
		if (f->addr == r->elf.head.e_entry || r->translates_itself)
			f->flags |= FUNC_NEVER;
		if (all_entry_only)
			f->flags |= FUNC_ENTRY_ONLY;
	}
	if (hides_dangers(r) && r->found_count) {
		r->img->has_unwinder = true;
		r->img->walker = MAX(r->img->walker, WALKER_NAMELESS);
	}
	return 0;
}

static int name_the_nameless(struct reader *r)
{
	for (size_t i = 0; i < r->found_count; i++) {
		struct found *f = &r->found[i];
		char name[32];
		int err;

		if (f->name || f->is_part)
			continue;
		snprintf(name, sizeof(name), "sub_%llx", (unsigned long long)(f->addr - r->img->load_addr));
		err = reader_name(r, name, &f->name);
		if (err)
			return err;
	}
	return 0;
}

static uint64_t file_offset(const struct reader *r, uint64_t addr)
{
	const struct code *c = addr ? reader_code(r, addr) : NULL;

	return c ? addr - c->piece.addr + c->offset : 0;
}

static int make_functions(struct reader *r)
{
	struct image *img = r->img;

	img->unwind_site = file_offset(r, r->elf.head.e_entry);
	img->names = TAKE(r->names);
	img->names_len = r->names_len;
	img->has_plain = true;
	img->func = calloc(MAX(r->found_count, 1ul), sizeof(*img->func));
	if (!img->func)
		return -ENOMEM;
	for (size_t i = 0; i < r->found_count; i++) {
		const struct found *f = &r->found[i];

		if ((f->is_part && !r->names_only) || f->addr < img->load_addr)
			continue;
		img->func[img->func_count++] = (struct func){
			.addr = f->addr - img->load_addr,
			.size = f->size,
			.site = file_offset(r, f->site),
			.nop5_site = file_offset(r, f->nop5_site),
			.entry_site = file_offset(r, f->entry_site),
			.sp_offset = f->sp_offset,
			.entry_sp_offset = f->entry_sp_offset,
			.site_class = f->site_class,
			.flags = f->flags,
			.name = img->names + f->name,
			.plain = image_plain(img, img->names + f->name),
		};
	}
	return 0;
}

/* Functions that no symbol tells, and where each is probed. */
static int read_functions(struct reader *r)
{
	int err = gopcln_read(r);

	err = err ?: symbols_sort(r);
	err = err ?: ehframe_read(r);
	err = err ?: symbols_sort(r);
	err = err ?: slots_read(r);
	err = err ?: plt_read(r);
	err = err ?: symbols_sort(r);
	if (err)
		return err;
	mend_sizes(r);
	err = returns_read(r) ?: set_care(r);
	err = err ?: name_the_nameless(r);
	return err ?: sites_choose(r);
}

static int read_names(struct reader *r)
{
	int err = gopcln_read(r);

	err = err ?: symbols_sort(r);
	if (!err)
		mend_sizes(r);
	return err;
}

static bool has_dwarf(const struct elf *e)
{
	return elf_section(e, ".debug_info") || elf_section(e, ".zdebug_info");
}

/* The file's own, else that of its debug file. */
static int read_debug(struct reader *r, enum image_depth depth)
{
	struct elf other = { .fd = -1 };
	const struct elf *e = &r->elf;
	int common = -1, err = elf_open(&r->elf, r->files.fd);

	err = err ?: facts_read(r);
	if (!err && !has_dwarf(e)) {
		e = &other;
		if (debug_open(r, &other) || !has_dwarf(e))
			err = -ENOENT;
	}
	if (!err && common_read(r, e)) {
		common = r->files.common;
		free(TAKE(r->img->common_link));
	}
	err = err ?: dwarf_read(&r->img->debug, e, common, r->img->load_addr, depth == IMAGE_DEBUG_LINES);
	elf_close(&other);
	return err;
}

static int read_all(struct reader *r)
{
	uint32_t none;
	int err;

	err = elf_open(&r->elf, r->files.fd);
	err = err ?: reader_name(r, "", &none);
	err = err ?: facts_read(r);
	err = err ?: usdt_read(r);
	err = err ?: read_code(r);
	err = err ?: find_spans(r);
	err = err ?: symbols_read(r);
	err = err ?: walker_read(r);
	if (r->names_only)
		err = err ?: read_names(r);
	else
		err = err ?: !r->facts_only ? read_functions(r) : symbols_sort(r) ?: r->wants_sites ? sites_start(r) : 0;
	return err ?: make_functions(r);
}

int image_read(struct image **ret, int fd, enum image_depth depth)
{
	return image_read_with(ret, &(struct image_files){ fd, -1, -1 }, depth);
}

int image_read_with(struct image **ret, const struct image_files *files, enum image_depth depth)
{
	__cleanup(reader_free) struct reader r = {
		.elf.fd = -1, .files = *files, .facts_only = depth == IMAGE_FACTS || depth == IMAGE_DRIVER,
		.names_only = depth == IMAGE_NAMES, .wants_sites = depth != IMAGE_FACTS && depth != IMAGE_NAMES,
	};
	int err;

	r.img = calloc(1, sizeof(*r.img));
	if (!r.img)
		return -ENOMEM;
	err = depth >= IMAGE_DEBUG ? read_debug(&r, depth) : read_all(&r);
	if (!err)
		*ret = TAKE(r.img);
	return err;
}

void image_destroy(struct image *img)
{
	if (!img)
		return;
	free(img->path);
	free(img->interp);
	free(img->debug_link);
	free(img->common_link);
	free(img->needed);
	free(img->usdt.probe);
	free(img->func);
	free(img->names);
	debug_destroy(img->debug);
	free(img);
}

const char *image_plain(const struct image *img, const char *name)
{
	const char *plain = name + strlen(name) + 1;

	if (!img->has_plain || (strncmp(name, "_Z", 2) && strncmp(name, "_R", 2)))
		return NULL;
	return plain < img->names + img->names_len && *plain ? plain : NULL;
}

uint64_t image_offset(const struct image *img, const struct func *f)
{
	return f->addr + img->load_addr - img->text_addr + img->text_offset;
}

const struct func *image_func_at(const struct image *img, uint64_t addr)
{
	size_t low = 0, high = img->func_count;

	while (low < high) {	/* the last that begins at or before @addr */
		size_t mid = (low + high) / 2;

		if (img->func[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || addr - img->func[low - 1].addr >= MAX(img->func[low - 1].size, 1ul))
		return NULL;
	return &img->func[low - 1];
}
