/*
 * output.c - where a recording goes, and what is left of one that did not end.
 */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base.h"
#include "config.h"
#include "identity.h"
#include "log.h"
#include "out.h"
#include "outdir.h"
#include "output.h"

#define SEVERAL_PATH	"recorder.data"	/* of several formats, without -o */
#define SPOOL		".part"
#define SPOOL_OLD	".part.old"

/* Of one sink. */
struct place {
	char *path;		/* as the user may type it */
	int   dirfd;		/* the directory, or of a file its spool directory */
	int   file_dirfd;	/* of a file: where it goes; else -1 */
	char *file_name, *spool_name;
	char *left;		/* what an earlier recorder left, moved aside; NULL: nothing */
};

struct output {
	const struct config *cfg;
	char	    *path;
	int	     dirfd;	/* where raw goes; -1: only a file is written */
	struct place place[SINKS_MAX];
};

static char *join(const char *a, const char *between, const char *b)
{
	char *both;

	return asprintf(&both, "%s%s%s", a, between, b) < 0 ? NULL : both;
}

void output_destroy(struct output *o)
{
	if (!o)
		return;
	for (unsigned i = 0; i < SINKS_MAX; i++) {
		struct place *p = &o->place[i];

		close_fd(&p->dirfd);
		close_fd(&p->file_dirfd);
		free(p->path);
		free(p->file_name);
		free(p->spool_name);
		free(p->left);
	}
	close_fd(&o->dirfd);
	free(o->path);
	free(o);
}

DEFINE_CLEANUP(output_destroy, struct output *)

/* Whoever holds the lock of a spool directory writes there. */
static bool lock(int dirfd)
{
	return !flock(dirfd, LOCK_EX | LOCK_NB);
}

static bool is_there(const char *path)
{
	return !faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW);
}

