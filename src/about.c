/*
 * about.c - the host, its clocks and the command, as file headers want them.
 *
 * What cannot be found out is left empty: no fact here is worth failing for.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "about.h"
#include "base.h"
#include "clock.h"

/* Of the line in @path that begins with @key: what follows the first of @after. NULL: none. free() it. */
static char *value_in(const char *path, const char *key, const char *after)
{
	__cleanup(close_file) FILE *f = fopen(path, "re");
	__cleanup(free_ptr) char *line = NULL;
	size_t room = 0;
	char *value;

	while (f && getline(&line, &room, f) > 0) {
		if (strncmp(line, key, strlen(key)))
			continue;
		value = strpbrk(line, after);
		if (!value)
			continue;
		value += 1 + strspn(value + 1, " \t\"");
		value[strcspn(value, "\"\n")] = '\0';
		return strdup(value);
	}
	return NULL;
}

/* arm64 has no such line: its own name says enough, and tells uftrace what its registers are called. */
static char *cpu_model(void)
{
	char *model = value_in("/proc/cpuinfo", "model name", ":");

#ifdef __aarch64__
	if (!model)
		return strdup("ARM64");
#endif
	return model ?: strdup("unknown");
}

#define CMDLINE_MAX	4096	/* bytes; no format holds more */

/* Words joined by spaces. */
static char *join(char *const *word)
{
	size_t len = 1;
	char *text, *end;

	for (char *const *w = word; *w; w++)
		len += strlen(*w) + 1;
	text = end = malloc(len);
	if (!text)
		return NULL;
	*end = '\0';
	for (char *const *w = word; *w; w++)
		end += sprintf(end, w == word ? "%s" : " %s", *w);
	return text;
}

/* Our own command line, words joined by spaces. */
static char *own_command_line(void)
{
	__cleanup(close_file) FILE *f = fopen("/proc/self/cmdline", "re");
	__cleanup(free_ptr) char *text = calloc(1, CMDLINE_MAX);
	size_t n = f && text ? fread(text, 1, CMDLINE_MAX - 1, f) : 0;

	for (size_t i = 0; i + 1 < n; i++)
		if (!text[i])
			text[i] = ' ';
	return TAKE(text);
}

/* The file that execvp() would run for @word; NULL: none. free() it. */
static char *find_command(const char *word)
{
	__cleanup(free_ptr) char *path = strdup(getenv("PATH") ?: "/usr/local/bin:/usr/bin:/bin");
	char *next = path, *dir;
	struct stat st;

	if (!path || strchr(word, '/'))
		return realpath(word, NULL);
	while ((dir = strsep(&next, ":"))) {
		__cleanup(free_ptr) char *file = NULL;

		if (asprintf(&file, "%s/%s", *dir ? dir : ".", word) < 0)
			return file = NULL;
		if (!access(file, X_OK) && !stat(file, &st) && S_ISREG(st.st_mode))
			return realpath(file, NULL);
	}
	return NULL;
}

static char **copy_words(char *const *word)
{
	size_t count = 0;
	char **copy;

	while (word[count])
		count++;
	copy = calloc(count + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < count; i++)
		copy[i] = strdup(word[i]);
	return copy;
}

static void host_facts(struct about *a)
{
	struct utsname host = {};
	struct sysinfo mem;
	long cpus;

	uname(&host);
	a->hostname = strdup(host.nodename);
	if (asprintf(&a->kernel, "%s %s", host.sysname, host.release) < 0)
		a->kernel = NULL;
	a->distro = value_in("/etc/os-release", "PRETTY_NAME=", "=") ?: strdup("Linux");
	a->cpu_model = cpu_model();
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	a->cpus_online = MAX(cpus, 1l);
	cpus = sysconf(_SC_NPROCESSORS_CONF);
	a->cpus_possible = MAX(cpus, 1l);
	if (!sysinfo(&mem)) {
		a->mem_free = (uint64_t)mem.freeram * mem.mem_unit;
		a->mem_total = (uint64_t)mem.totalram * mem.mem_unit;
	}
	getloadavg(a->load, 3);
}

DEFINE_CLEANUP(about_destroy, struct about *)

int about_create(struct about **ret, char **argv, char *const *self_argv)
{
	__cleanup(about_destroyp) struct about *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->start = clock_now();
	a->utc_offset = clock_utc_offset();
	host_facts(a);
	a->pid = getpid();
	a->cwd = getcwd(NULL, 0) ?: strdup("/");
	a->cmdline = self_argv ? join(self_argv) : own_command_line();
	if (argv && argv[0]) {
		a->argv = copy_words(argv);
		a->exe = find_command(argv[0]) ?: strdup(argv[0]);
		if (!a->argv || !a->exe)
			return -ENOMEM;
	}
	if (!a->hostname || !a->kernel || !a->distro || !a->cpu_model || !a->cmdline || !a->cwd)
		return -ENOMEM;
	*ret = TAKE(a);
	return 0;
}

void about_destroy(struct about *a)
{
	if (!a)
		return;
	for (char **word = a->argv; word && *word; word++)
		free(*word);
	free(a->argv);
	tracepoints_release(&a->tracepoints);
	free(a->cmdline);
	free(a->exe);
	free(a->cwd);
	free(a->hostname);
	free(a->kernel);
	free(a->distro);
	free(a->cpu_model);
	free(a);
}
