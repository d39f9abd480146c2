/*
 * tpcount.c - another's measurement: how often a tracepoint is hit, as a perf counter of this process has it.
 *
 * tpcount ID: sends 20 datagrams to nobody on this host and prints the count. ID is the tracepoint's, as tracefs has it.
 */
#include <arpa/inet.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TIMES	20

int main(int argc, char **argv)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = argc > 1 ? atoi(argv[1]) : 0 };
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int sock = socket(AF_INET, SOCK_DGRAM, 0);
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	long long count = 0;

	if (fd < 0 || sock < 0)
		return perror("tpcount"), 1;
	for (int i = 0; i < TIMES; i++)
		sendto(sock, "x", 1, 0, (struct sockaddr *)&to, sizeof(to));
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return perror("tpcount"), 1;
	printf("%lld\n", count);
	return 0;
}
