/*
 * test_sites.c - where functions are probed, which stubs are known, which names need care.
 */
#include "test_image.h"

#if defined(__x86_64__)

/* A function of @body, and what is to be said of its site. */
struct start {
	const char *name, *body;
	int	    site;		/* bytes behind the function's start; -1: none */
	uint8_t	    class;
	unsigned    flags;		/* FUNC_MOVED, FUNC_LOADS, FUNC_ARGS_GONE */
	int	    nop5, entry;	/* bytes behind the start; -1: none */
	unsigned    entry_pushed;
	unsigned    pushed;		/* before the site: only where entry alone is told */
};

#define NONE	.nop5 = -1, .entry = -1

static const struct start starts[] = {
	{ "push", "push %rbp; mov %rsp,%rbp; call aim; pop %rbp; ret", 0, SITE_CHEAP, 0, NONE },
	{ "push_r12", "push %r12; call aim; pop %r12; ret", 0, SITE_CHEAP, 0, NONE },
	{ "cet", "endbr64; push %rbx; call aim; pop %rbx; ret", 4, SITE_CHEAP, FUNC_MOVED, NONE },
	{ "jump", "jmp aim", 0, SITE_CHEAP, 0, NONE },
	{ "short_jump", "jmp 1f; 1: ret", 0, SITE_CHEAP, 0, NONE },
	{ "test_jcc", "test %edi,%edi; je 1f; call aim; 1: ret", 2, SITE_CHEAP, FUNC_MOVED, NONE },
	{ "nop5", ".byte 0x0f,0x1f,0x44,0,0; push %rbx; call aim; pop %rbx; ret", 5, SITE_CHEAP, FUNC_MOVED,
	  .nop5 = 0, .entry = -1 },
	{ "nop5_clang", ".byte 0x0f,0x1f,0x44,0,8; lea 1(%rdi),%rax; ret", 5, SITE_DEAR, FUNC_MOVED, .nop5 = 0, .entry = -1 },
	{ "nop5_cet", "endbr64; .byte 0x0f,0x1f,0x44,0,0; push %rbx; call aim; pop %rbx; ret", 9, SITE_CHEAP, FUNC_MOVED,
	  .nop5 = 4, .entry = -1 },
	{ "nop5_late", "mov %edi,%eax; .byte 0x0f,0x1f,0x44,0,0; ret", 0, SITE_DEAR, 0, NONE },
	{ "nop1", "nop; nop; nop; nop; nop; lea 1(%rdi),%rax; ret", 0, SITE_CHEAP, 0, NONE },
	{ "nop9", ".byte 0x66,0x0f,0x1f,0x84,0,0,0,0,0; ret", 0, SITE_DEAR, 0, NONE },
	{ "nop10", ".byte 0x66,0x2e,0x0f,0x1f,0x84,0,0,0,0,0; ret", 10, SITE_DEAR, FUNC_MOVED, NONE },
	{ "loads", "mov (%rdi),%eax; test %eax,%eax; je 1f; call aim; 1: ret", 4, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "guard", "mov %fs:0x28,%rax; push %rbx; call aim; pop %rbx; ret", 9, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "args", "mov %rdi,%rsi; push %rbx; call aim; pop %rbx; ret", 3, SITE_CHEAP, FUNC_MOVED | FUNC_ARGS_GONE, NONE },
	{ "args_xmm", "movapd %xmm1,%xmm0; push %rbx; call aim; pop %rbx; ret", 4, SITE_CHEAP, FUNC_MOVED | FUNC_ARGS_GONE, NONE },
	{ "frame", "sub $24,%rsp; test %edi,%edi; je 1f; call aim; 1: add $24,%rsp; ret", 0, SITE_DEAR, 0,
	  .nop5 = -1, .entry = 6, .entry_pushed = 24 },
	{ "frame_push_imm", "sub $8,%rsp; push %rbx; call aim; pop %rbx; add $8,%rsp; ret", 0, SITE_DEAR, 0,
	  .nop5 = -1, .entry = 4, .entry_pushed = 8 },
	{ "align", "lea 8(%rsp),%r10; and $-16,%rsp; push -8(%r10); push %rbp; call aim; ret", 0, SITE_DEAR, 0, NONE },
	{ "getter", "mov 8(%rdi),%rax; ret", 0, SITE_DEAR, 0, NONE },
	{ "branched_into", "mov %edi,%eax; 1: push %rbx; call aim; pop %rbx; dec %eax; jne 1b; ret", 0, SITE_DEAR, 0, NONE },
	{ "entered_behind", "mov %edi,%eax; push %rbx; call aim; pop %rbx; ret; .globl outside; .type outside,@function;"
	  "outside: jmp entered_behind + 2; .size outside, . - outside", 0, SITE_DEAR, 0, NONE },
	{ "avx", "vpxor %xmm0,%xmm0,%xmm0; push %rbx; call aim; pop %rbx; ret", 4, SITE_CHEAP, FUNC_MOVED | FUNC_ARGS_GONE, NONE },
	{ "avx_only", "vzeroupper; vzeroupper; vzeroupper; vzeroupper; vzeroupper; vzeroupper; vzeroupper; vzeroupper; ret",
	  -1, SITE_REFUSED, 0, NONE },
	{ "locked", "lock incl (%rdi); ret", 3, SITE_DEAR, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "far_push", "mov %eax,%ebx; xor %eax,%ebx; mov %eax,%ebx; xor %eax,%ebx; mov %eax,%ebx; xor %eax,%ebx; mov %eax,%ebx;"
	  "xor %eax,%ebx; push %rbx; call aim; pop %rbx; ret", 0, SITE_DEAR, 0, NONE },
	{ "call_66", ".byte 0x66; call aim; ret", -1, SITE_REFUSED, 0, NONE },
	{ "trap", "int3; ret", -1, SITE_REFUSED, 0, NONE },
	{ "stop", "ud2", -1, SITE_REFUSED, 0, NONE },
	{ "gate", "syscall; ret", -1, SITE_REFUSED, 0, NONE },
	{ "flags", "pushf; pop %rax; ret", -1, SITE_REFUSED, 0, NONE },
	{ "fentry", "call *aim_pointer(%rip); push %rbx; pop %rbx; ret", 0, SITE_DEAR, 0, NONE },
};

