/* offsets.c - compiled, never linked: our offsets against the cuda.h of the toolkit that is installed here. */
#include <stddef.h>
#include <cuda.h>

#define CUDA_API_AT(type, field, at) _Static_assert(offsetof(type, field) == (at), #type "." #field)
#define CUDA_API_SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
#include "offsets.h"
