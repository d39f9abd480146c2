/*
 * filter.c - the rules that choose functions: from options to an answer for one function.
 *
 * --match counts for all patterns, wherever it stands, so they are compiled when all
 * options are known.
 */
#include "base.h"
#include "condition.h"
#include "config.h"
#include "debug.h"
#include "filter.h"
#include "function.h"
#include "image.h"
#include "log.h"
#include "pattern.h"
#include "triggerspec.h"

enum rule_kind { RULE_HIDE, RULE_IN, RULE_OUT, RULE_CALLER, RULE_TRIGGER, RULE_LIST, RULE_PLACE, RULE_NOT_PLACE };

struct rule {
	enum rule_kind kind;
	char	      *word;		/* the option as typed; owned */
	const char    *text;		/* what it was given; lent, not ended by a NUL */
	int	       len;		/* bytes of it */
	char	      *own;		/* holds text, where that is not the option's; NULL else */
	unsigned       actions, depth;	/* of RULE_TRIGGER: TRIGGER_* */
	struct func_cond cond;		/* of a call, for the rule to mean it */
	struct pattern pattern;
	bool	       is_compiled;
	bool	       has_matched;
};

struct filter {
	struct rule	 *rule;
	size_t		  count, room;
	enum pattern_kind match;
};

int filter_create(struct filter **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

bool filter_is_given(const struct filter *f)
{
	return f->count;
}

void filter_destroy(struct filter *f)
{
	if (!f)
		return;
	for (struct rule *r = f->rule; r < f->rule + f->count; r++) {
		if (r->is_compiled)
			pattern_release(&r->pattern);
		free(r->word);
		free(r->own);
	}
	free(f->rule);
	free(f);
}

/* ---- options ---- */

/* What is said of a condition, taken out of the rule's text. */
static int take_condition(struct rule *r, const char *word)
{
	char why[256] = "";
	int err = condition_split(&r->cond, &r->own, r->text, r->len, why, sizeof(why));

	if (err)
		return fail(err == -EINVAL ? 0 : err, "%s: %s", word, why), -EINVAL;
	if (r->own) {
		r->text = r->own;
		r->len = strlen(r->own);
	}
	return 0;
}

static int add_rule(struct filter *f, enum rule_kind kind, const char *word, const char *text, size_t len)
{
	bool is_not = kind == RULE_IN && len && *text == '!';	/* -F '!FUNC' is -N FUNC */
	struct rule r = { .kind = is_not ? RULE_OUT : kind, .text = text + is_not, .len = len - is_not };
	int err = take_condition(&r, word);

	if (err)
		return err;
	r.word = r.len ? strdup(word) : NULL;
	if (r.word && !grow(&f->rule, &f->room, f->count, sizeof(*f->rule))) {
		f->rule[f->count++] = r;
		return 0;
	}
	if (r.len)
		fail(-ENOMEM, "%s", word);
	else
		fail(0, "%s: a function's name is missing", word);
	free(r.word);
	free(r.own);
	return -EINVAL;
}

/* uftrace's lists are parted by semicolons. */
static int add_rules(struct filter *f, enum rule_kind kind, const char *word, const char *value)
{
	size_t len = strcspn(value, ";");
	int err = add_rule(f, kind, word, value, len);

	for (; !err && value[len]; len = strcspn(value, ";")) {
		value += len + 1;
		err = add_rule(f, kind, word, value, strcspn(value, ";"));
	}
	return err;
}

/* Another rule for the function of @t. */
static int add_same(struct filter *f, enum rule_kind kind, const struct triggerspec *t, const char *word)
{
	int err = add_rule(f, kind, word, t->func, strlen(t->func));

	if (!err)
		f->rule[f->count - 1].cond = t->cond;
	return err;
}

/* The function of a trigger and, as another rule, what it says as -F, -N and -H would. */
static int add_trigger(struct filter *f, const char *word, const char *text, size_t len)
{
	struct triggerspec t;
	char why[256] = "";
	struct rule *r;
	int err = triggerspec_parse(&t, text, len, why, sizeof(why));

	if (!err)
		err = add_rule(f, RULE_TRIGGER, word, t.func, strlen(t.func));
	else
		fail(err == -EINVAL ? 0 : err, "%s: %s", word, why);
	if (err)
		return err;
	r = &f->rule[f->count - 1];
	r->own = t.func;
	r->actions = t.actions;
	r->depth = t.depth;
	r->cond = t.cond;
	if (t.hide)
		err = add_same(f, RULE_HIDE, &t, word);
	if (!err && (t.in || t.out))
		err = add_same(f, t.in ? RULE_IN : RULE_OUT, &t, word);
	return err;
}

static int add_triggers(struct filter *f, const char *word, const char *value)
{
	int err = 0;

	while (!err) {
		size_t len = strcspn(value, ";");

		err = add_trigger(f, word, value, len);
		if (!value[len])
			break;
		value += len + 1;
	}
	return err;
}

/* "lib.c", "!src/", "lib.c@hide": uftrace's ways, and @notrace. */
static int add_place(struct filter *f, const char *word, const char *text, size_t len)
{
	const char *at = memrchr(text, '@', len);
	size_t action = at && !memchr(at, '/', text + len - at) ? text + len - (at + 1) : 0;
	bool is_hidden = action == 4 && !strncmp(at + 1, "hide", action);
	bool is_out = is_hidden || (action == 7 && !strncmp(at + 1, "notrace", action));
	struct rule *r;

	if (action && !is_out)
		return fail(0, "%s: '%.*s' is neither 'hide' nor 'notrace'", word, (int)action, at + 1), -EINVAL;
	len -= action ? action + 1 : 0;
	if (len && *text == '!') {
		is_out = true;
		text++;
		len--;
	}
	if (!len)
		return fail(0, "%s: a source file or folder is missing", word), -EINVAL;
	if (grow(&f->rule, &f->room, f->count, sizeof(*f->rule)))
		return -ENOMEM;
	r = &f->rule[f->count];
	*r = (struct rule){ .kind = is_out ? RULE_NOT_PLACE : RULE_PLACE, .text = text, .len = len, .word = strdup(word) };
	f->count += r->word != NULL;
	return r->word ? 0 : -ENOMEM;
}

static int add_places(struct filter *f, const char *word, const char *value)
{
	int err = 0;

	while (!err) {
		size_t len = strcspn(value, ";");

		err = add_place(f, word, value, len);
		if (!value[len])
			break;
		value += len + 1;
	}
	return err;
}

static int set_match(struct filter *f, const char *word, const char *value)
{
	static const struct {
		const char	 *word;
		enum pattern_kind kind;
	} kinds[] = {
		{ "regex", PATTERN_REGEX }, { "glob", PATTERN_GLOB }, { "exact", PATTERN_EXACT },
		{ "simple", PATTERN_EXACT },	/* uftrace's word for it */
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(value, kinds[i].word)) {
			f->match = kinds[i].kind;
			return 0;
		}
	}
	fail(0, "%s: '%s' is neither 'regex' nor 'glob' nor 'exact'", word, value);
	return -EINVAL;
}