#define SMALL	"0: cmp 0x10(%r14),%rsp; jbe 9f; "
#define LARGE	"0: lea -0x200(%rsp),%r12; cmp 0x10(%r14),%r12; jbe 9f; "
#define HUGE	"0: mov %rsp,%r12; sub $0x10000,%r12; jb 9f; cmp 0x10(%r14),%r12; jbe 9f; "
#define OLD	"0: mov %fs:0xfffffffffffffff8,%rcx; cmp 0x10(%rcx),%rsp; jbe 9f; "
#define BODY	"push %rbp; mov %rsp,%rbp; call aim; pop %rbp; ret; "
#define FRAME	"sub $24,%rsp; mov %rbp,16(%rsp); lea 16(%rsp),%rbp; "
#define REST	"call aim; mov 16(%rsp),%rbp; add $24,%rsp; ret; "
#define GROW	"9: call aim; jmp 0b"

/* In a Go image: the check of the stack is passed, since what it leads to runs the function again. */
static const struct start go_starts[] = {
	{ "small", SMALL BODY GROW, 6, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "large", LARGE BODY GROW, 14, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "huge", HUGE BODY GROW, 18, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "old", OLD BODY GROW, 15, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "old_large", "0: mov %fs:0xfffffffffffffff8,%rcx; lea -0x200(%rsp),%rax; cmp 0x10(%rcx),%rax; jbe 9f; " BODY GROW,
	  23, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "near", "0: cmp 0x10(%r14),%rsp; jbe 9f; push %rbp; .skip 200, 0x90; pop %rbp; ret; " GROW,
	  10, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "frame", SMALL FRAME REST GROW, 20, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE, .pushed = 24 },
	{ "frame_old", OLD FRAME REST GROW, 29, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE, .pushed = 24 },
	{ "frame_panics", SMALL FRAME "mov (%rax),%ecx; " REST GROW, 6, SITE_DEAR, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "frame_divides", SMALL FRAME "idiv %rbx; " REST GROW, 6, SITE_DEAR, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "leaf", "test %eax,%eax; je 1f; call aim; 1: ret", 2, SITE_CHEAP, FUNC_MOVED, NONE },
	{ "entered", SMALL "1: push %rbp; pop %rbp; dec %eax; jne 1b; ret; " GROW, 4, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "entered_in_check", "cmp 0x10(%r14),%rsp; 0: jbe 9f; " BODY GROW, 0, SITE_DEAR, 0, NONE },
	{ "other_guard", "0: cmp 0x18(%r14),%rsp; jbe 9f; " BODY GROW, 4, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "other_register", "0: cmp 0x10(%r14),%r12; jbe 9f; " BODY GROW, 4, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "other_place", "0: lea -64(%rbp),%r12; cmp 0x10(%r14),%r12; jbe 9f; " BODY GROW, 8, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "other_test", "0: cmp 0x10(%r14),%rsp; jb 9f; " BODY GROW, 4, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "wraps_unseen", "0: mov %rsp,%r12; sub $0x10000,%r12; cmp 0x10(%r14),%r12; jbe 9f; " BODY GROW,
	  14, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "backward", "0: cmp 0x10(%r14),%rsp; jbe 0b; " BODY, 4, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE },
	{ "outside", "0: cmp 0x10(%r14),%rsp; jbe aim; " BODY, 4, SITE_CHEAP, FUNC_MOVED | FUNC_LOADS, NONE },
};

