/* nvfatbin.h - how many pages of this program's section .nv_fatbin are mapped, and how many are in the page cache. */
#ifndef NVFATBIN_H
#define NVFATBIN_H

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int main_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uintptr_t *)base = info->dlpi_addr;
	return 1;
}

/* Address and length of the section, 0 when there is none. */
static uintptr_t find_fatbin(size_t *len)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat st;
	uintptr_t base = 0, at = 0;

	if (fd < 0 || fstat(fd, &st))
		return 0;
	char *map = (char *)mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	Elf64_Ehdr *eh = (Elf64_Ehdr *)map;
	Elf64_Shdr *sh = (Elf64_Shdr *)(map + eh->e_shoff);

	dl_iterate_phdr(main_base, &base);
	for (int i = 0; i < eh->e_shnum; i++)
		if (!strcmp(map + sh[eh->e_shstrndx].sh_offset + sh[i].sh_name, ".nv_fatbin")) {
			at = base + sh[i].sh_addr;
			*len = sh[i].sh_size;
		}
	munmap(map, st.st_size);
	close(fd);
	return at;
}

static void tell_fatbin(const char *when)
{
	size_t len = 0;
	uintptr_t at = find_fatbin(&len), page = at & ~4095ul;
	size_t pages = (at + len - page + 4095) / 4096, mapped = 0, cached = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY);
	unsigned char *in = (unsigned char *)calloc(1, pages + 1);

	if (at && !mincore((void *)page, pages * 4096, in))
		for (size_t i = 0; i < pages; i++)
			cached += in[i] & 1;
	for (size_t i = 0; at && fd >= 0 && i < pages; i++) {
		uint64_t e = 0;

		if (pread(fd, &e, 8, (page / 4096 + i) * 8) == 8)
			mapped += e >> 63;
	}
	printf("fatbin %s: %zu bytes, %zu pages, %zu mapped, %zu in the page cache\n", when, len, pages, mapped, cached);
	free(in);
	if (fd >= 0)
		close(fd);
}

#endif
