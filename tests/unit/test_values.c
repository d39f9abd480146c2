/* Values of arguments: which records are whole, and what a uftrace reader gets of them. */
#include "base.h"
#include "flow/record.h"
#include "sink/uftrace/uftrace.h"
#include "test.h"

struct made {
	struct rec_func_args rec;
	char values[1024];
};

static struct made make(uint16_t kind)
{
	struct made m = { .rec.f.hdr = { .kind = kind, .size = sizeof(m) } };

	return m;
}

static struct rec_value *add(struct made *m, uint8_t index, uint8_t format, uint8_t size, const void *bytes, uint16_t len)
{
	struct rec_value *v = (void *)(m->values + m->rec.values_len);

	*v = (struct rec_value){ .index = index, .format = format, .size = size, .len = len, .room = ROUND_UP(len, 8) };
	memcpy(v->bytes, bytes, len);
	m->rec.values_len += sizeof(*v) + v->room;
	return v;
}

static struct rec_value *add_number(struct made *m, uint8_t index, uint8_t format, uint8_t size, uint64_t n)
{
	return add(m, index, format, size, &n, sizeof(n));
}

static struct rec_value *add_string(struct made *m, uint8_t index, const char *s)
{
	return add(m, index, VALUE_STRING, 8, s, strlen(s));
}

static bool is_sane(const struct made *m)
{
	return record_is_sane(&m->rec.f.hdr, sizeof(*m));
}

TEST(values_inside_their_record_are_sane)
{
	struct made m = make(REC_FUNC_ENTRY_ARGS), x = make(REC_FUNC_EXIT_ARGS);

	CHECK(is_sane(&m));
	add_number(&m, 3, VALUE_HEX, 4, 1);
	add_string(&m, 1, "text");
	add_string(&m, 2, "");
	CHECK(is_sane(&m));
	add_number(&x, 0, VALUE_SIGNED, 4, -1);
	CHECK(is_sane(&x));
}

static struct rec_value *add_struct(struct made *m, uint8_t index, uint8_t size, const char *name)
{
	char bytes[VALUE_STRUCT_MAX + TYPE_NAME_MAX] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

	snprintf(bytes + ROUND_UP(size, 8), TYPE_NAME_MAX, "%s", name);
	return add(m, index, VALUE_STRUCT, size, bytes, ROUND_UP(size, 8) + TYPE_NAME_MAX);
}

static struct rec_value *add_float(struct made *m, uint8_t index, uint8_t size, long double x)
{
	char bytes[16] = "";
	double d = x;
	float f = x;

	memcpy(bytes, size == 10 ? (void *)&x : size == 8 ? (void *)&d : (void *)&f, size);
	return add(m, index, VALUE_FLOAT, size, bytes, sizeof(bytes));
}

TEST(numbers_structures_and_strings_of_cplusplus_are_sane)
{
	struct made m = make(REC_FUNC_ENTRY_ARGS), x = make(REC_FUNC_EXIT_ARGS);

	add_float(&m, 1, 10, 1);
	add_number(&m, 1, VALUE_HEX, 4, 1);	/* fparg1 and arg1 are two */
	add_struct(&m, 2, 9, "name");
	add(&m, 3, VALUE_STD_STRING, 8, "text", 4);
	CHECK(is_sane(&m));
	add_float(&m, 1, 8, 1);
	CHECK(!is_sane(&m));
	add_float(&x, 0, 8, 1);
	CHECK(is_sane(&x));
	add_number(&x, 0, VALUE_HEX, 4, 1);
	CHECK(!is_sane(&x));
}

TEST(wild_numbers_and_structures_are_not)
{
	const struct made real = ({ struct made m = make(REC_FUNC_ENTRY_ARGS); add_float(&m, 1, 8, 1); m; });
	const struct made some = ({ struct made m = make(REC_FUNC_ENTRY_ARGS); add_struct(&m, 1, 9, "name"); m; });
	struct made m;

#define WILD_OF(good, change) do {						\
	struct rec_value *v = (void *)m.values;				\
	m = good, change;						\
	CHECK(!is_sane(&m));						\
} while (0)
	WILD_OF(real, v->size = 9);
	WILD_OF(real, v->len = 8);
	WILD_OF(some, v->size = 0);
	WILD_OF(some, v->size = 41);
	WILD_OF(some, v->len = 16);
	WILD_OF(some, v->bytes[v->len - 1] = 'x');
}

TEST(wild_values_are_not)
{
	const struct made good = ({ struct made m = make(REC_FUNC_ENTRY_ARGS); add_number(&m, 1, VALUE_HEX, 4, 1); m; });
	struct rec_value *v;
	struct made m;

#define WILD(change)	do { m = good; v = (void *)m.values; change; CHECK(!is_sane(&m)); } while (0)
	WILD(m.rec.values_len = sizeof(m.values) + 8);
	WILD(m.rec.values_len = 12);
	WILD(v->room = 16);
	WILD(v->room = 4);
	WILD(v->len = 16);
	WILD(v->len = 4);
	WILD(v->size = 3);
	WILD(v->size = 16);
	WILD(v->format = VALUE_FORMATS);
	WILD(v->index = 0);
	WILD(v->index = 64);
	WILD(add_number(&m, 1, VALUE_HEX, 4, 1));
	WILD(m.rec.f.hdr.kind = REC_FUNC_EXIT_ARGS);
	WILD((v->format = VALUE_STRING, v->flags = TEXT_FAULT, v->len = 3));
}

