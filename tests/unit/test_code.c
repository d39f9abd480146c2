/*
 * test_code.c - which kernels an image of device code has: images made by hand from the format, and damaged ones.
 */
#include <elf.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "test_code.h"

/* ---- images made by hand ---- */

struct bytes {
	uint8_t at[16384];
	size_t	len;
};

static size_t put(struct bytes *b, const void *from, size_t len)
{
	size_t at = b->len;

	CHECK(len <= sizeof(b->at) - at);
	memcpy(b->at + at, from, len);
	b->len += len;
	return at;
}

static uint32_t put_string(struct bytes *b, const char *first, const char *then)
{
	size_t at = put(b, first, strlen(first));

	put(b, then, strlen(then) + 1);
	return at;
}

/* An attribute with bytes behind it. */
static void put_info(struct bytes *b, uint8_t number, const void *data, uint16_t len)
{
	uint8_t head[4] = { 4, number, len & 255, len >> 8 };

	put(b, head, sizeof(head));
	put(b, data, len);
}

static void put_param(struct bytes *b, uint16_t n, uint16_t at, uint32_t size)
{
	struct { uint32_t index; uint16_t n, at; uint32_t size; } p = { 0, n, at, size << 18 | 0x1f000 };

	put_info(b, 0x17, &p, sizeof(p));
}

static void put_param_v2(struct bytes *b, uint16_t n, uint16_t at, uint16_t size)
{
	struct { uint32_t index; uint16_t n, at, size, flags; } p = { 0, n, at, size, 0x500 };

	put_info(b, 0x45, &p, sizeof(p));
}

/* How long all are: a value of two bytes. */
static void put_said(struct bytes *b, uint16_t bytes)
{
	put(b, (uint8_t[]){ 3, 0x19, bytes & 255, bytes >> 8 }, 4);
}

struct kernel {
	const char  *name;
	uint32_t     regs;
	bool	     is_function;	/* for the device only: no kernel */
	struct bytes list;
};

struct sections {
	struct bytes names, strings, symbols, regs;
	Elf64_Shdr   s[32];
	size_t	     count;
};

static void put_section(struct sections *x, struct bytes *b, const char *first, const char *then, uint32_t type, uint32_t info,
			const struct bytes *data)
{
	x->s[x->count++] = (Elf64_Shdr){ .sh_name = put_string(&x->names, first, then), .sh_type = type, .sh_info = info,
		.sh_offset = b->len, .sh_size = data->len };
	put(b, data->at, data->len);
}

/* Sections: 0 none, then of each kernel its code and its list, then the tables. Symbols: 0 none, then each kernel. */
static void make_cubin(struct bytes *b, const struct kernel *k, size_t n)
{
	static struct sections x;
	Elf64_Ehdr h = { .e_ident = ELFMAG "\2\1\1\x41\x08", .e_type = ET_EXEC, .e_machine = 190, .e_flags = 0x6005a04,
			 .e_ehsize = sizeof(h), .e_shentsize = sizeof(Elf64_Shdr) };

	x = (struct sections){ .count = 1 };
	b->len = 0;
	put(b, &h, sizeof(h));
	put(&x.names, "", 1);
	put(&x.strings, "", 1);
	put(&x.symbols, &(Elf64_Sym){}, sizeof(Elf64_Sym));
	for (size_t i = 0; i < n; i++) {
		Elf64_Sym y = { .st_name = put_string(&x.strings, k[i].name, ""), .st_shndx = x.count,
				.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_other = k[i].is_function ? 0 : 0x10 };

		put(&x.symbols, &y, sizeof(y));
		put_info(&x.regs, 0x2f, (uint32_t[]){ i + 1, k[i].regs }, 8);
		put_section(&x, b, ".text.", k[i].name, SHT_PROGBITS, i + 1, &(struct bytes){ .len = 16 });
		put_section(&x, b, ".nv.info.", k[i].name, 0x70000000, x.count - 1, &k[i].list);
	}
	put_section(&x, b, ".nv.info", "", 0x70000000, 0, &x.regs);
	put_section(&x, b, ".symtab", "", SHT_SYMTAB, 1, &x.symbols);
	x.s[x.count - 1].sh_entsize = sizeof(Elf64_Sym);
	x.s[x.count - 1].sh_link = x.count;
	put_section(&x, b, ".strtab", "", SHT_STRTAB, 0, &x.strings);
	h.e_shstrndx = x.count;
	x.s[x.count].sh_name = put_string(&x.names, ".shstrtab", "");
	x.s[x.count++] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = b->len, .sh_size = x.names.len };
	put(b, x.names.at, x.names.len);
	h.e_shnum = x.count;
	h.e_shoff = put(b, x.s, x.count * sizeof(x.s[0]));
	memcpy(b->at, &h, sizeof(h));
}

