/*
 * proc.c - the stand-in driver: cuGetProcAddress(), by the table in proc.h.
 *
 * A name and a version give the newest function that came no later than that version, at the address that dlsym()
 * gives for it too. With STUBCUDA_PRIVATE in the environment cuLaunchKernel is the exception: its address is that of a
 * function that is not exported, which a recorder can know only from here.
 */
#include <stdlib.h>
#include <string.h>

#include "fake.h"

/* The functions as mere addresses: their prototypes are in the files that define them. */
#define PROC(base, version, function)		extern char at_##function[] __asm__(#function);
#define PROC2(base, version, function, twin)	PROC(base, version, function) PROC(base, version, twin)
#include "proc.h"
#undef PROC
#undef PROC2

static const struct proc {
	const char *base;
	int	    version;		/* as CUDA_VERSION: 11030 is 11.3 */
	char	   *function, *twin;	/* the twin has a default stream for each thread */
} procs[] = {
#define PROC(base, version, function)		{ #base, version, at_##function, NULL },
#define PROC2(base, version, function, twin)	{ #base, version, at_##function, at_##twin },
#include "proc.h"
};

static CUresult get_proc(const char *name, void **ret, int version, uint64_t flags, int *status)
{
	const struct proc *best = NULL;
	int known = 0;

	if (!name || !ret)
		return CUDA_ERROR_INVALID_VALUE;
	for (const struct proc *p = procs; p < procs + sizeof(procs) / sizeof(*procs); p++)
		if (!strcmp(p->base, name)) {
			known = 1;
			if (p->version <= version && (!best || p->version > best->version))
				best = p;
		}
	*ret = NULL;
	if (best)
		*ret = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM && best->twin ? best->twin : best->function;
	if (best && !strcmp(name, "cuLaunchKernel") && getenv("STUBCUDA_PRIVATE"))
		*ret = (void *)private_cuLaunchKernel;
	if (status)
		*status = best ? CU_GET_PROC_ADDRESS_SUCCESS :
			  known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	/* Driver 580 says no error when it knows the name and has none old enough. */
	return known ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

EXPORT(cuGetProcAddress, (const char *name, void **ret, int version, uint64_t flags),
       get_proc(name, ret, version, flags, NULL))
EXPORT(cuGetProcAddress_v2, (const char *name, void **ret, int version, uint64_t flags, int *status),
       get_proc(name, ret, version, flags, status))
