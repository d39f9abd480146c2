/*
 * dwarf.c - arguments, results and source lines of functions, from DWARF.
 *
 * Where an argument lies when its function begins follows from the types alone
 * (dwarftype.c), but a compiler may have removed some of a function that only it
 * knew the callers of. So optimized code must say the same of each argument at
 * the function's first instruction: a function whose debug information says
 * another place is shown without arguments, and from one that has none on
 * nothing is shown.
 *
 * libdw follows references inside the file as they stand; the number of entries
 * that are looked at and the time are bounded here, and a file that makes it
 * crash kills the image child, not us.
 */
#include <stdarg.h>
#include <time.h>

#include "base.h"
#include "image/dwarf.h"
#include "reader.h"

#define TIME_MS		2500	/* a task may wait at a gate meanwhile, which lets it go after five seconds */
#define ENTRIES_MAX	200000000ull
#define NESTING_MAX	64
#define PARAMETERS_MAX	32
#define SPEC_MAX	1024

#ifdef __x86_64__
static const char *const int_name[] = { "rdi", "rsi", "rdx", "rcx", "r8", "r9" };
static const uint8_t int_number[] = { 5, 4, 1, 2, 8, 9 };		/* as DWARF numbers them */
#define VECTOR_NUMBER	17
#define FRAME_NUMBER	6
#else
static const char *const int_name[] = { "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7" };
static const uint8_t int_number[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
#define VECTOR_NUMBER	64
#define FRAME_NUMBER	29
#endif
#define INTS		ARRAY_SIZE(int_name)
#define VECTORS		8

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

bool dwarf_spend(struct dwarf_reader *r)
{
	if (r->debug->is_cut)
		return false;
	if (++r->spent > ENTRIES_MAX || (r->spent % 4096 == 0 && now_ms() > r->until_ms))
		r->debug->is_cut = true;
	return !r->debug->is_cut;
}

/* ---- where arguments are ---- */

/* What is taken so far. */
struct places {
	unsigned ints, vectors, words;
	unsigned shown_ints, shown_floats;	/* N of the last argN and fpargN */
};

struct place {
	bool	 on_stack, is_vector;
	unsigned index;		/* the register, or the word of the stack, from 0 on */
};

static void take_place(struct places *p, const struct value_type *v, struct place *at)
{
	*at = (struct place){ .on_stack = v->how == PASS_STACK };
	if (p->ints + v->ints > INTS || p->vectors + v->vectors > VECTORS)
		at->on_stack = true;
	if (at->on_stack) {
		if (v->is_wide)
			p->words = ROUND_UP(p->words, 2);
		at->index = p->words;
		p->words += ROUND_UP(v->bytes, 8) / 8;
		return;
	}
	at->is_vector = !v->ints;
	at->index = v->ints ? p->ints : p->vectors;
	p->ints += v->ints;
	p->vectors += v->vectors;
}

/* A function while it is read. */
struct function {
	Dwarf_Die    *die;
	Dwarf_Addr    pc;
	bool	      is_local;		/* the compiler knows all who call it */
	bool	      is_optimized;	/* some argument is told to be in a register */
	bool	      counts_from_caller;	/* places in memory are told from where the caller's frame ends */
	bool	      is_unprototyped;	/* as in K&R C: a float is passed as a double */
	char	      args[SPEC_MAX], result[SPEC_MAX];
};

/* What optimized code says of an argument's place at the first instruction. */
enum said { SAID_SAME, SAID_MEMORY, SAID_NOTHING, SAID_OTHER };

static enum said said_place(const struct function *f, Dwarf_Die *param, const struct place *at)
{
	int want = at->is_vector ? VECTOR_NUMBER + at->index : int_number[MIN(at->index, INTS - 1)];
	Dwarf_Attribute attr;
	Dwarf_Op *op;
	size_t len;

	if (!dwarf_attr(param, DW_AT_location, &attr) || dwarf_getlocation_addr(&attr, f->pc, &op, &len, 1) != 1 || !len)
		return SAID_NOTHING;
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		return !at->on_stack && op->atom == DW_OP_reg0 + want ? SAID_SAME : SAID_OTHER;
	if (op->atom == DW_OP_regx)
		return !at->on_stack && op->number == (Dwarf_Word)want ? SAID_SAME : SAID_OTHER;
	/* gcc -O0: what came in a register is kept in the own frame; Windows' convention has room for it in the caller's. */
	if (op->atom == DW_OP_fbreg && f->counts_from_caller && (int64_t)op->number >= 0)
		return at->on_stack && op->number == at->index * 8 ? SAID_MEMORY : SAID_OTHER;
	if (op->atom == DW_OP_fbreg || op->atom == DW_OP_call_frame_cfa ||
	    (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31))
		return SAID_MEMORY;
	return SAID_OTHER;
}

/* ---- who is called from elsewhere ---- */

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* DWARF calls a function external that the linker has made local since: what counts is its symbol. */
static bool is_global(const struct dwarf_reader *r, uint64_t addr)
{
	return r->global_count && bsearch(&addr, r->global, r->global_count, sizeof(addr), by_number);
}

static int find_globals(struct dwarf_reader *r, const struct elf *e)
{
	const Elf64_Shdr *sec = elf_section_of_type(e, SHT_SYMTAB) ?: elf_section_of_type(e, SHT_DYNSYM);
	struct piece p;
	int err = elf_read_section(e, sec, &p);

	if (err)
		return err == -ENOENT ? 0 : err;
	for (size_t at = 0; !err && at + sizeof(Elf64_Sym) <= p.len; at += sizeof(Elf64_Sym)) {
		Elf64_Sym sym;

		memcpy(&sym, p.data + at, sizeof(sym));
		if (ELF64_ST_BIND(sym.st_info) == STB_LOCAL || ELF64_ST_TYPE(sym.st_info) != STT_FUNC)
			continue;
		err = grow(&r->global, &r->global_room, r->global_count, sizeof(*r->global));
		if (!err)
			r->global[r->global_count++] = sym.st_value;
	}
	piece_free(&p);
	if (r->global_count)
		qsort(r->global, r->global_count, sizeof(*r->global), by_number);
	return err;
}

/* ---- specs ---- */

__attribute__((format(printf, 2, 3)))
static void append(char *spec, const char *fmt, ...)
{
	size_t n = strlen(spec);
	va_list args;

	va_start(args, fmt);
	if (n + 64 < SPEC_MAX)
		vsnprintf(spec + n, SPEC_MAX - n, fmt, args);
	va_end(args);
}

static void add_arg(char *spec, struct places *p, const struct value_type *v, const struct place *at)
{
	unsigned n;

	if (*spec)
		append(spec, ",");
	if (v->is_float) {
		n = ++p->shown_floats;
		append(spec, *v->format && !at->on_stack ? "fparg%u/%s" : "?", n, v->format);
		return;
	}
	n = ++p->shown_ints;
	if (!*v->format) {
		append(spec, "?");
		return;
	}
	append(spec, "arg%u/%s", n, v->format);
	if (at->on_stack && at->index + INTS + 1 != n)
		append(spec, "%%stack+%u", at->index + 1);
	else if (!at->on_stack && at->index + 1 != n)
		append(spec, "%%%s", int_name[at->index]);
}

static unsigned count_parameters(struct dwarf_reader *r, Dwarf_Die *function)
{
	unsigned n = 0;
	Dwarf_Die child;
	bool more;

	for (more = !dwarf_child(function, &child); more && dwarf_spend(r); more = !dwarf_siblingof(&child, &child))
		n += dwarf_tag(&child) == DW_TAG_formal_parameter;
	return n;
}

/* A copy of a function may have fewer than the original. */
static bool has_all_parameters(struct dwarf_reader *r, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die original;

	return !dwarf_attr(die, DW_AT_abstract_origin, &attr) || !dwarf_formref_die(&attr, &original) ||
	       count_parameters(r, die) == count_parameters(r, &original);
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, type);
}