/* A function of the device, a kernel without parameters and one with three. */
static void make_three(struct bytes *b)
{
	static struct kernel k[3];

	memset(k, 0, sizeof(k));
	k[0] = (struct kernel){ "helper", 9, true, {} };
	k[1].name = "nothing", k[1].regs = 8;
	put(&k[1].list, (uint8_t[]){ 3, 0x1b, 255, 0 }, 4);
	k[2].name = "_Z5threePicd", k[2].regs = 12;
	put_param(&k[2].list, 2, 16, 8);
	put_param(&k[2].list, 1, 8, 1);
	put_param(&k[2].list, 0, 0, 8);
	put_said(&k[2].list, 24);
	make_cubin(b, k, 3);
}

#define THREE		"nothing 0 0 8 90;_Z5threePicd 3 24 12 90;"

struct entry {
	uint16_t kind, version;
	uint32_t header;
	uint64_t payload;
	uint32_t packed, options;
	uint16_t minor, major;
	uint32_t arch, name[2];
	uint64_t flags, zero, unpacked;
};

static void put_entry(struct bytes *b, struct entry e, const void *payload, size_t len, size_t more_header)
{
	e.version = 0x101;
	e.header = sizeof(e) + more_header;
	e.payload = ROUND_UP(len, 8);
	put(b, &e, sizeof(e));
	put(b, (char[64]){}, more_header);
	put(b, payload, len);
	put(b, (char[8]){}, e.payload - len);
}

static void begin_fatbin(struct bytes *b)
{
	b->len = 0;
	put(b, (uint32_t[]){ CODE_FATBIN_MAGIC, 16 << 16 | 1, 0, 0 }, 16);
}

static void end_fatbin(struct bytes *b)
{
	memcpy(b->at + 8, (uint64_t[]){ b->len - 16 }, 8);
}

static const char some_ptx[] =
	".version 9.0\n.target sm_90\n.address_size 64\n"
	".visible .entry scale(\n\t.param .u64 scale_param_0,\n\t.param .f32 scale_param_1\n)\n{\n\tret;\n}\n";

#define SCALE		"scale 2 12 0 ptx;"


#define REPEATED	40	/* "ab", in the comment before the text */

/* As an LZ4 block: four bytes as they are, a match that overlaps itself, and the rest as it is. */
static uint64_t put_lz4(struct bytes *b)
{
	size_t rest = strlen(some_ptx) + 1;

	put(b, "\x4f//ab\2", 6);
	put(b, (uint8_t[]){ 0, 2 * (REPEATED - 1) - 4 - 15 }, 2);
	put(b, (uint8_t[]){ 0xf0, rest - 15 }, 2);
	CHECK(rest - 15 < 255);
	put(b, "\n", 1);
	put(b, some_ptx, strlen(some_ptx));
	return 2 + 2 * REPEATED + rest;
}