/* What functions do with their return address, or their stack, by their code alone. */
static const struct care {
	const char *name, *body;
	bool	    is_entry_only, leaves_stack;
} cares[] = {
	{ "calls", "push %rbx; mov (%rsp),%rbx; call aim; pop %rbx; ret", false, false },
	{ "spills", "sub $24,%rsp; mov %rdi,8(%rsp); mov 8(%rsp),%rax; add $24,%rsp; ret", false, false },
	{ "seventh", "mov 8(%rsp),%rax; ret", false, false },
	{ "frame", "push %rbp; mov %rsp,%rbp; mov 16(%rbp),%rax; leave; ret", false, false },
	{ "general_bp", "push %rbp; mov %rdi,%rbp; mov 8(%rbp),%rax; pop %rbp; ret", false, false },
	{ "realigned", "lea 8(%rsp),%r10; and $-32,%rsp; push -8(%r10); push %rbp; mov %rsp,%rbp; push %r10;"
	  "pop %r10; pop %rbp; lea -8(%r10),%rsp; ret", false, false },
	{ "variable", "push %rbp; mov %rsp,%rbp; mov %rsp,%rcx; sub %rdi,%rsp; mov %rcx,%rsp; leave; ret", false, false },
	{ "restored", "mov %rsp,%rax; sub $64,%rsp; mov %rax,8(%rsp); mov 8(%rsp),%rsi; mov %rsi,%rsp; ret", false, false },
	{ "asks", "mov (%rsp),%rax; ret", true, false },
	{ "asks_later", "push %rbx; push %r12; test %edi,%edi; je 1f; mov 16(%rsp),%rax; 1: pop %r12; pop %rbx; ret", true, false },
	{ "asks_by_frame", "endbr64; push %rbp; mov %rsp,%rbp; sub $16,%rsp; mov 8(%rbp),%rax; leave; ret", true, false },
	{ "takes", "pop %rdx; push %rdi; push %rdx; ret", true, false },
	{ "jumps_away", "mov 8(%rdi),%rsp; jmp *(%rdi)", true, false },
	{ "moves", "mov (%rsp),%r10; lea (%rdi,%rsi),%rax; mov %r10,24(%rax); mov %rdi,%rsp; call *%rdx; ret", true, false },
	{ "switches", "push %rbp; push %rbx; mov %rsp,(%rdi); mov (%rsi),%rsp; pop %rbx; pop %rbp; ret", true, true },
	{ "switches_by_register", "push %rbx; mov %rsp,%rax; mov %rdi,%rsp; pop %rbx; ret", true, true },
	{ "switches_by_place", "lea 8(%rsp),%rcx; mov %rcx,160(%rdi); mov 160(%rsi),%rsp; jmp *168(%rsi)", true, true },
	{ "exchanges", "xchg %rsp,(%rdi); ret", true, true },
};

