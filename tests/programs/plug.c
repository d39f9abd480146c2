/* plug.c - opens a library a few calls deep; it walks over the frames that were open before, and throws through others. */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "truth.h"

static int (*frames)(void);
static void (*throw_it)(int);
static int (*catch_it)(int (*call)(int), int n);

static int open_plugin(void)
{
	char path[PATH_MAX] = "";
	void *lib;

	ENTER();
	if (readlink("/proc/self/exe", path, sizeof(path) - 20) < 0)
		return -1;
	lib = dlopen(strcat(dirname(path), "/plugin.so"), RTLD_NOW);
	if (!lib)
		return -1;
	frames = dlsym(lib, "plugin_frames");
	throw_it = dlsym(lib, "plugin_throw");
	catch_it = dlsym(lib, "plugin_catch");
	return 0;
}

static int throws_from(int n)
{
	int r = 0;

	ENTER();
	if (n == 0)
		throw_it(42);
	else
		r = throws_from(n - 1);
	KEEP_FRAME();
	return r + 1;
}

static int within(int n)
{
	int r;

	ENTER();
	if (n) {
		r = within(n - 1);
		KEEP_FRAME();
		return r;
	}
	if (open_plugin())
		return -1;
	r = frames();
	KEEP_FRAME();
	return r;
}

static int after(int n) { ENTER(); return n + 1; }

int main(void)
{
	int n = 0;

	ENTER();
	printf("frames %d\n", within(5));
	for (int i = 0; i < 20; i++)
		n += catch_it(throws_from, i);
	printf("caught %d\n", n);
	for (int i = 0; i < 10; i++)
		n = after(n);
	truth_print();
	return n == 20 * 42 + 10 ? 0 : 1;
}