/* A cubin, text with a longer header, text packed by LZ4, a cubin by zstd, and what is for the linker. */
static void make_fatbin(struct bytes *b)
{
	static struct bytes cubin, packed;
	uint64_t unpacked;

	make_three(&cubin);
	begin_fatbin(b);
	put_entry(b, (struct entry){ .kind = 2, .arch = 90, .flags = 0x11 }, cubin.at, cubin.len, 0);
	put_entry(b, (struct entry){ .kind = 1, .arch = 90, .flags = 0x11 }, some_ptx, strlen(some_ptx), 16);
	put_entry(b, (struct entry){ .kind = 8, .arch = 90, .flags = 0x11 }, some_ptx, strlen(some_ptx), 56);
	packed.len = 0;
	unpacked = put_lz4(&packed);
	put_entry(b, (struct entry){ .kind = 1, .arch = 80, .flags = 0x2011, .packed = packed.len, .unpacked = unpacked },
		  packed.at, packed.len, 16);
#ifdef HAVE_ZSTD
	packed.len = ZSTD_compress(packed.at, sizeof(packed.at), cubin.at, cubin.len, 1);
	CHECK(!ZSTD_isError(packed.len));
	put_entry(b, (struct entry){ .kind = 2, .arch = 90, .flags = 0x8011, .packed = packed.len, .unpacked = cubin.len },
		  packed.at, packed.len, 0);
#endif
	end_fatbin(b);
}

#ifdef HAVE_ZSTD
#define OF_FATBIN	THREE SCALE SCALE THREE
#else
#define OF_FATBIN	THREE SCALE SCALE
#endif

/* ---- cubins ---- */

TEST(code_of_a_cubin_tells_kernels_with_their_parameters_and_registers)
{
	static struct bytes b;

	make_three(&b);
	CHECK_STR(told_of(b.at, b.len), THREE);
}

TEST(code_of_a_cubin_tells_parameters_too_long_for_the_older_list)
{
	static struct kernel k = { .name = "long", .regs = 10 };
	static struct bytes b;

	put_param_v2(&k.list, 1, 20000, 4);
	put_param_v2(&k.list, 0, 0, 20000);
	make_cubin(&b, &k, 1);
	CHECK_STR(told_of(b.at, b.len), "long 2 20004 10 90;");
}

/* A kernel "k" with the list that @make made. */
static const char *told_of_list(void (*make)(struct bytes *list))
{
	static struct kernel k;
	static struct bytes b;

	k = (struct kernel){ .name = "k", .regs = 5 };
	make(&k.list);
	make_cubin(&b, &k, 1);
	return told_of(b.at, b.len);
}

static void one_is_missing(struct bytes *l) { put_param(l, 0, 0, 8); put_param(l, 2, 16, 8); }
static void one_is_twice(struct bytes *l) { put_param(l, 0, 0, 8); put_param(l, 0, 0, 8); }
static void all_are_missing(struct bytes *l) { put_said(l, 16); }
static void longer_than_said(struct bytes *l) { put_param(l, 0, 0, 8); put_said(l, 4); }
static void of_another_length(struct bytes *l) { put_info(l, 0x17, "12345678", 8); }
static void of_another_form(struct bytes *l) { put_param(l, 0, 0, 8); put(l, "\5\x70\0\0", 4); }
static void cut_short(struct bytes *l) { put_param(l, 0, 0, 8); l->len -= 1; }
static void of_unknown_numbers(struct bytes *l) { put_info(l, 0xee, "1234", 4); put_param(l, 0, 0, 2); put(l, "\1\xef\0\0", 4); }

TEST(code_tells_no_parameters_where_the_list_is_not_understood)
{
	CHECK_STR(told_of_list(one_is_missing), "k ? 0 5 90;");
	CHECK_STR(told_of_list(one_is_twice), "k ? 0 5 90;");
	CHECK_STR(told_of_list(all_are_missing), "k ? 0 5 90;");
	CHECK_STR(told_of_list(longer_than_said), "k ? 0 5 90;");
	CHECK_STR(told_of_list(of_another_length), "k ? 0 5 90;");
	CHECK_STR(told_of_list(of_another_form), "k ? 0 5 90;");
	CHECK_STR(told_of_list(cut_short), "k ? 0 5 90;");
	CHECK_STR(told_of_list(of_unknown_numbers), "k 1 2 5 90;");
}

