/*
 * record.c - the record table, and the check of records, of a file or of a ring.
 */
#include "base.h"
#include "cuda.h"
#include "flow/record.h"
#include "kevent.h"

#define ROW(kind, type, cls)	[kind] = { #kind, sizeof(struct type), cls }

const struct record_kind record_kinds[REC_KINDS] = {
	ROW(REC_TASK_NEW,   rec_task_new,   CLASS_TASK),
	ROW(REC_TASK_EXEC,  rec_task_exec,  CLASS_TASK),
	ROW(REC_TASK_NAME,  rec_task_name,  CLASS_TASK),
	ROW(REC_TASK_EXIT,  rec_task_exit,  CLASS_TASK),
	ROW(REC_IMAGE,	    rec_image,	    CLASS_TASK),
	ROW(REC_SYS_ENTER,  rec_sys_enter,  CLASS_SYSCALL),
	ROW(REC_SYS_EXIT,   rec_sys_exit,   CLASS_SYSCALL),
	ROW(REC_FUNC_ENTRY, rec_func,	    CLASS_FUNCTION),
	ROW(REC_FUNC_EXIT,  rec_func,	    CLASS_FUNCTION),
	ROW(REC_TASK_LOST,  rec_lost,	    CLASS_TASK),
	ROW(REC_LOST,	    rec_lost,	    CLASS_TASK),
	ROW(REC_TASK_FOUND, rec_task_found, CLASS_TASK),
	ROW(REC_FUNC_ENTRY_ARGS, rec_func_args, CLASS_FUNCTION),
	ROW(REC_FUNC_EXIT_ARGS,	 rec_func_args, CLASS_FUNCTION),
	ROW(REC_USDT,	    rec_usdt,	    CLASS_FUNCTION),
	ROW(REC_EVENT,	    rec_event,	    CLASS_EVENT),
	ROW(REC_CUDA_ENTRY, rec_cuda_entry, CLASS_CUDA),
	ROW(REC_CUDA_EXIT,  rec_cuda_exit,  CLASS_CUDA),
	ROW(REC_CUDA_TIMES, rec_cuda_times, CLASS_CUDA),
	ROW(REC_FILE,	    rec_file,	    CLASS_SYSCALL),
	ROW(REC_EXEC,	    rec_exec,	    CLASS_TASK),
	ROW(REC_EXEC_PIECE, rec_exec_piece, CLASS_TASK),
	ROW(REC_CALLERS,    rec_callers,    CLASS_EVENT),
	ROW(REC_CUDA_IMAGE, rec_cuda_image, CLASS_CUDA),
	ROW(REC_CUDA_IMAGE_FILE, rec_cuda_image_file, CLASS_CUDA),
	ROW(REC_CUDA_RETURN, rec_cuda_return, CLASS_CUDA),
	ROW(REC_CUDA_LAUNCH, rec_cuda_launch, CLASS_CUDA),
	ROW(REC_CUDA_GIVEN, rec_cuda_given, CLASS_CUDA),
	ROW(REC_MARK,	    rec_mark,	    CLASS_EVENT),
};

static bool texts_are_inside(const char *text, size_t text_len, const char *end)
{
	const char *stop = text + text_len;

	if (text_len > (size_t)(end - text))
		return false;
	while (text < stop) {
		const struct rec_text *x = (const void *)text;

		if ((size_t)(stop - text) < sizeof(*x) || x->len > (size_t)(stop - text) - sizeof(*x))
			return false;
		text += (sizeof(*x) + x->len + 3) & ~3ul;
	}
	return true;
}

/* Each of a kind of text that there is, an object long enough. */
static bool file_texts_are_sane(const char *text, size_t text_len, const char *end)
{
	const char *stop = text + text_len;

	if (!texts_are_inside(text, text_len, end))
		return false;
	while (text < stop) {
		const struct rec_text *x = (const void *)text;

		if (x->arg >= FILE_TEXTS || (x->flags & TEXT_OBJECT && x->len < sizeof(struct file_object)))
			return false;
		text += (sizeof(*x) + x->len + 3) & ~3ul;
	}
	return true;
}

static bool value_is_sane(const struct rec_value *v, size_t room)
{
	if (room < sizeof(*v) || v->room > room - sizeof(*v) || v->len > v->room || v->room % 8)
		return false;
	switch (v->format) {
	case VALUE_STRUCT:
		return v->size && v->len > ROUND_UP(v->size, 8) && !v->bytes[v->len - 1];
	case VALUE_FLOAT:
		return v->len == 16 && (v->size == 4 || v->size == 8 || v->size == 10);
	case VALUE_STRING:
	case VALUE_STD_STRING:
		return v->size == 8 && (v->len == 8 || !(v->flags & TEXT_FAULT));
	default:
		return v->format < VALUE_FORMATS && v->len == 8 &&
		       (v->size == 1 || v->size == 2 || v->size == 4 || v->size == 8);
	}
}