int filter_option(struct filter *f, const char *name, const char *word, const char *value)
{
	if (!strcmp(name, "match"))
		return set_match(f, word, value);
	if (!strcmp(name, "trigger"))
		return add_triggers(f, word, value);
	if (!strcmp(name, "loc-filter"))
		return add_places(f, word, value);
	if (!strcmp(name, "hide"))
		return add_rules(f, RULE_HIDE, word, value);
	if (!strcmp(name, "caller-filter"))
		return add_rules(f, RULE_CALLER, word, value);
	if (!strcmp(name, "filter"))
		return add_rules(f, RULE_IN, word, value);
	if (!strcmp(name, "notrace"))
		return add_rules(f, RULE_OUT, word, value);
	return value ? add_rules(f, RULE_LIST, word, value) : 0;
}

static bool is_of_place(const struct rule *r)
{
	return r->kind == RULE_PLACE || r->kind == RULE_NOT_PLACE;
}

static int compile_place(struct rule *r, enum pattern_kind match)
{
	int err = pattern_parse_place(&r->pattern, r->text, r->len, match);

	r->is_compiled = !err;
	if (err)
		fail(err == -EINVAL ? 0 : err, "%s: '%.*s' is not a regular expression of source files", r->word, r->len,
		     r->text);
	return err;
}