static const char *told_of_flags(struct bytes *b, uint8_t abi, uint32_t flags)
{
	Elf64_Ehdr h;

	memcpy(&h, b->at, sizeof(h));
	h.e_ident[EI_ABIVERSION] = abi;
	h.e_flags = flags;
	memcpy(b->at, &h, sizeof(h));
	return told_of(b->at, b->len);
}

TEST(code_of_a_cubin_knows_the_architecture_by_its_abi)
{
	static struct kernel k = { .name = "k", .regs = 5 };
	static struct bytes b;

	make_cubin(&b, &k, 1);
	CHECK_STR(told_of_flags(&b, 8, 0x6007802), "k ? 0 5 120;");
	CHECK_STR(told_of_flags(&b, 7, 0x00500550), "k ? 0 5 80;");
	CHECK_STR(told_of_flags(&b, 99, 0x6007802), "k ? 0 5 0;");
}

TEST(code_of_other_files_tells_nothing)
{
	static struct bytes b;
	uint16_t machine = EM_X86_64;

	make_three(&b);
	memcpy(b.at + offsetof(Elf64_Ehdr, e_machine), &machine, 2);
	CHECK_STR(told_of(b.at, b.len), "");
	CHECK_STR(told_of("", 0), "");
	CHECK_STR(told_of("\x7f" "EL", 3), "");
	CHECK_STR(told_of("\x50\xed\x55\xba", 4), "");
}

/* ---- fat binaries ---- */

TEST(code_of_a_fat_binary_is_told_entry_by_entry_packed_or_not)
{
	static struct bytes b;

	make_fatbin(&b);
	CHECK_STR(told_of(b.at, b.len), OF_FATBIN);
}

TEST(code_ends_where_the_callback_says)
{
	struct told t = { .stop_after = 3 };
	static struct bytes b;

	make_fatbin(&b);
	CHECK_INT(code_kernels(b.at, b.len, note, &t), 7);
	CHECK_STR(t.text, THREE SCALE);
}

/* An entry of text with these, and a plain one behind it. */
static const char *told_behind(struct entry e)
{
	static struct bytes b;

	begin_fatbin(&b);
	put_entry(&b, e, some_ptx, strlen(some_ptx), 0);
	put_entry(&b, (struct entry){ .kind = 1, .flags = 0x11 }, ".entry last()", 13, 0);
	end_fatbin(&b);
	return told_of(b.at, b.len);
}

TEST(code_passes_over_an_entry_that_is_not_understood)
{
	CHECK_STR(told_behind((struct entry){ .kind = 1 }), SCALE "last 0 0 0 ptx;");
	CHECK_STR(told_behind((struct entry){ .kind = 16 }), "last 0 0 0 ptx;");
	CHECK_STR(told_behind((struct entry){ .kind = 1, .unpacked = 500 }), "last 0 0 0 ptx;");
	CHECK_STR(told_behind((struct entry){ .kind = 1, .flags = 0xa000, .packed = 50, .unpacked = 500 }), "last 0 0 0 ptx;");
	CHECK_STR(told_behind((struct entry){ .kind = 1, .flags = 0x2000, .packed = 50, .unpacked = 500 }), "last 0 0 0 ptx;");
	CHECK_STR(told_behind((struct entry){ .kind = 1, .flags = 0x8000, .packed = 50, .unpacked = 500 }), "last 0 0 0 ptx;");
	CHECK_STR(told_behind((struct entry){ .kind = 1, .flags = 0x8000, .packed = 1 << 30, .unpacked = 500 }), "last 0 0 0 ptx;");
	CHECK_STR(told_behind((struct entry){ .kind = 1, .flags = 0x8000, .packed = 50, .unpacked = 1ull << 60 }), "last 0 0 0 ptx;");
}

