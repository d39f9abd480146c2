/*
 * chosen.c - the patterns of --functions, asked one after the other.
 */
#include "base.h"
#include "chosen.h"
#include "config.h"
#include "image.h"
#include "pattern.h"

static bool means_stubs(const struct pattern *p)
{
	return p->lib && !strcmp(p->lib, "PLT");
}

bool chosen_library(const struct config *cfg, const char *path)
{
	for (size_t i = 0; i < cfg->function_count; i++)
		if (cfg->function[i].lib && pattern_matches_file(&cfg->function[i], path))
			return true;
	return false;
}

/* Of a library only what was asked for as a library's; of a program also what was asked for without an @LIB. */
static bool matches(const struct pattern *p, const struct image *img, const struct func *f)
{
	if (f->flags & FUNC_PLT)
		return !img->is_library && (means_stubs(p) || !p->lib) && pattern_matches_name(p, f);
	return (p->lib || !img->is_library) && pattern_matches_file(p, img->path) && pattern_matches_name(p, f);
}

/* Does a pattern mean the function that the stub @f calls? Its library may not be known yet. */
static bool is_behind(const struct config *cfg, const struct func *f)
{
	for (size_t i = 0; i < cfg->function_count; i++) {
		const struct pattern *p = &cfg->function[i];

		if (p->lib && !means_stubs(p) && pattern_matches_name(p, f))
			return true;
	}
	return false;
}

bool chosen_function(const struct config *cfg, const struct image *img, const struct func *f, bool *is_named)
{
	bool is_stub = f->flags & FUNC_PLT, is_chosen = !cfg->function_count;

	*is_named = false;
	for (size_t i = 0; i < cfg->function_count; i++) {
		const struct pattern *p = &cfg->function[i];

		if (!matches(p, img, f) || (is_stub && !means_stubs(p) && is_behind(cfg, f)))
			continue;
		is_chosen = true;
		*is_named |= strcmp(p->func, "*") != 0;
	}
	return is_chosen;
}
