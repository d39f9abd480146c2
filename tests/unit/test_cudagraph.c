/*
 * test_cudagraph.c - which kernels a graph launches, and which launches a stream that captures takes.
 */
#include "base.h"
#include "cuda/process.h"
#include "test.h"

enum { VADD = 0xa0, AXPY = 0xb0, REDUCE = 0xc0 };			/* kernels, by their handles */
enum { S1 = 0x100, S2 = 0x200, EVENT = 0x300, GRAPH = 0x1000, OTHER_GRAPH = 0x2000, EXEC = 0x3000, NODE = 0x4000 };

struct desk {
	struct cuda_processes *all;
	struct cuda_process   *p;
	bool	 blind;		/* results are not seen */
	uint64_t now;
	uint64_t unknown;	/* changes of nodes that are not known */
	uint64_t partly, lost;	/* launches of graphs that are not known whole; captures whose end was not seen */
};

static void set(struct desk *d)
{
	*d = (struct desk){ .now = 1000 };
	CHECK_INT(cuda_processes_create(&d->all), 0);
	d->p = cuda_process_make(d->all, 10, 0);
	CHECK(d->p);
}

static void clear(struct desk *d)
{
	cuda_processes_destroy(d->all);
}

#define ARGS(...)	((const uint64_t[CUDA_WORDS]){ __VA_ARGS__ })

/* Begins a call of @name, which @taken of @len bytes was taken along with. */
static struct cuda_call *begins(struct desk *d, const char *name, const uint64_t arg[CUDA_WORDS], const void *taken,
				size_t len)
{
	static union { struct rec_cuda_entry r; char room[512]; } u;
	struct rec_text *x = (void *)u.r.text;
	struct cuda_call *c;

	memset(&u, 0, sizeof(u));
	u.r.hdr = (struct rec_hdr){ .time = d->now++, .pid = 10, .tid = 10, .kind = REC_CUDA_ENTRY };
	u.r.hdr.flags = d->blind ? REC_F_NO_EXIT : 0;
	CHECK(cuda_find(name) >= 0);
	u.r.func = cuda_find(name);
	memcpy(u.r.arg, arg, sizeof(u.r.arg));
	if (len) {
		x->len = len;
		memcpy(x->bytes, taken, len);
		u.r.text_len = sizeof(*x) + len;
	}
	CHECK_INT(cuda_call_enter(&c, d->p, &u.r), 0);
	return c;
}

static void ends(struct desk *d, struct cuda_call *c, uint32_t result, uint64_t out)
{
	struct rec_cuda_exit r = { .hdr.time = d->now++, .func = c->func, .result = result, .out = out };

	CHECK_INT(cuda_call_leave(c, d->blind ? NULL : &r), 0);
	d->unknown += c->is_node_unknown;
	d->partly += c->is_graph_partly;
	d->lost += c->is_capture_lost;
	cuda_call_free(c);
}

static void called_with(struct desk *d, const char *name, uint32_t result, uint64_t out, const uint64_t arg[CUDA_WORDS])
{
	ends(d, begins(d, name, arg, NULL, 0), result, out);
}

static void called(struct desk *d, const char *name, uint64_t out, const uint64_t arg[CUDA_WORDS])
{
	called_with(d, name, 0, out, arg);
}

/* Launches @kernel on @stream; returns whether that was captured. */
static bool launched(struct desk *d, uint64_t kernel, uint64_t stream)
{
	struct cuda_call *c = begins(d, "cuLaunchKernel", ARGS(kernel, 1, 1, 1, 1, 1, 1, 0, stream), NULL, 0);
	bool captured = c->launch[0].flags & CUDA_LAUNCH_CAPTURED;

	CHECK(captured == c->is_captured);
	ends(d, c, 0, 0);
	return captured;
}

/* CUDA_KERNEL_NODE_PARAMS of @kernel. */
static const void *shape(uint64_t kernel)
{
	static uint64_t params[9];

	params[0] = kernel;
	params[1] = 1 | 1ull << 32;
	return params;
}