static int compile(struct rule *r, enum pattern_kind match)
{
	const char *lib = memchr(r->text, '@', r->len);
	int err;

	if (is_of_place(r))
		return compile_place(r, match);
	if (lib && memchr(lib, '=', r->text + r->len - lib)) {
		fail(0, "%s: '%.*s' has an action after its '@', which is not built yet", r->word, r->len, r->text);
		return -EINVAL;
	}
	err = pattern_parse(&r->pattern, r->text, r->len, match);
	r->is_compiled = !err;
	if (err) {
		fail(0, "%s: '%.*s' is not a %s of functions", r->word, r->len, r->text,
		     match == PATTERN_REGEX ? "regular expression" : "pattern");
		hint("FUNC or FUNC@LIB; --match glob or --match exact reads FUNC in another way");
	}
	return err;
}

int filter_finish(struct filter *f)
{
	for (struct rule *r = f->rule; r < f->rule + f->count; r++)
		if (compile(r, f->match))
			return -EINVAL;
	return 0;
}

/* ---- answers ---- */

static bool matches(const struct rule *r, const struct image *img, const struct func *fn)
{
	const struct pattern *p = &r->pattern;

	if (is_of_place(r) || !pattern_matches_name(p, fn))
		return false;
	return pattern_matches_file(p, img->path) || (fn->flags & FUNC_PLT && !strcmp(p->lib, "PLT"));
}

/* Of the rules that match the later counts; where some choose, what none matches is away. */
static bool is_away(const struct filter *f, const struct image *img, const struct func *fn)
{
	const struct debug_func *d = debug_find(img->debug, fn->addr);
	const char *path = d && d->line ? debug_at(img->debug, d->file) : NULL;
	const char *whole = path ? debug_whole_path(img->debug, d->file) : NULL;
	bool is_away = filter_names_places(f);

	for (struct rule *r = f->rule; r < f->rule + f->count; r++) {
		if (!is_of_place(r) || !path || !(pattern_matches(&r->pattern, path) || pattern_matches(&r->pattern, whole)))
			continue;
		r->has_matched = true;
		is_away = r->kind == RULE_NOT_PLACE;
	}
	return is_away;
}

/* As in uftrace a function elsewhere sets off nothing, but -F and -N mean what it calls, too. */
static unsigned filter_away(unsigned says)
{
	says &= FILTER_IN | FILTER_OUT | FILTER_IF | (says & FILTER_IF ? FILTER_TRIGGER : 0);
	return says | FILTER_HIDE | FILTER_AWAY;
}

unsigned filter_of(struct filter *f, const struct image *img, const struct func *fn)
{
	unsigned says = 0;

	for (struct rule *r = f->rule; r < f->rule + f->count; r++) {
		if (r->kind == RULE_LIST || !matches(r, img, fn))
			continue;
		r->has_matched = true;
		if (r->cond.arg)
			says |= FILTER_TRIGGER | FILTER_IF;
		if (r->kind == RULE_HIDE)
			says |= FILTER_HIDE;
		else if (r->kind == RULE_CALLER)
			says |= FILTER_CALLER;
		else if (r->kind == RULE_TRIGGER)
			says |= r->actions ? FILTER_TRIGGER : 0;
		else
			says = (r->cond.arg ? says : says & ~(FILTER_IN | FILTER_OUT)) |
			       (r->kind == RULE_IN ? FILTER_IN : FILTER_OUT);
	}
	if (is_away(f, img, fn))
		return filter_away(says);
	return (says & (FILTER_CALLER | FILTER_IF)) == FILTER_CALLER ? says & ~FILTER_HIDE : says;	/* uftrace's way */
}

/* Of two rules the later counts, where they are opposites. */
static void add_to_case(struct func_case *c, const struct rule *r)
{
	static const uint64_t says[] = {
		[RULE_IN] = COOKIE_IN, [RULE_OUT] = COOKIE_OUT, [RULE_HIDE] = COOKIE_HIDE,
		[RULE_CALLER] = COOKIE_CALLER, [RULE_TRIGGER] = 0,
	};
	const unsigned switches = TRIGGER_ON | TRIGGER_OFF;

	if (r->kind == RULE_IN || r->kind == RULE_OUT)
		c->says &= ~(COOKIE_IN | COOKIE_OUT);
	if (r->actions & switches)
		c->actions &= ~switches;
	if (r->actions & TRIGGER_DEPTH)
		c->depth = r->depth;
	c->says |= says[r->kind];
	c->actions |= r->actions;
}

