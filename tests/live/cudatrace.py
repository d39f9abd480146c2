"""cudatrace.py NS < `trace-cmd report -t -R`: a wait ends no sooner than what was launched before it, at NS for each kernel.

A stream runs its kernels one after the other from the first launch on; one that was captured does not run."""
import re
import sys

line = re.compile(r'^.*\s(\d+)\.(\d{9}): (launch|sync): +(.*)$')
CAPTURED, WAIT_CONTEXT = 8, 13
busy_ns = int(sys.argv[1])
calls = []
for text in sys.stdin:
    m = line.match(text)
    if not m:
        continue
    field = dict(pair.split('=', 1) for pair in m.group(4).split() if '=' in pair)
    end = int(m.group(1)) * 10**9 + int(m.group(2))
    number = lambda name: int(field[name], 0)
    calls.append((end - number('duration'), end, m.group(3), number('stream'), number('flags'), number('kind') if 'kind' in field else 0))

began, kernels, wrong, waits = {}, {}, [], 0
for entry, end, event, stream, flags, kind in sorted(calls):
    if event == 'launch':
        if not flags & CAPTURED:
            began.setdefault(stream, entry)
            kernels[stream] = kernels.get(stream, 0) + 1
        continue
    for s in list(kernels) if kind == WAIT_CONTEXT else [stream]:
        n = kernels.pop(s, 0)
        if n and end - began[s] < n * busy_ns:
            wrong.append('%d kernels took %d ns' % (n, end - began[s]))
        began.pop(s, None)
    waits += end - entry >= busy_ns
print('\n'.join(wrong[:5]) if wrong else '%d waits' % waits)
sys.exit(bool(wrong) or not waits)