/* False: nothing is known of this argument and those behind it. */
static bool read_arg(struct dwarf_reader *r, struct function *f, Dwarf_Die *param, struct places *p, bool *is_wrong)
{
	struct value_type v;
	struct place at;
	Dwarf_Die type;

	if (!type_of(param, &type))
		return false;
	dwarf_type(r, &type, &v);
	if (v.how == PASS_UNKNOWN || v.how == PASS_NOTHING)
		return false;
	if (v.is_float && v.bytes == 4 && f->is_unprototyped)
		v.format[0] = '\0';
	take_place(p, &v, &at);
	/* A structure may be told in pieces; it is not shown, and what follows it says where it is itself. */
	switch (*v.format ? said_place(f, param, &at) : SAID_MEMORY) {
	case SAID_OTHER:
		*is_wrong = true;
		return false;
	case SAID_NOTHING:		/* not used: LLVM lets callers pass anything then */
		f->is_optimized = true;
		return false;
	case SAID_SAME:
		f->is_optimized = true;
		break;
	case SAID_MEMORY:
		break;
	}
	add_arg(f->args, p, &v, &at);
	return true;
}

static void read_args(struct dwarf_reader *r, struct function *f, const struct value_type *result)
{
	struct places p = { .ints = result->takes_pointer };
	bool is_wrong = false, more;
	unsigned count = 0;
	Dwarf_Die child;

	if (result->how == PASS_UNKNOWN || !has_all_parameters(r, f->die))
		return;
	for (more = !dwarf_child(f->die, &child); more && dwarf_spend(r); more = !dwarf_siblingof(&child, &child)) {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		if (++count > PARAMETERS_MAX)
			break;
		if (!read_arg(r, f, &child, &p, &is_wrong)) {
			append(f->args, *f->args ? ",?" : "?");
			break;
		}
	}
	if (is_wrong)
		f->args[0] = '\0';
	f->is_optimized |= is_wrong;
}

