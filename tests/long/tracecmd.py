#!/usr/bin/env python3
"""tracecmd.py KERNEL.dat RECORDER.dat: one program, recorded twice: by trace-cmd from the kernel's own events, and by recorder.

Of each task the same system calls with the same arguments and results, and the same of its life, in the same order; tasks are
told apart by the order in which their parents made them. Of the scheduler, how often each gave its CPU away to wait, and was
woken. Addresses are compared: run both with `setarch -R`. Prints what differs, and how much was compared.
"""
import re
import subprocess
import sys
from collections import Counter, defaultdict

LINE = re.compile(r"^\s*(.*)-(\d+)\s+\[(\d+)\]\s+(?:\S+\s+)?([\d.]+):\s+(\w+):\s*(.*)$")
FIELD = re.compile(r"(\w+)=(ARRAY\[[^\]]*\]|\"[^\"]*\"|\S+)")
LIFE = ("sched_process_exec", "sched_process_exit")
# The result differs from run to run: a moment, who started the program, which child ended first.
LOOSE = {"sys_exit_times", "sys_exit_time", "sys_exit_getppid", "sys_exit_wait4", "sys_exit_waitid"}


def report(path):
    text = subprocess.run(["trace-cmd", "report", "-R", "-i", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True, text=True, errors="replace").stdout
    for line in text.splitlines():
        m = LINE.match(line)
        if m:
            yield int(m[2]), m[5], m[6]


def number(text):
    try:
        return int(text, 0) & (1 << 64) - 1
    except ValueError:
        return text


class Recording:
    def __init__(self, path):
        self.events = defaultdict(list)      # of a task: (event, fields)
        self.name = {}                       # of a task by its number: "0", "0.1" the second that the first one made
        self.made = Counter()
        self.waits, self.woken = Counter(), Counter()
        self.fields = {}
        for pid, event, text in report(path):
            self.take(pid, event, {k: number(v) for k, v in FIELD.findall(text)})

    def take(self, pid, event, f):
        if event == "sched_process_exec" and not self.name:
            self.name[pid] = "0"
        if pid not in self.name and event != "sched_wakeup":
            return
        who = self.name.get(pid)
        if event == "sched_process_fork":
            self.name[f["child_pid"]] = "%s.%d" % (who, self.made[who])
            self.made[who] += 1
            self.events[who].append((event, ()))
        elif event == "sched_switch":
            if f["prev_pid"] == pid and f["prev_state"] == 1:
                self.waits[who] += 1
        elif event == "sched_wakeup":
            if f["pid"] in self.name:
                self.woken[self.name[f["pid"]]] += 1
        elif event in LIFE:
            self.fields[event] = {"filename"}
            self.events[who].append((event, f))
        elif event == "sys_enter_rt_sigreturn":
            pass                             # when a signal comes is nobody's to say
        elif event.startswith(("sys_enter_", "sys_exit_")):
            self.fields.setdefault(event, set(k for k in f if not k.startswith("__")))
            self.events[who].append((event, f))

    def plain(self, value):
        """Numbers of tasks differ from run to run."""
        return "task " + self.name[value] if value in self.name else value


def shown(rec, event, f, keys):
    if event in LOOSE:
        return event, ()
    return event, tuple((k, rec.plain(f[k])) for k in sorted(keys) if k in f) if f else ()


def begin(events):
    """From the second exec on: the first is setarch's, whose own addresses are still random."""
    execs = [i for i, (event, _) in enumerate(events) if event == "sched_process_exec"]
    return events[execs[1]:] if len(execs) > 1 else events


def same(x, y):
    """An int is shown with its sign by one, and as it stood in the register by the other."""
    if x[0] != y[0] or len(x[1]) != len(y[1]):
        return False
    for (k, a), (l, b) in zip(x[1], y[1]):
        narrow = isinstance(a, int) and isinstance(b, int) and {a >> 32, b >> 32} == {0, 0xffffffff}
        if k != l or (a & 0xffffffff != b & 0xffffffff if narrow else a != b):
            return False
    return True


def main():
    kernel, ours = Recording(sys.argv[1]), Recording(sys.argv[2])
    wrong, compared = [], 0
    for who in sorted(set(kernel.events) | set(ours.events)):
        a, b = kernel.events[who], ours.events[who]
        if who == "0":
            a, b = begin(a), begin(b)
        for i in range(max(len(a), len(b))):
            if i >= len(a) or i >= len(b):
                wrong.append("task %s: %d events of the kernel's, %d of ours; then %s" %
                             (who, len(a), len(b), (a if len(a) > len(b) else b)[i][0]))
                break
            keys = kernel.fields.get(a[i][0], set())
            x, y = shown(kernel, *a[i], keys), shown(ours, *b[i], keys)
            compared += 1
            if not same(x, y):
                wrong.append("task %s, event %d: %s\n%s against %s" % (who, i, x[0], x, y))
                break
    for what, x, y in (("waits", kernel.waits, ours.waits), ("is woken", kernel.woken, ours.woken)):
        for who in sorted(set(x) | set(y)):
            if x[who] != y[who]:
                print("note: task %s %s %d times in the kernel's, %d in ours" % (who, what, x[who], y[who]))
    print("\n".join(wrong[:5]) if wrong else "%d events of %d tasks" % (compared, len(kernel.events)))
    sys.exit(bool(wrong) or compared < 10)


main()