static void write_function(FILE *f, const char *name, const char *body)
{
	fprintf(f, ".p2align 6\n.globl %s\n.type %s,@function\n%s: %s\n.size %s,.-%s\n", name, name, name, body, name, name);
}

static FILE *begin_source(char **source, size_t *len)
{
	FILE *f = open_memstream(source, len);

	CHECK(f);
	fprintf(f, ".text\n.globl main\n.type main,@function\nmain: xor %%eax,%%eax; ret\n.size main,.-main\n"
		   ".type aim,@function\naim: push %%rax; pop %%rax; ret\n.size aim,.-aim\n");
	return f;
}

static struct image *end_source(FILE *f, char **source)
{
	fprintf(f, ".data\naim_pointer: .quad aim\n.section .note.GNU-stack,\"\",@progbits\n");
	CHECK(fclose(f) == 0);
	if (!build("starts", "starts.s", *source, "-no-pie"))
		SKIP("the assembler cannot make the functions");
	free(*source);
	return read_image(in_dir("starts"));
}

static struct image *image_of(const struct start *s, size_t count, const char *mark)
{
	size_t len = 0;
	char *source = NULL;
	FILE *f = begin_source(&source, &len);

	for (size_t i = 0; i < count; i++)
		write_function(f, s[i].name, s[i].body);
	fputs(mark, f);
	return end_source(f, &source);
}

static struct image *image_of_starts(void)
{
	return image_of(starts, ARRAY_SIZE(starts), "");
}

static void check_start(const struct image *img, const struct start *s)
{
	const struct func *f = func_named(img, s->name, false);
	uint64_t start;

	printf("%s\n", s->name);
	CHECK(f);
	start = f->addr + img->load_addr - img->text_addr + img->text_offset;
	CHECK_INT(f->site_class, s->class);
	CHECK_INT(f->site ? (int)(f->site - start) : -1, s->site);
	CHECK_INT(f->flags & (FUNC_MOVED | FUNC_LOADS | FUNC_ARGS_GONE), s->flags);
	CHECK_INT(f->nop5_site ? (int)(f->nop5_site - start) : -1, s->nop5);
	CHECK_INT(f->entry_site ? (int)(f->entry_site - start) : -1, s->entry);
	CHECK_INT(f->entry_sp_offset, s->entry_pushed);
	CHECK_INT(f->sp_offset, s->pushed);
}

TEST(sites_are_the_cheapest_that_are_still_right)
{
	SCRATCH;
	__cleanup(image_destroyp) struct image *img = image_of_starts();

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		check_start(img, &starts[i]);
}

TEST(sites_of_go_lie_behind_the_check_of_the_stack)
{
	SCRATCH;
	__cleanup(image_destroyp) struct image *img = image_of(go_starts, ARRAY_SIZE(go_starts),
							       ".section .go.buildinfo,\"a\"\n.quad 0\n");

	CHECK(img->is_go);
	for (size_t i = 0; i < ARRAY_SIZE(go_starts); i++)
		check_start(img, &go_starts[i]);
}

