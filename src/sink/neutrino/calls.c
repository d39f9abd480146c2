/*
 * calls.c - what is not a launch: a row of mem.bin for memory and waits, a line of event.log for most.
 *
 * Lines are in NEUTRINO's words, its spelling too, where it has some.
 */
#include "base.h"
#include "out.h"
#include "sink/neutrino/neutrino.h"

#define MEM_PER_THREAD	CUDA_LAUNCH_PER_THREAD	/* host_mem.flags: these two mean what they do in host_launch */
#define MEM_CAPTURED	CUDA_LAUNCH_CAPTURED

const char *nt_result(uint32_t result, char to[NT_RESULT_MAX])
{
	if (result == CUDA_NO_RESULT)
		return "unseen";
	snprintf(to, NT_RESULT_MAX, "%u", result);
	return to;
}

const char *nt_api(const struct cuda_call *call, char to[CUDA_SYMBOL_MAX])
{
	const char *twin = !(call->func & 1) ? "" : call->fn->twin == 's' ? "_ptds" : "_ptsz";

	snprintf(to, CUDA_SYMBOL_MAX, "%s%s", call->fn->name, twin);
	return to;
}

/* What all lines of a call begin with. */
struct line {
	struct out *log;
	const struct cuda_call *call;
	const char *api, *rc;	/* the function's symbol, and its result */
};

/* ---- modules ---- */

static void tell_info(const struct line *l)
{
	out_printf(l->log, "[info] %s %s\n", l->api, l->rc);
}

static const char *const image_type[] = {
	[CUDA_IMAGE_ELF] = "elf", [CUDA_IMAGE_FATBIN] = "fatbin", [CUDA_IMAGE_WRAPPED] = "warpped_fatbin",
	[CUDA_IMAGE_PTX] = "ptx",
};

static void tell_image(struct out *log, const struct cuda_call *call)
{
	if (call->image == CUDA_IMAGE_UNREAD)
		out_printf(log, "[recorder] image at 0x%lx could not be read\n", call->image_addr);
	else if (call->image == CUDA_IMAGE_UNKNOWN || call->image >= ARRAY_SIZE(image_type))
		out_printf(log, "[bin] unrecognize\n");
	else if (call->image_bytes)
		out_printf(log, "[bin] type %s size %lu\n", image_type[call->image], call->image_bytes);
	else
		out_printf(log, "[bin] type %s\n", image_type[call->image]);
}

/* NEUTRINO has a form for each; in those without a result the call has succeeded. */
static void tell_load(const struct line *l)
{
	const struct cuda_call *call = l->call;
	uint64_t image = call->image_addr;

	if (!strcmp(l->api, "cuModuleLoadData"))
		out_printf(l->log, "[mod] %s %s module 0x%lx image 0x%lx \n", l->api, l->rc, call->out, image);
	else if (!strcmp(l->api, "cuLibraryLoadData"))
		out_printf(l->log, "[mod] %s %s lib 0x%lx code 0x%lx\n", l->api, l->rc, call->out, image);
	else if (!call->result)
		out_printf(l->log, "[mod] %s mod 0x%lx code 0x%lx\n", l->api, call->out, image);
	else
		tell_info(l);
	tell_image(l->log, call);
}

static void tell_load_file(const struct line *l)
{
	__cleanup(free_ptr) char *path = nt_escaped(l->call->name ?: "?", false);

	out_printf(l->log, "[info] %s %s\n", l->api, l->rc);
	out_printf(l->log, "[recorder] module 0x%lx is of the file %s\n", l->call->out, path ?: "?");
}

static void tell_get_function(const struct line *l)
{
	__cleanup(free_ptr) char *name = nt_escaped(l->call->name ?: "?", true);
	bool is_library = !strncmp(l->api, "cuLibrary", strlen("cuLibrary"));

	if (l->call->result)
		tell_info(l);
	else
		out_printf(l->log, "[mod] %s %s 0x%lx %s 0x%lx name %s\n", l->api, is_library ? "kernel" : "func",
			   l->call->out, is_library ? "lib" : "mod", l->call->handle, name ?: "?");
}

static void tell_kernel_function(const struct line *l)
{
	if (l->call->result)
		tell_info(l);
	else
		out_printf(l->log, "[mod] %s 0x%lx 0x%lx\n", l->api, l->call->out, l->call->handle);
}

static void tell_library_module(const struct line *l)
{
	out_printf(l->log, "[mod] %s %s mod 0x%lx lib 0x%lx\n", l->api, l->rc, l->call->out, l->call->handle);
}

/* ---- memory and waits ---- */