/* Arguments, none of them twice; or one value, the result, if any. */
static bool values_are_sane(const char *at, uint32_t len, const char *end, bool are_args)
{
	uint64_t other = are_args ? 1 : ~1ull, seen[2] = { other, other };

	if (len > end - at)
		return false;
	end = at + len;
	while (at < end) {
		const struct rec_value *v = (const void *)at;

		bool is_float = v->format == VALUE_FLOAT;

		if (!value_is_sane(v, end - at) || v->index >= 64 || seen[is_float] >> v->index & 1)
			return false;
		seen[is_float] |= 1ull << v->index;
		if (!v->index)
			seen[!is_float] |= 1;
		at += sizeof(*v) + v->room;
	}
	return true;
}

/* Those of a probe are numbers and strings only; values_are_sane() by now. */
static bool are_plain(const char *at, uint32_t len)
{
	const char *end = at + len;

	for (; at < end; at += sizeof(struct rec_value) + ((const struct rec_value *)at)->room) {
		uint8_t format = ((const struct rec_value *)at)->format;

		if (format == VALUE_STRUCT || format == VALUE_STD_STRING || format == VALUE_ENUM)
			return false;
	}
	return true;
}

static bool event_is_sane(const struct rec_hdr *rec, const char *end)
{
	const struct rec_event *r = (const void *)rec;

	return r->event < EVENT_TRACEPOINT + TRACEPOINTS_MAX && r->len <= end - r->field &&
	       r->len >= kernel_event_bytes(r->event);
}

static bool cuda_entry_is_sane(const struct rec_hdr *rec, const char *end)
{
	const struct rec_cuda_entry *r = (const void *)rec;

	return r->func < CUDA_FUNCTIONS_MAX && texts_are_inside(r->text, r->text_len, end);
}

static bool usdt_is_sane(const struct rec_hdr *rec, const char *end)
{
	const struct rec_usdt *r = (const void *)rec;

	return !r->name[USDT_NAME_MAX - 1] && values_are_sane(r->values, r->values_len, end, true) &&
	       are_plain(r->values, r->values_len);
}

static bool counts_are_sane(const struct rec_hdr *rec, const char *end)
{
	const struct rec_lost *r = (const void *)rec;

	(void)end;
	for (int i = 0; i < REC_CLASSES; i++)
		if (rec_lost_count(r, i) > LOST_MAX)
			return false;
	return true;
}

uint64_t record_began(const struct rec_hdr *rec)
{
	return rec->flags & REC_F_HELD ? *(const uint64_t *)((const char *)rec + rec->size - sizeof(uint64_t)) : rec->time;
}

static bool is_entry(uint16_t kind)
{
	return kind == REC_FUNC_ENTRY || kind == REC_FUNC_ENTRY_ARGS || kind == REC_SYS_ENTER;
}

/* Some have grown since files were written that are still to be read. */
static size_t least_size(uint16_t kind)
{
	switch (kind) {
	case REC_LOST:
	case REC_TASK_LOST:
		return REC_LOST_LEAST;
	case REC_TASK_NAME:
		return offsetof(struct rec_task_name, oom_score_adj);
	case REC_TASK_FOUND:
		return offsetof(struct rec_task_found, parent);
	default:
		return record_kinds[kind].size;
	}
}

/* ---- what each kind has behind its header, up to @end ---- */

static bool task_new_is_sane(const struct rec_hdr *rec, const char *end)
{
	(void)end;
	return ((const struct rec_task_new *)rec)->new_tid != rec->tid;
}

static bool task_exec_is_sane(const struct rec_hdr *rec, const char *end)
{
	const struct rec_task_exec *r = (const void *)rec;

	return r->filename == end || memchr(r->filename, '\0', (size_t)(end - r->filename));
}

static bool sys_enter_is_sane(const struct rec_hdr *rec, const char *end)
{
	const struct rec_sys_enter *r = (const void *)rec;

	return texts_are_inside(r->text, r->text_len, end);
}

static bool sys_exit_is_sane(const struct rec_hdr *rec, const char *end)
{
	const struct rec_sys_exit *r = (const void *)rec;

	return texts_are_inside(r->text, r->text_len, end);
}

static bool image_is_sane(const struct rec_hdr *rec, const char *end)
{
	const struct rec_image *r = (const void *)rec;

	return r->path_len <= end - r->path;
}

static bool func_args_are_sane(const struct rec_hdr *rec, const char *end)
{
	const struct rec_func_args *r = (const void *)rec;

	return values_are_sane(r->values, r->values_len, end, rec->kind == REC_FUNC_ENTRY_ARGS);
}

static bool callers_are_sane(const struct rec_hdr *rec, const char *end)
{
	const struct rec_callers *r = (const void *)rec;

	return r->kernel <= CALLERS_KERNEL_MAX && r->user <= CALLERS_USER_MAX &&
	       (r->kernel + r->user) * sizeof(r->ip[0]) <= (size_t)(end - (const char *)r->ip);
}