/* LLVM drops a result that no caller looks at, and says so nowhere; gcc gives such a copy another name. */
static bool result_is_there(const struct dwarf_reader *r, const struct function *f)
{
	return !f->is_local || !r->is_llvm || (!f->is_optimized && *f->args);
}

/* As gcc has it. LLVM tells places from the frame pointer on. */
static bool counts_from_caller(Dwarf_Die *function, Dwarf_Addr pc)
{
	Dwarf_Attribute attr;
	Dwarf_Op *op;
	size_t len;

	return dwarf_attr(function, DW_AT_frame_base, &attr) && dwarf_getlocation_addr(&attr, pc, &op, &len, 1) == 1 &&
	       len == 1 && op->atom == DW_OP_call_frame_cfa;
}

static void read_forms(struct dwarf_reader *r, struct function *f)
{
	struct value_type v;
	Dwarf_Attribute attr;
	Dwarf_Word how;
	Dwarf_Die type;
	bool has_type = type_of(f->die, &type);

	if (dwarf_attr_integrate(f->die, DW_AT_calling_convention, &attr) && !dwarf_formudata(&attr, &how) &&
	    how != DW_CC_normal)
		return;			/* changed by the compiler, or asked for: Windows', vectorcall */
	f->counts_from_caller = counts_from_caller(f->die, f->pc);
	f->is_unprototyped = dwarf_speaks_c(r) && !dwarf_hasattr_integrate(f->die, DW_AT_prototyped);
	f->is_local = !is_global(r, f->pc);
	dwarf_result(r, has_type ? &type : NULL, &v);
	read_args(r, f, &v);
	if (v.how != PASS_WORDS || !*v.format || !result_is_there(r, f))
		return;
	append(f->result, v.is_float ? "retval/f%s" : "retval/%s", v.format);
}

/* ---- source lines ---- */

/* Of a file below the folder the unit was compiled in, its path from there; debug_whole_path() knows all of it. */
static uint32_t file_text(struct dwarf_reader *r, const char *path)
{
	size_t len = r->folder ? strlen(r->folder) : 0;
	bool is_below;

	if (path == r->last_file)
		return r->last_text;
	r->last_file = path;
	is_below = len && !strncmp(path, r->folder, len) && path[len] == '/';
	r->last_text = debug_path(r->debug, len && (is_below || *path != '/') ? r->folder : "",
				  is_below ? path + len + 1 : path);
	return r->last_text;
}

/* As dwarf_decl_file(), which does not know that DWARF 5 counts files from 0 on. */
static const char *file_path(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word index;
	Dwarf_Die unit;
	size_t count;

	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attr) || dwarf_formudata(&attr, &index) ||
	    !dwarf_cu_die(attr.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    dwarf_getsrcfiles(&unit, &files, &count) || index >= count)
		return NULL;
	return dwarf_filesrc(files, index, NULL, NULL);
}

