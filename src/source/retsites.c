/*
 * retsites.c - one instruction after another, from a function's first on.
 */
#if defined(__x86_64__)
#include <Zydis/Zydis.h>
#endif

#include "base.h"
#include "source/retsites.h"

#if defined(__x86_64__)
unsigned ret_sites(const uint8_t *code, size_t len, unsigned long offset, unsigned long *site, unsigned room, bool *whole)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction insn;
	unsigned n = 0;
	size_t at = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (at < len && ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + at, len - at, &insn))) {
		if (insn.mnemonic == ZYDIS_MNEMONIC_RET && n < room)
			site[n++] = offset + at;
		at += insn.length;
	}
	*whole = at == len;
	return n;
}
#else
#define INSN_RET	0xd65f03c0u	/* ret x30 */

unsigned ret_sites(const uint8_t *code, size_t len, unsigned long offset, unsigned long *site, unsigned room, bool *whole)
{
	unsigned n = 0;

	for (size_t at = 0; at + 4 <= len; at += 4) {
		uint32_t insn;

		memcpy(&insn, code + at, 4);
		if (insn == INSN_RET && n < room)
			site[n++] = offset + at;
	}
	*whole = true;
	return n;
}
#endif