/* ---- PTX ---- */

static const char *told_of_text(const char *text)
{
	return told_of(text, strlen(text));
}

TEST(code_of_text_finds_kernels_however_they_are_declared)
{
	CHECK_STR(told_of_text(".visible .entry a(){ret;} .weak .entry b ( ) .maxntid 128,1,1 { ret; }"), "a 0 0 0 ptx;b 0 0 0 ptx;");
	CHECK_STR(told_of_text(".entry none { ret; } .entry tuned .minnctapersm 2 { ret; }"), "none 0 0 0 ptx;tuned 0 0 0 ptx;");
	CHECK_STR(told_of_text(".entry $_x%1 (.param.u8 a)\n;"), "$_x%1 1 1 0 ptx;");
	CHECK_STR(told_of_text(".func (.param .b32 r) f (.param .b32 a) { ret; } .visible.entry k(.param .b32 a)"), "k 1 4 0 ptx;");
}

TEST(code_of_text_lays_parameters_out_as_the_driver_does)
{
	CHECK_STR(told_of_text(".entry k(.param .u8 a, .param .u64 b, .param .u16 c)"), "k 3 18 0 ptx;");
	CHECK_STR(told_of_text(".entry k(.param .align 8 .b8 a[40], .param .align 4 .b8 b[3][4])"), "k 2 52 0 ptx;");
	CHECK_STR(told_of_text(".entry k(.param .u8 a, .param .align 16 .b8 b[200])"), "k 2 216 0 ptx;");
	CHECK_STR(told_of_text(".entry k(.param .u32 a, .param .u64 .ptr .global .align 256 b)"), "k 2 16 0 ptx;");
	CHECK_STR(told_of_text(".entry k(.param .u32 a, .param .v4 .f32 b)"), "k 2 32 0 ptx;");
	CHECK_STR(told_of_text(".entry k(.param .u32 a, .param .texref t, .param .u32 b)"), "k 3 0 0 ptx;");
	CHECK_STR(told_of_text(".entry k(.param .b8 a[4000000000], .param .b8 b[99999999999])"), "k 2 0 0 ptx;");
}

TEST(code_of_text_is_not_misled_by_comments_and_strings)
{
	CHECK_STR(told_of_text("// .entry a()\n/* .entry b() \n .entry c() */ .file 1 \".entry d()\" .entry e /* ( */ ( // )\n"
			       ".param /*,*/ .u32 x ) { }"), "e 1 4 0 ptx;");
}

TEST(code_of_text_leaves_out_what_does_not_end)
{
	CHECK_STR(told_of_text(".entry a(.param .u32 x"), "");
	CHECK_STR(told_of_text(".entry a(.param .u32 x,"), "");
	CHECK_STR(told_of_text(".entry a(.param .u32 x .param .u32 y)"), "");
	CHECK_STR(told_of_text(".entry a"), "");
	CHECK_STR(told_of_text(".entry a() /* .entry b()"), "a 0 0 0 ptx;");
	CHECK_STR(told_of(".entry a()\0.entry b()", 21), "a 0 0 0 ptx;");
}

/* ---- how long an image is ---- */

TEST(code_knows_how_long_an_image_is_by_its_head)
{
	static struct bytes b;
	Elf64_Ehdr h;

	make_three(&b);
	CHECK_INT(code_bytes(b.at, sizeof(h)), b.len);
	CHECK_INT(code_bytes(b.at, sizeof(h) - 1), 0);
	memcpy(&h, b.at, sizeof(h));
	h.e_shoff = UINT64_MAX - 5;
	CHECK_INT(code_bytes(&h, sizeof(h)), 0);
	make_fatbin(&b);
	CHECK_INT(code_bytes(b.at, 16), b.len);
	CHECK_INT(code_bytes(b.at, 15), 0);
	CHECK_INT(code_bytes(some_ptx, strlen(some_ptx)), 0);
}

