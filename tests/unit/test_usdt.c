/*
 * test_usdt.c - USDT probes: the notes that tell of them, the forms of their arguments, the words that name them.
 */
#include <elf.h>

#include "test_image.h"
#include "usdt.h"

#define SITE	0x1000

static bool find(void *ctx, const char *name, size_t len, uint64_t *ret)
{
	(void)ctx;
	*ret = 0x4000;
	return len == 7 && !strncmp(name, "counter", len);
}

/* An argument in one word: "place flags base index scale shift size format value". */
static const char *parsed(int machine, const char *text)
{
	static const char *const place[] = { "?", "const", "reg", "mem" };
	static const char format[VALUE_FORMATS] = {
		[VALUE_SIGNED] = 'i', [VALUE_UNSIGNED] = 'u', [VALUE_HEX] = 'x', [VALUE_FLOAT] = 'f',
	};
	static char said[1024];
	struct usdt_arg arg[ARGS_MAX];
	unsigned n = usdt_parse(arg, text, machine, SITE, find, NULL);
	size_t len = 0;

	said[0] = '\0';
	for (unsigned i = 0; i < n; i++) {
		const struct usdt_arg *a = &arg[i];

		len += snprintf(said + len, sizeof(said) - len, "%s%s", i ? " " : "", place[a->place]);
		if (!a->place)
			continue;
		len += snprintf(said + len, sizeof(said) - len, ".%c%u", format[a->format], a->size);
		if (a->place == USDT_REGISTER || a->flags & USDT_HAS_BASE)
			len += snprintf(said + len, sizeof(said) - len, ".r%u", a->base);
		if (a->flags & USDT_HAS_INDEX)
			len += snprintf(said + len, sizeof(said) - len, ".r%u<<%u", a->index, a->scale);
		if (a->shift)
			len += snprintf(said + len, sizeof(said) - len, ">>%u", a->shift);
		if (a->value)
			len += snprintf(said + len, sizeof(said) - len, "%+lld", (long long)a->value);
		if (a->flags & USDT_FROM_SITE)
			len += snprintf(said + len, sizeof(said) - len, "@site");
	}
	return said;
}

TEST(arguments_as_gcc_and_clang_write_them_on_x86)
{
	CHECK_STR(parsed(EM_X86_64, ""), "");
	CHECK_STR(parsed(EM_X86_64, "-4@%edi 8@-16(%rbp) 4@$7 8@(%rax,%rbx,4)"),
		  "reg.i4.r5 mem.u8.r6-16 const.u4+7 mem.u8.r0.r1<<2");
	CHECK_STR(parsed(EM_X86_64, "1@%al 1@%ah 2@%dx 8@%rcx 4@%r8d 1@%r15b 2@%r9w 8@%r10 1@%sil 1@%bpl 1@%spl"),
		  "reg.u1.r0 reg.u1.r0>>8 reg.u2.r3 reg.u8.r2 reg.u4.r8 reg.u1.r15 reg.u2.r9 reg.u8.r10 reg.u1.r4 "
		  "reg.u1.r6 reg.u1.r7");
	CHECK_STR(parsed(EM_X86_64, "-4@counter(%rip) 4@counter+8(%rip) 8@-4+counter(%rip) 8@$counter -4@counter(,%rax,8)"),
		  "mem.i4+12288@site mem.u4+12296@site mem.u8+12284@site const.u8+12288@site mem.i4.r0<<3+12288@site");
	CHECK_STR(parsed(EM_X86_64, "8@(%rsp) -8@8(%r12,%r13) 8@0x10(%rdi) -1@$-1 8@$0xffffffffffffffff"),
		  "mem.u8.r7 mem.i8.r12.r13<<0+8 mem.u8.r5+16 const.i1-1 const.u8-1");
	CHECK_STR(parsed(EM_X86_64, "8f@-8(%rbp) 4f@(%rax) %rax"), "mem.f8.r6-8 mem.f4.r0 reg.i8.r0");
}

TEST(arguments_as_they_are_written_on_arm64)
{
	CHECK_STR(parsed(EM_AARCH64, "8@x0 -4@w30 8@[sp] -4@[sp, 8] 8@[x19, -16] 4@5 -4@-7"),
		  "reg.u8.r0 reg.i4.r30 mem.u8.r31 mem.i4.r31+8 mem.u8.r19-16 const.u4+5 const.i4-7");
	CHECK_STR(parsed(EM_AARCH64, "8@[x0, x1] 8@[x0, x1, lsl 3] 8@sp"), "mem.u8.r0.r1<<0 mem.u8.r0.r1<<3 reg.u8.r31");
	CHECK_STR(parsed(EM_AARCH64, "8@[x0, w1, sxtw 3] 8@x31 8@[x0"), "? ? ?");
}

