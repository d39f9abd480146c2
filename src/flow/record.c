/*
 * record.c - the record table, and the check of records that come from a file.
 */
#include "flow/record.h"

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

static bool counts_are_sane(const struct rec_lost *r)
{
	for (int i = 0; i < REC_CLASSES; i++)
		if (r->count[i] > LOST_MAX)
			return false;
	return true;
}

bool record_is_sane(const struct rec_hdr *rec, size_t room)
{
	const char *end;

	if (room < sizeof(*rec) || rec->size > room || rec->size % 8 || !rec->kind || rec->kind >= REC_KINDS ||
	    rec->size < record_kinds[rec->kind].size)
		return false;
	end = (const char *)rec + rec->size;
	switch (rec->kind) {
	case REC_TASK_NEW:
		return ((const struct rec_task_new *)rec)->new_tid != rec->tid;
	case REC_SYS_ENTER: {
		const struct rec_sys_enter *r = (const void *)rec;

		return texts_are_inside(r->text, r->text_len, end);
	}
	case REC_SYS_EXIT: {
		const struct rec_sys_exit *r = (const void *)rec;

		return texts_are_inside(r->text, r->text_len, end);
	}
	case REC_IMAGE: {
		const struct rec_image *r = (const void *)rec;

		return r->path_len <= end - r->path;
	}
	case REC_TASK_LOST:
	case REC_LOST:
		return counts_are_sane((const void *)rec);
	default:
		return true;
	}
}
