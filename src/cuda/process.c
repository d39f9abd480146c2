/*
 * process.c - what a process's calls have told of its handles.
 *
 * A kernel's handle comes with its name, or from another handle. Streams that capture
 * are in capture.c, graphs in graph.c.
 *
 * What a call does takes effect at its return, if that says it succeeded; at its
 * entry where no return will be seen, unless it gives something.
 */
#include "base.h"
#include "cuda/capture.h"
#include "cuda/decode.h"
#include "cuda/device.h"
#include "cuda/graph.h"
#include "cuda/handles.h"
#include "cuda/process.h"

struct kernel {
	struct cuda_kernel is;
	uint32_t block[3], shared;	/* as cuFuncSetBlockShape() and its like left them */
	struct kernel *next;
};

struct cuda_memory_of {
	struct kernel  *kernels;	/* all there ever were: sinks have hung things on them */
	struct cuda_module *modules;	/* the same */
	struct handles	kernel;		/* CUfunction or CUkernel: struct kernel */
	struct handles	module;		/* CUmodule or CUlibrary: struct cuda_module */
	struct captures captures;
	struct graphs	graphs;
};

struct cuda_processes {
	struct handles by_pid;		/* struct cuda_process */
	uint64_t       ids;
};

/* ---- processes ---- */

