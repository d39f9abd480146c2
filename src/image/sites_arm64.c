/*
 * sites_arm64.c - where each function of an arm64 image is probed: at its first instruction.
 *
 * A return probe replaces the link register there, before the function signs it
 * (paciasp) or stores it, so no later site would do. bti and paciasp at the
 * start are stepped like any hint.
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
		if (!code || f->addr % 4 || !piece_u32(&code->piece, f->addr - code->piece.addr, &insn))
			continue;
		f->site = f->addr;
		f->site_class = class_of(insn);
	}
	return 0;
}

#endif