static void tell_memory(const struct line *l)
{
	const struct cuda_call *call = l->call;
	const char *tag = call->is_captured ? "[recorder] captured" : "[mem]";

	switch (call->memory) {
	case CUDA_MEM_ALLOC: case CUDA_MEM_ALLOC_ASYNC: case CUDA_MEM_HOST_ALLOC: case CUDA_MEM_MANAGED:
		out_printf(l->log, "%s %s %s dptr %lx bytesize %lu\n", tag, l->api, l->rc, call->dst, call->bytes);
		return;
	case CUDA_MEM_FREE: case CUDA_MEM_FREE_ASYNC: case CUDA_MEM_HOST_FREE:
		out_printf(l->log, "%s %s %s dptr %lx\n", tag, l->api, l->rc, call->dst);
		return;
	}
	out_printf(l->log, "%s %s %s dst %lx src %lx bytesize %lu\n", tag, l->api, l->rc, call->dst, call->src, call->bytes);
	if (call->is_partial)
		out_printf(l->log, "[recorder] it copies more than that: of a list not all is read\n");
}

/* Of what it waited for; a context has no handle in the call. */
static void tell_wait(const struct line *l)
{
	const struct cuda_call *call = l->call;
	char what[64] = "", ns[32] = "";

	if (call->fn->does == CUDA_DOES_WAIT_STREAM)
		snprintf(what, sizeof(what), " stream %lx", call->stream);
	else if (call->fn->does == CUDA_DOES_WAIT_EVENT)
		snprintf(what, sizeof(what), " event %lx", call->event);
	if (call->ret)
		snprintf(ns, sizeof(ns), " ns %lu", call->ret - call->entry);
	out_printf(l->log, "[sync] %s %s%s%s\n", l->api, l->rc, what, ns);
}

/* ---- graphs ---- */

static void tell_capture(const struct line *l)
{
	out_printf(l->log, "[graph] %s %s stream %lx\n", l->api, l->rc, l->call->stream);
}

static void tell_captured_graph(const struct line *l)
{
	out_printf(l->log, "[graph] %s %s stream %lx graph %lx\n", l->api, l->rc, l->call->stream, l->call->out);
}

static void tell_instantiate(const struct line *l)
{
	out_printf(l->log, "[graph] %s %s exec %lx graph %lx\n", l->api, l->rc, l->call->out, l->call->handle);
}

static void tell_graph_launch(const struct line *l)
{
	out_printf(l->log, "[graph] launch %lx stream %lx nodes %zu\n", l->call->handle, l->call->stream, l->call->launches);
}

static void (*const tell[CUDA_DOES_KINDS])(const struct line *) = {
	[CUDA_DOES_LOAD]	     = tell_load,
	[CUDA_DOES_LOAD_FILE]	     = tell_load_file,
	[CUDA_DOES_UNLOAD]	     = tell_info,
	[CUDA_DOES_GET_FUNCTION]     = tell_get_function,
	[CUDA_DOES_KERNEL_FUNCTION]  = tell_kernel_function,
	[CUDA_DOES_LIBRARY_MODULE]   = tell_library_module,
	[CUDA_DOES_HOST_FUNCTION]    = tell_info,
	[CUDA_DOES_MEMORY]	     = tell_memory,
	[CUDA_DOES_WAIT_CONTEXT]     = tell_wait,
	[CUDA_DOES_WAIT_STREAM]	     = tell_wait,
	[CUDA_DOES_WAIT_EVENT]	     = tell_wait,
	[CUDA_DOES_BEGIN_CAPTURE]    = tell_capture,
	[CUDA_DOES_BEGIN_CAPTURE_TO] = tell_capture,
	[CUDA_DOES_END_CAPTURE]	     = tell_captured_graph,
	[CUDA_DOES_INSTANTIATE]	     = tell_instantiate,
	[CUDA_DOES_GRAPH_LAUNCH]     = tell_graph_launch,
};

static void add_mem_row(struct nt_process *p, const struct cuda_call *call)
{
	struct nt_mem_row row = {
		.entry = call->entry, .ret = call->ret, .dst = call->dst, .src = call->src, .bytes = call->bytes,
		.stream = call->stream, .kind = call->memory, .result = call->result, .tid = call->tid,
		.flags = (call->func & 1 ? MEM_PER_THREAD : 0) | (call->is_captured ? MEM_CAPTURED : 0) |
			 (call->is_partial ? CUDA_COPY_PARTIAL : 0),
	};

	nt_table_add(&p->mem, &row);
}

int nt_call_exit(struct nt_process *p, const struct cuda_call *call)
{
	char api[CUDA_SYMBOL_MAX], rc[NT_RESULT_MAX];
	struct line l = { .log = p->log, .call = call, .api = nt_api(call, api), .rc = nt_result(call->result, rc) };
	uint8_t does = call->fn->does;

	if (does < CUDA_DOES_KINDS && tell[does])
		tell[does](&l);
	if (call->is_node_unknown)
		out_printf(p->log, "[recorder] %s %s changed a graph's node that is not known\n", l.api, l.rc);
	if (call->is_graph_partly)
		out_printf(p->log, "[recorder] %s %s launched a graph that is not known whole\n", l.api, l.rc);
	nt_image_tell(p, call);
	if (call->memory && does != CUDA_DOES_QUERY_STREAM && does != CUDA_DOES_QUERY_EVENT)
		add_mem_row(p, call);
	return out_error(p->log) ?: out_error(p->mem.out);
}