/* ---- damaged ---- */

static int nothing(void *ctx, const struct code_kernel *k)
{
	/* Each byte is touched: a name that reaches too far is seen by whoever watches memory. */
	for (size_t i = 0; i < k->name_len; i++)
		*(unsigned *)ctx += (unsigned char)k->name[i];
	CHECK(k->name_len);
	return 0;
}

static void read_copy(const void *image, size_t len)
{
	__cleanup(free_ptr) void *copy = malloc(len ?: 1);
	unsigned sum = 0;

	memcpy(copy, image, len);
	CHECK_INT(code_kernels(copy, len, nothing, &sum), 0);
}

static void read_cut(const struct bytes *b)
{
	for (size_t len = 0; len <= b->len; len++)
		read_copy(b->at, len);
}

#define FLIPPED_ROUNDS	20000

/* One to eight bytes are changed, half of them in the headers at either end. */
static void read_flipped(const struct bytes *b)
{
	static struct bytes x;

	srandom(1);
	for (unsigned round = 0; round < FLIPPED_ROUNDS; round++) {
		x = *b;
		for (unsigned n = random() % 8 + 1; n; n--) {
			size_t from = random() % 2 ? 0 : random() % 2 ? b->len - MIN(b->len, 512u) : b->len;

			x.at[from == b->len ? random() % b->len : from + random() % MIN(b->len - from, 512u)] = random();
		}
		read_copy(x.at, x.len);
	}
}

TEST(code_survives_images_that_are_cut_anywhere)
{
	static struct bytes b;

	make_three(&b);
	read_cut(&b);
	make_fatbin(&b);
	read_cut(&b);
	b.len = 0;
	put(&b, some_ptx, strlen(some_ptx));
	read_cut(&b);
}

TEST(code_survives_cubins_with_changed_bytes)
{
	static struct bytes b;

	make_three(&b);
	read_flipped(&b);
}

TEST(code_survives_fat_binaries_with_changed_bytes)
{
	static struct bytes b;

	make_fatbin(&b);
	read_flipped(&b);
}

TEST(code_survives_text_with_changed_bytes)
{
	static struct bytes b;

	put(&b, some_ptx, strlen(some_ptx));
	read_flipped(&b);
}

/* ---- made to be slow ---- */

#define LARGE	(64u << 20)

/* Some tenths of a second; in a time that grows with the square it would be minutes, which no test has. */
static void check_ends(const void *image, size_t len)
{
	unsigned sum = 0;

	CHECK_INT(code_kernels(image, len, nothing, &sum), 0);
}

static void fill(uint8_t *to, size_t len, const void *with, size_t bytes)
{
	for (; len >= bytes; len -= bytes, to += bytes)
		memcpy(to, with, bytes);
}

TEST(code_of_endless_headers_is_read_in_bounded_time)
{
	__cleanup(free_ptr) uint8_t *image = calloc(1, LARGE);
	struct entry e = { .kind = 2, .header = sizeof(e), .flags = 0x8000, .unpacked = CODE_UNPACKED_MAX };

	CHECK(image);
	memcpy(image, (uint32_t[]){ CODE_FATBIN_MAGIC, 16 << 16, LARGE - 16, 0 }, 16);
	fill(image + 16, LARGE - 16, &e, sizeof(e));
	check_ends(image, LARGE);
	e.unpacked = 16;
	e.flags = 0x2000;
	fill(image + 16, LARGE - 16, &e, sizeof(e));
	check_ends(image, LARGE);
}

