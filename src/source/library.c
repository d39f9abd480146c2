/*
 * library.c - the dynamic symbols of this machine's libraries, by libelf.
 */
#include <fcntl.h>
#include <gelf.h>

#include "base.h"
#include "source/library.h"

static const char *const folders[] = {
#if defined(__x86_64__)
	"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
	"/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
#endif
	"/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib64", "/usr/local/lib",
};

int library_each(const char *name, library_fn fn, void *ctx)
{
	char path[256];
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(folders); i++) {
		__cleanup(close_fd) int fd = -1;

		snprintf(path, sizeof(path), "%s/%s", folders[i], name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			err = fn(ctx, fd, path);
	}
	return err;
}

static bool file_offset(Elf *elf, uint64_t addr, uint64_t *ret)
{
	GElf_Phdr ph;
	size_t n = 0;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD || addr - ph.p_vaddr >= ph.p_filesz)
			continue;
		*ret = addr - ph.p_vaddr + ph.p_offset;
		return true;
	}
	return false;
}

static void walk_table(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, library_symbol_fn fn, void *ctx)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	uint64_t offset;
	GElf_Sym sym;

	for (int i = 1; data && gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(elf, sh->sh_link, sym.st_name);

		if (name && GELF_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_shndx != SHN_UNDEF &&
		    file_offset(elf, sym.st_value, &offset))
			fn(ctx, name, offset, sym.st_size);
	}
}

int library_symbols(int fd, library_symbol_fn fn, void *ctx)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return -EBADMSG;
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &sh))
		if (sh.sh_type == SHT_DYNSYM)
			walk_table(elf, scn, &sh, fn, ctx);
	elf_end(elf);
	return 0;
}

int library_needs(int fd, library_name_fn fn, void *ctx)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Dyn dyn;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	while (elf && (scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &sh)) {
		Elf_Data *data = sh.sh_type == SHT_DYNAMIC ? elf_getdata(scn, NULL) : NULL;

		for (int i = 0; data && gelf_getdyn(data, i, &dyn); i++) {
			const char *name = dyn.d_tag == DT_NEEDED ? elf_strptr(elf, sh.sh_link, dyn.d_un.d_val) : NULL;

			if (name)
				fn(ctx, name);
		}
	}
	elf_end(elf);
	return 0;
}

struct wanted {
	const char *name;
	uint64_t    offset;
};

static void take_if_wanted(void *ctx, const char *name, uint64_t offset, uint64_t size)
{
	struct wanted *w = ctx;

	(void)size;
	if (!strcmp(name, w->name))
		w->offset = offset;
}

int library_symbol(int fd, const char *name, uint64_t *offset)
{
	struct wanted w = { .name = name };
	int err = library_symbols(fd, take_if_wanted, &w);

	*offset = w.offset;
	return err ?: w.offset ? 0 : -ENOENT;
}
