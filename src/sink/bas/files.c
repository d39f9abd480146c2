/*
 * files.c - what system calls did to descriptors and names.
 *
 * A function per kind puts all lines of an event. One that cannot be told whole, because a name could not be read, puts
 * none (-ENODATA), and is counted. One that is not to be told returns UNTOLD.
 */
#include <fcntl.h>
#include <linux/fs.h>

#include "base.h"
#include "sink/bas/bas.h"

#define CREATES		(O_CREAT | (O_TMPFILE & ~O_DIRECTORY))	/* open() has a mode */
#define UNTOLD		1

/* An event at hand. */
struct file_event {
	struct sink	      *s;
	struct bas_text	      *text;
	struct bas_task	      *u;
	const struct event    *ev;
	const struct rec_file *r;
	struct bas_told	       d;
};

static void begin(const struct file_event *f)
{
	bas_begin(f->text, f->u->upid, f->r->hdr.cpu, f->ev->time);
}

static void put_string(const struct file_event *f, const char *tag, const char *text)
{
	bas_string(f->text, tag, text, strlen(text));
}

/* ---- descriptors ---- */

static const char *last_component(const char *name)
{
	const char *slash = name ? strrchr(name, '/') : NULL;

	return slash ? slash + 1 : name;
}

static bool ignores_repeats(const struct file_event *f)
{
	return f->s->args.options->ignore_repeats;
}

static int put_open(const struct file_event *f)
{
	__cleanup(free_ptr) char *passed = bas_told_name(&f->d, FILE_TEXT_NAME);
	__cleanup(free_ptr) char *original = bas_told_joined(&f->d, FILE_TEXT_NAME, FILE_TEXT_BASE);
	__cleanup(free_ptr) char *path = bas_told_path(&f->d, FILE_TEXT_PATH, last_component(passed));
	int flags = f->r->arg[0], mode = flags & CREATES ? f->r->arg[1] : 0;

	if (!original)
		return -ENODATA;
	if (!path)			/* closed by another thread meanwhile */
		path = bas_told_followed(&f->d, FILE_TEXT_NAME, FILE_TEXT_BASE) ?: strdup(original);
	if (!path)
		return -ENOMEM;
	if (ignores_repeats(f) && bas_repeats_open(f->u, path, flags, mode, f->r->ret)) {
		bas_fds_forget(f->u, f->r->ret);
		return UNTOLD;
	}
	begin(f);
	bas_line(f->text, "Open|fnamesize=%zu,forigsize=%zu,flags=%d,mode=%d,fd=%d", strlen(path), strlen(original),
		 flags, mode, f->r->ret);
	put_string(f, "FN", path);
	put_string(f, "FO", original);
	return 0;
}

static int put_close(const struct file_event *f)
{
	if (bas_repeats_taken(f->u, f->r->arg[0]))
		return UNTOLD;
	begin(f);
	bas_line(f->text, "Close|fd=%d", (int)f->r->arg[0]);
	return 0;
}

static int put_pipe(const struct file_event *f)
{
	bas_repeats_taken(f->u, f->r->arg[0]);
	bas_repeats_taken(f->u, f->r->arg[1]);
	begin(f);
	bas_line(f->text, "Pipe|fd1=%d,fd2=%d,flags=%d", (int)f->r->arg[0], (int)f->r->arg[1], (int)f->r->arg[2]);
	return 0;
}

static int put_dup(const struct file_event *f)
{
	bas_repeats_taken(f->u, f->r->ret);
	begin(f);
	bas_line(f->text, "Dup|oldfd=%d,newfd=%d,flags=%d", (int)f->r->arg[0], f->r->ret, (int)f->r->arg[1]);
	return 0;
}

/* ---- names ---- */

/* The words of an event that has two names. */
struct pair {
	const char *from, *from_with_flags, *from_tag;
	const char *to, *to_tag;
	const char *failed;
};

static void put_from(const struct file_event *f, const struct pair *p, const char *from)
{
	if (f->r->arg[1])
		bas_line(f->text, "%s|fnamesize=%zu,flags=%d", p->from_with_flags, strlen(from), (int)f->r->arg[0]);
	else
		bas_line(f->text, "%s|fnamesize=%zu", p->from, strlen(from));
	put_string(f, p->from_tag, from);
}

