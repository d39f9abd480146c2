/*
 * elf.h - bytes of an ELF file somebody else made: each look is bounded.
 *
 * Only pread() touches the file, and every piece is copied: the file may be
 * truncated, rewritten or on a disk that fails while it is read.
 */
#ifndef IMAGE_ELF_H
#define IMAGE_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_BYTES	4096u		/* what load addresses are rounded to, whatever the kernel's page size */
#define PIECE_MAX	(768u << 20)	/* the longest piece of a file that is copied */

#if defined(__x86_64__)
#define ELF_MACHINE	EM_X86_64
#elif defined(__aarch64__)
#define ELF_MACHINE	EM_AARCH64
#else
#error "no architecture that functions can be probed on"
#endif

/* A copied part of the file. A NUL follows the last byte, so a string in it ends. */
struct piece {
	uint8_t *data;		/* owned */
	size_t	 len;
	uint64_t addr;		/* link-time address, where it has one */
};

struct elf {
	int	     fd;	/* lent; -1: memory has the file */
	const uint8_t *memory;	/* lent */
	uint64_t     file_bytes;
	Elf64_Ehdr   head;
	Elf64_Phdr  *seg;	/* owned, seg_count of them */
	Elf64_Shdr  *sec;	/* owned; none in a file stripped of its section headers */
	size_t	     seg_count, sec_count;
	struct piece names;	/* of the sections */
};

/* -ENOEXEC: no ELF executable or library of this machine. -EBADMSG: one that contradicts itself. */
int  elf_open(struct elf *e, int fd);
/* A debug file, for its sections alone: its segments have nothing in them. @e: fd or memory, and file_bytes, are set. */
int  elf_open_sections(struct elf *e);
void elf_close(struct elf *e);

/* @ret is freed by piece_free(). -EBADMSG past the end of the file, -EFBIG above PIECE_MAX. */
int  elf_read(const struct elf *e, uint64_t offset, uint64_t len, struct piece *ret);
int  elf_read_section(const struct elf *e, const Elf64_Shdr *sec, struct piece *ret);
/* From @addr to the end of what its segment has in the file, @max at most. */
int  elf_read_addr(const struct elf *e, uint64_t addr, uint64_t max, struct piece *ret);
void piece_free(struct piece *p);

const Elf64_Shdr *elf_section(const struct elf *e, const char *name);
const Elf64_Shdr *elf_section_of_type(const struct elf *e, uint32_t type);
const char *elf_section_name(const struct elf *e, const Elf64_Shdr *sec);
const Elf64_Phdr *elf_segment(const struct elf *e, uint32_t type);	/* the first of @type */

/* The string at @at of @table; "" when it lies outside. */
const char *piece_string(const struct piece *table, uint64_t at);

/* Reading numbers out of a piece: false, and nothing read, where it has too few bytes left. */
bool piece_u32(const struct piece *p, size_t at, uint32_t *ret);
bool piece_u64(const struct piece *p, size_t at, uint64_t *ret);

#endif
