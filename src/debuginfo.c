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

/* The file's own, else that of its debug file, else -ENOENT. */
static int ask_child(struct image_child *child, struct image **ret, enum image_depth depth, const struct image *img,
		     int proc, int fd)
{
	int err = image_child_read(child, ret, fd, depth);

	for (unsigned n = 0; err == -ENOENT && n < DEBUGFILE_PLACES; n++) {
		__cleanup(free_ptr) char *place = debugfile_place(img, img->path, n);
		__cleanup(close_fd) int debug_fd = place ? debugfile_open(proc, place) : -1;

		if (debug_fd < 0)
			continue;
		err = image_child_read_with(child, ret, fd, debug_fd, depth);
		detail(err ? "'%s' has no debug information for '%s', or is not of it" :
			     "'%s' has the debug information of '%s'", place, img->path);
	}
	return err;
}

static void take_debug(struct image_child *child, const struct config *cfg, struct image *img, int proc, int fd)
{
	__cleanup(image_destroyp) struct image *told = NULL;
	int err = ask_child(child, &told, wants_lines(cfg) ? IMAGE_DEBUG_LINES : IMAGE_DEBUG, img, proc, fd);

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