/* "/" and one match that copies it on: a byte of the image for 255 that are made. */
TEST(code_of_packed_bombs_is_read_in_bounded_time)
{
	__cleanup(free_ptr) uint8_t *image = malloc(LARGE);
	uint32_t more = CODE_UNPACKED_MAX - 1 - 4 - 15, packed = ROUND_UP(4 + more / 255 + 2, 8);
	struct entry e = { .kind = 1, .header = sizeof(e), .flags = 0x2000, .unpacked = CODE_UNPACKED_MAX,
			   .packed = 4 + more / 255 + 2, .payload = packed };

	CHECK(image);
	memset(image, 255, LARGE);
	memcpy(image, (uint32_t[]){ CODE_FATBIN_MAGIC, 16 << 16, LARGE - 16, 0 }, 16);
	for (size_t at = 16; at + sizeof(e) + packed <= LARGE; at += sizeof(e) + packed) {
		memcpy(image + at, &e, sizeof(e));
		memcpy(image + at + sizeof(e), "\x1f \1", 4);
		image[at + sizeof(e) + 4 + more / 255] = more % 255;
		image[at + sizeof(e) + e.packed - 1] = 0;
	}
	check_ends(image, LARGE);
}

/* A cubin whose section table is @n of @s at its end, behind a symbol table and a name as long as the rest. */
static void make_large(uint8_t *image, Elf64_Sym y, size_t symbols, Elf64_Shdr of_list, size_t n)
{
	size_t names = sizeof(Elf64_Ehdr) + symbols * sizeof(y), table = LARGE - n * sizeof(of_list), end = table - names;
	Elf64_Ehdr h = { .e_ident = ELFMAG "\2\1\1\x41\x08", .e_machine = 190, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = n,
			 .e_shoff = table, .e_shstrndx = 2 };
	Elf64_Shdr first[3] = {
		{},
		{ .sh_type = SHT_SYMTAB, .sh_entsize = sizeof(y), .sh_link = 2, .sh_offset = sizeof(h),
		  .sh_size = symbols * sizeof(y) },
		{ .sh_type = SHT_STRTAB, .sh_offset = names, .sh_size = end },
	};

	memset(image, 'a', LARGE);
	memcpy(image, &h, sizeof(h));
	fill(image + sizeof(h), symbols * sizeof(y), &y, sizeof(y));
	memcpy(image + names, ".nv.info.", 9);
	image[table - 1] = 0;
	fill(image + table, n * sizeof(of_list), &of_list, sizeof(of_list));
	memcpy(image + table, first, sizeof(first));
}

TEST(code_of_many_symbols_with_one_name_is_read_in_bounded_time)
{
	__cleanup(free_ptr) uint8_t *image = malloc(LARGE);
	Elf64_Sym y = { .st_name = 9, .st_info = STT_FUNC, .st_other = 0x10, .st_shndx = 3 };
	Elf64_Shdr list = { .sh_type = 0x70000000, .sh_info = 3, .sh_offset = 64, .sh_size = LARGE / 2 };

	CHECK(image);
	make_large(image, y, 1000000, list, 4);
	check_ends(image, LARGE);
	make_large(image, y, 1000, list, 65000);
	check_ends(image, LARGE);
	y.st_name = LARGE - 4 * sizeof(list) - sizeof(Elf64_Ehdr) - 2000000 * sizeof(y) - 2;	/* a name of one letter */
	make_large(image, y, 2000000, list, 4);
	check_ends(image, LARGE);
}

TEST(code_of_endless_text_is_read_in_bounded_time)
{
	static const char *const texts[] = { "/*", ".entry a(", ".entry a(.param .b8 a[", "\"", "/", ".entry a()", " ", "a" };
	__cleanup(free_ptr) uint8_t *image = malloc(LARGE);

	CHECK(image);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		memset(image, ' ', LARGE);
		fill(image, LARGE, texts[i], strlen(texts[i]));
		printf("%s: ", texts[i]);
		check_ends(image, LARGE);
	}
}