TEST(sites_of_others_stay_before_such_a_check)
{
	SCRATCH;
	__cleanup(image_destroyp) struct image *img = image_of(go_starts, 1, "");

	CHECK(!img->is_go);
	CHECK_INT(func_named(img, "small", false)->site - (func_named(img, "small", false)->addr + img->load_addr - img->text_addr +
							   img->text_offset), 4);
}

TEST(code_tells_whose_return_needs_care)
{
	SCRATCH;

	for (size_t i = 0; i < ARRAY_SIZE(cares); i++) {
		__cleanup(image_destroyp) struct image *img = NULL;
		size_t len = 0;
		char *source = NULL;
		FILE *f = begin_source(&source, &len);

		printf("%s\n", cares[i].name);
		write_function(f, cares[i].name, cares[i].body);
		img = end_source(f, &source);
		CHECK_INT(img->switches_stacks, cares[i].leaves_stack);
		CHECK_INT(!!(func_named(img, cares[i].name, false)->flags & FUNC_ENTRY_ONLY), cares[i].is_entry_only);
		CHECK_INT(!!(func_named(img, "aim", false)->flags & FUNC_ENTRY_ONLY), cares[i].leaves_stack);
	}
}

TEST(sites_tell_tiny_functions)
{
	SCRATCH;
	__cleanup(image_destroyp) struct image *img = image_of_starts();

	CHECK(func_named(img, "getter", false)->flags & FUNC_TINY);
	CHECK(!(func_named(img, "push", false)->flags & FUNC_TINY));
	CHECK(!(func_named(img, "frame", false)->flags & FUNC_TINY));		/* it calls */
	CHECK(!(func_named(img, "branched_into", false)->flags & FUNC_TINY));
}

TEST(sites_leave_a_nop5_that_crosses_a_page)
{
	SCRATCH;
	static const char source[] =
		".text\n.p2align 12\n.skip 4093\n.globl main\n.type main,@function\n"
		"main: .byte 0x0f,0x1f,0x44,0,0; push %rbx; pop %rbx; xor %eax,%eax; ret\n.size main,.-main\n"
		".section .note.GNU-stack,\"\",@progbits\n";
	__cleanup(image_destroyp) struct image *img = NULL;
	const struct func *f;

	CHECK(build("program", "program.s", source, "-no-pie"));
	img = read_image(in_dir("program"));
	f = func_named(img, "main", false);
	CHECK_INT(f->addr % 4096, 4093);
	CHECK_INT(f->nop5_site, 0);
	CHECK_INT(f->site_class, SITE_CHEAP);
}

/* Survey of the same file by other means: probe-cost notes, "Moving the probe to a cheap equivalent site". */
TEST(sites_of_a_large_program_are_mostly_cheap)
{
	__cleanup(image_destroyp) struct image *img = NULL;
	size_t count[SITE_CLASSES] = { 0 }, moved = 0, own = 0;

	if (access("/usr/bin/git", R_OK) || access("/etc/debian_version", R_OK))
		SKIP("no Debian git here");
	img = read_image("/usr/bin/git");
	for (size_t i = 0; i < img->func_count; i++) {
		const struct func *f = &img->func[i];

		if (f->flags & (FUNC_PLT | FUNC_NEVER))
			continue;
		own++;
		count[f->site_class]++;
		moved += f->site_class == SITE_CHEAP && f->flags & FUNC_MOVED;
	}
	printf("%zu functions: %zu cheap (%zu moved), %zu dear, %zu refused\n", own, count[SITE_CHEAP], moved,
	       count[SITE_DEAR], count[SITE_REFUSED]);
	CHECK(own > 4000);
	CHECK(count[SITE_CHEAP] * 100 > own * 80);
	CHECK(moved * 100 > own * 10 && moved * 100 < own * 40);
	CHECK(count[SITE_DEAR] * 100 > own * 4);
	CHECK(count[SITE_REFUSED] * 100 < own);
}

