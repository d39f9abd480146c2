"""basstrace.py - bas text against strace's log of the same run: what each task did, in its order.

Both become lists of items for each life of a task: a key, all of which must agree in order, and details, which are judged
where the keys agree, since strace does not always know all.
"""
import difflib
import functools
import os
import re
import signal
from collections import Counter

import stracelog
from bastext import Text, pid_of

SHOWN = 20	# differences that are printed whole
O_CLOEXEC, O_PATH, O_TMPFILE = 0o2000000, 0o10000000, 0o20200000
FLAGS = {name: getattr(os, name) for name in dir(os) if name.startswith("O_")}
FLAGS.update(O_LARGEFILE=0o100000, O_TMPFILE=O_TMPFILE, FASYNC=0o20000, O_PATH=O_PATH, AT_SYMLINK_FOLLOW=0x400,
             AT_EMPTY_PATH=0x1000, AT_SYMLINK_NOFOLLOW=0x100, RENAME_NOREPLACE=1, RENAME_EXCHANGE=2, RENAME_WHITEOUT=4, NULL=0)
FLAGS.update({s.name: int(s) for s in signal.Signals})
FLAGS.update({"CLONE_" + name: 1 << bit for name, bit in {
    "VM": 8, "FS": 9, "FILES": 10, "SIGHAND": 11, "PIDFD": 12, "PTRACE": 13, "VFORK": 14, "PARENT": 15, "THREAD": 16,
    "NEWNS": 17, "SYSVSEM": 18, "SETTLS": 19, "PARENT_SETTID": 20, "CHILD_CLEARTID": 21, "DETACHED": 22, "UNTRACED": 23,
    "CHILD_SETTID": 24, "NEWCGROUP": 25, "NEWUTS": 26, "NEWIPC": 27, "NEWUSER": 28, "NEWPID": 29, "NEWNET": 30, "IO": 31,
    "CLEAR_SIGHAND": 32, "INTO_CGROUP": 33}.items()})
# The source was there when the call failed so.
SOURCE_WAS_THERE = {"EEXIST", "ENOTEMPTY", "EISDIR"}


def value(text):
    total = 0
    for word in re.sub(r"\s+", "", str(text)).split("|"):
        total |= FLAGS[word] if word in FLAGS else int(word, 8 if re.fullmatch(r"0[0-7]+", word) else 0)
    return total


class Item:
    def __init__(self, key, shown, judge=None, maybe=False):
        self.key, self.shown, self.judge, self.maybe = key, shown, judge, maybe


# ---- paths ----

class Root:
    """The tasks' root directory, where it is not strace's own."""

    def __init__(self, prefix):
        self.prefix = prefix.rstrip("/").encode()

    def inside(self, path):
        if path is not None and self.prefix and (path + b"/").startswith(self.prefix + b"/"):
            return path[len(self.prefix):] or b"/"
        return path

    def outside(self, path):
        return self.prefix + path

    def canonical(self, base, name):
        """The directory resolved, the last component not; None where that cannot be said any more."""
        path = name if name.startswith(b"/") else base + b"/" + name if base else None
        if path is None:
            return None
        directory, last = os.path.split(path)
        if last in (b"", b".", b"..") or self.prefix or re.match(rb"/(proc|dev/fd)(/|$)", path):
            return None
        real = os.path.realpath(directory)
        return os.path.join(real, last) if os.path.isdir(real) else None


def last_component(path):
    return path.rstrip(b"/").rsplit(b"/", 1)[-1]


def same_path(got, base, name, root):
    """None, or why @got is not what @name means."""
    want = root.canonical(base, name)
    if want is not None and got != want:
        return "is %r, want %r" % (got, want)
    last = last_component(name)
    if want is None and last not in (b"", b".", b"..") and last_component(got) != last:
        return "is %r, want .../%r" % (got, last)
    return None


# ---- scripts ----

@functools.lru_cache(None)
def first_line(path):
    """(interpreter, argument or None) of a script, () of another file, None when it is not to be had any more."""
    try:
        with open(path, "rb") as f:
            head = f.read(256)
    except OSError:
        return None
    if not head.startswith(b"#!"):
        return ()
    words = re.split(rb"[ \t]+", head[2:].split(b"\n")[0].strip(b" \t"), maxsplit=1)
    return words[0], words[1] if len(words) > 1 else None