/* @from is what it was done to; NULL: that is not known, or not there. */
static int put_pair(const struct file_event *f, const struct pair *p, const char *from)
{
	__cleanup(free_ptr) char *to = NULL;

	if (f->r->ret >= 0) {
		to = bas_told_resolved(&f->d, FILE_TEXT_NAME2, FILE_TEXT_BASE2, NULL);
		if (!from || !to)
			return -ENODATA;
	}
	begin(f);
	if (from)
		put_from(f, p, from);
	if (to) {
		bas_line(f->text, "%s|fnamesize=%zu", p->to, strlen(to));
		put_string(f, p->to_tag, to);
	} else {
		bas_line(f->text, "%s|", p->failed);
	}
	return 0;
}

/* Flags of renameat2() that go together, <linux/fs.h>: what has others fails before it looks at a name. */
static bool are_rename_flags(uint64_t flags)
{
	return !(flags & ~7ull) && !(flags & RENAME_EXCHANGE && flags & (RENAME_NOREPLACE | RENAME_WHITEOUT));
}

/*
 * Does the error say that the source was there? Of EXDEV it need not: but mv copies and removes it then. ENOTDIR is also
 * what a file gets whose new name ends in a slash; EINVAL what a file system gives that does not know the flags.
 */
static bool tells_of_source(const struct file_event *f)
{
	const struct rec_text *to = bas_told_text(&f->d, FILE_TEXT_NAME2);

	switch (-f->r->ret) {
	case EEXIST:
	case ENOTEMPTY:
	case EISDIR:
	case EPERM:
	case EXDEV:
		return true;
	case EINVAL:
		return f->r->op == FILE_RENAME && are_rename_flags(f->r->arg[0]);
	case ENOTDIR:
		return to && to->len && to->bytes[to->len - 1] == '/';
	default:
		return false;
	}
}

/* The source, which one that failed has left where it was, if it was there. */
static char *source_of(const struct file_event *f)
{
	__cleanup(free_ptr) char *from = bas_told_resolved(&f->d, FILE_TEXT_NAME, FILE_TEXT_BASE, NULL);

	if (from && f->r->ret < 0 && !tells_of_source(f) && !bas_names_exists(f->s->names, &f->d.whose, from))
		return NULL;
	return TAKE(from);
}

static int put_rename(const struct file_event *f)
{
	static const struct pair rename = { "RenameFrom", "Rename2From", "RF", "RenameTo", "RT", "RenameFailed" };
	__cleanup(free_ptr) char *from = source_of(f);

	return put_pair(f, &rename, from);
}

static int put_link(const struct file_event *f)
{
	static const struct pair link = { "LinkFrom", "LinkatFrom", "LF", "LinkTo", "LT", "LinkFailed" };
	__cleanup(free_ptr) char *from = bas_told_path(&f->d, FILE_TEXT_PATH, NULL) ?: source_of(f);

	return put_pair(f, &link, from);
}

static int put_symlink(const struct file_event *f)
{
	__cleanup(free_ptr) char *target = bas_told_name(&f->d, FILE_TEXT_NAME);
	__cleanup(free_ptr) char *link = bas_told_resolved(&f->d, FILE_TEXT_NAME2, FILE_TEXT_BASE2, NULL), *leads = NULL;

	if (!target || !link)
		return -ENODATA;
	leads = bas_names_follow(f->s->names, &f->d.whose, link);
	begin(f);
	if (leads)
		bas_line(f->text, "Symlink|targetnamesize=%zu,resolvednamesize=%zu,linknamesize=%zu", strlen(target),
			 strlen(leads), strlen(link));
	else
		bas_line(f->text, "Symlink|targetnamesize=%zu,linknamesize=%zu", strlen(target), strlen(link));
	put_string(f, "ST", target);
	if (leads)
		put_string(f, "SR", leads);
	put_string(f, "SL", link);
	return 0;
}

