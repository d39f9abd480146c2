/*
 * usdtspec.c - [LIB:]PROVIDER:NAME[@argN/FMT,...]: which USDT probes --usdt asks for.
 */
#include <fnmatch.h>

#include "base.h"
#include "usdt.h"

#define GLOB	"?*["

static int take_parts(struct usdt_pattern *p, char *word)
{
	char *name = strrchr(word, ':'), *provider;

	if (!strcmp(word, "*")) {
		p->provider = strdup("*");
		p->name = strdup("*");
		return p->provider && p->name ? 0 : -ENOMEM;
	}
	if (!name)
		return -EINVAL;
	*name++ = '\0';
	provider = strrchr(word, ':');
	if (provider)
		*provider++ = '\0';
	if (!*word || !*name || (provider && !*provider))
		return -EINVAL;
	p->lib = provider ? strdup(word) : NULL;
	p->provider = strdup(provider ?: word);
	p->name = strdup(name);
	return (p->lib || !provider) && p->provider && p->name ? 0 : -ENOMEM;
}

/* What a letter of uftrace's grammar means; a string's s aside, how a number is written. */
static uint8_t format_of(char letter)
{
	static const char letters[] = "siudxcp";
	static const uint8_t formats[] = {
		VALUE_STRING, VALUE_SIGNED, VALUE_UNSIGNED, VALUE_SIGNED, VALUE_HEX, VALUE_CHAR, VALUE_HEX,
	};
	const char *at = letter ? strchr(letters, letter) : NULL;

	return at ? formats[at - letters] : VALUE_AUTO;
}

/* "arg1/s,arg2/x" */
static int take_formats(struct usdt_pattern *p, char *specs, char *why, size_t size)
{
	char *spec;

	while ((spec = strsep(&specs, ","))) {
		unsigned n;
		char letter;
		int end = 0;

		if (sscanf(spec, "arg%2u/%c%n", &n, &letter, &end) == 2 && !spec[end] && n && n <= ARGS_MAX &&
		    format_of(letter)) {
			p->format[n - 1] = format_of(letter);
			continue;
		}
		snprintf(why, size, "'%s' is not argN/s, or x, i, u, c for s, with an N of 1 to %d", spec, ARGS_MAX);
		return -EINVAL;
	}
	return 0;
}

int usdt_pattern_parse(struct usdt_pattern *p, const char *text, char *why, size_t size)
{
	__cleanup(free_ptr) char *word = strdup(text);
	char *specs = word ? strchr(word, '@') : NULL;
	int err;

	*p = (struct usdt_pattern){ .text = text };
	if (!word)
		return -ENOMEM;
	if (specs)
		*specs++ = '\0';
	err = take_parts(p, word);
	if (err == -EINVAL)
		snprintf(why, size, "'%s' is not PROVIDER:NAME or LIB:PROVIDER:NAME, such as 'libc:*'", text);
	if (!err && specs)
		err = take_formats(p, specs, why, size);
	if (err)
		usdt_pattern_release(p);
	return err;
}

void usdt_pattern_release(struct usdt_pattern *p)
{
	free(TAKE(p->lib));
	free(TAKE(p->provider));
	free(TAKE(p->name));
}

/* As FUNC@LIB: the beginning of the file's name, or a glob for it; with a slash, for its path. */
static bool is_file(const char *lib, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (strchr(lib, '/'))
		return !fnmatch(lib, path, 0);
	return strpbrk(lib, GLOB) ? !fnmatch(lib, name, 0) : !strncmp(lib, name, strlen(lib));
}

bool usdt_pattern_matches(const struct usdt_pattern *p, const char *path, const struct usdt_probe *probe)
{
	const char *colon = strchr(probe->name, ':');
	char provider[USDT_NAME_MAX];

	if (!colon || (p->lib && !is_file(p->lib, path)))
		return false;
	snprintf(provider, sizeof(provider), "%.*s", (int)(colon - probe->name), probe->name);
	return !fnmatch(p->provider, provider, 0) && !fnmatch(p->name, colon + 1, 0);
}
