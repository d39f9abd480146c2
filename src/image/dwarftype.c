/*
 * dwarftype.c - types: how a value is passed (System V psABI, x86-64) and how it is shown.
 *
 * What is not plainly told is PASS_UNKNOWN: a wrong place would show a wrong
 * value, and so would every argument behind it.
 */
#include "base.h"
#include "image/dwarf.h"

#define NESTING_MAX	16
#define ENUM_TEXT_MAX	3900	/* bytes: a reader takes lines of 4096 */
#define ENUM_NAME_MAX	30	/* with its format it fits into value_type.format */
#define ENUMS_MAX	4096
#define SMALL		16	/* bytes: larger aggregates are passed on the stack */

static uint64_t number(Dwarf_Die *die, unsigned name, uint64_t otherwise)
{
	Dwarf_Attribute attr;
	Dwarf_Word n;

	return dwarf_attr_integrate(die, name, &attr) && !dwarf_formudata(&attr, &n) ? n : otherwise;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, ret);
}

/* @die without qualifiers and typedefs. False: nothing is left, it was void. @name: of the outermost typedef. */
static bool peel(struct dwarf_reader *r, Dwarf_Die *die, const char **name)
{
	*name = NULL;
	for (int i = 0; i < 64 && dwarf_spend(r); i++) {
		switch (dwarf_tag(die)) {
		case DW_TAG_typedef:
			*name = *name ?: dwarf_diename(die);
			break;
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			break;
		default:
			return true;
		}
		if (!type_of(die, die))
			return false;
	}
	return true;
}

/* ---- enumerations ---- */

/* What stands between names in the file's own grammar must not stand in one. */
static void add_name(char *text, size_t size, const char *name)
{
	size_t n = strlen(text);

	for (; *name && n + 1 < size; name++)
		text[n++] = strchr("{}=,;: \t@/%", *name) ? '_' : *name;
	text[n] = '\0';
}

static void add_enumerators(struct dwarf_reader *r, Dwarf_Die *type, char *text, size_t size, unsigned bytes)
{
	Dwarf_Die child;
	bool more = !dwarf_child(type, &child), first = true;

	for (; more && dwarf_spend(r); more = !dwarf_siblingof(&child, &child)) {
		const char *name = dwarf_diename(&child);
		Dwarf_Attribute attr;
		Dwarf_Sword value;
		size_t n = strlen(text);

		if (dwarf_tag(&child) != DW_TAG_enumerator || !name ||
		    !dwarf_attr(&child, DW_AT_const_value, &attr) || dwarf_formsdata(&attr, &value))
			continue;
		if (n + strlen(name) + 32 > size)
			return;
		if (!first)
			strcat(text, ",");
		first = false;
		add_name(text, size, name);
		n = strlen(text);
		snprintf(text + n, size - n, "=%lld", bytes == 4 ? (long long)(int32_t)value : (long long)value);
	}
}

/* The text "NAME{A=1,...}" under a name that no other enumeration has. 0: it is shown as a number. */
static uint32_t keep_enum(struct dwarf_reader *r, const char *name, const char *body)
{
	struct debug *d = r->debug;
	char text[ENUM_TEXT_MAX + 64], *at = text;
	unsigned same = 1;

	if (d->enum_count >= ENUMS_MAX)
		return 0;
	text[0] = '\0';
	add_name(text, ENUM_NAME_MAX - 6, name);
	at += strlen(text);
	strcpy(at, body);
	for (size_t i = 0; i < d->enum_count && dwarf_spend(r); i++) {
		const char *known = debug_at(d, d->enumeration[i]);
		size_t len = strcspn(text, "{");

		if (!strcmp(known, text))
			return d->enumeration[i];
		if (!strncmp(known, text, len + 1)) {		/* the same name for something else */
			if (++same > 999)
				return 0;
			sprintf(at, "_%u%s", same, body);
			i = -1;
		}
	}
	return debug_add_enum(d, text) ? 0 : d->enumeration[d->enum_count - 1];
}