def as_run(name, argv, cwd, root, opened=None):
    """The arguments that the new program gets, and the interpreter's name; None for a script that is gone."""
    argv = argv or [b""]
    path = opened or (name if name.startswith(b"/") else cwd + b"/" + name)
    for _ in range(6):
        script = first_line(root.outside(path))
        if script is None:
            return None, None
        if not script:
            break
        argv = [script[0]] + [a for a in script[1:] if a is not None] + [name] + argv[1:]
        name = path = script[0]
        if not path.startswith(b"/"):
            path = cwd + b"/" + path
    return argv, name


# ---- what strace says ----

def exec_item(call, root):
    at = call.name == "execveat"
    name, argv = call.args[1 if at else 0], call.args[2 if at else 1]
    argv = argv if isinstance(argv, list) else []
    base = root.inside(getattr(call.args[0], "path", None)) if at else None
    opened = None
    if at and not name.startswith(b"/") and not call.args[0].startswith("AT_FDCWD"):
        opened = base + b"/" + name if name else base
        name = b"/dev/fd/" + call.args[0].encode() + (b"/" + name if name else b"")

    def judge(event):
        said = []
        where = event.strings["CW"]
        want, interpreter = as_run(name, argv, where, root, opened)
        if want is None:
            if event.args != (argv or [b""]) and (name not in event.args or event.args[len(event.args) - len(argv) + 1:] != argv[1:]):
                said.append("arguments differ (the file is gone)")
        elif event.args != want:
            said.append("arguments: %s" % difference(event.args, want))
        if event.numbers["argsize"] != sum(len(a) + 1 for a in event.args):
            said.append("argsize")
        if opened and not call.args[1]:
            said.append(None if event.strings["PP"] == base else "PP is %r, want %r" % (event.strings["PP"], base))
        elif not opened:
            wrong = same_path(event.strings["PP"], where, name, root)
            said.append(wrong and "PP " + wrong)
            if interpreter is not None:
                wrong = same_path(event.strings["PI"], where, interpreter, root)
                said.append(wrong and "PI " + wrong)
        return said
    return Item(("exec",), "exec %r" % name, judge)


def difference(got, want):
    if len(got) != len(want):
        return "%d, want %d: %.200r, want %.200r" % (len(got), len(want), got, want)
    for i, (one, other) in enumerate(zip(got, want)):
        if one != other:
            return "[%d] is %.200r (%d bytes), want %.200r (%d bytes)" % (i, one, len(one), other, len(other))


def open_item(call, root):
    mode = "0"
    dirfd = None
    if call.name == "openat2":
        dirfd, name, how = call.args[:3]
        flags, mode = value(how["flags"]), how.get("mode", "0")
    elif call.name == "openat":
        dirfd, name, flags = call.args[0], call.args[1], value(call.args[2])
        mode = call.args[3] if len(call.args) > 3 else "0"
    elif call.name == "creat":
        name, flags, mode = call.args[0], os.O_CREAT | os.O_WRONLY | os.O_TRUNC, call.args[1]
    else:
        name, flags = call.args[0], value(call.args[1])
        mode = call.args[2] if len(call.args) > 2 else "0"
    mode = value(mode) if flags & os.O_CREAT or flags & O_TMPFILE == O_TMPFILE else 0
    base, path = root.inside(getattr(dirfd, "path", None)), root.inside(call.path)

    def judge(event):
        said, orig = [], event.strings["FO"]
        if path is not None and event.strings["FN"] != path:
            said.append("FN is %.300r, want %.300r" % (event.strings["FN"], path))
        if name is not None and name.startswith(b"/"):
            want = name
        elif base is not None and name is not None:
            want = base + b"/" + name
        else:
            want = None
            if name is not None and not orig.endswith(b"/" + name):
                said.append("FO is %.300r, want .../%.300r" % (orig, name))
        if want is not None and orig != want:
            said.append("FO is %.300r, want %.300r" % (orig, want))
        return said
    # The name stays bytes that can be shown; a descriptor that was closed at once by another thread has no path.
    return Item(("open", call.result, flags, mode), "open %.100r" % name, judge)


