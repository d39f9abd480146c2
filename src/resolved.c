/*
 * resolved.c - strlen() and its like: the symbol is of a resolver, which chooses by CPU; dlsym() asks it for us.
 */
#include <dlfcn.h>
#include <link.h>

#include "base.h"
#include "image.h"
#include "resolved.h"

#define ID_BYTES_MAX	20

static bool is_build_id(const ElfW(Nhdr) *n, const char *hex)
{
	const unsigned char *id = (const unsigned char *)(n + 1) + ROUND_UP(n->n_namesz, 4);
	char text[2 * ID_BYTES_MAX + 1];

	if (n->n_type != NT_GNU_BUILD_ID || n->n_namesz != 4 || memcmp(n + 1, "GNU", 4) || n->n_descsz > ID_BYTES_MAX)
		return false;
	for (unsigned i = 0; i < n->n_descsz; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	return !strcmp(text, hex);
}

static bool has_build_id(const struct dl_phdr_info *info, const char *hex)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + ph->p_vaddr, end = at + ph->p_memsz;

		while (ph->p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *n = (const void *)at;

			if (is_build_id(n, hex))
				return true;
			at += sizeof(*n) + ROUND_UP(n->n_namesz, 4) + ROUND_UP(n->n_descsz, 4);
		}
	}
	return false;
}

static void name_one(struct image *img, const struct func *resolver, uint64_t base)
{
	uint64_t at = (uintptr_t)dlsym(RTLD_DEFAULT, resolver->name) - base - img->load_addr;
	struct func *f = (struct func *)image_func_at(img, at);

	if (!f || f->addr != at || dlsym(RTLD_DEFAULT, f->name))
		return;
	f->name = resolver->name;	/* it had a name that nobody calls it by: none, or a debug file's */
	f->plain = resolver->plain;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct image *img = ctx;

	(void)size;
	if (!has_build_id(info, img->build_id))
		return 0;
	for (size_t i = 0; i < img->func_count; i++)
		if (img->func[i].flags & FUNC_RESOLVER)
			name_one(img, &img->func[i], info->dlpi_addr);
	return 1;
}

void resolved_name(struct image *img)
{
	if (*img->build_id)
		dl_iterate_phdr(look_at, img);
}