/* What is left of the rules for a function that is away: another case says that no call of it is shown. */
static int hide_cases(struct func_trigger *t)
{
	for (unsigned i = 0; i < t->count; i++) {
		t->of[i].says &= COOKIE_IN | COOKIE_OUT;
		t->of[i].actions = 0;
	}
	if (t->count == CASES_MAX)
		return -E2BIG;
	t->of[t->count++] = (struct func_case){ .says = COOKIE_HIDE };
	return 0;
}

/* Rules without conditions that follow each other make one case. */
int filter_trigger(const struct filter *f, struct func_trigger *ret, const struct image *img, const struct func *fn)
{
	*ret = (struct func_trigger){};
	for (const struct rule *r = f->rule; r < f->rule + f->count; r++) {
		struct func_case *last = ret->count ? &ret->of[ret->count - 1] : NULL;

		if (r->kind == RULE_LIST || !matches(r, img, fn))
			continue;
		if (!last || last->cond.arg || r->cond.arg) {
			if (ret->count == CASES_MAX)
				return -E2BIG;
			last = &ret->of[ret->count++];
			last->cond = r->cond;
		}
		add_to_case(last, r);
	}
	return is_away(f, img, fn) ? hide_cases(ret) : 0;
}

unsigned filter_actions(const struct filter *f)
{
	unsigned actions = 0;

	for (const struct rule *r = f->rule; r < f->rule + f->count; r++)
		actions |= r->actions;
	return actions;
}

bool filter_has_conditions(const struct filter *f)
{
	for (const struct rule *r = f->rule; r < f->rule + f->count; r++)
		if (r->cond.arg && r->kind != RULE_LIST)
			return true;
	return false;
}

static bool has_rules(const struct filter *f, enum rule_kind kind)
{
	for (const struct rule *r = f->rule; r < f->rule + f->count; r++)
		if (r->kind == kind)
			return true;
	return false;
}

/* Does one of the rules of @kind mean a function of @img? */
static bool means_some(const struct filter *f, enum rule_kind kind, const struct image *img)
{
	for (const struct rule *r = f->rule; r < f->rule + f->count; r++)
		for (size_t i = 0; r->kind == kind && i < img->func_count; i++)
			if (matches(r, img, &img->func[i]))
				return true;
	return false;
}

bool filter_has_places(const struct filter *f)
{
	return has_rules(f, RULE_PLACE) || has_rules(f, RULE_NOT_PLACE);
}

bool filter_names_places(const struct filter *f)
{
	return has_rules(f, RULE_PLACE);
}

bool filter_selects(const struct filter *f, const struct image *img)
{
	return means_some(f, RULE_IN, img);
}

bool filter_wants_callers(const struct filter *f, const struct image *img)
{
	return means_some(f, RULE_CALLER, img);
}

bool filter_has_callers(const struct filter *f)
{
	return has_rules(f, RULE_CALLER);
}

bool filter_holds(const struct config *cfg)
{
	return cfg->least_ns || (cfg->functions && filter_has_callers(cfg->filter));
}

bool filter_judges(const struct config *cfg)
{
	const struct filter *f = cfg->filter;
	bool is_switched = cfg->disabled || (cfg->on_usr1 | cfg->on_usr2) & (TRIGGER_ON | TRIGGER_OFF);

	return cfg->functions && (is_switched || cfg->depth || cfg->max_stack || filter_actions(f) ||
				  filter_has_conditions(f) || has_rules(f, RULE_IN) || has_rules(f, RULE_OUT));
}

bool filter_in_kernel(const struct config *cfg)
{
	return filter_judges(cfg) || (cfg->functions && cfg->rate_limit);
}

bool filter_is_flat(const struct config *cfg)
{
	return cfg->depth == 1 && !filter_actions(cfg->filter) && !has_rules(cfg->filter, RULE_OUT) &&
	       !has_rules(cfg->filter, RULE_HIDE) && !filter_has_places(cfg->filter);
}

bool filter_lists(const struct filter *f, const struct image *img, const struct func *fn)
{
	for (const struct rule *r = f->rule; r < f->rule + f->count; r++)
		if (r->kind == RULE_LIST && matches(r, img, fn))
			return true;
	return !has_rules(f, RULE_LIST);
}

void filter_summary(const struct filter *f)
{
	for (const struct rule *r = f->rule; r < f->rule + f->count; r++)
		if (r->kind != RULE_LIST && !r->has_matched)
			warn(is_of_place(r) ? "%s: no function's source matches '%.*s'" : "%s: no function matches '%.*s'",
			     r->word, r->len, r->text);
}
