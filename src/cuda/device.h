/*
 * device.h - which launch, or which call, a time of the device is of.
 *
 * CUPTI numbers the calls of the driver in a process, and says of each kernel which number it comes from. Of a number it
 * says which thread made the call and when: that is looked for among the calls that were seen.
 */
#ifndef CUDA_DEVICE_H
#define CUDA_DEVICE_H

#include "cuda.h"

struct gputime_counts;

/* Is told each time of the device, once all is known of it that will be. */
typedef int (*device_fn)(void *ctx, const struct cuda_device_time *t);

/* What cuda_process.device is: from the moment on that CUPTI is ready in it. */
int  device_create(struct cuda_device **ret, struct gputime_counts *counts);
void device_destroy(struct cuda_device *d);

/* A call has begun, and has returned. Returns 0 or -ENOMEM. */
int  device_called(struct cuda_device *d, const struct cuda_call *c);
void device_returned(struct cuda_device *d, const struct cuda_call *c);

/* One entry of a batch, but not a CUDA_TIME_STATE. */
int  device_time(struct cuda_process *p, const struct cuda_time *t, device_fn fn, void *ctx);
/* No more will come: what waits is told as it is. */
int  device_finish(struct cuda_process *p, device_fn fn, void *ctx);

#endif
