/*
 * sites_arm64.c - where each function of an arm64 image is probed: at its first instruction.
 *
 * A return probe replaces the link register there, before the function signs it
 * (paciasp) or stores it, so no later site would do. bti and paciasp at the
 * start are stepped like any hint.
 *
 * Of a Go program no return is probed, and a function begins with a check of its
 * stack, which runs it again from the start where the stack has to grow: there the
 * site lies behind the check, which leaves the link register and sp alone.
 */
#if defined(__aarch64__)

#include "base.h"
#include "reader.h"

/* arch/arm64/kernel/probes/decode-insn.c and simulate-insn.c: what is simulated, and what is refused. The first row that fits. */
static const struct {
	uint32_t	mask, value;
	enum site_class class;
} classes[] = {
	{ 0xffffffff, 0xd503201f, SITE_CHEAP },		/* nop */
	{ 0xffc07fff, 0xa9807bfd, SITE_CHEAP },		/* stp x29, x30, [sp, #-n]! */
	{ 0x7c000000, 0x14000000, SITE_CHEAP },		/* b, bl */
	{ 0xff000000, 0x54000000, SITE_CHEAP },		/* b.cond */
	{ 0x7e000000, 0x34000000, SITE_CHEAP },		/* cbz, cbnz */
	{ 0x7e000000, 0x36000000, SITE_CHEAP },		/* tbz, tbnz */
	{ 0xfffffc1f, 0xd61f0000, SITE_CHEAP },		/* br */
	{ 0xfffffc1f, 0xd63f0000, SITE_CHEAP },		/* blr */
	{ 0xfffffc1f, 0xd65f0000, SITE_CHEAP },		/* ret */
	{ 0x1f000000, 0x10000000, SITE_CHEAP },		/* adr, adrp */
	{ 0xbf000000, 0x18000000, SITE_CHEAP },		/* ldr, literal */
	{ 0xff000000, 0x98000000, SITE_CHEAP },		/* ldrsw, literal */
	{ 0x3f000000, 0x08000000, SITE_REFUSED },	/* exclusive loads and stores: a step in between breaks them */
	{ 0xff000000, 0xd4000000, SITE_REFUSED },	/* svc, hvc, smc, brk, hlt */
	{ 0xff000000, 0xd7000000, SITE_REFUSED },	/* braa, retaa and their like */
	{ 0xfff00000, 0xd5000000, SITE_REFUSED },	/* msr immediate, system; hints are below */
	{ 0xffff0000, 0x00000000, SITE_REFUSED },	/* udf */
};

static enum site_class class_of(uint32_t insn)
{
	if ((insn & 0xfffff01f) == 0xd503201f && insn != 0xd503201f)
		return SITE_DEAR;	/* a hint: bti, paciasp */
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		if ((insn & classes[i].mask) == classes[i].value)
			return classes[i].class;
	return SITE_DEAR;
}

static bool insn_at(const struct code *code, uint64_t addr, uint32_t *ret)
{
	return addr % 4 == 0 && piece_u32(&code->piece, addr - code->piece.addr, ret);
}

#define SP	31
#define RD(insn)	((insn) & 31)

/*
 * ldr xG, [x28, #16]; [mov xL, sp | sub xL, sp, #n]; cmp xL or sp, xG; b.ls to behind the body.
 * What follows these, which stores the link register, so nothing jumps there; without them the function's start. Frames
 * above 4 KiB are checked otherwise, and their functions probed at the start.
 */
static uint64_t behind_check(const struct code *code, uint64_t start, uint64_t end)
{
	uint64_t at = start;
	unsigned low = SP, guard;
	uint32_t insn, compare;
	int32_t by;

	if (!insn_at(code, at, &insn) || (insn & ~31u) != 0xf9400b80)
		return start;
	guard = RD(insn);
	at += 4;
	if (!insn_at(code, at, &insn))
		return start;
	if ((insn & ~31u) == 0x910003e0 || (insn & 0xff8003e0) == 0xd10003e0) {
		low = RD(insn);
		at += 4;
	}
	compare = low == SP ? 0xeb2063ff : 0xeb00001f | low << 5;
	if (!insn_at(code, at, &insn) || insn != (compare | guard << 16))
		return start;
	at += 4;
	if (!insn_at(code, at, &insn) || (insn & 0xff00001f) != 0x54000009)
		return start;
	by = ((int32_t)(insn << 8) >> 13) * 4;
	return by > 4 && by < (int64_t)(end - at) ? at + 4 : start;
}

int sites_start(struct reader *r)
{
	return sites_choose(r);
}

int sites_choose(struct reader *r)
{
	for (size_t i = 0; i < r->found_count; i++) {
		struct found *f = &r->found[i];
		const struct code *code = reader_code(r, f->addr);
		uint32_t insn;

		f->site_class = SITE_REFUSED;
		if (!code || !insn_at(code, f->addr, &insn))
			continue;
		f->site = r->img->is_go ? behind_check(code, f->addr, f->addr + f->size) : f->addr;
		if (f->site != f->addr && (!insn_at(code, f->site, &insn) || class_of(insn) == SITE_REFUSED)) {
			f->site = f->addr;
			insn_at(code, f->site, &insn);
		}
		f->flags |= f->site != f->addr ? FUNC_MOVED | FUNC_LOADS : 0;
		f->site_class = class_of(insn);
	}
	return 0;
}

#endif
