/*
 * trialwait.c - trials of where a task can be made to wait.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "base.h"
#include "trialcode.h"
#include "trials.h"

bool probe_uprobe_sleepable(void)
{
	static const struct bpf_insn copy[] = {
		CALL(BPF_FUNC_get_current_task_btf),
		MOV_REG(BPF_REG_4, BPF_REG_0),
		MOV_REG(BPF_REG_1, BPF_REG_10),
		ADD_IMM(BPF_REG_1, -8),
		MOV_IMM(BPF_REG_2, 8),
		MOV_IMM(BPF_REG_3, 4096),
		MOV_IMM(BPF_REG_5, 0),
		CALL(BPF_FUNC_copy_from_user_task),
		MOV_IMM(BPF_REG_0, 0),
		EXIT,
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_SLEEPABLE);

	return trial_made(trial_load(BPF_PROG_TYPE_KPROBE, copy, ARRAY_SIZE(copy), &opts));
}

/* ---- work that a task is given for its way back to its program ---- */

/* How a callback is named, by what lies between it and this instruction. */
#define LOAD_FUNC(to, off)	{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = (to), .src_reg = BPF_PSEUDO_FUNC, .imm = (off) }, {}

/* The types of a program with one callback, and of a map whose values hold a struct bpf_task_work. */
struct work_types {
	struct btf *btf;
	int	    key, value, program, callback;
};

static int describe_work(struct work_types *t)
{
	int number, opaque, args, err;

	t->btf = btf__new_empty();
	if (!t->btf)
		return -ENOMEM;
	t->key = btf__add_int(t->btf, "int", 4, BTF_INT_SIGNED);
	number = btf__add_int(t->btf, "long", 8, 0);
	opaque = btf__add_struct(t->btf, "bpf_task_work", 8);
	err = btf__add_field(t->btf, "opaque", number, 0, 0);
	t->value = btf__add_struct(t->btf, "value", 8);
	err = err ?: btf__add_field(t->btf, "work", opaque, 0, 0);
	args = btf__add_func_proto(t->btf, t->key);
	t->program = btf__add_func(t->btf, "trial", BTF_FUNC_GLOBAL, args);
	t->callback = btf__add_func(t->btf, "work", BTF_FUNC_STATIC, args);
	return err ?: MIN(t->callback, 0) ?: btf__load_into_kernel(t->btf);
}

static int load_work(const struct work_types *t)
{
	LIBBPF_OPTS(bpf_map_create_opts, map_opts, .btf_fd = btf__fd(t->btf), .btf_key_type_id = t->key,
		    .btf_value_type_id = t->value);
	__cleanup(close_fd) int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "trial", 4, 8, 1, &map_opts);
	const struct bpf_insn work[] = {
		CALL(BPF_FUNC_get_current_task_btf),
		MOV_REG(BPF_REG_6, BPF_REG_0),
		STORE_IMM(BPF_REG_10, -8, 0),
		MOV_REG(BPF_REG_2, BPF_REG_10),
		ADD_IMM(BPF_REG_2, -8),
		LOAD_MAP(BPF_REG_1, map),
		CALL(BPF_FUNC_map_lookup_elem),
		SKIP_IF_0(BPF_REG_0, 8),
		MOV_REG(BPF_REG_1, BPF_REG_6),
		MOV_REG(BPF_REG_2, BPF_REG_0),
		LOAD_MAP(BPF_REG_3, map),
		LOAD_FUNC(BPF_REG_4, 5),
		MOV_IMM(BPF_REG_5, 0),
		CALL_KERNEL(trials_types()->task_work),
		MOV_IMM(BPF_REG_0, 0),
		EXIT,
		MOV_IMM(BPF_REG_0, 0),		/* the callback */
		EXIT,
	};
	const struct bpf_func_info funcs[] = { { 0, t->program }, { ARRAY_SIZE(work) - 2, t->callback } };
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_btf_fd = btf__fd(t->btf), .func_info = funcs,
		    .func_info_cnt = ARRAY_SIZE(funcs), .func_info_rec_size = sizeof(*funcs));

	return map < 0 ? map : trial_load(BPF_PROG_TYPE_TRACEPOINT, work, ARRAY_SIZE(work), &opts);
}

/* That it runs before the task is back, is seen each time: bpf/gate.bpf.c, is_in_time(). */
bool probe_task_work(void)
{
	static const char *const events[] = { "sched/sched_process_exec", "mmap_lock/mmap_lock_acquire_returned" };
	struct work_types types = {};
	bool yes;

	if (trials_types()->task_work <= 0 || (!probe_steady_tracepoints() && !trials_are_events(events, ARRAY_SIZE(events))))
		return false;
	yes = !describe_work(&types) && trial_made(load_work(&types));
	btf__free(types.btf);
	return yes;
}

/* ---- a program of an LSM ---- */

#ifndef MFD_EXEC
#define MFD_EXEC	0x10u		/* since 6.3, and unknown before */
#endif

/* It notes in @map that it was run. */
static int load_hook(int map)
{
	const struct bpf_insn note[] = {
		STORE_IMM(BPF_REG_10, -8, 0),
		MOV_REG(BPF_REG_2, BPF_REG_10),
		ADD_IMM(BPF_REG_2, -8),
		LOAD_MAP(BPF_REG_1, map),
		CALL(BPF_FUNC_map_lookup_elem),
		SKIP_IF_0(BPF_REG_0, 1),
		STORE_IMM(BPF_REG_0, 0, 1),
		MOV_IMM(BPF_REG_0, 0),
		EXIT,
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_LSM_MAC, .prog_flags = BPF_F_SLEEPABLE,
		    .attach_btf_id = trials_types()->exec_hook);

	return trials_types()->exec_hook > 0 ? trial_load(BPF_PROG_TYPE_LSM, note, ARRAY_SIZE(note), &opts) : -ENOENT;
}

/* Exec a file that is of no format: it is refused, behind the hook. */
static void exec_nothing(void)
{
	static const char text[] = "of no format";
	char *words[] = { "trial", NULL };
	__cleanup(close_fd) int fd = memfd_create("trial", MFD_CLOEXEC | MFD_EXEC);

	if (fd < 0)
		fd = memfd_create("trial", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, text, sizeof(text)) == sizeof(text))
		execveat(fd, "", words, words + 1, AT_EMPTY_PATH);
}

/* It can be attached where BPF is none of the system's LSMs, too, and is never run then. */
bool probe_exec_hook(void)
{
	__cleanup(close_fd) int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "trial", 4, 8, 1, NULL);
	__cleanup(close_fd) int prog = map < 0 ? -1 : load_hook(map);
	__cleanup(close_fd) int link = prog < 0 ? -1 : bpf_raw_tracepoint_open(NULL, prog);
	uint64_t was_run = 0;
	int first = 0;

	if (link < 0)
		return false;
	exec_nothing();
	return !bpf_map_lookup_elem(map, &first, &was_run) && was_run;
}
