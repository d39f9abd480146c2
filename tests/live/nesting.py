#!/usr/bin/env python3
"""nesting.py DUMP [MS]: what `uftrace dump` printed, call by call: entries and exits of each task must match, times be in
order, and every call take longer than MS where that is given. Prints "NAME DURATION-IN-US" for each call, or what is wrong (status 1)."""
import re
import sys

LINE = re.compile(r"^(\d+)\.(\d{9})\s+(\d+): \[(entry|exit )\] (\S+)\(\S*\) depth: (\d+)")
least = float(sys.argv[2]) * 10**6 if len(sys.argv) > 2 else -1
open_calls, last, out = {}, {}, []


def wrong(line, why):
    sys.exit(f"{why}: {line.strip()}")


for line in open(sys.argv[1]):
    m = LINE.match(line)
    if not m:
        continue
    time, tid, depth = int(m[1]) * 10**9 + int(m[2]), m[3], int(m[6])
    stack = open_calls.setdefault(tid, [])
    if time < last.get(tid, 0):
        wrong(line, "earlier than the line before")
    last[tid] = time
    if m[4] == "entry":
        if depth != len(stack):
            wrong(line, f"{len(stack)} calls are open")
        stack.append((m[5], time))
        continue
    if not stack or depth != len(stack) - 1 or stack[-1][0] != m[5]:
        wrong(line, f"open is {stack[-1:]}")
    name, began = stack.pop()
    if time - began <= least:
        wrong(line, f"took {(time - began) / 1000} us only")
    out.append(f"{name} {(time - began) // 1000}")
for tid, stack in open_calls.items():
    if stack:
        sys.exit(f"{tid}: not ended: {stack}")
print("\n".join(out))
