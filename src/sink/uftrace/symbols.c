/*
 * symbols.c - *.sym: the functions of a module, by address relative to its start; beside it *.dbg, see specs.c.
 *
 * uftrace knows a module by its path and build-id, and finds its symbols by the
 * base name of the path: two modules of one base name are told apart by the
 * header inside the file and a suffix of its name. Lines carry no size, since
 * 0.13 cannot read one: a symbol reaches to the next line, and a '?' line is
 * put where there is a gap (utils/symbol.c:load_module_symbol_file).
 */
#include "base.h"
#include "image.h"
#include "out.h"
#include "sink/uftrace/uftrace.h"

#define PATH_MAX_OUT	1000	/* bytes of a path in our files: the readers' line buffers hold 4096 */
#define BASENAME_MAX	180	/* a suffix and ".sym" must fit into a file name */
#define SYMBOL_MAX	1000	/* dump --chrome copies a name into 2048 bytes unchecked */

/* Length of the UTF-8 sequence at @s; 0: it is none. */
static size_t utf8_len(const unsigned char *s)
{
	size_t n = *s >= 0xf5 || *s < 0xc2 ? 0 : *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) || (*s == 0xf0 && s[1] < 0x90) ||
	    (*s == 0xf4 && s[1] > 0x8f) || (*s == 0xc2 && s[1] < 0xa0))	/* the last: C1 control characters */
		return 0;
	return n;
}

/* The byte that stands for @c, which must not stand there itself. */
static char substitute(unsigned char c)
{
	return c == '"' ? '\'' : c == '\\' ? '/' : '_';
}

void uf_clean(char *to, size_t room, const char *text, enum uf_text kind)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len = 0;

	for (size_t n; *s; s += n) {
		n = *s < 0x80 ? 1 : utf8_len(s);
		if (len + MAX(n, (size_t)2) >= room)
			break;
		if (n > 1) {
			memcpy(to + len, s, n);
			len += n;
			continue;
		}
		n = 1;
		if (kind == UF_JSON && (*s == '"' || *s == '\\')) {
			to[len++] = '\\';
			to[len++] = *s;
		} else if (*s > ' ' && *s < 0x7f && *s != '"' && *s != '\\') {
			to[len++] = *s;
		} else {
			to[len++] = *s == ' ' && kind != UF_WORD ? ' ' : substitute(*s);
		}
	}
	to[len] = '\0';
}

static size_t hash_text(const char *text)
{
	size_t h = 14695981039346656037ull;	/* FNV-1a */

	while (*text)
		h = (h ^ (unsigned char)*text++) * 1099511628211ull;
	return h;
}

int uf_modules_init(struct uf_modules *m)
{
	m->hash_size = 1024;
	m->hash = calloc(m->hash_size, sizeof(*m->hash));
	return m->hash ? 0 : -ENOMEM;
}

static void module_destroy(struct uf_module *m)
{
	if (!m)
		return;
	free(m->path);
	free(m->real_path);
	free(m->file);
	free(m->spec);
	free(m);
}

DEFINE_CLEANUP(module_destroy, struct uf_module *)

void uf_modules_release(struct uf_modules *m)
{
	for (size_t i = 0; m->hash && i < m->hash_size; i++)
		while (m->hash[i]) {
			struct uf_module *mod = m->hash[i];

			m->hash[i] = mod->next;
			module_destroy(mod);
		}
	free(m->hash);
}

/* Any module but @self for which @is_it holds. Modules are made rarely: looking at all of them will do. */
static const struct uf_module *other_module(const struct uf_modules *m, const struct uf_module *self,
					    const void *what,
					    bool (*is_it)(const struct uf_module *, const void *))
{
	for (size_t i = 0; i < m->hash_size; i++)
		for (const struct uf_module *mod = m->hash[i]; mod; mod = mod->next)
			if (mod != self && is_it(mod, what))
				return mod;
	return NULL;
}

static bool has_path(const struct uf_module *mod, const void *path)
{
	return !strcmp(mod->path, path);
}

static bool has_file(const struct uf_module *mod, const void *file)
{
	return !strcmp(mod->file, file);
}

static bool has_real_path(const struct uf_module *mod, const void *real_path)
{
	return !strcmp(mod->real_path, real_path);
}

/*
 * The path that our files show for @real: one line, no spaces (maps are read
 * with %s), no "(deleted)", absolute (what begins with '[' is skipped), a base
 * name that is short enough, and not one of uftrace's own libraries.
 */
static void tame_path(char to[PATH_MAX_OUT], const char *real)
{
	static const char deleted[] = " (deleted)";
	char path[PATH_MAX_OUT];
	size_t len = strlen(real);
	char *name;

	uf_clean(path, sizeof(path), real, UF_WORD);
	if (len >= strlen(deleted) && !strcmp(real + len - strlen(deleted), deleted) && strlen(path) == len)
		path[len - strlen(deleted)] = '\0';
	snprintf(to, PATH_MAX_OUT, "%s%.*s", *path == '/' ? "" : "/", PATH_MAX_OUT - 2, path);
	name = strrchr(to, '/') + 1;
	if (!*name)
		strcpy(name, "_");
	if (strlen(name) > BASENAME_MAX)
		name[BASENAME_MAX] = '\0';
	if (!strncmp(name, "libmcount", strlen("libmcount")))
		name[0] = 'L';		/* utils/symbol.c skips libmcount*.so */
}