TEST(an_argument_of_another_form_is_one_that_is_not_known)
{
	CHECK_STR(parsed(EM_X86_64, "junk -4@%edi 3@%eax 8@%fs:16 8@%xmm0 8f@%xmm0 8f@%rax"), "? reg.i4.r5 ? ? ? ? ?");
	CHECK_STR(parsed(EM_X86_64, "8@ 8@$ 8@% 8@( 8@(%rax 8@(%rax,%rbx,3) 8@nowhere(%rip) 8@8(%rip) 8@r10"),
		  "? ? ? ?");	/* a bracket that is not closed takes the rest */
	CHECK_STR(parsed(EM_X86_64, "@ 99999999999999999999@%eax -@%eax 4@%eax%ebx 4@%r16 4@%r99d 4@%rax8"), "? ? ? ? ? ? ?");
	CHECK_STR(parsed(EM_X86_64, "1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$2 1@$3 1@$4"),
		  "const.u1+1 const.u1+1 const.u1+1 const.u1+1 const.u1+1 const.u1+1 const.u1+1 const.u1+1 const.u1+1 "
		  "const.u1+1 const.u1+1 const.u1+2");
}

/* Whatever is cut off of a text, or put into it. */
TEST(no_text_of_arguments_does_harm)
{
	static const char all[] = "-4@counter+8(%rip) 8@(%rax,%rbx,4) 8f@-8(%rbp) 1@%ah 8@$0x10 8@[sp, 8] 8@[x0, x1, lsl 3]";
	struct usdt_arg arg[ARGS_MAX];
	char text[sizeof(all)];

	for (int machine = EM_X86_64; machine; machine = machine == EM_X86_64 ? EM_AARCH64 : 0)
		for (size_t i = 0; i < sizeof(all) - 1; i++)
			for (int c = 0; c < 128; c++) {
				unsigned n;

				memcpy(text, all, sizeof(all));
				text[i] = c;
				n = usdt_parse(arg, text, machine, SITE, find, NULL);
				CHECK(n <= ARGS_MAX);
				while (n--)
					CHECK(arg[n].size && arg[n].size <= 8 && arg[n].base < 32 && arg[n].scale < 4);
			}
}

/* ---- notes ---- */

#define NOTE(place, base, semaphore, strings, type, owner)	\
	".balign 4; .4byte 2f-1f, 4f-3f, " type "; 1: .asciz \"" owner "\"; 2: .balign 4; 3: .8byte " place ", " base ", " \
	semaphore "; " strings "; 4: .balign 4;"

static const char probes_s[] =
	".text; .globl main; .type main, @function; main: nop; nop; ret;\n"
	".section .probes,\"aw\",\"progbits\"; watched: .2byte 0;\n"
	".section .stapsdt.base,\"a\",\"progbits\"; base: .space 1;\n"
	".section .note.stapsdt,\"\",\"note\";\n"
	NOTE("main", "base", "0", ".asciz \"here\"; .asciz \"first\"; .asciz \"8@%rax\"", "3", "stapsdt")
	NOTE("main+1", "base", "watched", ".asciz \"here\"; .asciz \"a b\"; .asciz \"\"", "3", "stapsdt")
	NOTE("main+1", "base", "12345678", ".asciz \"here\"; .asciz \"elsewhere\"; .asciz \"\"", "3", "stapsdt")
	NOTE("main+1+4096", "base+4096", "watched+4096", ".asciz \"here\"; .asciz \"moved\"; .asciz \"\"", "3", "stapsdt")
	/* None of these is a probe; the first two are not even meant. */
	NOTE("main", "base", "0", ".asciz \"a\"; .asciz \"b\"; .asciz \"\"", "2", "stapsdt")
	NOTE("main", "base", "0", ".asciz \"a\"; .asciz \"b\"; .asciz \"\"", "3", "another")
	NOTE("main+2", "base", "0", ".asciz \"not\"; .asciz \"nop\"; .asciz \"\"", "3", "stapsdt")
	NOTE("base", "base", "0", ".asciz \"no\"; .asciz \"code\"; .asciz \"\"", "3", "stapsdt")
	NOTE("main", "base", "0", ".ascii \"noend\"", "3", "stapsdt")
	NOTE("main", "base", "0", ".asciz \"\"; .asciz \"noprovider\"; .asciz \"\"", "3", "stapsdt")
	".4byte 8, 4, 3; .asciz \"stapsdt\"; .4byte 0;\n"
	".4byte 8, 4000, 3; .asciz \"stapsdt\";\n";

static struct image *image_of_probes(void)
{
#ifndef __x86_64__
	SKIP("its program is x86-64's");
#endif
	CHECK(build("probes", "probes.s", probes_s, "-no-pie"));
	return read_image(in_dir("probes"));
}