static uint32_t enum_text(struct dwarf_reader *r, Dwarf_Die *type, const char *alias, uint64_t bytes)
{
	const char *name = dwarf_diename(type) ?: alias;
	char body[ENUM_TEXT_MAX] = "{";
	uint32_t text;

	for (size_t i = 0; i < r->seen_count && dwarf_spend(r); i++)
		if (r->seen[i].at == type->addr)
			return r->seen[i].name;
	add_enumerators(r, type, body, sizeof(body) - 1, bytes);
	strcat(body, "}");
	text = body[1] != '}' ? keep_enum(r, name ?: "unnamed", body) : 0;
	if (!grow(&r->seen, &r->seen_room, r->seen_count, sizeof(*r->seen)))
		r->seen[r->seen_count++] = (struct seen_enum){ type->addr, text, bytes };
	return text;
}

static void set_integer(struct value_type *v, char letter, uint64_t bytes)
{
	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return;
	v->how = PASS_WORDS;
	v->ints = 1;
	v->bytes = bytes;
	snprintf(v->format, sizeof(v->format), letter == 'c' ? "%c" : "%c%u", letter, (unsigned)bytes * 8);
}

static void set_enum(struct dwarf_reader *r, Dwarf_Die *type, const char *alias, struct value_type *v)
{
	uint64_t bytes = number(type, DW_AT_byte_size, 0);
	uint64_t encoding = number(type, DW_AT_encoding, 0);
	const char *text;
	Dwarf_Die base;
	uint32_t at;

	if (!encoding && type_of(type, &base) && peel(r, &base, &text))
		encoding = number(&base, DW_AT_encoding, 0);
	set_integer(v, encoding == DW_ATE_signed || encoding == DW_ATE_signed_char ? 'i' : 'u', bytes);
	if (v->how != PASS_WORDS || bytes != 4)
		return;
	at = enum_text(r, type, alias, bytes);
	text = debug_at(r->debug, at);
	if (at)
		snprintf(v->format, sizeof(v->format), "e:%.*s", (int)strcspn(text, "{"), text);
}

/* ---- scalars ---- */

static void set_base(Dwarf_Die *type, struct value_type *v)
{
	uint64_t bytes = number(type, DW_AT_byte_size, 0);
	const char *name = dwarf_diename(type) ?: "";

	if (dwarf_hasattr(type, DW_AT_bit_size) || strstr(name, "_BitInt"))
		return;				/* the bits above its own may be anything */
	switch (number(type, DW_AT_encoding, 0)) {
	case DW_ATE_boolean:
	case DW_ATE_unsigned:
	case DW_ATE_UTF:
		return set_integer(v, 'u', bytes);
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char:
		return set_integer(v, !strcmp(name, "char") ? 'c' : strncmp(name, "u", 1) ? 'i' : 'u', bytes);
	case DW_ATE_signed:
		return set_integer(v, 'i', bytes);
	case DW_ATE_float:
		break;
	default:
		return;
	}
	v->bytes = bytes;
	v->is_float = true;
	if (bytes == 4 || bytes == 8) {
		v->how = PASS_WORDS;
		v->vectors = 1;
		snprintf(v->format, sizeof(v->format), "%u", (unsigned)bytes * 8);
	} else if (bytes == 16 && !strcmp(name, "long double")) {
		v->how = PASS_STACK;		/* an argument; a result is in a register of its own */
		v->is_wide = true;
	}
}

bool dwarf_speaks_c(const struct dwarf_reader *r)
{
	switch (r->language) {
	case DW_LANG_C: case DW_LANG_C89: case DW_LANG_C99: case DW_LANG_C11: case DW_LANG_ObjC:
	case 0x2c:				/* C17, DWARF 6 */
		return true;
	}
	return false;
}

static bool speaks_cpp(const struct dwarf_reader *r)
{
	switch (r->language) {
	case DW_LANG_C_plus_plus: case DW_LANG_C_plus_plus_03: case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14: case DW_LANG_ObjC_plus_plus:
	case 0x2b: case 0x3a:			/* C++17 and C++20, DWARF 6 */
		return true;
	}
	return false;
}

