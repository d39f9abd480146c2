#!/bin/bash
# What attaching to a running process takes, by the number of its functions: until recorder says that it records, from
# SIGTERM until it has ended, and how long the process itself stood still for it. Needs root.
#
#	tests/bench/attach.sh RECORDER [FUNCTIONS...]
set -eu
recorder=$(realpath "${1:?usage: tests/bench/attach.sh RECORDER [FUNCTIONS...]}"); shift
[ $# -gt 0 ] || set -- 1000 5000 10000 80000
rounds=5
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# A program of so many functions that says at its end the longest time that one turn of a millisecond took.
make_program() {
	{
		awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "int f%d(int n) { return n + %d; }\n", i, i }'
		cat <<-'C'
		#include <signal.h>
		#include <stdio.h>
		#include <time.h>
		static volatile sig_atomic_t done;
		static void end(int sig) { (void)sig; done = 1; }
		static double now(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_MONOTONIC, &t);
			return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
		}
		int main(void)
		{
			struct timespec turn = { 0, 1000000 };
			double last, most = 0;
			int n = 0;
			signal(SIGTERM, end);
			for (last = now(); !done; last = now()) {
				n = f0(n);
				nanosleep(&turn, NULL);
				if (now() - last > most)
					most = now() - last;
			}
			printf("%.0f\n", most);
		}
		C
	} > program.c
	cc -O0 -o program program.c
}

ms() { echo $(($(date +%s%N) / 1000000)); }

# One round: "ATTACH DETACH STILL", ms.
round() {
	local pid began recorded told
	rm -rf data data.old said
	touch said
	./program > still & pid=$!
	sleep 0.2
	began=$(ms)
	"$recorder" -o data --no-syscalls -p $pid 2> said & local rec=$!
	until grep -q '^recorder: recording' said; do
		kill -0 $rec || { cat said >&2; exit 1; }
		sleep 0.005
	done
	recorded=$(ms)
	sleep 0.3
	told=$(ms)
	kill $rec; wait $rec
	echo -n "$((recorded - began)) $(($(ms) - told)) "
	kill $pid; wait $pid
	cat still
}

median() { sort -n | sed -n "$((rounds / 2 + 1))p"; }

printf '%-10s %12s %16s %18s\n' functions 'attach, ms' 'SIGTERM-exit, ms' 'target still, ms'
for n; do
	make_program "$n"
	for ((i = 0; i < rounds; i++)); do round; done > times
	printf '%-10s %12s %16s %18s\n' "$n" "$(awk '{ print $1 }' times | median)" "$(awk '{ print $2 }' times | median)" \
		"$(awk '{ print $3 }' times | median)"
done
