/*
 * ptx.h - the kernels of PTX text.
 */
#ifndef CUDA_PTX_H
#define CUDA_PTX_H

#include "cuda/code.h"

/* @text ends at its first NUL, or after @len bytes. Returns 0 or what @fn returned. */
int ptx_kernels(const char *text, size_t len, code_kernel_fn fn, void *ctx);

#endif