TEST(stub_of_x86_is_read_in_all_its_forms)
{
	static const struct {
		const char *bytes;
		size_t	    len, size;
	} forms[] = {
		{ "\xff\x25\x00\x01\x00\x00", 6, 6 },
		{ "\xf3\x0f\x1e\xfa\xff\x25\x00\x01\x00\x00", 10, 10 },
		{ "\xf3\x0f\x1e\xfa\xf2\xff\x25\x00\x01\x00\x00", 11, 11 },
		{ "\xf2\xff\x25\x00\x01\x00\x00", 7, 7 },
		{ "\xf3\x0f\x1e\xfa\x41\xbb\x05\x00\x00\x00\xff\x25\x00\x01\x00\x00", 16, 16 },
		{ "\xff\x25\x00\x01\x00", 5, 0 },
		{ "\xff\x35\x00\x01\x00\x00\xff\x25\x00\x02\x00\x00", 12, 0 },	/* PLT0 */
		{ "\xf3\x0f\x1e\xfa\x68\x00\x00\x00\x00\xe9\x00\x00\x00\x00", 14, 0 },	/* a lazy stub's first part */
		{ "", 0, 0 },
		{ "\xf3\x0f\x1e\xfa", 4, 0 },
		{ "\xf3\x0f\x1e\xfa\x41\xbb", 6, 0 },
	};
	uint64_t slot;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		CHECK_INT(plt_stub_x86((const uint8_t *)forms[i].bytes, forms[i].len, 0x1000, &slot), forms[i].size);
		if (forms[i].size)
			CHECK_INT(slot, 0x1000 + forms[i].size + 0x100);
	}
}
#endif

TEST(stub_of_arm64_is_read_in_both_its_forms)
{
	/* adrp x16, 0x411000; ldr x17, [x16, #24]; add x16, x16, #24; br x17, at 0x400450 */
	static const uint32_t plain[] = { 0xb0000090, 0xf9400e11, 0x91006210, 0xd61f0220 };
	static const uint32_t bti[] = { 0xd503245f, 0xb0000090, 0xf9400e11, 0x91006210, 0xd61f0220 };
	static const uint32_t other[] = { 0xa9bf7bf0, 0xb0000090, 0xf9400e11, 0x91006210 };
	uint64_t slot = 0;

	CHECK_INT(plt_stub_arm64((const uint8_t *)plain, sizeof(plain), 0x400450, &slot), 16);
	CHECK_INT(slot, 0x411018);
	CHECK_INT(plt_stub_arm64((const uint8_t *)bti, sizeof(bti), 0x400450, &slot), 20);
	CHECK_INT(slot, 0x411018);
	CHECK_INT(plt_stub_arm64((const uint8_t *)other, sizeof(other), 0x400450, &slot), 0);
	CHECK_INT(plt_stub_arm64((const uint8_t *)plain, 12, 0x400450, &slot), 0);
}

TEST(names_tell_what_needs_care)
{
	CHECK_INT(name_flags("main", false), 0);
	CHECK_INT(name_flags("_start", false), FUNC_NEVER);
	CHECK_INT(name_flags("setjmp", false), FUNC_ENTRY_ONLY);
	CHECK_INT(name_flags("setjmp_like", false), 0);
	CHECK_INT(name_flags("_Unwind_Backtrace", false), FUNC_ENTRY_ONLY);
	CHECK_INT(name_flags("_ZSt20__throw_length_errorPKc", false), FUNC_ENTRY_ONLY);
	CHECK_INT(name_flags("_ZStlsISt11char_traitsIcEE", false), 0);
	CHECK_INT(name_flags("runtime.mcall", true), FUNC_NEVER | name_flags("runtime.mcall", false));
	CHECK_INT(name_flags("main.main", true), FUNC_ENTRY_ONLY);
	CHECK(name_unwinds("__cxa_throw"));
	CHECK(!name_unwinds("__cxa_atexit"));
	CHECK(name_switches_stacks("swapcontext"));
	CHECK(!name_switches_stacks("getcontext"));
}
