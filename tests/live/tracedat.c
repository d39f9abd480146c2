/* tracedat.c FILE - prints a line for each event that KernelShark's library finds in it: its name, and whose it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libkshark.h"

/* The event is "system/name". */
static void print_entry(const struct kshark_entry *e)
{
	char *event = kshark_get_event_name(e), *task = kshark_get_task(e), *name = event ? strrchr(event, '/') : NULL;

	printf("%s %s-%d\n", name ? name + 1 : event ? event : "?", task ? task : "?", kshark_get_pid(e));
	free(event);
	free(task);
}

int main(int argc, char **argv)
{
	struct kshark_context *ctx = NULL;
	struct kshark_entry **entries = NULL;
	ssize_t n;
	int stream;

	if (argc < 2 || !kshark_instance(&ctx))
		return 1;
	stream = kshark_open(ctx, argv[1]);
	if (stream < 0)
		return 1;
	n = kshark_load_entries(ctx, stream, &entries);
	for (ssize_t i = 0; i < n; i++)
		print_entry(entries[i]);
	kshark_close_all(ctx);
	return n <= 0;
}
