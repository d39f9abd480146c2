/* tracedat.c FILE - prints how many events KernelShark's library finds in it. */
#include <stdio.h>
#include <stdlib.h>

#include "libkshark.h"

int main(int argc, char **argv)
{
	struct kshark_context *ctx = NULL;
	struct kshark_entry **entries = NULL;
	int stream;

	if (argc < 2 || !kshark_instance(&ctx))
		return 1;
	stream = kshark_open(ctx, argv[1]);
	if (stream < 0)
		return 1;
	printf("%zd\n", kshark_load_entries(ctx, stream, &entries));
	kshark_close_all(ctx);
	return 0;
}