static void node_added(struct desk *d, uint64_t graph, uint64_t node, uint64_t kernel)
{
	ends(d, begins(d, "cuGraphAddKernelNode_v2", ARGS(0, graph), shape(kernel), 72), 0, node);
}

static void node_set(struct desk *d, uint64_t node, uint64_t kernel)
{
	ends(d, begins(d, "cuGraphKernelNodeSetParams_v2", ARGS(node), shape(kernel), 72), 0, 0);
}

static void exec_node_set(struct desk *d, uint64_t exec, uint64_t node, uint64_t kernel)
{
	ends(d, begins(d, "cuGraphExecKernelNodeSetParams_v2", ARGS(exec, node), shape(kernel), 72), 0, 0);
}

/* A captured graph: a launch of each of @kernels, which ends with a 0. */
static void captured(struct desk *d, uint64_t graph, const uint64_t *kernels)
{
	called(d, "cuStreamBeginCapture_v2", 0, ARGS(S1));
	for (; *kernels; kernels++)
		CHECK(launched(d, *kernels, S1));
	called(d, "cuStreamEndCapture", graph, ARGS(S1));
}

static void nodes_told(struct desk *d, uint64_t graph, const uint64_t *node, size_t n, size_t a_piece)
{
	static union { struct rec_cuda_given r; char room[512]; } u;
	struct cuda_call *c = begins(d, "cuGraphGetNodes", ARGS(graph), NULL, 0);

	for (size_t at = 0; at < n; at += a_piece) {
		u.r.count = MIN(n - at, a_piece);
		u.r.at = at;
		u.r.total = n;
		memcpy(u.r.handle, node + at, u.r.count * sizeof(*node));
		CHECK_INT(cuda_call_given(c, &u.r), 0);
	}
	ends(d, c, 0, node[0]);
}

/* The kernels that a launch of @exec runs, by their letters. */
static const char *runs(struct desk *d, uint64_t exec)
{
	static char names[64];
	struct cuda_call *c = begins(d, "cuGraphLaunch", ARGS(exec, S2), NULL, 0);
	size_t n = 0;

	for (; n < c->launches; n++)
		names[n] = c->launch[n].func == VADD ? 'v' : c->launch[n].func == AXPY ? 'a' : 'r';
	names[n] = 0;
	ends(d, c, 0, 0);
	return names;
}

static const char *runs_of(struct desk *d, uint64_t graph)
{
	called(d, "cuGraphInstantiateWithFlags", EXEC + graph, ARGS(0, graph));
	return runs(d, EXEC + graph);
}

