"""tracedat.py < `trace-cmd report`: every func_entry has its func_exit, of the same function and depth, each inside its caller's."""
import re
import sys

line = re.compile(r'^\s*.*-(\d+)\s+\[\d+\].*?\s([\d.]+): (func_entry|func_exit): +(.*)$')
open_calls, wrong, calls = {}, [], 0
for text in sys.stdin:
    m = line.match(text)
    if not m:
        continue
    tid, time, kind, rest = m.groups()
    column = m.start(4)
    stack = open_calls.setdefault(tid, [])
    if kind == 'func_entry':
        calls += 1
        stack.append((rest.split('(')[0], column, float(time)))
        continue
    name = re.match(r'} /\* (\S+)', rest).group(1)
    if not stack:
        wrong.append('%s ends %s, which did not begin' % (tid, name))
        continue
    begun, at, since = stack.pop()
    if (begun, at) != (name, column) or float(time) < since:
        wrong.append('%s ends %s in %s' % (tid, name, begun))
wrong += ['%s: %s has no end' % (tid, call[0]) for tid, stack in open_calls.items() for call in stack]
print('\n'.join(wrong[:5]) if wrong else '%d calls' % calls)
sys.exit(bool(wrong) or not calls)