/* A string, when it points to what C calls char. */
static void set_pointer(struct dwarf_reader *r, Dwarf_Die *type, struct value_type *v)
{
	const char *alias;
	bool is_string = false;
	Dwarf_Die to;

	if (dwarf_tag(type) == DW_TAG_pointer_type && (dwarf_speaks_c(r) || speaks_cpp(r)) && type_of(type, &to) &&
	    peel(r, &to, &alias) && dwarf_tag(&to) == DW_TAG_base_type)
		is_string = !strcmp(dwarf_diename(&to) ?: "", "char");
	v->how = PASS_WORDS;
	v->ints = 1;
	v->bytes = 8;
	strcpy(v->format, is_string ? "s" : "p");
}

/* ---- aggregates ---- */

enum word_class { WORD_NONE, WORD_VECTOR, WORD_INT };	/* of several in a word the greatest counts */

struct layout {
	struct dwarf_reader *r;
	enum word_class	     word[SMALL / 8];
	bool		     is_unaligned, is_wide, is_unknown;
};

static void lay(struct layout *l, Dwarf_Die *type, uint64_t at, int nesting);

static void lay_words(struct layout *l, enum word_class class, uint64_t at, uint64_t bytes)
{
	if (bytes && at % MIN(bytes, (uint64_t)16))
		l->is_unaligned = true;
	for (uint64_t i = at / 8; i < ARRAY_SIZE(l->word) && i * 8 < at + bytes; i++)
		l->word[i] = MAX(l->word[i], class);
}

static void lay_array(struct layout *l, Dwarf_Die *type, uint64_t at, int nesting)
{
	uint64_t count = 1, bytes;
	Dwarf_Die element, child, inner;
	const char *alias;
	bool more;

	if (!type_of(type, &element) || dwarf_hasattr(type, DW_AT_GNU_vector)) {
		l->is_unknown = true;
		return;
	}
	for (more = !dwarf_child(type, &child); more && dwarf_spend(l->r); more = !dwarf_siblingof(&child, &child))
		if (dwarf_tag(&child) == DW_TAG_subrange_type)
			count *= MIN(number(&child, DW_AT_count, number(&child, DW_AT_upper_bound, -1ull) + 1),
				     (uint64_t)SMALL + 1);
	inner = element;
	bytes = peel(l->r, &inner, &alias) ? number(&inner, DW_AT_byte_size, 8) : 0;
	for (uint64_t i = 0; i < count && i <= SMALL; i++)
		lay(l, &element, at + i * bytes, nesting + 1);
}

static void lay_member(struct layout *l, Dwarf_Die *member, uint64_t at, int nesting)
{
	Dwarf_Attribute attr;
	Dwarf_Die type;

	if (dwarf_hasattr(member, DW_AT_declaration) || dwarf_hasattr(member, DW_AT_external))
		return;			/* static */
	if (dwarf_hasattr(member, DW_AT_alignment) || !type_of(member, &type)) {
		l->is_unknown = true;
		return;
	}
	if (dwarf_hasattr(member, DW_AT_bit_size)) {
		uint64_t bit = number(member, DW_AT_data_bit_offset, 0), bits = number(member, DW_AT_bit_size, 1);

		l->is_unknown |= dwarf_hasattr(member, DW_AT_bit_offset) || bits > 64;
		lay_words(l, WORD_INT, at + bit / 8, 1);
		lay_words(l, WORD_INT, at + (bit + bits - 1) / 8, 1);
		return;
	}
	if (dwarf_attr(member, DW_AT_data_member_location, &attr)) {
		Dwarf_Word offset;

		if (dwarf_formudata(&attr, &offset) || offset > UINT32_MAX) {
			l->is_unknown = true;
			return;
		}
		at += offset;
	}
	lay(l, &type, at, nesting + 1);
}

static void lay_members(struct layout *l, Dwarf_Die *type, uint64_t at, int nesting)
{
	Dwarf_Die child;
	bool more = !dwarf_child(type, &child);

	if (dwarf_hasattr(type, DW_AT_declaration) || dwarf_hasattr(type, DW_AT_alignment))
		l->is_unknown = true;
	for (; more && !l->is_unknown; more = !dwarf_siblingof(&child, &child)) {
		if (!dwarf_spend(l->r))
			l->is_unknown = true;
		if (dwarf_tag(&child) == DW_TAG_member || dwarf_tag(&child) == DW_TAG_inheritance)
			lay_member(l, &child, at, nesting);
		if (dwarf_tag(&child) == DW_TAG_variant_part)
			l->is_unknown = true;
	}
}