TEST(probes_are_found_and_what_is_none_is_counted)
{
	SCRATCH;
	__cleanup(image_destroyp) struct image *img = image_of_probes();
	const struct usdt_probe *p = img->usdt.probe;

	CHECK_INT(img->usdt.count, 4);
	CHECK_INT(img->usdt.malformed, 6);
	CHECK_STR(p[0].name, "here:first");
	CHECK_STR(p[0].text, "8@%rax");
	CHECK_INT(p[0].count, 1);
	CHECK_INT(p[0].semaphore, 0);
	CHECK_INT(p[0].site, image_offset(img, func_named(img, "main", false)));
	CHECK_STR(p[1].name, "here:a_b");
	CHECK_INT(p[1].site, p[0].site + 1);
	CHECK(p[1].semaphore);
	CHECK_INT(p[2].semaphore, 0);		/* it is in no file */
	CHECK_INT(p[3].site, p[1].site);	/* prelink moved the file, but not the note */
	CHECK_INT(p[3].semaphore, p[1].semaphore);
}

TEST(probes_come_over_the_pipe_as_they_are_and_no_others)
{
	SCRATCH;
	__cleanup(image_destroyp) struct image *img = image_of_probes(), *copy = NULL;
	struct usdt_probe bad;
	void *block;
	size_t len;

	CHECK_INT(image_pack(img, &block, &len), 0);
	CHECK_INT(image_unpack(&copy, block, len), 0);
	CHECK_INT(copy->usdt.count, 4);
	CHECK_INT(copy->usdt.malformed, 6);
	CHECK_MEM(copy->usdt.probe, img->usdt.probe, 4 * sizeof(bad));
	for (size_t cut = 1; cut < 300; cut++) {
		struct image *none = NULL;

		*(uint64_t *)((char *)block + 8) = len - cut;	/* packed_head.len */
		CHECK_INT(image_unpack(&none, block, len - cut), -EBADMSG);
	}
	free(block);
	bad = img->usdt.probe[0];
#define WILD(change) do {						\
		struct image *none = NULL;				\
									\
		img->usdt.probe[0] = bad;				\
		img->usdt.probe[0].change;				\
		CHECK_INT(image_pack(img, &block, &len), 0);		\
		CHECK_INT(image_unpack(&none, block, len), -EBADMSG);	\
		free(block);						\
	} while (0)
	WILD(count = ARGS_MAX + 1);
	WILD(site = 0);
	WILD(site = 1ull << 63);
	WILD(semaphore = 1ull << 63);
	WILD(name[3] = '\n');
	WILD(text[0] = 1);
	WILD(arg[0].size = 3);
	WILD(arg[0].base = 32);
	WILD(arg[0].scale = 4);
	WILD(arg[0].place = USDT_MEMORY + 1);
	WILD(arg[0].format = VALUE_STRUCT);
}

/* ---- names ---- */

static bool means(const char *word, const char *path, const char *name)
{
	struct usdt_probe probe = {};
	struct usdt_pattern p;
	char why[256];
	bool is;

	snprintf(probe.name, sizeof(probe.name), "%s", name);
	CHECK_INT(usdt_pattern_parse(&p, word, why, sizeof(why)), 0);
	is = usdt_pattern_matches(&p, path, &probe);
	usdt_pattern_release(&p);
	return is;
}

TEST(a_word_names_provider_and_name_and_maybe_a_library)
{
	CHECK(means("*", "/bin/p", "a:b"));
	CHECK(means("a:b", "/bin/p", "a:b"));
	CHECK(!means("a:b", "/bin/p", "a:bc"));
	CHECK(means("a:b*", "/bin/p", "a:bc"));
	CHECK(means("*:b", "/bin/p", "a:b"));
	CHECK(!means("b:*", "/bin/p", "a:b"));
	CHECK(means("libc.so:a:*", "/lib/libc.so.6", "a:b"));
	CHECK(means("libc*:a:*", "/lib/libc.so.6", "a:b"));
	CHECK(!means("libc*:a:*", "/lib/libm.so.6", "a:b"));
	CHECK(means("/lib/libc.so.6:a:*", "/lib/libc.so.6", "a:b"));
	CHECK(means("a:b:c", "/bin/a", "b:c"));
}

TEST(formats_are_asked_for_behind_an_at)
{
	struct usdt_pattern p;
	char why[256];

	CHECK_INT(usdt_pattern_parse(&p, "a:*@arg1/s,arg3/x", why, sizeof(why)), 0);
	CHECK_INT(p.format[0], VALUE_STRING);
	CHECK_INT(p.format[1], VALUE_AUTO);
	CHECK_INT(p.format[2], VALUE_HEX);
	usdt_pattern_release(&p);
}

TEST(a_word_that_names_no_probe_is_refused)
{
	static const char *const words[] = {
		"", "a", "a:", ":b", "a::b", ":a:b", "a:b:", "a:b@", "a:b@arg0/s", "a:b@arg13/s", "a:b@arg1", "a:b@arg1/q",
		"a:b@arg1/s,", "a:b@arg1/ss", "@arg1/s",
	};
	struct usdt_pattern p;
	char why[256];

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		why[0] = '\0';
		CHECK_INT(usdt_pattern_parse(&p, words[i], why, sizeof(why)), -EINVAL);
		CHECK(why[0]);
	}
}
