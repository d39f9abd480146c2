/*
 * floor.c - attaches one of the floor's programs, says "ready", and holds it until its input ends.
 *
 *	floor OBJECT empty_session|full_session FILE SYMBOL [BYTES]	a session link, BYTES into the function
 *	floor OBJECT empty_sys|full_sys					both ends of every system call
 *
 * At the end it says how many records could not be stored ("lost N"): a floor that loses is none.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

/* include/uapi/linux/bpf.h of 6.13: BPF_LINK_CREATE, attach type, and the members of link_create.uprobe_multi. */
#define LINK_CREATE	28
#define UPROBE_SESSION	57

struct link_create_uprobe_multi {
	uint32_t prog_fd, target_fd, attach_type, link_flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t count, flags, pid, pad;
};

static void die(const char *what)
{
	fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Where in the file @addr of its memory lies. */
static uint64_t file_offset(Elf *elf, uint64_t addr)
{
	size_t count = 0;
	GElf_Phdr p;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, i, &p) && p.p_type == PT_LOAD && addr >= p.p_vaddr && addr < p.p_vaddr + p.p_memsz)
			return addr - p.p_vaddr + p.p_offset;
	return 0;
}

static uint64_t symbol_offset(const char *file, const char *name)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Sym sym;
	Elf *elf;

	elf_version(EV_CURRENT);
	if (fd < 0 || !(elf = elf_begin(fd, ELF_C_READ, NULL)))
		die(file);
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM))
			continue;
		for (size_t i = 0; i < sh.sh_size / sh.sh_entsize; i++) {
			const char *found = gelf_getsym(elf_getdata(scn, NULL), i, &sym) ?
					    elf_strptr(elf, sh.sh_link, sym.st_name) : NULL;

			if (found && sym.st_shndx != SHN_UNDEF && !strcmp(found, name))
				return file_offset(elf, sym.st_value);
		}
	}
	errno = ENOENT;
	die(name);
	return 0;
}

static void attach_session(struct bpf_program *prog, const char *file, uint64_t offset)
{
	struct link_create_uprobe_multi attr = {
		.prog_fd = bpf_program__fd(prog), .attach_type = UPROBE_SESSION,
		.path = (uintptr_t)file, .offsets = (uintptr_t)&offset, .count = 1,
	};

	if (syscall(SYS_bpf, LINK_CREATE, &attr, sizeof(attr)) < 0)
		die("session link");
}

static int count_record(void *ctx, void *data, size_t len)
{
	(void)data;
	*(uint64_t *)ctx += len;
	return 0;
}

/* Takes what is written until the input ends. The records are submitted without wakeups, so it looks every 5 ms. */
static void drain(struct bpf_object *obj)
{
	uint64_t bytes = 0;
	struct ring_buffer *rb = ring_buffer__new(bpf_object__find_map_fd_by_name(obj, "ring"), count_record, &bytes, NULL);
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN | POLLHUP };

	while (poll(&in, 1, 5) == 0)
		ring_buffer__consume(rb);
	ring_buffer__consume(rb);
	ring_buffer__free(rb);
}

static bool is_chosen(const char *name, const char *kind)
{
	size_t len = strlen(kind);

	return !strncmp(name, kind, len) && (name[len] == '\0' || !strcmp(name + len, "_enter") || !strcmp(name + len, "_exit"));
}

static uint64_t lost(struct bpf_object *obj)
{
	struct bpf_map *bss = bpf_object__find_map_by_name(obj, ".bss");
	uint64_t value[512] = { 0 };
	uint32_t zero = 0;

	if (!bss || bpf_map__value_size(bss) > sizeof(value) || bpf_map_lookup_elem(bpf_map__fd(bss), &zero, value))
		return 0;
	return value[0];
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[2] : "";
	struct bpf_program *prog;
	struct bpf_object *obj;

	if (argc != 3 && argc != 5 && argc != 6)
		return fprintf(stderr, "usage: floor OBJECT KIND [FILE SYMBOL [BYTES]]\n"), 2;
	obj = bpf_object__open(argv[1]);
	if (!obj)
		die(argv[1]);
	bpf_object__for_each_program(prog, obj) {
		bpf_program__set_autoload(prog, is_chosen(bpf_program__name(prog), kind));
		if (strstr(bpf_program__name(prog), "session"))
			bpf_program__set_expected_attach_type(prog, UPROBE_SESSION);
	}
	if (bpf_object__load(obj))
		die("loading");
	bpf_object__for_each_program(prog, obj) {
		if (!bpf_program__autoload(prog))
			continue;
		if (strstr(bpf_program__name(prog), "session"))
			attach_session(prog, argv[3], symbol_offset(argv[3], argv[4]) + (argc > 5 ? atoi(argv[5]) : 0));
		else if (!bpf_program__attach(prog))
			die("attaching");
	}
	puts("ready");
	fflush(stdout);
	drain(obj);
	printf("lost %lu\n", (unsigned long)lost(obj));
	return 0;
}
