/* injected.c - a library for CUDA_INJECTION64_PATH: says that it was begun. */
#include <stdio.h>

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	puts("injected");
	return 1;
}
