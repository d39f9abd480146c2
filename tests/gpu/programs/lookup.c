/*
 * lookup.c - where cuGetProcAddress leads, for names on standard input, one a line, without _v2 and the like.
 *
 * One line for each name, version and flags: the result, and the exported function at exactly that address, or "PRIVATE" with
 * the place in its file.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef CUresult v2_fn(const char *, void **, int, cuuint64_t, int *);

static void tell(v2_fn *get, const char *name, int version, int flags)
{
	void *p = NULL;
	int status = -1;
	CUresult r = get(name, &p, version, flags, &status);
	Dl_info at = { 0 };

	if (r || !p)
		printf("%s %d %d result=%d status=%d -\n", name, version, flags, r, status);
	else if (!dladdr(p, &at))
		printf("%s %d %d result=0 status=%d PRIVATE of no file %p\n", name, version, flags, status, p);
	else if (at.dli_saddr == p)
		printf("%s %d %d result=0 status=%d %s\n", name, version, flags, status, at.dli_sname);
	else
		printf("%s %d %d result=0 status=%d PRIVATE %s+0x%lx\n", name, version, flags, status, at.dli_fname,
		       (unsigned long)((char *)p - (char *)at.dli_fbase));
}

int main(void)
{
	static const int version[] = { 13000, 12000 }, flags[] = { 0, 2 };
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	CUresult (*init)(unsigned) = lib ? dlsym(lib, "cuInit") : NULL;
	v2_fn *get = lib ? dlsym(lib, "cuGetProcAddress_v2") : NULL;
	char name[256];

	if (!init || !get)
		return printf("no libcuda.so.1 with cuGetProcAddress_v2: %s\n", dlerror()), 1;
	printf("# cuInit %d\n", init(0));
	while (fgets(name, sizeof(name), stdin)) {
		name[strcspn(name, "\n")] = 0;
		for (int v = 0; v < 2; v++)
			for (int f = 0; f < 2; f++)
				tell(get, name, version[v], flags[f]);
	}
	return 0;
}