/* ---- mounts ---- */

static void put_mount_line(const struct file_event *f, const char *source, const char *target, const char *type)
{
	char of_source[48] = "", of_type[48] = "";

	if (source)
		snprintf(of_source, sizeof(of_source), "sourcenamesize=%zu,", strlen(source));
	if (type)
		snprintf(of_type, sizeof(of_type), "typenamesize=%zu,", strlen(type));
	bas_line(f->text, "Mount|%stargetnamesize=%zu,%sflags=%d", of_source, strlen(target), of_type,
		 (int)f->r->arg[0]);
}

/* A target that does not lead anywhere is told only by the failure. */
static char *target_of(const struct file_event *f)
{
	char *target = bas_told_followed(&f->d, FILE_TEXT_NAME2, FILE_TEXT_BASE2);

	return target || f->r->ret < 0 ? target : bas_told_resolved(&f->d, FILE_TEXT_NAME2, FILE_TEXT_BASE2, NULL);
}

static int put_mount(const struct file_event *f)
{
	__cleanup(free_ptr) char *source = bas_told_followed(&f->d, FILE_TEXT_NAME, FILE_TEXT_BASE2);
	__cleanup(free_ptr) char *target = target_of(f), *type = bas_told_name(&f->d, FILE_TEXT_TYPE);

	if (!source)
		source = bas_told_name(&f->d, FILE_TEXT_NAME);
	if (!target && f->r->ret >= 0)
		return -ENODATA;
	begin(f);
	if (target) {
		put_mount_line(f, source, target, type);
		if (source)
			put_string(f, "MS", source);
		put_string(f, "MT", target);
		if (type)
			put_string(f, "MX", type);
	}
	if (f->r->ret < 0)
		bas_line(f->text, "MountFailed|");
	return 0;
}

static int put_umount(const struct file_event *f)
{
	__cleanup(free_ptr) char *target = target_of(f);

	if (!target && f->r->ret >= 0)
		return -ENODATA;
	begin(f);
	if (target) {
		bas_line(f->text, "Umount|targetnamesize=%zu,flags=%d", strlen(target), (int)f->r->arg[0]);
		put_string(f, "MT", target);
	}
	if (f->r->ret < 0)
		bas_line(f->text, "UmountFailed|");
	return 0;
}

/* ---- all of them ---- */

static int (*const puts_of[FILE_OPS])(const struct file_event *f) = {
	[FILE_OPEN]    = put_open,
	[FILE_CLOSE]   = put_close,
	[FILE_PIPE]    = put_pipe,
	[FILE_DUP]     = put_dup,
	[FILE_RENAME]  = put_rename,
	[FILE_LINK]    = put_link,
	[FILE_SYMLINK] = put_symlink,
	[FILE_MOUNT]   = put_mount,
	[FILE_UMOUNT]  = put_umount,
};

static bool is_wanted(const struct sink *s, uint16_t op)
{
	return puts_of[op] && (s->args.options->mounts || (op != FILE_MOUNT && op != FILE_UMOUNT));
}

int bas_on_file(struct sink *s, struct bas_task *u, const struct event *ev)
{
	struct file_event f = { s, s->text, u, ev, (const void *)ev->rec, bas_told_of(s, ev) };
	int err = 0;

	if (f.r->op == FILE_CLONE)
		return bas_on_clone(s, u, ev);
	s->rings += f.r->op == FILE_RING;
	if (s->args.options->implicit_closes)
		err = bas_fds_on_file(s, u, ev);
	if (err || !is_wanted(s, f.r->op))
		return err;
	if (f.r->root.mnt_ns)
		bas_names_root(s->names, &f.r->root, f.r->hdr.tid, u->parent_tid);
	bas_stats_cut(s->stats, bas_told_cut(&f.d));
	err = puts_of[f.r->op](&f);
	if (err == -ENODATA) {
		bas_untold(s, f.r->hdr.cpu);
		return 0;
	}
	if (err)
		return err == UNTOLD ? 0 : err;
	bas_stats_told(s->stats, f.r->hdr.cpu);
	return bas_end(s->text);
}