/* What a reader gets, and the module it is of. */
struct shown {
	struct uf_modules modules;
	struct uf_module *mod;
	uint8_t		  bytes[UF_VALUES_MAX];
	size_t		  len;
};

static void show(struct shown *s, const struct made *m)
{
	if (!s->mod) {
		CHECK_INT(uf_modules_init(&s->modules), 0);
		CHECK_INT(uf_module_find(&s->modules, &s->mod, "/opt/prog", NULL), 0);
	}
	CHECK_INT(uf_values_show(&s->modules, s->mod, 0x1000, "open_it", &m->rec, s->bytes, &s->len), 0);
}

TEST(values_follow_their_record_aligned_to_four_bytes)
{
	struct made m = make(REC_FUNC_ENTRY_ARGS), x = make(REC_FUNC_EXIT_ARGS);
	struct shown s = {};

	add_string(&m, 1, "/etc/x");
	add_number(&m, 2, VALUE_AUTO, 4, 2);
	show(&s, &m);
	CHECK_INT(s.len, 16);
	CHECK_MEM(s.bytes, "\6\0/etc/x\2\0\0\0\0\0\0\0", 16);
	CHECK(s.modules.has_new_specs);
	add_number(&x, 0, VALUE_AUTO, 4, -2);
	show(&s, &x);
	CHECK_INT(s.len, 8);
	CHECK_MEM(s.bytes, "\xfe\xff\xff\xff\0\0\0\0", 8);
	uf_modules_release(&s.modules);
}

TEST(other_forms_than_the_first_are_not_shown)
{
	struct made m = make(REC_FUNC_ENTRY_ARGS), other = m, more = m;
	struct shown s = {};

	add_number(&m, 1, VALUE_HEX, 8, 1);
	add_number(&other, 1, VALUE_HEX, 4, 1);
	add_number(&more, 1, VALUE_HEX, 8, 1);
	add_number(&more, 2, VALUE_HEX, 8, 1);
	show(&s, &m);
	CHECK_INT(s.len, 8);
	show(&s, &other);
	CHECK_INT(s.len, 0);
	show(&s, &more);
	CHECK_INT(s.len, 0);
	show(&s, &m);
	CHECK_INT(s.len, 8);
	uf_modules_release(&s.modules);
}

TEST(what_cannot_be_read_is_shown_as_uftrace_does)
{
	struct made m = make(REC_FUNC_ENTRY_ARGS);
	struct shown s = {};

	add_number(&m, 1, VALUE_STRING, 8, 0)->flags = TEXT_FAULT;
	add_number(&m, 2, VALUE_STRING, 8, 8)->flags = TEXT_FAULT;
	CHECK(is_sane(&m));
	show(&s, &m);
	CHECK_MEM(s.bytes, "\4\0NULL\0\0\5\0<0x8>\0", 16);
	uf_modules_release(&s.modules);
}

TEST(strings_are_cut_where_uftrace_cuts_them)
{
	char text[101] = "";
	struct shown s = {};

	for (size_t len = 96; len <= 99; len++) {
		struct made m = make(REC_FUNC_ENTRY_ARGS);

		memset(text, 'x', len);
		add_string(&m, 1, text);
		show(&s, &m);
		CHECK_INT(s.bytes[0], MIN(len, (size_t)98));
		CHECK_INT(s.bytes[2 + s.bytes[0] - 1], len < 98 ? 'x' : '.');
		CHECK_INT(s.bytes[2 + s.bytes[0] - 4], 'x');
	}
	uf_modules_release(&s.modules);
}

TEST(floats_are_shown_as_floats_and_long_doubles_as_doubles)
{
	struct made m = make(REC_FUNC_ENTRY_ARGS);
	struct shown s = {};
	float f = 1.5, missing;
	double d = -2.25;

	add_float(&m, 1, 4, f);
	add_float(&m, 2, 10, d);
	add_float(&m, 3, 4, 7)->flags = TEXT_FAULT;
	show(&s, &m);
	CHECK_INT(s.len, 16);
	CHECK_MEM(s.bytes, &f, sizeof(f));
	CHECK_MEM(s.bytes + 4, &d, sizeof(d));
	memcpy(&missing, s.bytes + 12, sizeof(missing));
	CHECK(missing != missing);
	CHECK_INT(s.mod->spec[0].arg[1].size, 8);
	uf_modules_release(&s.modules);
}

TEST(no_more_digits_are_shown_than_a_reader_has_room_for)
{
	struct made m = make(REC_FUNC_ENTRY_ARGS);
	struct shown s = {};
	double d[3];

	for (int i = 1; i <= 3; i++)
		add_float(&m, i, 8, 1e300);
	show(&s, &m);
	memcpy(d, s.bytes, sizeof(d));
	CHECK(d[0] == 1e300 && d[1] == 1e300 && d[2] != d[2]);
	uf_modules_release(&s.modules);
}

TEST(a_structure_has_its_bytes_and_its_name)
{
	struct made m = make(REC_FUNC_ENTRY_ARGS);
	struct shown s = {};

	add_struct(&m, 1, 9, "a<b, c>");
	show(&s, &m);
	CHECK_INT(s.len, 16);
	CHECK_MEM(s.bytes, "\1\2\3\4\5\6\7\10\11\0\0", 12);
	CHECK_STR(s.mod->spec[0].arg[0].type, "a<b__c>");
	uf_modules_release(&s.modules);
}