int cuda_processes_create(struct cuda_processes **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

static void forget_handles(struct cuda_memory_of *of)
{
	handles_clear(&of->kernel, NULL);
	handles_clear(&of->module, NULL);
	captures_clear(&of->captures);
	graphs_clear(&of->graphs);
}

static void process_free(void *process)
{
	struct cuda_process *p = process;

	if (!p)
		return;
	if (p->of)
		forget_handles(p->of);
	device_destroy(p->device);
	while (p->of && p->of->kernels) {
		struct kernel *k = p->of->kernels;

		p->of->kernels = k->next;
		free((char *)k->is.name);
		free(k);
	}
	while (p->of && p->of->modules) {
		struct cuda_module *m = p->of->modules;

		p->of->modules = m->next;
		free(m);
	}
	free(p->of);
	free(p);
}

void cuda_processes_destroy(struct cuda_processes *all)
{
	if (!all)
		return;
	handles_clear(&all->by_pid, process_free);
	free(all);
}

/* 0, which no handle is, may be the pid of a record that is garbled. */
static uint64_t place_of(uint32_t pid)
{
	return pid + 1ull;
}

struct cuda_process *cuda_process_find(const struct cuda_processes *all, uint32_t pid)
{
	return handles_get(&all->by_pid, place_of(pid));
}

struct cuda_process *cuda_process_make(struct cuda_processes *all, uint32_t pid, uint64_t start)
{
	struct cuda_process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->pid = pid;
	p->start = start;
	p->id = ++all->ids;
	p->of = calloc(1, sizeof(*p->of));
	if (!p->of || handles_put(&all->by_pid, place_of(pid), p)) {
		process_free(p);
		return NULL;
	}
	return p;
}

void cuda_process_exec(struct cuda_process *p)
{
	p->execs++;
	forget_handles(p->of);
}

void cuda_process_drop(struct cuda_processes *all, struct cuda_process *p)
{
	process_free(handles_take(&all->by_pid, place_of(p->pid)));
}

struct cuda_process *cuda_process_any(const struct cuda_processes *all)
{
	for (size_t i = 0; i < all->by_pid.room; i++)
		if (all->by_pid.place[i].number)
			return all->by_pid.place[i].is;
	return NULL;
}

/* ---- kernels ---- */

/* @name NULL: it was never told. */
static struct kernel *kernel_make(struct cuda_process *p, uint64_t handle, const char *name)
{
	struct kernel *k = calloc(1, sizeof(*k));
	char unnamed[32];

	if (!k)
		return NULL;
	snprintf(unnamed, sizeof(unnamed), "func_%lx", handle);
	k->is = (struct cuda_kernel){ .name = strdup(name ?: unnamed), .handle = handle, .index = UINT32_MAX, .is_named = name };
	if (!k->is.name || handles_put(&p->of->kernel, handle, k)) {
		free((char *)k->is.name);
		free(k);
		return NULL;
	}
	k->next = p->of->kernels;
	p->of->kernels = k;
	return k;
}

static struct kernel *kernel_of(struct cuda_process *p, uint64_t handle)
{
	return handles_get(&p->of->kernel, handle) ?: kernel_make(p, handle, NULL);
}

/* The driver gives one handle as often as it is asked for the same name: it stays the same kernel. */
static int kernel_named(const struct cuda_call *c)
{
	struct kernel *k = handles_get(&c->process->of->kernel, c->out);

	if (!c->out || !c->name || (k && k->is.is_named && !strcmp(k->is.name, c->name)))
		return 0;
	k = kernel_make(c->process, c->out, c->name);
	if (!k)
		return -ENOMEM;
	k->is.is_guessed = c->result == CUDA_NO_RESULT;
	k->is.module = handles_get(&c->process->of->module, c->handle);
	return 0;
}

/* ---- modules ---- */

static bool loads_code(uint8_t does)
{
	return does == CUDA_DOES_LOAD || does == CUDA_DOES_LOAD_FILE;
}

static int module_begin(struct cuda_call *c)
{
	struct cuda_module *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->index = c->process->modules++;
	m->next = c->process->of->modules;
	c->process->of->modules = m;
	c->module = m;
	return 0;
}

/* @m: NULL: not known. */
static int module_is(struct cuda_call *c, struct cuda_module *m)
{
	struct handles *modules = &c->process->of->module;

	if (m && c->out)
		return handles_put(modules, c->out, m);
	handles_take(modules, c->out);
	return 0;
}

static struct cuda_launch launch_of(const struct cuda_dims *d, struct kernel *k)
{
	struct cuda_launch l = {
		.func = d->func, .stream = d->stream, .shared = d->shared, .flags = d->flags, .kernel = &k->is,
	};

	memcpy(l.grid, d->grid, sizeof(l.grid));
	memcpy(l.block, d->block, sizeof(l.block));
	memcpy(l.cluster, d->cluster, sizeof(l.cluster));
	return l;
}

/* ---- a call begins ---- */

static int make_launches(struct cuda_call *c, size_t n)
{
	c->launch = calloc(n ?: 1, sizeof(*c->launch));
	c->launches = c->launch ? n : 0;
	return c->launch ? 0 : -ENOMEM;
}

static int launch_kernels(struct cuda_call *c, const struct rec_cuda_entry *r)
{
	struct cuda_dims d[CUDA_LIST_MAX];
	size_t n = decode_dims(d, r);
	int err = make_launches(c, n);

	for (size_t i = 0; i < n && !err; i++) {
		struct kernel *k = kernel_of(c->process, d[i].func);

		if (!k)
			return -ENOMEM;
		if (d[i].flags & CUDA_LAUNCH_LEGACY) {
			memcpy(d[i].block, k->block, sizeof(k->block));
			d[i].shared = k->shared;
		}
		c->launch[i] = launch_of(&d[i], k);
		c->stream = d[i].stream;
	}
	return err;
}

static int launch_graph(struct cuda_call *c)
{
	const struct graph *g = graphs_exec(&c->process->of->graphs, c->handle);
	int err = make_launches(c, graph_launches(g, NULL));

	graph_launches(g, c->launch);
	c->is_graph_partly = graph_is_partly(g);
	for (size_t i = 0; i < c->launches; i++) {
		c->launch[i].flags = (c->launch[i].flags & ~CUDA_LAUNCH_CAPTURED) | CUDA_LAUNCH_GRAPH;
		c->launch[i].stream = c->stream;
	}
	return err;
}

/* What the call's own form, its stream and its process say of each of its launches. */
static void number_launches(struct cuda_call *c)
{
	struct cuda_process *p = c->process;

	for (size_t i = 0; i < c->launches; i++) {
		struct cuda_launch *l = &c->launch[i];
		if (l->kernel->index == UINT32_MAX)
			l->kernel->index = p->kernels++;
		l->seq = p->launches++;
		l->flags |= c->func % 2 ? CUDA_LAUNCH_PER_THREAD : 0;
		l->flags |= c->is_captured ? CUDA_LAUNCH_CAPTURED : 0;
		l->flags |= l->kernel->is_guessed ? CUDA_LAUNCH_GUESSED : 0;
	}
}

static bool is_launch(uint8_t does)
{
	return does == CUDA_DOES_LAUNCH || does == CUDA_DOES_LAUNCH_EX || does == CUDA_DOES_LAUNCH_MULTI ||
	       does == CUDA_DOES_LAUNCH_GRID;
}

/* What a graph's node is to launch, if the call says that. */
static int describe_node(struct cuda_call *c, const struct rec_cuda_entry *r)
{
	struct cuda_dims d[CUDA_LIST_MAX];
	struct kernel *k;

	if (!decode_dims(d, r))
		return 0;
	k = kernel_of(c->process, d[0].func);
	c->node = calloc(1, sizeof(*c->node));
	if (!k || !c->node)
		return -ENOMEM;
	*c->node = launch_of(d, k);
	return 0;
}

static int takes_effect(struct cuda_call *c);

int cuda_call_enter(struct cuda_call **ret, struct cuda_process *p, const struct rec_cuda_entry *r)
{
	struct cuda_call *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->process = p;
	err = decode_call(c, r);
	if (is_launch(c->fn->does))
		err = err ?: launch_kernels(c, r);
	else if (c->fn->does == CUDA_DOES_GRAPH_LAUNCH)
		err = err ?: launch_graph(c);
	else if (loads_code(c->fn->does))
		err = err ?: module_begin(c);
	else
		err = err ?: describe_node(c, r);
	c->is_captured = (c->fn->stream || c->launches) && capture_on(&p->of->captures, c);
	if (!err)
		number_launches(c);
	if (!err && p->device)
		err = device_called(p->device, c);
	if (!err && r->hdr.flags & REC_F_NO_EXIT && !c->fn->plan.out)
		err = takes_effect(c);
	if (err) {
		cuda_call_free(c);
		return err;
	}
	*ret = c;
	return 0;
}

/* ---- it ends ---- */

static int capture_launches(struct cuda_call *c)
{
	struct cuda_memory_of *of = c->process->of;
	struct graph *g = capture_graph(&of->captures, &of->graphs, c);
	int err = 0;

	for (size_t i = 0; g && i < c->launches && !err; i++)
		err = graph_add_captured(&of->graphs, g, &c->launch[i], c->fn->does == CUDA_DOES_GRAPH_LAUNCH);
	return err;
}

static int set_shape(struct cuda_call *c)
{
	struct kernel *k = kernel_of(c->process, c->handle);

	if (!k)
		return -ENOMEM;
	for (size_t i = 0; i < 3 && c->fn->does == CUDA_DOES_SET_BLOCK; i++)
		k->block[i] = c->arg[1 + i];
	if (c->fn->does == CUDA_DOES_SET_SHARED)
		k->shared = c->arg[1];
	return 0;
}

/* A CUfunction of a CUkernel is the same kernel. */
static int function_of_kernel(struct cuda_call *c)
{
	struct kernel *k = kernel_of(c->process, c->handle);

	if (!k)
		return -ENOMEM;
	return handles_put(&c->process->of->kernel, c->out, k);
}

static int takes_effect(struct cuda_call *c)
{
	struct cuda_memory_of *of = c->process->of;

	switch (c->fn->does) {
	case CUDA_DOES_LAUNCH:
	case CUDA_DOES_LAUNCH_EX:
	case CUDA_DOES_GRAPH_LAUNCH:
		return c->is_captured ? capture_launches(c) : 0;
	case CUDA_DOES_SET_BLOCK:
	case CUDA_DOES_SET_SHARED:
		return set_shape(c);
	case CUDA_DOES_LOAD:
	case CUDA_DOES_LOAD_FILE:
		return module_is(c, c->module);
	case CUDA_DOES_LIBRARY_MODULE:
		return module_is(c, handles_get(&of->module, c->handle));
	case CUDA_DOES_UNLOAD:
		handles_take(&of->module, c->handle);
		return 0;
	case CUDA_DOES_GET_FUNCTION:
		return kernel_named(c);
	case CUDA_DOES_KERNEL_FUNCTION:
		return function_of_kernel(c);
	case CUDA_DOES_BEGIN_CAPTURE:
	case CUDA_DOES_BEGIN_CAPTURE_TO:
		return capture_begin(&of->captures, c);
	case CUDA_DOES_END_CAPTURE:
		return capture_end(&of->captures, &of->graphs, c);
	case CUDA_DOES_RECORD_EVENT:
		return capture_event(&of->captures, c);
	case CUDA_DOES_STREAM_WAIT:
		return capture_joins(&of->captures, c);
	case CUDA_DOES_NEW_STREAM:
	case CUDA_DOES_END_STREAM:
		capture_forget_stream(&of->captures, c->fn->does == CUDA_DOES_NEW_STREAM ? c->out : c->stream);
		return 0;
	case CUDA_DOES_NEW_EVENT:
		capture_forget_event(&of->captures, c->out);
		return 0;
	case CUDA_DOES_OTHER:
		if (c->fn->event)		/* cuEventDestroy() */
			capture_forget_event(&of->captures, c->event);
		return 0;
	default:
		return graphs_change(&of->graphs, c);
	}
}

#define NOT_READY	600	/* CUresult of a query */

/* Its stream does not capture: else the driver would have said so. */
static bool shows_no_capture(const struct cuda_call *c)
{
	return (c->fn->does == CUDA_DOES_WAIT_STREAM && !c->result) ||
	       (c->fn->does == CUDA_DOES_QUERY_STREAM && (!c->result || c->result == NOT_READY));
}

int cuda_call_leave(struct cuda_call *c, const struct rec_cuda_exit *r)
{
	if (!r)
		return 0;
	c->result = r->result;
	c->ret = r->result == CUDA_NO_RESULT ? 0 : r->hdr.time;
	c->out = r->out;
	if (c->process->device)
		device_returned(c->process->device, c);
	if (c->memory >= CUDA_MEM_ALLOC && !c->dst)
		c->dst = c->out;
	if (shows_no_capture(c))
		c->is_capture_lost = capture_is_over(&c->process->of->captures, c);
	if (!c->result || c->result == CUDA_NO_RESULT)
		return takes_effect(c);
	if (c->fn->does == CUDA_DOES_END_CAPTURE)
		capture_end_failed(&c->process->of->captures, c);
	return 0;
}

/* Pieces come in their order; where one was lost, what follows is of no use. */
int cuda_call_given(struct cuda_call *c, const struct rec_cuda_given *r)
{
	uint64_t *given;

	if (r->at != c->given_count || r->at + r->count > r->total || (r->at && r->total != c->given_total))
		return 0;
	given = realloc(c->given, (r->at + r->count) * sizeof(*given) + 1);
	if (!given)
		return -ENOMEM;
	memcpy(given + r->at, r->handle, r->count * sizeof(*given));
	c->given = given;
	c->given_count = r->at + r->count;
	c->given_total = r->total;
	return 0;
}

void cuda_call_free(struct cuda_call *c)
{
	if (!c)
		return;
	free(c->launch);
	free(c->node);
	free(c->given);
	free((char *)c->name);
	free(c);
}
