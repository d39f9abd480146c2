#!/usr/bin/env python3
"""bas.py - judges bas text.

    bas.py check [--long-lines] [--ended] FILE	what breaks the format's rules, a line for each; then events by tag. Status 1 if any
						--ended: each task but the root has its Exit
    bas.py compare [--root DIR] FILE LOG	against what strace said of the same run; DIR: the tasks' root as strace sees it
    bas.py events [-p PID] FILE [TAG...]	an event a line: PID, tag, numbers, strings, escaped, with tabs between
"""
import argparse
import sys
from collections import Counter

from bastext import Text, pid_of

ESCAPES = {b: "\\x%02x" % b for b in range(256) if b < 32 or b > 126}
ESCAPES.update({ord("\\"): "\\\\", ord("\n"): "\\n", ord("\t"): "\\t"})


def escaped(raw):
    return raw.decode("latin-1").translate(ESCAPES)


def check(options):
    text = Text(options.file, options.long_lines)
    if options.ended:
        for upid, named in text.children.items():
            if upid not in text.tasks or not text.tasks[upid].exit:
                text.say(named, "%d has no Exit" % upid)
    for wrong in text.wrong:
        print(wrong)
    tags = Counter(e.tag for e in text.events)
    print("lost %d" % text.lost)
    for tag, count in sorted(tags.items()):
        print("%s %d" % (tag, count))
    return bool(text.wrong)


def event_line(event):
    numbers = dict(event.numbers)
    if event.tag == "SchedFork":
        numbers["pid"] = pid_of(numbers["pid"])
    columns = [str(pid_of(event.upid)), event.tag, ",".join("%s=%d" % pair for pair in numbers.items())]
    columns += ["%s=%s" % (tag, escaped(s)) for tag, s in event.strings.items()]
    columns += ["A=" + escaped(a) for a in event.args] + ["UPID=%d" % pid_of(u) for u in event.upids]
    return "\t".join(columns + ["failed"] * event.failed)


def events(options):
    found = 0
    for event in Text(options.file, options.long_lines).events:
        if options.pid is not None and pid_of(event.upid) != options.pid or options.tag and event.tag not in options.tag:
            continue
        found += 1
        print(event_line(event))
    return not found


def compare(options):
    from basstrace import compared
    return compared(options.file, options.log, options.root)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("check", "compare", "events"):
        command = commands.add_parser(name)
        command.add_argument("file")
        command.add_argument("--long-lines", action="store_true")
    commands.choices["check"].add_argument("--ended", action="store_true")
    commands.choices["compare"].add_argument("log")
    commands.choices["compare"].add_argument("--root", default="")
    commands.choices["events"].add_argument("tag", nargs="*")
    commands.choices["events"].add_argument("-p", "--pid", type=int)
    options = parser.parse_args()
    sys.exit({"check": check, "compare": compare, "events": events}[options.command](options))


main()
