/*
 * module.c - the stand-in driver: modules, libraries, and the handles of their functions.
 *
 * Images are told apart by how they begin. Of PTX the kernels are known, and no other is found; an image of another
 * kind has every kernel that is asked for. One name has one handle in a module, one in a library, as with the real one.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define ELF_MAGIC	0x464c457fu
#define FATBIN_MAGIC	0xba55ed50u
#define WRAPPER_MAGIC	0x466243b1u

struct CUkern_st {
	struct CUfunc_st f;	/* first: a kernel may be passed for a function */
};

struct CUlib_st {
	struct CUmod_st module;
	CUfunction	kernels;
};

struct CUlinkState_st {
	void  *image;
	size_t size;
};

static CUfunction function_new(struct tally *tally, CUmodule m, CUfunction next)
{
	CUfunction f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	f->tally = tally;
	f->module = m;
	f->next = next;
	f->block[0] = f->block[1] = f->block[2] = 1;
	f->function = f;
	return f;
}

/* The one of that name in @list; made, when there is none and @may_add. */
static CUfunction function_of(CUfunction *list, CUmodule m, const char *name, int may_add)
{
	struct tally *t = tally_of(name);
	CUfunction f;

	driver_lock();
	for (f = *list; f && f->tally != t; f = f->next)
		;
	if (!f && may_add)
		*list = f = function_new(t, m, *list);
	driver_unlock();
	return f;
}

/* The next kernel of PTX from @p on: a word behind ".entry". NULL: there is none. */
static const char *next_entry(const char *p, char name[256])
{
	size_t n = 0;

	p = strstr(p, ".entry");
	if (!p)
		return NULL;
	for (p += strlen(".entry"); isspace((unsigned char)*p); p++)
		;
	while (n < 255 && (isalnum((unsigned char)p[n]) || strchr("_$", p[n])) && p[n])
		n++;
	memcpy(name, p, n);
	name[n] = '\0';
	return p;
}

static CUresult module_fill(CUmodule m, const void *image)
{
	char name[256];
	uint32_t magic;

	if (!image)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&magic, image, sizeof(magic));
	if (magic == ELF_MAGIC || magic == FATBIN_MAGIC || magic == WRAPPER_MAGIC)
		return CUDA_SUCCESS;
	if (!strstr(image, ".version"))
		return CUDA_ERROR_INVALID_IMAGE;
	m->text = strdup(image);
	if (!m->text)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (const char *p = m->text; (p = next_entry(p, name)); )
		function_of(&m->functions, m, name, 1);
	return CUDA_SUCCESS;
}

/* Read a whole file, with a NUL behind it. */
static CUresult read_image(const char *path, char **ret)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	if (!f)
		return CUDA_ERROR_FILE_NOT_FOUND;
	*ret = calloc(1, (16 << 20) + 1);
	n = *ret ? fread(*ret, 1, 16 << 20, f) : 0;
	fclose(f);
	return n ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

static CUresult module_load(CUmodule *ret, const void *image)
{
	CUmodule m = calloc(1, sizeof(*m));
	CUresult err = m ? module_fill(m, image) : CUDA_ERROR_OUT_OF_MEMORY;

	if (err)
		free(m);
	else
		*ret = m;
	return err;
}

static CUresult module_load_file(CUmodule *ret, const char *path)
{
	char *image = NULL;
	CUresult err = read_image(path, &image) ?: module_load(ret, image);

	free(image);
	return err;
}

static CUresult library_load(CUlibrary *ret, const void *image)
{
	CUlibrary l = calloc(1, sizeof(*l));
	CUresult err = l ? module_fill(&l->module, image) : CUDA_ERROR_OUT_OF_MEMORY;

	if (err)
		free(l);
	else
		*ret = l;
	return err;
}

static CUresult library_load_file(CUlibrary *ret, const char *path)
{
	char *image = NULL;
	CUresult err = read_image(path, &image) ?: library_load(ret, image);

	free(image);
	return err;
}

/* Modules stay when they are unloaded: what was counted of their functions is told at exit, by handles still in use. */
static CUresult get_function(CUfunction *ret, CUmodule m, const char *name)
{
	CUfunction f;

	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	f = function_of(&m->functions, m, name, !m->text);
	if (!f)
		return CUDA_ERROR_NOT_FOUND;
	*ret = f;
	return CUDA_SUCCESS;
}

static CUresult get_kernel(CUkernel *ret, CUlibrary l, const char *name)
{
	CUfunction function, kernel;
	CUresult err = l ? get_function(&function, &l->module, name) : CUDA_ERROR_INVALID_HANDLE;

	if (err)
		return err;
	kernel = function_of(&l->kernels, &l->module, name, 1);
	kernel->function = function;
	*ret = (CUkernel)kernel;
	return CUDA_SUCCESS;
}

static CUresult give(void *ret, const void *handle)
{
	if (!handle)
		return CUDA_ERROR_INVALID_HANDLE;
	*(const void **)ret = handle;
	return CUDA_SUCCESS;
}

static CUresult count(unsigned *ret, CUfunction f)
{
	for (*ret = 0; f; f = f->next)
		++*ret;
	return CUDA_SUCCESS;
}

