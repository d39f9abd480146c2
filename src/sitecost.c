/*
 * sitecost.c - measured once (tests/bench).
 */
#include "image.h"
#include "sitecost.h"

unsigned site_cost(uint8_t class, bool at_return)
{
#ifdef __x86_64__
	static const struct {
		unsigned entry_ns, both_ns;
	} costs[SITE_CLASSES] = {
		[SITE_NOP5]  = { 180, 390 },
		[SITE_CHEAP] = { 350, 550 },
		[SITE_DEAR]  = { 3600, 3900 },
	};

	return class >= SITE_CLASSES ? 0 : at_return ? costs[class].both_ns : costs[class].entry_ns;
#else
	(void)class; (void)at_return;
	return 0;
#endif
}
