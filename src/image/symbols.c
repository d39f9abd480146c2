/*
 * symbols.c - functions from the symbol tables.
 *
 * .symtab holds all of .dynsym and more, so .dynsym is only asked where a file
 * is stripped, beside its debug file; its imports are always looked at, for what they tell of the image.
 */
#include "base.h"
#include "reader.h"

#define NAME_BYTES_MAX	4096	/* a mangled C++ name may be long; longer ones are cut */

static int add_name(struct reader *r, const char *name, size_t len)
{
	while (r->names_len + len + 1 > r->names_room) {
		size_t room = r->names_room ? r->names_room * 2 : 65536;
		char *names = room > PIECE_MAX ? NULL : realloc(r->names, room);

		if (!names)
			return -ENOMEM;
		r->names = names;
		r->names_room = room;
	}
	memcpy(r->names + r->names_len, name, len);
	r->names_len += len;
	r->names[r->names_len++] = '\0';
	return 0;
}

int reader_name(struct reader *r, const char *name, uint32_t *ret)
{
	char clean[NAME_BYTES_MAX + 1], plain[NAME_BYTES_MAX];
	size_t len = strnlen(name, NAME_BYTES_MAX);
	const char *at = len ? memchr(name + 1, '@', len - 1) : NULL;
	int err = r->names_len ? 0 : add_name(r, "", 0);

	*ret = 0;
	len = at ? (size_t)(at - name) : len;
	if (err || !len)
		return err;
	for (size_t i = 0; i < len; i++)
		clean[i] = (unsigned char)name[i] <= ' ' || name[i] == 0x7f ? '_' : name[i];
	clean[len] = '\0';
	*ret = r->names_len;
	err = add_name(r, clean, len);
	if (err || (strncmp(clean, "_Z", 2) && strncmp(clean, "_R", 2)))
		return err;
	return add_name(r, plain, r->facts_only ? 0 : name_plain(clean, plain, sizeof(plain)));
}

int reader_found(struct reader *r, struct found **ret)
{
	if (r->found_count >= FUNCTIONS_MAX)
		return -EFBIG;
	if (grow(&r->found, &r->found_room, r->found_count, sizeof(*r->found)))
		return -ENOMEM;
	*ret = &r->found[r->found_count++];
	**ret = (struct found){ 0 };
	return 0;
}

const struct span *reader_span(const struct reader *r, uint64_t addr)
{
	size_t low = 0, high = r->span_count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (addr < r->span[mid].addr)
			high = mid;
		else if (addr - r->span[mid].addr >= r->span[mid].len)
			low = mid + 1;
		else
			return &r->span[mid];
	}
	return NULL;
}

struct code *reader_code(const struct reader *r, uint64_t addr)
{
	for (size_t i = 0; i < r->code_count; i++)
		if (addr >= r->code[i].piece.addr && addr - r->code[i].piece.addr < r->code[i].piece.len)
			return &r->code[i];
	return NULL;
}

/*
 * What is thought unlikely is moved out of line: gcc and clang call it NAME.cold or, before gcc 9, NAME.cold.1; BOLT
 * NAME.cold.1 and NAME.warm. It is jumped to in the middle of a frame: a return probe there would take what lies on top
 * of the stack for the return address.
 */
static bool is_part_of_function(const char *name)
{
	static const char *const ends[] = { ".cold", ".warm" };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t len = strlen(ends[i]);
		const char *dot = strstr(name, ends[i]);

		if (dot && dot != name && (!dot[len] || dot[len] == '.'))
			return true;
	}
	return false;
}

/* The name a user would expect: one others can call, without the library's own underscores. */
static uint8_t rank_of(const Elf64_Sym *sym, const char *name)
{
	size_t underscores = strspn(name, "_");

	if (!strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2))
		underscores = 0;
	return (ELF64_ST_BIND(sym->st_info) == STB_LOCAL ? 8 : 0) + MIN(underscores, 7ul);
}

static int add_symbol(struct reader *r, const Elf64_Sym *sym, const char *name)
{
	const struct span *span = reader_span(r, sym->st_value);
	struct found *f;
	int err;

	if (r->facts_only ? !name_is_guarded(name) && !name_is_cuda(name) : !span || span->is_plt || !*name)
		return 0;
	err = reader_found(r, &f);
	if (err)
		return err;
	f->addr = sym->st_value;
	f->size = span ? MIN(sym->st_size, span->addr + span->len - sym->st_value) : 0;
	f->rank = rank_of(sym, name);
	f->site_class = r->wants_sites ? 0 : SITE_REFUSED;
	f->is_part = is_part_of_function(name);
	f->flags = name_flags(name, r->img->is_go);
	if (ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC)
		f->flags |= FUNC_NEVER | FUNC_RESOLVER;
	return reader_name(r, name, &f->name);
}

/* A library that defines swapcontext() does not use it; a program that was linked with it does. */
static void see_name(struct reader *r, const char *name, bool is_import)
{
	r->img->has_unwinder |= name_unwinds(name);
	r->hints |= name_hint(name, is_import);
	if (is_import || !r->is_library)
		r->img->switches_stacks |= name_switches_stacks(name);
}

