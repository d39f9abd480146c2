/*
 * rates.h - --rate-limit: functions that are shed while they are called too often.
 */
#ifndef SOURCE_RATES_H
#define SOURCE_RATES_H

#include "source.h"

struct func;

/* Before @f, a function of @img, is probed. @bpf NULL: --dry-run. Returns 0 or a negative errno. */
int  rate_tell(struct recorder_bpf *bpf, const struct image *img, const struct func *f);

#endif
