/*
 * walker.c - what of an image walks the stack.
 *
 * A return probe puts the kernel's address in place of a return address. What
 * looks at return addresses must be known before that is done in its process:
 * an unwinder with symbols is guarded, from any other the return probes stay
 * away. So the question here is not whether something forbids them, but
 * whether anything may be there that cannot be guarded.
 *
 * An unwinder finds the tables of frames by dl_iterate_phdr() or
 * _dl_find_object(). A file that imports one of these holds an unwinder, and if
 * that has no symbols it cannot be guarded. dl_iterate_phdr() has other uses
 * too: who imports _Unwind_* besides has his unwinder elsewhere.
 */
#include "base.h"
#include "reader.h"

/*
 * Run times that look return addresses up in tables of their own, or in code they
 * made: known by a text that stays in a stripped file. Names of environment
 * variables and of counters that each release has had for many years.
 */
static const char *const runtimes[] = {
	"CAMLRUNPARAM",		/* OCaml: its collector looks each return address up in caml_frametable */
	"V8.GCScavenger",	/* V8 (node, Electron): its collector walks from exit frames into compiled code */
	"SBCL_HOME",		/* SBCL: what a return address points to is not moved */
	"com.oracle.svm",	/* GraalVM native images */
};

/*
 * What valgrind's launcher leaves in the environment of its tools, static programs. They have functions run in the place of the
 * program's, strlen() for one, by translating them as they translate the program: a breakpoint there is an instruction to them.
 */
static const char translator[] = "VALGRIND_LAUNCHER";

#define TEXT_MAX	(64u << 20)	/* bytes of a segment that are searched */

static int search_segment(struct reader *r, const Elf64_Phdr *s)
{
	struct piece p;
	int err = elf_read(&r->elf, s->p_offset, MIN(s->p_filesz, (uint64_t)TEXT_MAX), &p);

	if (err)
		return err;
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (memmem(p.data, p.len, runtimes[i], strlen(runtimes[i])))
			r->img->walker = WALKER_RUNTIME;
	r->translates_itself |= r->is_static && memmem(p.data, p.len, translator, sizeof(translator) - 1);
	piece_free(&p);
	return 0;
}

/* Texts lie in segments that are only read; with code in files whose linker makes no such. */
static int search_texts(struct reader *r)
{
	bool only_read = false;
	int err = 0;

	for (size_t i = 0; i < r->elf.seg_count; i++)
		only_read |= r->elf.seg[i].p_type == PT_LOAD && r->elf.seg[i].p_flags == PF_R;
	for (size_t i = 0; i < r->elf.seg_count && !err; i++) {
		const Elf64_Phdr *s = &r->elf.seg[i];

		if (s->p_type == PT_LOAD && s->p_filesz && s->p_flags == (only_read ? PF_R : PF_R | PF_X))
			err = search_segment(r, s);
	}
	return err;
}

static enum walker unwinder_of(const struct reader *r)
{
	if (r->hints & HINT_UNWINDER)
		return WALKER_NAMED;
	if (r->hints & HINT_OBJECTS || (r->hints & (HINT_FRAMES | HINT_UNWINDS)) == HINT_FRAMES)
		return WALKER_NAMELESS;
	if (r->is_static && (r->img->has_unwinder || r->img->is_stripped))	/* its unwinder, if any, is its own */
		return WALKER_NAMELESS;
	return WALKER_NONE;
}

int walker_read(struct reader *r)
{
	r->img->walker = unwinder_of(r);
	if (r->img->is_go)
		r->img->walker = WALKER_RUNTIME;
	return search_texts(r);
}
