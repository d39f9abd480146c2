/*
 * debuginfo.c - debug information of an image: asked of the image child, sifted, and completed from a table.
 */
#include "base.h"
#include "config.h"
#include "debug.h"
#include "debugfile.h"
#include "debuginfo.h"
#include "filter.h"
#include "image.h"
#include "libcalls.h"
#include "log.h"

DEFINE_CLEANUP(image_destroy, struct image *)

/* A copy of a function that gcc made for some of its callers: it may have fewer arguments, or others. */
static bool is_copy(const char *name)
{
	static const char *const marks[] = { ".isra.", ".constprop.", ".part.", ".cold" };

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (strstr(name, marks[i]))
			return true;
	return false;
}

/* Of what the child told, what concerns functions of @img is kept: a reader refuses all if one has no symbol. */
static void sift(struct debug *d, const struct config *cfg, const struct image *img)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->count; i++) {
		struct debug_func *f = &d->func[i];
		const struct func *fn = image_func_at(img, f->addr);

		if (!fn || fn->addr != f->addr)
			continue;
		if (!cfg->auto_args || img->is_go || is_copy(fn->name))
			f->args = f->result = 0;
		d->func[kept++] = *f;
	}
	d->count = kept;
}

/* Places choose which functions are recorded at all. */
static bool wants_lines(const struct config *cfg)
{
	return cfg->srcline || filter_has_places(cfg->filter);
}

/* The file's own, else that of its debug file. */
static void take_debug(struct image_child *child, const struct config *cfg, struct image *img, int proc, int fd)
{
	__cleanup(image_destroyp) struct image *told = NULL;
	enum image_depth depth = wants_lines(cfg) ? IMAGE_DEBUG_LINES : IMAGE_DEBUG;
	int err = debugfile_read_whole(child, &told, &(struct image_files){ fd, -1, -1 }, img->path, proc, depth);

	if (err == -ENOENT)
		err = debugfile_read(child, &told, img, img->path, proc, fd, depth);
	if (err == -ENOENT)
		return;
	if (err || !told->debug) {
		warn("the debug information of '%s' is not used: %s", img->path,
		     err == -EPIPE ? "the process that reads it died of it" :
		     err == -ETIMEDOUT ? "reading it takes too long" : strerror(-err));
		return;
	}
	if (told->debug->is_cut)
		warn("the debug information of '%s' is too much to read in time: some functions are shown without it%s",
		     img->path, filter_names_places(cfg->filter) ? ", or left out by -L" : "");
	if (told->common_link)
		warn("some of the debug information of '%s' is in '%s' (dwz), which was not found, or cannot be used: some functions are shown without",
		     img->path, told->common_link);
	img->debug = TAKE(told->debug);
	sift(img->debug, cfg, img);
}

void debuginfo_read(struct image_child *child, const struct config *cfg, struct image *img, int proc, int fd)
{
	if (!cfg->auto_args && !wants_lines(cfg))
		return;
	take_debug(child, cfg, img, proc, fd);
	if (!img->debug)
		img->debug = debug_create();
	if (img->debug && cfg->auto_args)
		libcalls_add(img);
}