/*
 * Give @mod a path that no other file has: two may look the same once they are tamed.
 * Two contents of one file share it, if a build-id tells them apart.
 */
static int name_path(const struct uf_modules *m, struct uf_module *mod)
{
	const struct uf_module *same = *mod->build_id ? other_module(m, mod, mod->real_path, has_real_path) : NULL;
	char path[PATH_MAX_OUT];
	int n;

	tame_path(path, mod->real_path);
	n = asprintf(&mod->path, "%s", same ? same->path : path);
	for (unsigned i = 2; !same && n >= 0 && other_module(m, mod, mod->path, has_path); i++) {
		free(mod->path);
		n = asprintf(&mod->path, "%s~%u", path, i);
	}
	if (n < 0)
		mod->path = NULL;
	return n < 0 ? -ENOMEM : 0;
}

static uint16_t sum_of(const char *path)
{
	uint16_t sum = 0;

	while (*path)
		sum += (unsigned char)*path++;
	return sum;
}

/* Another module's, or that of one that does not exist. */
static bool is_taken(const struct uf_modules *m, const struct uf_module *mod, const char *file)
{
	for (size_t i = 0; i < UF_UNREALS; i++)
		if (!strcmp(file, uf_unreal[i].file))
			return true;
	return other_module(m, mod, file, has_file);
}

static const char *base_of(const struct uf_module *mod)
{
	return strrchr(mod->path, '/') + 1;
}

/* Have both one base name and build-id? A reader would take the .dbg of either: it asks for the path only without an id. */
static bool is_alike(const struct uf_module *mod, const void *other)
{
	const struct uf_module *o = other;

	return *mod->build_id && !strcmp(mod->build_id, o->build_id) && !strcmp(base_of(mod), base_of(o));
}

const char *uf_module_build_id(const struct uf_module *mod)
{
	return mod->is_copy ? "" : mod->build_id;
}

/*
 * Give @mod its file: X.sym for the first of a base name, then X-<4 hex of the
 * build-id>.sym, or of the sum of the path's bytes if it has none. uftrace looks
 * for no other name, so if that is taken too, the path itself must change.
 */
static int name_file(const struct uf_modules *m, struct uf_module *mod)
{
	__cleanup(free_ptr) char *path = strdup(mod->path);
	const char *build_id;

	mod->is_copy = other_module(m, mod, mod, is_alike);
	build_id = uf_module_build_id(mod);
	for (unsigned i = 2; path; i++) {
		const char *base = base_of(mod);

		free(mod->file);
		mod->file = strdup(base);
		if (!mod->file || !is_taken(m, mod, mod->file))
			break;
		free(mod->file);
		if ((*build_id ? asprintf(&mod->file, "%s-%.4s", base, build_id) :
				 asprintf(&mod->file, "%s-%04x", base, sum_of(mod->path))) < 0)
			mod->file = NULL;
		if (!mod->file || !is_taken(m, mod, mod->file))
			break;
		free(mod->path);
		if (asprintf(&mod->path, "%s~%u", path, i) < 0)
			mod->path = NULL;
		if (!mod->path)
			break;
	}
	return mod->file && mod->path ? 0 : -ENOMEM;
}

static void mark_dirty(struct uf_modules *m, struct uf_module *mod)
{
	if (mod->is_dirty)
		return;
	mod->is_dirty = true;
	mod->next_dirty = m->dirty;
	m->dirty = mod;
}

static int make_module(struct uf_modules *m, struct uf_module **ret, const char *path, const char *build_id)
{
	__cleanup(module_destroyp) struct uf_module *mod = calloc(1, sizeof(*mod));
	struct uf_module **bucket = &m->hash[hash_text(path) % m->hash_size];
	int err;

	if (!mod)
		return -ENOMEM;
	mod->real_path = strdup(path);
	if (!mod->real_path)
		return -ENOMEM;
	snprintf(mod->build_id, sizeof(mod->build_id), "%s", build_id);
	err = name_path(m, mod);
	err = err ?: name_file(m, mod);
	if (err)
		return err;
	*ret = mod;
	mod->next = *bucket;
	*bucket = TAKE(mod);
	m->count++;
	return 0;
}

/*
 * Is @mod the module of @path and @image? Of one whose image is not known, nothing else is known.
 * Two contents of a file are two modules; without a build-id each image is a content of its own.
 */
static bool is_module(const struct uf_module *mod, const char *path, const struct image *image)
{
	if (strcmp(mod->real_path, path))
		return false;
	if (!image || !mod->image || mod->image == image)
		return true;
	return *image->build_id && !strcmp(mod->build_id, image->build_id);
}