static void read_line(struct dwarf_reader *r, Dwarf_Die *die, struct debug_func *df)
{
	const char *path;
	int line;

	if (dwarf_decl_line(die, &line) || line <= 0)
		return;
	path = file_path(die);
	if (!path)
		return;
	df->file = file_text(r, path);
	df->line = df->file ? line : 0;
}

/* ---- the tree ---- */

/* Languages whose functions are called as C's are, or whose scalars are at least. */
static bool knows_language(int language)
{
	switch (language) {
	case DW_LANG_C: case DW_LANG_C89: case DW_LANG_C99: case DW_LANG_C11:
	case DW_LANG_C_plus_plus: case DW_LANG_C_plus_plus_03: case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14: case DW_LANG_ObjC: case DW_LANG_ObjC_plus_plus:
	case DW_LANG_Rust: case 0x2b: case 0x2c: case 0x3a:
		return true;
	}
	return false;
}

static int read_function(struct dwarf_reader *r, Dwarf_Die *die)
{
	struct function f = { .die = die };
	struct debug_func df = {};
	Dwarf_Addr base, end;

	if (dwarf_hasattr(die, DW_AT_declaration) || dwarf_ranges(die, 0, &base, &f.pc, &end) <= 0)
		return 0;
	if (f.pc < r->load_addr || f.pc == 0)
		return 0;
	df.addr = f.pc - r->load_addr;
	if (knows_language(r->language))
		read_forms(r, &f);
	if (r->wants_lines)
		read_line(r, die, &df);
	df.args = debug_text(r->debug, f.args);
	df.result = debug_text(r->debug, f.result);
	return df.args || df.result || df.line ? debug_add(r->debug, &df) : 0;
}

static bool has_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace: case DW_TAG_module: case DW_TAG_subprogram: case DW_TAG_lexical_block:
	case DW_TAG_structure_type: case DW_TAG_class_type: case DW_TAG_union_type:
		return true;
	}
	return false;
}

static int walk(struct dwarf_reader *r, Dwarf_Die *parent, int nesting)
{
	Dwarf_Die die;
	bool more = !dwarf_child(parent, &die);
	int err = 0;

	for (; more && !err && dwarf_spend(r); more = !dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			err = read_function(r, &die);
		if (!err && has_functions(tag) && nesting < NESTING_MAX)
			err = walk(r, &die, nesting + 1);
	}
	return err;
}

static void begin_unit(struct dwarf_reader *r, Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	const char *producer = dwarf_formstring(dwarf_attr(unit, DW_AT_producer, &attr)) ?: "";

	r->language = dwarf_srclang(unit);
	r->is_llvm = strncmp(producer, "GNU", 3) != 0;
	r->folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));
	r->last_file = NULL;
	r->seen_count = 0;
}

static int read_units(struct dwarf_reader *r, Dwarf *dw)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	uint8_t type;
	int err = 0;

	while (!err && dwarf_spend(r) && dwarf_get_units(dw, cu, &cu, NULL, &type, &unit, NULL) == 0) {
		if (type != DW_UT_compile)
			continue;	/* the bodies of split and partial units are elsewhere, or hold no code */
		begin_unit(r, &unit);
		err = walk(r, &unit, 0);
	}
	return err;
}

int dwarf_read(struct debug **ret, const struct elf *e, int common, uint64_t load_addr, bool wants_lines)
{
	struct dwarf_reader r = {
		.debug = debug_create(), .load_addr = load_addr, .wants_lines = wants_lines,
		.until_ms = now_ms() + TIME_MS,
	};
	Dwarf *dw, *alt = common < 0 ? NULL : dwarf_begin(common, DWARF_C_READ);
	int err = r.debug ? find_globals(&r, e) : -ENOMEM;

	dw = err ? NULL : dwarf_begin(e->fd, DWARF_C_READ);
	if (dw && alt)
		dwarf_setalt(dw, alt);
	err = err ?: dw ? read_units(&r, dw) : -EBADMSG;
	if (dw)
		dwarf_end(dw);
	if (alt)
		dwarf_end(alt);
	free(r.global);
	free(r.seen);
	if (!r.debug)
		return err;
	debug_sort(r.debug);
	if (err)
		debug_destroy(r.debug);
	else
		*ret = r.debug;
	return err;
}