static int add_symbols(struct reader *r, const struct piece *syms, const struct piece *strings, bool functions)
{
	for (size_t at = 0; at + sizeof(Elf64_Sym) <= syms->len; at += sizeof(Elf64_Sym)) {
		const char *name;
		Elf64_Sym sym;
		unsigned type;
		int err;

		memcpy(&sym, syms->data + at, sizeof(sym));
		type = ELF64_ST_TYPE(sym.st_info);
		name = piece_string(strings, sym.st_name);
		r->has_imports |= sym.st_shndx == SHN_UNDEF && ELF64_ST_BIND(sym.st_info) == STB_GLOBAL && *name;
		if (sym.st_shndx == SHN_UNDEF || type == STT_FUNC || type == STT_NOTYPE)
			see_name(r, name, sym.st_shndx == SHN_UNDEF);
		if (!functions || sym.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC))
			continue;
		err = add_symbol(r, &sym, name);
		if (err)
			return err;
	}
	return 0;
}

int symbols_table(struct reader *r, const struct elf *e, const Elf64_Shdr *sec, bool functions)
{
	struct piece syms = { 0 }, strings = { 0 };
	int err;

	if (sec->sh_link >= e->sec_count)
		return -EBADMSG;
	err = elf_read_section(e, sec, &syms);
	err = err ?: elf_read_section(e, &e->sec[sec->sh_link], &strings);
	err = err ?: add_symbols(r, &syms, &strings, functions);
	piece_free(&syms);
	piece_free(&strings);
	return err == -ENOENT ? 0 : err;
}

int dynamic_read(const struct elf *e, struct dynamic *d)
{
	const Elf64_Phdr *seg = elf_segment(e, PT_DYNAMIC);
	struct piece p;
	int err;

	memset(d, 0, sizeof(*d));
	if (!seg)
		return -ENOENT;
	err = elf_read(e, seg->p_offset, seg->p_filesz, &p);
	if (err)
		return err;
	for (size_t at = 0; at + sizeof(Elf64_Dyn) <= p.len; at += sizeof(Elf64_Dyn)) {
		Elf64_Dyn dyn;

		memcpy(&dyn, p.data + at, sizeof(dyn));
		if (dyn.d_tag == DT_NULL)
			break;
		if (dyn.d_tag > 0 && (size_t)dyn.d_tag < ARRAY_SIZE(d->value))
			d->value[dyn.d_tag] = dyn.d_un.d_val;
	}
	piece_free(&p);
	return 0;
}

/* The dynamic symbols have no length of their own; every linker puts their strings behind them. */
int dynamic_symbols(const struct elf *e, struct piece *syms, struct piece *strings)
{
	struct dynamic d;
	int err = dynamic_read(e, &d);

	*syms = *strings = (struct piece){ 0 };
	if (err)
		return err;
	if (d.value[DT_STRTAB] <= d.value[DT_SYMTAB])
		return -ENOENT;
	err = elf_read_addr(e, d.value[DT_SYMTAB], d.value[DT_STRTAB] - d.value[DT_SYMTAB], syms);
	return err ?: elf_read_addr(e, d.value[DT_STRTAB], d.value[DT_STRSZ], strings);
}

static int read_dynamic(struct reader *r)
{
	struct piece syms, strings;
	int err = dynamic_symbols(&r->elf, &syms, &strings);

	err = err ?: add_symbols(r, &syms, &strings, true);
	piece_free(&syms);
	piece_free(&strings);
	return err == -ENOENT ? 0 : err;
}

int symbols_read(struct reader *r)
{
	const Elf64_Shdr *all = elf_section_of_type(&r->elf, SHT_SYMTAB);
	const Elf64_Shdr *dynamic = elf_section_of_type(&r->elf, SHT_DYNSYM);
	struct dynamic d;
	int err;

	err = dynamic_read(&r->elf, &d);
	r->is_library = d.value[DT_SONAME];
	r->is_static = !r->img->interp && !r->is_library && !d.value[DT_NEEDED];
	r->img->is_stripped = !all;
	if (!err || err == -ENOENT)
		err = all ? symbols_table(r, &r->elf, all, true) : r->facts_only ? 0 : debug_read(r);
	if (err)
		return err;
	if (dynamic)
		err = symbols_table(r, &r->elf, dynamic, !all);
	else if (!r->elf.sec_count)
		err = read_dynamic(r);
	r->is_static &= !r->has_imports;	/* a plugin may be without SONAME and NEEDED */
	return err;
}

static int by_address(const void *a, const void *b, void *ctx)
{
	const struct found *x = a, *y = b;
	const struct reader *r = ctx;
	const char *nx = r->names + x->name, *ny = r->names + y->name;
	size_t lx, ly;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->is_part != y->is_part)
		return x->is_part - y->is_part;
	if (x->rank != y->rank)
		return x->rank - y->rank;
	lx = strlen(nx);
	ly = strlen(ny);
	return lx != ly ? (lx < ly ? -1 : 1) : strcmp(nx, ny);
}

/* Of several names of one address one is kept; what any of them says of its probes holds. */
int symbols_sort(struct reader *r)
{
	size_t n = 0;

	if (!r->found_count)
		return 0;
	qsort_r(r->found, r->found_count, sizeof(*r->found), by_address, r);
	for (size_t i = 1; i < r->found_count; i++) {
		if (r->found[i].addr != r->found[n].addr) {
			r->found[++n] = r->found[i];
			continue;
		}
		r->found[n].size = MAX(r->found[n].size, r->found[i].size);
		r->found[n].flags |= r->found[i].flags;
	}
	r->found_count = n + 1;
	return 0;
}