static void lay_base(struct layout *l, Dwarf_Die *type, uint64_t at)
{
	struct value_type v = { .how = PASS_UNKNOWN };

	set_base(type, &v);
	if (v.how == PASS_UNKNOWN)
		l->is_unknown = true;
	l->is_wide |= v.is_wide;
	if (v.how == PASS_STACK)
		l->is_unaligned = true;		/* x87: the whole goes to the stack */
	lay_words(l, v.is_float ? WORD_VECTOR : WORD_INT, at, v.bytes);
}

static void lay(struct layout *l, Dwarf_Die *type, uint64_t at, int nesting)
{
	const char *alias;
	Dwarf_Die die = *type;

	if (nesting > NESTING_MAX || !peel(l->r, &die, &alias)) {
		l->is_unknown = true;
		return;
	}
	switch (dwarf_tag(&die)) {
	case DW_TAG_base_type:
		return lay_base(l, &die, at);
	case DW_TAG_enumeration_type:
		return lay_words(l, WORD_INT, at, number(&die, DW_AT_byte_size, 4));
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return lay_words(l, WORD_INT, at, 8);
	case DW_TAG_array_type:
		return lay_array(l, &die, at, nesting);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return lay_members(l, &die, at, nesting);
	}
	l->is_unknown = true;
}

/* The rules of the System V ABI for x86-64: which words of an aggregate are passed in which registers. */
static void set_words(struct dwarf_reader *r, Dwarf_Die *type, struct value_type *v)
{
#ifdef __x86_64__
	struct layout l = { .r = r };

	lay(&l, type, 0, 0);
	if (l.is_unknown)
		return;
	v->is_wide = l.is_wide;
	v->how = PASS_STACK;
	if (v->bytes > SMALL || l.is_unaligned)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(l.word); i++) {
		v->ints += l.word[i] == WORD_INT;
		v->vectors += l.word[i] == WORD_VECTOR;
	}
	v->how = v->ints + v->vectors == ROUND_UP(v->bytes, 8) / 8 ? PASS_WORDS : PASS_UNKNOWN;
#endif
}

static void set_aggregate(struct dwarf_reader *r, Dwarf_Die *type, struct value_type *v)
{
	uint64_t how = number(type, DW_AT_calling_convention, 0);

	v->bytes = number(type, DW_AT_byte_size, 0);
	if (how == DW_CC_pass_by_reference) {
		v->how = PASS_WORDS;
		v->ints = 1;
		v->bytes = 8;
		v->is_address = true;
		strcpy(v->format, "p");
		return;
	}
	if (v->bytes && (how == DW_CC_pass_by_value || dwarf_speaks_c(r)))
		set_words(r, type, v);
}

void dwarf_type(struct dwarf_reader *r, Dwarf_Die *type, struct value_type *ret)
{
	const char *alias;

	*ret = (struct value_type){ .how = type ? PASS_UNKNOWN : PASS_NOTHING };
	if (!type)
		return;
	if (!peel(r, type, &alias)) {
		ret->how = PASS_NOTHING;
		return;
	}
	switch (dwarf_tag(type)) {
	case DW_TAG_base_type:
		return set_base(type, ret);
	case DW_TAG_enumeration_type:
		return set_enum(r, type, alias, ret);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return set_pointer(r, type, ret);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return set_aggregate(r, type, ret);
	}
}

/* As a result is given back: what is passed on the stack, or by its address, is stored where the caller says. */
void dwarf_result(struct dwarf_reader *r, Dwarf_Die *type, struct value_type *ret)
{
	dwarf_type(r, type, ret);
	if (ret->how == PASS_STACK && ret->is_wide && ret->bytes <= SMALL)	/* a long double: in a register of its own */
		ret->how = ret->is_float ? PASS_NOTHING : PASS_UNKNOWN;
#ifdef __x86_64__
	ret->takes_pointer = ret->how == PASS_STACK || ret->is_address;
#else
	if (ret->is_address)			/* x8 says where to, which nobody else uses, and is not given back */
		ret->format[0] = '\0';
#endif
}