static CUresult enumerate_functions(CUfunction *ret, unsigned n, CUmodule m)
{
	for (CUfunction f = m->functions; f && n; f = f->next, n--)
		*ret++ = f;
	return CUDA_SUCCESS;
}

static CUresult enumerate_kernels(CUkernel *ret, unsigned n, CUlibrary l)
{
	CUresult err = CUDA_SUCCESS;

	for (CUfunction f = l->module.functions; f && n && !err; f = f->next, n--)
		err = get_kernel(ret++, l, f->tally->name);
	return err;
}

static CUresult function_attribute(int *ret, int attribute)
{
	*ret = attribute == 0 ? 1024 : 0;	/* the most threads in a block */
	return CUDA_SUCCESS;
}

/* What is linked is the last image that was added. */
static CUresult link_create(CUlinkState *ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult link_add(CUlinkState l, const void *data, size_t size)
{
	free(l->image);
	l->image = calloc(1, size + 1);
	if (!l->image)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(l->image, data, size);
	l->size = size;
	return CUDA_SUCCESS;
}

static CUresult link_complete(CUlinkState l, void **image, size_t *size)
{
	if (!l->image)
		return CUDA_ERROR_INVALID_VALUE;
	*image = l->image;
	*size = l->size;
	return CUDA_SUCCESS;
}

static CUresult link_destroy(CUlinkState l)
{
	free(l->image);
	free(l);
	return CUDA_SUCCESS;
}

CALL(cuModuleLoad, (CUmodule *ret, const char *path), module_load_file(ret, path))
CALL(cuModuleLoadData, (CUmodule *ret, const void *image), module_load(ret, image))
CALL(cuModuleLoadDataEx, (CUmodule *ret, const void *image, unsigned n, int *options, void **values),
     ((void)n, (void)options, (void)values, module_load(ret, image)))
CALL(cuModuleLoadFatBinary, (CUmodule *ret, const void *image), module_load(ret, image))
CALL(cuModuleUnload, (CUmodule m), m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE)
CALL(cuModuleGetFunction, (CUfunction *ret, CUmodule m, const char *name), get_function(ret, m, name))
CALL(cuModuleGetFunctionCount, (unsigned *ret, CUmodule m), count(ret, m->functions))
CALL(cuModuleEnumerateFunctions, (CUfunction *ret, unsigned n, CUmodule m), enumerate_functions(ret, n, m))
INITED(cuModuleGetLoadingMode, (int *mode), (*mode = 2, CUDA_SUCCESS))

INITED(cuLibraryLoadData, (CUlibrary *ret, const void *image, int *jit, void **jit_values, unsigned jits, int *options,
			   void **values, unsigned n),
       ((void)jit, (void)jit_values, (void)jits, (void)options, (void)values, (void)n, library_load(ret, image)))
INITED(cuLibraryLoadFromFile, (CUlibrary *ret, const char *path, int *jit, void **jit_values, unsigned jits,
			       int *options, void **values, unsigned n),
       ((void)jit, (void)jit_values, (void)jits, (void)options, (void)values, (void)n, library_load_file(ret, path)))
INITED(cuLibraryUnload, (CUlibrary l), l ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE)
INITED(cuLibraryGetKernel, (CUkernel *ret, CUlibrary l, const char *name), get_kernel(ret, l, name))
INITED(cuLibraryGetKernelCount, (unsigned *ret, CUlibrary l), count(ret, l->module.functions))
INITED(cuLibraryEnumerateKernels, (CUkernel *ret, unsigned n, CUlibrary l), enumerate_kernels(ret, n, l))
INITED(cuLibraryGetModule, (CUmodule *ret, CUlibrary l), give(ret, &l->module))
CALL(cuKernelGetFunction, (CUfunction *ret, CUkernel k), give(ret, k ? k->f.function : NULL))
INITED(cuKernelGetName, (const char **ret, CUkernel k), give(ret, k ? k->f.tally->name : NULL))

CALL(cuFuncGetName, (const char **ret, CUfunction f), give(ret, f ? f->tally->name : NULL))
CALL(cuFuncGetModule, (CUmodule *ret, CUfunction f), give(ret, f ? f->module : NULL))
CALL(cuFuncGetAttribute, (int *ret, int attribute, CUfunction f), ((void)f, function_attribute(ret, attribute)))
CALL(cuFuncSetAttribute, (CUfunction f, int attribute, int value),
     ((void)f, (void)attribute, (void)value, CUDA_SUCCESS))

CALL(cuLinkCreate_v2, (unsigned n, int *options, void **values, CUlinkState *ret),
     ((void)n, (void)options, (void)values, link_create(ret)))
CALL(cuLinkAddData_v2, (CUlinkState l, int type, void *data, size_t size, const char *name, unsigned n, int *options,
			void **values),
     ((void)type, (void)name, (void)n, (void)options, (void)values, link_add(l, data, size)))
CALL(cuLinkComplete, (CUlinkState l, void **image, size_t *size), link_complete(l, image, size))
CALL(cuLinkDestroy, (CUlinkState l), link_destroy(l))