def two_names(call, root, first):
    """Of rename and link: (from, base, to, base)."""
    if call.name in ("rename", "link"):
        return call.args[0], None, call.args[1], None
    a = call.args
    return a[1], root.inside(getattr(a[0], "path", None)), a[3], root.inside(getattr(a[2], "path", None))


def moved_item(call, root, kind, letter):
    source, base, target, target_base = two_names(call, root, kind)
    flags = value(call.args[4]) if call.name in ("renameat2", "linkat") else None
    failed = call.error is not None

    def judge(event):
        said = []
        got, to = event.strings.get(letter + "F"), event.strings.get(letter + "T")
        if got is not None and source:
            wrong = same_path(got, base, source, root)
            said.append(wrong and "%sF %s" % (letter, wrong))
        if got is not None and source == b"" and base is not None and got != base:
            said.append("%sF is %r, want %r" % (letter, got, base))
        if got is None and call.error in SOURCE_WAS_THERE:
            said.append("%sF is missing" % letter)
        if to is not None:
            wrong = same_path(to, target_base, target, root)
            said.append(wrong and "%sT %s" % (letter, wrong))
        if got is not None and event.numbers.get("flags") != flags:
            said.append("flags are %s, want %s" % (event.numbers.get("flags"), flags))
        return said
    return Item((kind, failed), "%s %.100r %.100r" % (call.name, source, target), judge)


def symlink_item(call, root):
    target, link = call.args[0], call.args[-1]
    base = root.inside(getattr(call.args[1], "path", None)) if call.name == "symlinkat" else None

    def judge(event):
        wrong = same_path(event.strings["SL"], base, link, root)
        return ["ST is %r, want %r" % (event.strings["ST"], target) if event.strings["ST"] != target else None,
                wrong and "SL " + wrong]
    return Item(("symlink",), "symlink %.100r" % link, judge)


def fork_item(call):
    flags = None
    if call.name == "clone":
        flags = value(call.named["flags"])
    elif call.name == "clone3":
        flags = value(call.args[0]["flags"]) | value(call.args[0].get("exit_signal", "0"))
    shown = "%s, flags %s" % (call.name, flags)
    if call.result is not None and call.result > 0:
        return Item(("fork", flags, call.result), shown)
    if flags is None or call.result == 0:
        return None
    return Item(("no fork", flags), shown, maybe=call.result is None)


def strace_item(call, root):
    name, done = "fcntl" if call.name == "fcntl64" else call.name, call.result is not None and call.result >= 0
    if name in ("clone", "clone3", "fork", "vfork"):
        return fork_item(call)
    if name.startswith(("rename", "link")) and call.result is not None:
        return moved_item(call, root, *(("rename", "R") if name[0] == "r" else ("link", "L")))
    if call.result is None and name == "close":
        return Item(("close", value(call.args[0])), call.row[:60], maybe=True)
    if not done:
        return None
    if name in ("execve", "execveat"):
        return exec_item(call, root)
    if name in ("open", "openat", "openat2", "creat"):
        return open_item(call, root)
    if name == "close":
        return Item(("close", value(call.args[0])), "close")
    if name in ("pipe", "pipe2"):
        return Item(("pipe", *map(value, call.args[0]), value(call.args[1]) if name == "pipe2" else 0), "pipe")
    if name.startswith("symlink"):
        return symlink_item(call, root)
    if name == "fcntl" and not str(call.args[1]).startswith("F_DUPFD") or name == "dup2" and value(call.args[0]) == call.result:
        return None
    if name == "fcntl" or name.startswith("dup"):
        flags = value(call.args[2]) if name == "dup3" else O_CLOEXEC if name == "fcntl" and "CLOEXEC" in call.args[1] else 0
        return Item(("dup", value(call.args[0]), call.result, flags), name)
    return None


def strace_items(life, root):
    items = [item for item in (strace_item(call, root) for call in life.calls) if item]
    # With signal=none strace does not say who was killed.
    items.append(Item(("exit", life.status or 0), "end", maybe=not life.ended))
    return items


# ---- what the text says ----

