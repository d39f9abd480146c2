/*
 * curuntime.c - curuntime [N]: what nvcc makes of a program with two kernels, written by hand: the images are registered
 * before main(), and a launch pushes its dimensions for the kernel's stub, which has them handed to the runtime.
 *
 * The stubs bear the kernels' mangled names and are local, so that only .symtab has them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cuda_api.h"

struct dim3 {
	unsigned x, y, z;
};

extern void **__cudaRegisterFatBinary(const void *wrapper);
extern void __cudaRegisterFatBinaryEnd(void **fatbin);
extern void __cudaUnregisterFatBinary(void **fatbin);
extern void __cudaRegisterFunction(void **fatbin, const void *host, const char *device, const char *name, int threads,
				   void *tid, void *bid, void *block, void *grid, int *warp);
extern unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared, CUstream stream);
extern int __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared, CUstream *stream);
extern int __cudaGetKernel(const void **ret, const void *host);
extern int __cudaLaunchKernel(const void *k, struct dim3 grid, struct dim3 block, void **args, size_t shared, CUstream s);
extern int cudaMalloc(void **ret, size_t n);
extern int cudaFree(void *p);
extern int cudaMemcpy(void *dst, const void *src, size_t n, int kind);
extern int cudaMemset(void *p, int v, size_t n);
extern int cudaStreamCreate(CUstream *ret);
extern int cudaStreamSynchronize(CUstream s);
extern int cudaDeviceSynchronize(void);
extern int cudaGetLastError(void);

/* Where nvcc puts them too. */
static const struct {
	unsigned       magic;
	unsigned short version, header;
	uint64_t       size;
	char	       images[112];
} fatbin __attribute__((section(".nv_fatbin"), aligned(8), used)) = { 0xba55ed50, 1, 16, 112, "the images of curuntime" };

static const struct {
	unsigned    magic, version;
	const void *data, *file;
} wrapper __attribute__((section(".nvFatBinSegment"), aligned(8), used)) = { 0x466243b1, 1, &fatbin, NULL };

static void **registered;

static void must(const char *what, int err)
{
	if (err) {
		fprintf(stderr, "%s: %d\n", what, err);
		exit(90);
	}
}

#define STUB(kernel, ...)									\
	do {											\
		static const void *handle;							\
		static int found = -1;								\
		struct dim3 grid, block;							\
		size_t shared;									\
		CUstream stream;								\
		void *args[] = { __VA_ARGS__ };							\
												\
		if (found)									\
			found = __cudaGetKernel(&handle, kernel);				\
		if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream))		\
			return;									\
		(void)__cudaLaunchKernel(handle, grid, block, args, shared, stream);		\
	} while (0)

__attribute__((noinline)) static void _Z9vectorAddPKfS0_Pfi(const float *a, const float *b, float *c, int n)
{
	STUB(_Z9vectorAddPKfS0_Pfi, &a, &b, &c, &n);
}

__attribute__((noinline)) static void _Z5scalePff(float *a, float by)
{
	STUB(_Z5scalePff, &a, &by);
}

static void end(void)
{
	__cudaUnregisterFatBinary(registered);
}

__attribute__((constructor)) static void begin(void)
{
	registered = __cudaRegisterFatBinary(&wrapper);
	__cudaRegisterFunction(registered, _Z9vectorAddPKfS0_Pfi, "_Z9vectorAddPKfS0_Pfi", "_Z9vectorAddPKfS0_Pfi", -1,
			       NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(registered, _Z5scalePff, "_Z5scalePff", "_Z5scalePff", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFatBinaryEnd(registered);
	atexit(end);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	float host[1000] = { 0 };
	void *a, *b;
	CUstream s;

	must("cudaMalloc", cudaMalloc(&a, sizeof(host)));
	must("cudaMalloc", cudaMalloc(&b, sizeof(host)));
	must("cudaMemcpy", cudaMemcpy(a, host, sizeof(host), 1));
	must("cudaMemset", cudaMemset(b, 0, sizeof(host)));
	must("cudaStreamCreate", cudaStreamCreate(&s));
	for (int i = 0; i < n; i++) {
		must("push", __cudaPushCallConfiguration((struct dim3){ 4, i + 1, 2 }, (struct dim3){ 32, 4, 2 }, 128,
							 s));
		_Z9vectorAddPKfS0_Pfi(a, b, b, 1000);
	}
	must("push", __cudaPushCallConfiguration((struct dim3){ 1, 1, 1 }, (struct dim3){ 64, 1, 1 }, 0, NULL));
	_Z5scalePff(b, 2);
	must("the launches", cudaGetLastError());
	must("cudaStreamSynchronize", cudaStreamSynchronize(s));
	must("cudaDeviceSynchronize", cudaDeviceSynchronize());
	must("cudaMemcpy", cudaMemcpy(host, b, sizeof(host), 2));
	must("cudaFree", cudaFree(a));
	must("cudaFree", cudaFree(b));
	printf("launch _Z9vectorAddPKfS0_Pfi %d\nlaunch _Z5scalePff 1\n", n);
	return argc > 2 ? atoi(argv[2]) : 0;
}