/* The words of a launch and the result of a return are as they come. */
static bool cuda_func_is_sane(const struct rec_hdr *rec, const char *end)
{
	uint32_t func = ((const struct rec_cuda_exit *)rec)->func;	/* where all kinds have it */

	(void)end;
	return (rec->kind == REC_CUDA_RETURN ? func & CUDA_RETURN_FUNC : func) < CUDA_FUNCTIONS_MAX;
}

static bool cuda_times_are_sane(const struct rec_hdr *rec, const char *end)
{
	const struct rec_cuda_times *r = (const void *)rec;

	return r->count <= CUDA_TIMES_MAX && r->count * sizeof(r->time[0]) <= (size_t)(end - (const char *)r->time);
}

static bool cuda_image_is_sane(const struct rec_hdr *rec, const char *end)
{
	const struct rec_cuda_image *r = (const void *)rec;

	return cuda_func_is_sane(rec, end) && r->end < CUDA_IMAGE_ENDS && r->at <= CUDA_IMAGE_MAX &&
	       r->len <= CUDA_IMAGE_PIECE && r->len <= end - r->bytes;
}

static bool cuda_given_is_sane(const struct rec_hdr *rec, const char *end)
{
	const struct rec_cuda_given *r = (const void *)rec;

	return cuda_func_is_sane(rec, end) && r->count <= CUDA_GIVEN_MAX && r->at <= UINT32_MAX && r->total <= UINT32_MAX &&
	       r->count * sizeof(r->handle[0]) <= (size_t)(end - (const char *)r->handle);
}

static bool mark_is_sane(const struct rec_hdr *rec, const char *end)
{
	const struct rec_mark *r = (const void *)rec;

	(void)end;
	return r->mark < MARKS;
}

static bool file_is_sane(const struct rec_hdr *rec, const char *end)
{
	const struct rec_file *r = (const void *)rec;

	return r->op > FILE_NONE && r->op < FILE_OPS && file_texts_are_sane(r->text, r->text_len, end);
}

static bool exec_is_sane(const struct rec_hdr *rec, const char *end)
{
	const struct rec_exec *r = (const void *)rec;

	return r->args <= EXEC_BYTES_MAX && r->env <= EXEC_BYTES_MAX && file_texts_are_sane(r->text, r->text_len, end);
}

static bool exec_piece_is_sane(const struct rec_hdr *rec, const char *end)
{
	const struct rec_exec_piece *r = (const void *)rec;

	return r->at <= 2 * EXEC_BYTES_MAX && r->len <= EXEC_PIECE_MAX && r->len <= end - r->bytes;
}

/* NULL: there is nothing but numbers, and any will do. */
static bool (*const is_sane[REC_KINDS])(const struct rec_hdr *rec, const char *end) = {
	[REC_TASK_NEW]	      = task_new_is_sane,
	[REC_TASK_EXEC]	      = task_exec_is_sane,
	[REC_SYS_ENTER]	      = sys_enter_is_sane,
	[REC_SYS_EXIT]	      = sys_exit_is_sane,
	[REC_IMAGE]	      = image_is_sane,
	[REC_FUNC_ENTRY_ARGS] = func_args_are_sane,
	[REC_FUNC_EXIT_ARGS]  = func_args_are_sane,
	[REC_USDT]	      = usdt_is_sane,
	[REC_EVENT]	      = event_is_sane,
	[REC_CALLERS]	      = callers_are_sane,
	[REC_CUDA_ENTRY]      = cuda_entry_is_sane,
	[REC_CUDA_EXIT]	      = cuda_func_is_sane,
	[REC_CUDA_LAUNCH]     = cuda_func_is_sane,
	[REC_CUDA_RETURN]     = cuda_func_is_sane,
	[REC_CUDA_IMAGE_FILE] = cuda_func_is_sane,
	[REC_CUDA_IMAGE]      = cuda_image_is_sane,
	[REC_CUDA_GIVEN]      = cuda_given_is_sane,
	[REC_CUDA_TIMES]      = cuda_times_are_sane,
	[REC_MARK]	      = mark_is_sane,
	[REC_FILE]	      = file_is_sane,
	[REC_EXEC]	      = exec_is_sane,
	[REC_EXEC_PIECE]      = exec_piece_is_sane,
	[REC_TASK_LOST]	      = counts_are_sane,
	[REC_LOST]	      = counts_are_sane,
};

bool record_is_sane(const struct rec_hdr *rec, size_t room)
{
	const char *end;

	if (room < sizeof(*rec) || rec->size > room || rec->size % 8 || !rec->kind || rec->kind >= REC_KINDS ||
	    rec->size < least_size(rec->kind))
		return false;
	end = (const char *)rec + rec->size;
	if (rec->flags & REC_F_HELD) {
		end -= sizeof(uint64_t);
		if (!is_entry(rec->kind) || rec->flags & REC_F_BY_IP ||
		    (size_t)(end - (const char *)rec) < record_kinds[rec->kind].size || record_began(rec) > rec->time)
			return false;
	}
	return !is_sane[rec->kind] || is_sane[rec->kind](rec, end);
}