#define TEST_OF(name_)	static void check_##name_(struct desk *d); \
	TEST(name_) { struct desk d; set(&d); check_##name_(&d); clear(&d); } static void check_##name_(struct desk *d)

/* ---- what a graph has ---- */

TEST_OF(a_child_is_added_in_each_way)
{
	uint64_t params[11] = { 4, 0, GRAPH };			/* CUgraphNodeParams: of type graph */

	node_added(d, GRAPH, NODE, VADD);
	called(d, "cuGraphAddChildGraphNode", NODE + 1, ARGS(0, OTHER_GRAPH, 0, 0, GRAPH));
	ends(d, begins(d, "cuGraphAddNode", ARGS(0, OTHER_GRAPH), params, sizeof(params)), 0, NODE + 2);
	ends(d, begins(d, "cuGraphAddNode_v2", ARGS(0, OTHER_GRAPH), params, sizeof(params)), 0, NODE + 3);
	CHECK_STR(runs_of(d, OTHER_GRAPH), "vvv");
	called(d, "cuGraphDestroyNode", 0, ARGS(NODE + 2));
	CHECK_STR(runs_of(d, OTHER_GRAPH), "vv");
	node_set(d, NODE, AXPY);				/* the child was copied */
	CHECK_STR(runs_of(d, OTHER_GRAPH), "vv");
	CHECK_INT(d->unknown, 0);
}

TEST_OF(a_node_is_changed_removed_or_switched_off)
{
	uint64_t params[11] = { 0, 0, REDUCE };			/* CUgraphNodeParams: of type kernel */

	node_added(d, GRAPH, NODE, VADD);
	node_added(d, GRAPH, NODE + 1, VADD);
	node_added(d, GRAPH, NODE + 2, VADD);
	ends(d, begins(d, "cuGraphNodeSetParams", ARGS(NODE + 1), params, sizeof(params)), 0, 0);
	CHECK_STR(runs_of(d, GRAPH), "vrv");
	ends(d, begins(d, "cuGraphExecNodeSetParams", ARGS(EXEC + GRAPH, NODE), params, sizeof(params)), 0, 0);
	called(d, "cuGraphNodeSetEnabled", 0, ARGS(EXEC + GRAPH, NODE + 2, 0));
	CHECK_STR(runs(d, EXEC + GRAPH), "rr");
	called(d, "cuGraphNodeSetEnabled", 0, ARGS(EXEC + GRAPH, NODE + 2, 1));
	CHECK_STR(runs(d, EXEC + GRAPH), "rrv");
	called(d, "cuGraphDestroyNode", 0, ARGS(NODE + 1));
	CHECK_STR(runs_of(d, GRAPH), "vv");
	CHECK_INT(d->unknown, 0);
}

TEST_OF(nodes_of_a_capture_are_those_that_the_graph_gives)
{
	static const uint64_t node[] = { NODE, NODE + 1, NODE + 2 };

	for (size_t piece = 1; piece <= 4; piece++) {
		captured(d, GRAPH, ARGS(VADD, VADD, REDUCE));
		called(d, "cuGraphInstantiateWithFlags", EXEC, ARGS(0, GRAPH));
		nodes_told(d, GRAPH, node, 3, piece);
		exec_node_set(d, EXEC, NODE + 1, AXPY);
		CHECK_STR(runs(d, EXEC), "var");
		node_set(d, NODE, AXPY);
		CHECK_STR(runs_of(d, GRAPH), "avr");
		called(d, "cuGraphDestroy", 0, ARGS(GRAPH));
	}
	CHECK_INT(d->unknown, 0);
}

TEST_OF(nodes_of_other_kinds_are_told_by_their_types)
{
	static const uint64_t node[] = { NODE, NODE + 1, NODE + 2 };

	captured(d, GRAPH, ARGS(VADD, REDUCE));
	called(d, "cuGraphInstantiateWithFlags", EXEC, ARGS(0, GRAPH));
	nodes_told(d, GRAPH, node, 3, 3);
	exec_node_set(d, EXEC, NODE + 2, AXPY);
	CHECK_INT(d->unknown, 1);
	called(d, "cuGraphNodeGetType", 0, ARGS(NODE));
	called(d, "cuGraphNodeGetType", 0xffff00000001, ARGS(NODE + 1));	/* 4 bytes are given: a copy */
	exec_node_set(d, EXEC, NODE + 2, AXPY);
	CHECK_STR(runs(d, EXEC), "va");
	CHECK_INT(d->unknown, 1);
}

TEST_OF(a_change_of_a_node_that_is_not_known_is_counted)
{
	static const uint64_t node[] = { NODE, NODE + 1 };

	captured(d, GRAPH, ARGS(VADD, REDUCE));
	called(d, "cuGraphInstantiateWithFlags", EXEC, ARGS(0, GRAPH));
	exec_node_set(d, EXEC, NODE, AXPY);
	CHECK_INT(d->unknown, 1);
	node_set(d, NODE, AXPY);
	CHECK_INT(d->unknown, 2);
	called(d, "cuGraphExecChildGraphNodeSetParams", 0, ARGS(EXEC, NODE, OTHER_GRAPH));
	CHECK_INT(d->unknown, 3);
	nodes_told(d, GRAPH, node, 1, 1);			/* not as many as there are */
	exec_node_set(d, EXEC, NODE, AXPY);
	CHECK_INT(d->unknown, 4);
	CHECK_STR(runs(d, EXEC), "vr");
}

TEST_OF(a_clone_has_nodes_of_its_own)
{
	node_added(d, GRAPH, NODE, VADD);
	called(d, "cuGraphClone", OTHER_GRAPH, ARGS(0, GRAPH));
	node_set(d, NODE, AXPY);
	CHECK_STR(runs_of(d, GRAPH), "a");
	CHECK_STR(runs_of(d, OTHER_GRAPH), "v");
	called(d, "cuGraphNodeFindInClone", NODE + 8, ARGS(0, NODE, OTHER_GRAPH));
	node_set(d, NODE + 8, REDUCE);
	CHECK_STR(runs_of(d, GRAPH), "a");
	CHECK_STR(runs_of(d, OTHER_GRAPH), "r");
	CHECK_INT(d->unknown, 0);
}

TEST_OF(an_update_keeps_the_names_of_the_nodes)
{
	node_added(d, GRAPH, NODE, VADD);
	node_added(d, OTHER_GRAPH, NODE + 1, REDUCE);
	called(d, "cuGraphInstantiateWithFlags", EXEC, ARGS(0, GRAPH));
	called(d, "cuGraphExecUpdate_v2", 0, ARGS(EXEC, OTHER_GRAPH));
	CHECK_STR(runs(d, EXEC), "r");
	exec_node_set(d, EXEC, NODE, AXPY);
	CHECK_STR(runs(d, EXEC), "a");
	CHECK_INT(d->unknown, 0);
}

TEST_OF(a_handle_that_is_used_again_is_another_node)
{
	node_added(d, GRAPH, NODE, VADD);
	called(d, "cuGraphDestroy", 0, ARGS(GRAPH));
	captured(d, GRAPH, ARGS(VADD));
	node_set(d, NODE, AXPY);
	CHECK_STR(runs_of(d, GRAPH), "v");
	CHECK_INT(d->unknown, 1);
}

/* ---- what captures ---- */

TEST_OF(a_capture_that_fails_is_over)
{
	static const struct { uint32_t result; bool is_over; } end[] = {
		{ 901, true }, { 904, true }, { 900, true }, { 401, false }, { 903, false }, { 908, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(end); i++) {
		called(d, "cuStreamBeginCapture_v2", 0, ARGS(S1));
		called(d, "cuEventRecord", 0, ARGS(EVENT, S1));
		called(d, "cuStreamWaitEvent", 0, ARGS(S2, EVENT));
		CHECK(launched(d, VADD, S1) && launched(d, VADD, S2));
		called_with(d, "cuStreamEndCapture", end[i].result, 0, ARGS(S1));
		CHECK(launched(d, VADD, S1) == !end[i].is_over);
		CHECK(launched(d, VADD, S2) == !end[i].is_over);
		called(d, "cuStreamEndCapture", GRAPH, ARGS(S1));
		CHECK(!launched(d, VADD, S1) && !launched(d, VADD, S2));
	}
}

TEST_OF(a_stream_that_is_destroyed_captures_no_more)
{
	static const char *const destroys[] = { "cuStreamDestroy_v2", "cuStreamDestroy" };

	for (size_t i = 0; i < ARRAY_SIZE(destroys); i++) {
		called(d, "cuStreamBeginCapture_v2", 0, ARGS(S1));
		called(d, "cuEventRecord", 0, ARGS(EVENT, S1));
		called(d, "cuStreamWaitEvent", 0, ARGS(S2, EVENT));
		called(d, destroys[i], 0, ARGS(S2));
		CHECK(!launched(d, VADD, S2) && launched(d, VADD, S1));
		called(d, destroys[i], 0, ARGS(S1));
		CHECK(!launched(d, VADD, S1));
		called(d, "cuStreamWaitEvent", 0, ARGS(S2, EVENT));
		CHECK(!launched(d, VADD, S2));
	}
}

TEST_OF(a_new_stream_or_event_does_not_capture)
{
	static const struct { const char *call; uint64_t out, arg; } news[] = {
		{ "cuEventDestroy", 0, EVENT }, { "cuEventDestroy_v2", 0, EVENT }, { "cuEventCreate", EVENT, 0 },
	};

	called(d, "cuStreamBeginCapture_v2", 0, ARGS(S1));
	for (size_t i = 0; i < ARRAY_SIZE(news); i++) {
		called(d, "cuEventRecord", 0, ARGS(EVENT, S1));
		called(d, news[i].call, news[i].out, ARGS(news[i].arg));
		called(d, "cuStreamWaitEvent", 0, ARGS(S2, EVENT));
		CHECK(!launched(d, VADD, S2));
	}
	called(d, "cuStreamCreate", S1, ARGS(0));
	CHECK(!launched(d, VADD, S1));
}

TEST_OF(a_stream_that_can_be_waited_for_does_not_capture)
{
	static const struct { const char *call; uint32_t result; bool is_over; } shows[] = {
		{ "cuStreamSynchronize", 0, true }, { "cuStreamQuery", 0, true }, { "cuStreamQuery", 600, true },
		{ "cuStreamSynchronize", 900, false }, { "cuStreamQuery", 900, false },
		{ "cuStreamSynchronize", CUDA_NO_RESULT, false },
	};
	uint64_t lost = 0;

	for (size_t i = 0; i < ARRAY_SIZE(shows); i++) {
		called(d, "cuStreamBeginCapture_v2", 0, ARGS(S1));
		called_with(d, shows[i].call, shows[i].result, 0, ARGS(S1));
		CHECK(launched(d, VADD, S1) == !shows[i].is_over);
		CHECK_INT(d->lost, lost += shows[i].is_over);
		called(d, "cuStreamEndCapture", GRAPH, ARGS(S1));
	}
}

/* ---- what was there before ---- */

TEST_OF(a_graph_that_was_not_seen_made_is_not_told_as_empty)
{
	runs(d, EXEC);						/* made before */
	CHECK_INT(d->partly, 1);
	called(d, "cuStreamEndCapture", GRAPH, ARGS(S1));	/* begun before */
	runs_of(d, GRAPH);
	CHECK_INT(d->partly, 2);
	called(d, "cuGraphClone", OTHER_GRAPH, ARGS(0, GRAPH));
	runs_of(d, OTHER_GRAPH);
	CHECK_INT(d->partly, 3);
	called(d, "cuGraphCreate", GRAPH, ARGS(0));
	node_added(d, GRAPH, NODE, VADD);
	CHECK_STR(runs_of(d, GRAPH), "v");
	CHECK_INT(d->partly, 3);
	called(d, "cuGraphAddChildGraphNode", NODE + 1, ARGS(0, GRAPH, 0, 0, OTHER_GRAPH));
	CHECK_STR(runs_of(d, GRAPH), "v");
	CHECK_INT(d->partly, 4);
}

/* ---- results are not seen ---- */

TEST_OF(what_was_refused_unseen_has_no_effect)
{
	node_added(d, GRAPH, NODE, VADD);
	node_added(d, OTHER_GRAPH, NODE + 1, AXPY);
	node_added(d, OTHER_GRAPH, NODE + 2, AXPY);
	called(d, "cuGraphInstantiateWithFlags", EXEC, ARGS(0, GRAPH));
	called_with(d, "cuGraphExecUpdate_v2", CUDA_NO_RESULT, 0, ARGS(EXEC, OTHER_GRAPH));
	CHECK_STR(runs(d, EXEC), "v");

	called(d, "cuStreamBeginCapture_v2", 0, ARGS(S1));
	called(d, "cuEventRecord", 0, ARGS(EVENT, S1));
	called(d, "cuStreamWaitEvent", 0, ARGS(S2, EVENT));
	CHECK(launched(d, VADD, S2));
	called_with(d, "cuStreamEndCapture", CUDA_NO_RESULT, 0, ARGS(S2));
	called_with(d, "cuStreamBeginCapture_v2", CUDA_NO_RESULT, 0, ARGS(S1));
	CHECK(launched(d, VADD, S1));
	called(d, "cuStreamEndCapture", GRAPH, ARGS(S1));
	CHECK_STR(runs_of(d, GRAPH), "vv");
	CHECK(!launched(d, VADD, S2));
}

TEST_OF(a_call_whose_result_counts_takes_effect_when_that_is_known)
{
	struct cuda_call *c;

	d->blind = true;
	c = begins(d, "cuStreamBeginCapture_v2", ARGS(S1), NULL, 0);
	CHECK(!launched(d, VADD, S1));
	d->blind = false;
	ends(d, c, 0, 0);
	CHECK(launched(d, VADD, S1));
}
