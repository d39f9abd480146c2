/*
 * later.c - programs that are loaded when they are first needed.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "bpflink.h"
#include "kernel.h"
#include "recorder.skel.h"
#include "source/later.h"

static int share_maps(struct bpf_object *with, const struct bpf_object *loaded)
{
	struct bpf_map *map, *shared;
	int err = 0;

	bpf_object__for_each_map(map, with) {
		if (!strcmp(bpf_map__name(map), ".rodata.later"))
			continue;
		shared = bpf_object__find_map_by_name(loaded, bpf_map__name(map));
		if (shared && bpf_map__fd(shared) >= 0)
			err = bpf_map__reuse_fd(map, bpf_map__fd(shared));
		else
			err = bpf_map__set_autocreate(map, false);
		if (err)
			return err;
	}
	return 0;
}

struct recorder_bpf *later_open(const struct recorder_bpf *loaded)
{
	struct recorder_bpf *with = recorder_bpf__open();
	struct bpf_program *prog;
	int err;

	if (!with)
		return NULL;
	bpf_object__for_each_program(prog, with->obj)
		bpf_program__set_autoload(prog, false);
	err = share_maps(with->obj, loaded->obj);
	if (!err)
		return with;
	recorder_bpf__destroy(with);
	errno = -err;
	return NULL;
}

void later_want(struct bpf_program *prog)
{
	bpf_program__set_autoload(prog, true);
	bpf_program__set_expected_attach_type(prog, kernel_has(HAVE_UPROBE_MULTI) ? BPFLINK_UPROBE_MULTI : 0);
}