def bas_items(events):
    items, flags = [], None
    for event in events:
        n, tag = event.numbers, event.tag
        key = None
        if tag == "SysClone":
            flags = n["flags"]
            continue
        if tag == "SchedFork":
            key, flags = ("fork", flags, pid_of(n["pid"])), None
        elif tag == "SysCloneFailed":
            key, flags = ("no fork", flags), None
        elif tag == "New_proc":
            key = ("exec",)
        elif tag == "Open":
            key = ("open", n["fd"], n["flags"] & 0xffffffff, n["mode"])
        elif tag == "Close":
            key = ("close", n["fd"])
        elif tag == "Pipe":
            key = ("pipe", n["fd1"], n["fd2"], n["flags"])
        elif tag == "Dup":
            key = ("dup", n["oldfd"], n["newfd"], n["flags"])
        elif tag.startswith(("Rename", "Link")):
            key = (("rename" if tag[0] == "R" else "link"), event.failed)
        elif tag == "Symlink":
            key = ("symlink",)
        elif tag == "Exit":
            key = ("exit", n["status"])
        if key:
            item = Item(key, "line %d" % event.no)
            item.event = event
            items.append(item)
    return items


# ---- one against the other ----

class Comparison:
    def __init__(self):
        self.counts, self.differences, self.unseen = Counter(), 0, 0

    def differ(self, text):
        self.differences += 1
        if self.differences <= SHOWN:
            print(text)

    def task(self, pid, wants, gots):
        keys = [w.key for w in wants]
        have = [g.key for g in gots]
        if keys != have:
            wants = [w for w in wants if not w.maybe] if have == [w.key for w in wants if not w.maybe] else wants
            keys = [w.key for w in wants]
        if keys == have:
            pairs = list(zip(wants, gots))
        else:
            pairs = []
            for what, a, b, c, d in difflib.SequenceMatcher(None, keys, have, False).get_opcodes():
                if what == "equal":
                    pairs += zip(wants[a:b], gots[c:d])
                    continue
                for want in wants[a:b]:
                    if not want.maybe:
                        self.differ("%d: missing in the text: %s %s" % (pid, want.shown, want.key))
                for got in gots[c:d]:
                    self.differ("%d: not in strace's log: %s %s" % (pid, got.shown, got.key))
        for want, got in pairs:
            self.counts[want.key[0]] += 1
            for wrong in filter(None, want.judge(got.event) if want.judge else ()):
                self.differ("%d: %s, %s: %s" % (pid, got.shown, want.shown, wrong))


def compared(file, log, prefix):
    text, root, result = Text(file), Root(prefix), Comparison()
    lives, strange = stracelog.lives(log)
    for wrong in text.wrong:
        result.differ("check: " + wrong)
    for row in strange:
        result.differ("strace's log: not understood: %.300s" % row.rstrip())
    of_task, of_pid = {}, {}
    for event in text.events:
        of_task.setdefault(event.upid, []).append(event)
    for upid in sorted(set(of_task) | set(text.children)):
        if upid:
            of_pid.setdefault(pid_of(upid), []).append(of_task.get(upid, []))
    forked = Counter(c.result for own in lives.values() for life in own for c in life.calls
                     if c.name in ("clone", "clone3", "fork", "vfork") and c.result and c.result > 0)
    for pid, own in lives.items():
        there = of_pid.get(pid, [])
        if len(there) < len(own):
            result.differ("%d: %d tasks of this number, the text has %d" % (pid, len(own), len(there)))
        for i, (life, events) in enumerate(zip(own, there)):
            gots = bas_items(events)
            # What strace started: the text has also what it did before its exec.
            if i == 0 and forked[pid] < len(own):
                first = next((n for n, item in enumerate(gots) if item.key == ("exec",)), 0)
                gots = gots[first:]
            result.counts["task"] += 1
            result.task(pid, strace_items(life, root), gots)
    for kind in ("task", "exec", "open", "close", "pipe", "dup", "rename", "link", "symlink", "fork", "no fork", "exit"):
        print("%-8s %d" % (kind, result.counts[kind]))
    if not all(result.counts[kind] for kind in ("task", "exec", "open", "exit")):
        print("nothing to speak of was compared")
        return True
    print("%d differences" % result.differences)
    return result.differences > 0