int uf_module_find(struct uf_modules *m, struct uf_module **ret, const char *path, const struct image *image)
{
	struct uf_module *mod = m->hash[hash_text(path) % m->hash_size];
	int err;

	while (mod && !is_module(mod, path, image))
		mod = mod->next;
	if (!mod) {
		err = make_module(m, &mod, path, image ? image->build_id : "");
		if (err)
			return err;
		mark_dirty(m, mod);
	}
	if (!mod->image && image) {
		mod->image = image;
		snprintf(mod->build_id, sizeof(mod->build_id), "%s", image->build_id);
		mark_dirty(m, mod);
		err = name_file(m, mod);	/* the suffix is of the build-id */
		if (err)
			return err;
	}
	*ret = mod;
	return 0;
}

const struct uf_module *uf_module_at(const struct uf_modules *m, const char *path)
{
	const struct uf_module *mod = m->hash[hash_text(path) % m->hash_size];

	while (mod && strcmp(mod->real_path, path))
		mod = mod->next;
	return mod;
}

/*
 * Functions at whose names the reader throws frames away by itself
 * (utils/fstack.c:fixup_syms), whether they succeed or not. We say when a frame
 * ends, so they get a name that it does not know: a space behind it.
 */
static const char *const magic_names[] = {
	"execl", "execlp", "execle", "execv", "execve", "execvp", "execvpe",
	"longjmp", "siglongjmp", "__longjmp_chk",
};

static bool is_magic(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(magic_names); i++)
		if (!strcmp(name, magic_names[i]))
			return true;
	return false;
}

static void put_symbol(struct out *o, uint64_t addr, char type, const char *name)
{
	char clean[SYMBOL_MAX];

	uf_clean(clean, sizeof(clean), name, UF_LINE);
	out_printf(o, "%016llx %c %s%s\n", (unsigned long long)addr, type, *clean ? clean : "_",
		   is_magic(name) ? " " : "");
}

/* The reader demangles C++ itself, as its user asks, and Rust's old names; it knows nothing of the new ones. */
const char *uf_name(const struct func *f)
{
	const char *name = f->name && !strncmp(f->name, "_R", 2) ? func_plain(f) : f->name;

	return name ?: "_";
}

static void put_symbols(struct out *o, const struct image *img)
{
	uint64_t next, end;

	for (size_t i = 0; i < img->func_count; i++) {
		const struct func *f = &img->func[i];

		if (i && f->addr == f[-1].addr)
			continue;	/* another name of the same function */
		put_symbol(o, f->addr, f->flags & FUNC_PLT ? 'P' : 'T', uf_name(f));
		next = UINT64_MAX;
		for (size_t j = i + 1; j < img->func_count && next == UINT64_MAX; j++)
			if (img->func[j].addr != f->addr)
				next = img->func[j].addr;
		end = f->size ? f->addr + f->size : MIN(next, MAX(img->load_size, f->addr + 1));
		if (end < next)
			out_printf(o, "%016llx ? __sym_end\n", (unsigned long long)end);
	}
}

/* Without a .sym that has a symbol, the reader opens whatever lies at that path on its own machine. */
static void put_only_symbol(struct out *o)
{
	out_printf(o, "%016x T __no_symbols\n%016x ? __sym_end\n", 0, 1);
}

static void put_heads(struct out *o, const struct uf_module *mod)
{
	out_printf(o, "# path name: %s\n", mod->path);
	if (*uf_module_build_id(mod))
		out_printf(o, "# build-id: %s\n", mod->build_id);
}

static void put_sym(struct out *o, const struct uf_module *mod)
{
	size_t count = mod->image ? mod->image->func_count : 0;

	out_printf(o, "# symbols: %zu\n", MAX(count, (size_t)1));
	put_heads(o, mod);
	if (count)
		put_symbols(o, mod->image);
	else
		put_only_symbol(o);
}

static void put_dbg(struct out *o, const struct uf_module *mod)
{
	put_heads(o, mod);
	uf_specs_put(o, mod);
}

static int write_file(const struct uf_module *mod, int dirfd, const char *suffix,
		      void (*put)(struct out *o, const struct uf_module *mod))
{
	__cleanup(free_ptr) char *name = NULL;
	struct out *o;
	int err;

	if (asprintf(&name, "%s%s", mod->file, suffix) < 0)
		return -ENOMEM;
	err = out_create_replacing(&o, dirfd, name);
	if (err)
		return err;
	put(o, mod);
	err = out_seal(o);
	out_destroy(o);
	return err;
}

static int write_module(const struct uf_module *mod, int dirfd)
{
	int err = write_file(mod, dirfd, ".sym", put_sym);

	return err || !uf_specs_any(mod) ? err : write_file(mod, dirfd, ".dbg", put_dbg);
}

void uf_module_has_new_specs(struct uf_modules *m, struct uf_module *mod)
{
	mark_dirty(m, mod);
	m->has_new_specs = true;
}

int uf_modules_write(struct uf_modules *m, int dirfd)
{
	int err = 0;

	while (m->dirty && !err) {
		struct uf_module *mod = m->dirty;

		err = write_module(mod, dirfd);
		m->dirty = mod->next_dirty;
		mod->is_dirty = false;
	}
	if (!err)
		m->has_new_specs = false;
	return err;
}
