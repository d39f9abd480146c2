"""autoargs.py TRUTH < replay: is what is shown of each call what the program says? Less may be shown, not other.

Of functions whose name begins with x all must be shown. A '?' in the truth is a value that nobody compares."""
import re
import sys

call = re.compile(r'\b(\w+)\((.*?)\)(?: = (.*?))?;?$')


def parts(text):
    m = call.search(text.strip())
    return (m.group(1), m.group(2), m.group(3)) if m else None


truth = [p for p in map(parts, open(sys.argv[1])) if p]
names = {name for name, _, _ in truth}
shown = [p for p in (parts(line.split('|', 1)[-1].split('/*')[0].rstrip().rstrip('{').rstrip()) for line in sys.stdin) if p and p[0] in names]
wrong = []
if [s[0] for s in shown] != [t[0] for t in truth]:
    seen, want = [s[0] for s in shown], [t[0] for t in truth]
    missing = set(want) - set(seen)
    truth = [t for t in truth if t[0] not in missing]
    if seen != [t[0] for t in truth]:
        wrong.append('other calls: %s, not %s' % (seen[:20], want[:20]))
    if any(name.startswith('x') for name in missing):
        wrong.append('not seen: %s' % missing)
values = 0
for (name, args, result), (_, true_args, true_result) in zip(shown, truth):
    if name.startswith('x'):
        fits = args == true_args and result == true_result
    else:
        got, true = args.split(', ') if args else [], true_args.split(', ')
        fits = len(got) <= len(true) and all(b == '?' or a == b for a, b in zip(got, true))
        fits = fits and (result is None or result == true_result)
    values += len(args.split(', ')) if args else 0
    if not fits:
        wrong.append('%s(%s) = %s is not %s(%s) = %s' % (name, args, result, name, true_args, true_result))
print('\n'.join(wrong[:10]) if wrong else 'all right: %d values' % values)
sys.exit(bool(wrong) or not shown)