static bool is_in_use(const char *spool)
{
	__cleanup(close_fd) int fd = open(spool, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && !lock(fd);
}

/* Of a sink that writes a file: its name is free, and there is a directory to gather in. */
static int open_file_place(struct place *p, const struct sink_ops *ops, uid_t uid, gid_t gid)
{
	__cleanup(free_ptr) char *spool = join(p->path, SPOOL, "");
	bool was_there;
	int err;

	if (!spool)
		return -ENOMEM;
	if (is_in_use(spool)) {
		fail(0, "cannot write to '%s': another recorder does", p->path);
		hint("-o FILE with another name");
		return -EBUSY;
	}
	err = outdir_file(&p->file_dirfd, &p->file_name, p->path, ops->is_ours, uid);
	was_there = !err && is_there(spool);
	err = err ?: outdir_create(&p->dirfd, spool, NULL, uid, gid);
	if (err)
		return err;
	p->spool_name = join(p->file_name, SPOOL, "");
	if (!p->spool_name)
		return -ENOMEM;
	if (!lock(p->dirfd))
		return fail(-errno, "cannot lock '%s'", spool);
	if (was_there && is_there((p->left = join(p->path, SPOOL_OLD, "")) ?: ""))
		warn("'%s' is what a recorder that did not end has left: recorder --recover '%s'", p->left, p->left);
	return 0;
}

/* Is all that is written one file? */
static bool is_one_file(const struct config *cfg)
{
	return cfg->sink_count == 1 && cfg->sink[0]->is_file && !cfg->raw;
}

/* Does one format have PATH for itself? */
static bool is_alone(const struct config *cfg)
{
	return cfg->sink_count < 2 && (!cfg->sink_count || !cfg->sink[0]->is_file || !cfg->raw);
}

static int open_place(struct output *o, unsigned i, uid_t uid, gid_t gid)
{
	const struct sink_ops *ops = o->cfg->sink[i];
	bool alone = is_alone(o->cfg);
	struct place *p = &o->place[i];

	p->path = alone ? strdup(o->path) : join(o->path, "/", ops->path);
	if (!p->path)
		return -ENOMEM;
	if (ops->is_file)
		return open_file_place(p, ops, uid, gid);
	if (!alone)
		return outdir_create(&p->dirfd, p->path, NULL, uid, gid);
	p->dirfd = fcntl(o->dirfd, F_DUPFD_CLOEXEC, 0);
	return p->dirfd < 0 ? -errno : 0;
}

const char *output_usual_path(const struct config *cfg)
{
	if (cfg->output)
		return cfg->output;
	return is_alone(cfg) && cfg->sink_count ? cfg->sink[0]->path : SEVERAL_PATH;
}

static int open_all(struct output *o)
{
	const struct config *cfg = o->cfg;
	uid_t uid;
	gid_t gid;
	int err = 0;

	o->path = strdup(output_usual_path(cfg));
	if (!o->path)
		return -ENOMEM;
	identity_owner(&uid, &gid);
	if (!is_one_file(cfg))
		err = outdir_create(&o->dirfd, o->path, NULL, uid, gid);
	for (unsigned i = 0; i < cfg->sink_count && !err; i++)
		err = open_place(o, i, uid, gid);
	return err;
}

int output_open(struct output **ret, const struct config *cfg)
{
	__cleanup(output_destroyp) struct output *o = calloc(1, sizeof(*o));
	int err;

	if (!o)
		return -ENOMEM;
	o->cfg = cfg;
	o->dirfd = -1;
	for (unsigned i = 0; i < SINKS_MAX; i++)
		o->place[i].dirfd = o->place[i].file_dirfd = -1;
	err = open_all(o);
	if (!err)
		*ret = TAKE(o);
	return err;
}

const char *output_path(const struct output *o)
{
	return o->path;
}

int output_dirfd(const struct output *o)
{
	return o->dirfd;
}

const char *output_sink_path(const struct output *o, unsigned i)
{
	return o->place[i].path;
}

/* Has @ops gathered in the directory @spool? */
static bool is_of(const char *spool, const struct sink_ops *ops)
{
	__cleanup(free_ptr) char *file = join(spool, "/", ops->spooled);

	return file && is_there(file);
}

/* A file of that name made way before, and none is put in place of one that came since. */
bool output_has_come(const struct output *o, unsigned i)
{
	const struct place *p = &o->place[i];
	__cleanup(close_fd) int fd = -1;

	if (!p->file_name)
		return true;
	fd = openat(p->file_dirfd, p->file_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 && o->cfg->sink[i]->is_ours(fd);
}

char *output_sink_spool(const struct output *o, unsigned i)
{
	char *spool = o->place[i].spool_name ? join(o->place[i].path, SPOOL, "") : NULL;

	if (spool && !output_has_come(o, i) && is_of(spool, o->cfg->sink[i]))
		return spool;
	free(spool);
	return NULL;
}

void output_sink_args(const struct output *o, unsigned i, struct sink_args *args)
{
	const struct place *p = &o->place[i];

	args->dirfd = p->dirfd;
	args->file_dirfd = p->file_dirfd;
	args->file_name = p->file_name;
	args->spool_name = p->spool_name;
	args->options = &o->cfg->sink_options;
}

void output_give_up(const struct output *o, unsigned i)
{
	const struct place *p = &o->place[i];

	if (p->spool_name)
		outdir_remove(p->file_dirfd, p->spool_name, p->dirfd);
}

void output_summary(const struct output *o)
{
	for (unsigned i = 0; i < o->cfg->sink_count; i++)
		if (o->place[i].left && is_there(o->place[i].left))
			say("an earlier recording did not end: recorder --recover '%s' seals it", o->place[i].left);
}

/* ---- --recover ---- */

/* @path, to be freed, if it is a spool directory; else NULL. */
static char *if_spool(char *path)
{
	__cleanup(close_fd) int fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

	if (fd >= 0 && outdir_is_ours(fd))
		return path;
	free(path);
	return NULL;
}

/* The one that @path means: itself, that of the file @path, or of @ops in the directory @path. */
static char *find_spool(const char *path, const struct sink_ops *ops)
{
	__cleanup(free_ptr) char *file = join(path, "/", ops->path);
	char *found = strstr(path, SPOOL) ? if_spool(strdup(path)) : NULL;

	found = found ?: if_spool(join(path, SPOOL, ""));
	if (!found && file)
		found = if_spool(join(file, SPOOL, ""));
	return found;
}

/* "NAME" of "NAME.part" and "NAME.part.old", with another end if there is such a file already. */
static char *name_for(const char *spool)
{
	__cleanup(free_ptr) char *path = strdup(spool);
	char *end = NULL;

	for (char *at = path; at && (at = strstr(at, SPOOL)); at++)
		end = at;
	if (!end)
		return NULL;
	*end = '\0';
	if (!is_there(path))
		return TAKE(path);
	end = join(path, ".recovered", "");
	if (end && is_there(end)) {
		fail(0, "both '%s' and '%s' are there already", path, end);
		hint("move one of them");
		free(end);
		return NULL;
	}
	return end;
}

/* In words that are about the spool: errno's own are about a message, or a file that nobody named. */
static int not_sealed(int err, const char *spool)
{
	if (err == -EBADMSG)
		return fail(0, "cannot seal '%s': a file in it is damaged or cut off", spool), err;
	if (err == -ENOENT)
		return fail(0, "cannot seal '%s': a file of it is missing", spool), err;
	if (out_is_full(err)) {
		fail(err, "cannot seal '%s'", spool);
		hint("it is as it was: make room for as much again, or copy it to where there is");
		return err;
	}
	return fail(err, "cannot seal '%s'", spool);
}

static int seal(const struct sink_ops *ops, const char *spool, const char *path)
{
	__cleanup(close_fd) int fd = open(spool, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), dirfd = -1;
	__cleanup(free_ptr) char *name = NULL;
	const char *slash = strrchr(spool, '/');
	uid_t uid;
	gid_t gid;
	int err;

	if (fd < 0)
		return fail(-errno, "cannot open '%s'", spool);
	if (!lock(fd))
		return fail(0, "'%s' is being written by a recorder", spool), -EBUSY;
	identity_owner(&uid, &gid);
	out_set_owner(uid, gid);
	err = outdir_file(&dirfd, &name, path, ops->is_ours, uid);
	if (err)
		return err;
	err = ops->recover(fd, dirfd, name);
	if (err)
		return not_sealed(err, spool);
	err = outdir_remove(dirfd, slash ? slash + 1 : spool, fd);
	if (err)
		warn("cannot remove '%s': %s", spool, strerror(-err));
	return 0;
}

/* As a shell takes it for one word. */
static void quote(struct out *o, const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+,-";
	bool has_control = false;

	for (const char *c = word; *c; c++)
		has_control |= (uint8_t)*c < ' ' || *c == 0x7f;
	if (*word && *word != '-' && !word[strspn(word, plain)]) {
		out_bytes(o, word, strlen(word));
		return;
	}
	out_printf(o, has_control ? "$'" : "'");
	for (; *word; word++)
		if ((uint8_t)*word < ' ' || *word == 0x7f)
			out_printf(o, "\\x%02x", (uint8_t)*word);
		else if (has_control && (*word == '\'' || *word == '\\'))
			out_printf(o, "\\%c", *word);
		else if (*word == '\'')
			out_printf(o, "'\\''");
		else
			out_bytes(o, word, 1);
	out_bytes(o, "'", 2);
}

void output_say_open(const struct sink_ops *ops, const char *path)
{
	char command[8192];
	struct out *word;

	if (out_memory(&word))
		return;
	quote(word, path);
	out_bytes(word, "", 1);
	if (!out_error(word) && snprintf(command, sizeof(command), ops->open_with, out_data(word)) < (int)sizeof(command))
		say("open it: %s", command);
	out_destroy(word);
}

static int recover_one(const struct sink_ops *ops, const char *spool)
{
	__cleanup(free_ptr) char *file = name_for(spool);

	if (!file || seal(ops, spool, file))
		return 1;
	say("sealed '%s'", file);
	output_say_open(ops, file);
	return 0;
}

/* A directory may have those of several formats. */
int output_recover(const char *path)
{
	__cleanup(free_ptr) char *bare = strdup(path), *other = NULL;
	const struct sink_ops *other_ops = NULL;
	bool is_found = false;
	int status = 0;

	for (size_t end = bare ? strlen(bare) : 0; end > 1 && bare[end - 1] == '/'; end--)
		bare[end - 1] = '\0';
	for (size_t i = 0; sinks[i] && bare; i++) {
		__cleanup(free_ptr) char *spool = sinks[i]->recover ? find_spool(bare, sinks[i]) : NULL;

		if (!spool)
			continue;
		if (is_of(spool, sinks[i])) {
			is_found = true;
			status |= recover_one(sinks[i], spool);
		} else if (!other) {
			other = TAKE(spool);
			other_ops = sinks[i];
		}
	}
	if (is_found)
		return status;
	if (other)				/* says what of it is missing */
		return recover_one(other_ops, other);
	fail(0, "--recover: '%s' is nothing that a recorder has left, nor is there such in '%s" SPOOL "'", path, path);
	return EXIT_USAGE;
}
