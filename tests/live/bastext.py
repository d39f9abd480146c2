"""bastext.py - bas text, read line by line, with what is wrong with it.

Written from the description of the format alone, so that it can disagree with recorder. Text(file) has .events, those that
are whole, in the order of their first lines, and .wrong, a line for each violation.
"""
import re

LINE = re.compile(rb"0: (0|[1-9]\d*),(0|[1-9]\d*),(0|[1-9]\d*),(0|[1-9]\d*)!(.*)", re.S)
LOST = re.compile(rb"CPU:(?:0|[1-9]\d*) \[LOST ([1-9]\d*) EVENTS\]")
WORD = re.compile(rb"([A-Z][A-Za-z0-9_]*)(?:\||\[(0|[1-9]\d*)\])(.*)", re.S)
NUMBER = re.compile(r"0|-?[1-9]\d*")
PID_BITS = 22
LONGEST_LINE, LONGEST_PART, LONGEST_ONE_LINE, LONGEST_COMM = 2047, 900, 1990, 15

# The keys of each tag in their order, one in brackets may be absent; then the strings, with the key that says their size.
HEADS = {
    "New_proc": ("argsize prognameisize prognamepsize cwdsize", "PI=prognameisize PP=prognamepsize CW=cwdsize"),
    "SchedFork": ("pid", ""),
    "SysClone": ("flags", ""),
    "SysCloneFailed": ("", ""),
    "Exit": ("status", ""),
    "Open": ("fnamesize forigsize flags mode fd", "FN=fnamesize FO=forigsize"),
    "Pipe": ("fd1 fd2 flags", ""),
    "RenameFrom": ("fnamesize", "RF=fnamesize"),
    "Rename2From": ("fnamesize flags", "RF=fnamesize"),
    "RenameTo": ("fnamesize", "RT=fnamesize"),
    "RenameFailed": ("", ""),
    "LinkFrom": ("fnamesize", "LF=fnamesize"),
    "LinkatFrom": ("fnamesize flags", "LF=fnamesize"),
    "LinkTo": ("fnamesize", "LT=fnamesize"),
    "LinkFailed": ("", ""),
    "Symlink": ("targetnamesize [resolvednamesize] linknamesize",
                "ST=targetnamesize SR=resolvednamesize SL=linknamesize"),
    "Close": ("fd", ""),
    "Dup": ("oldfd newfd flags", ""),
    "Mount": ("[sourcenamesize] targetnamesize [typenamesize] flags",
              "MS=sourcenamesize MT=targetnamesize MX=typenamesize"),
    "MountFailed": ("", ""),
    "Umount": ("targetnamesize flags", "MT=targetnamesize"),
    "UmountFailed": ("", ""),
    "Comm": ("size", "CN=size"),
}
# What the next line of the task must be, and what it may be.
HALVES = {"RenameFrom": ("RenameTo", "RenameFailed"), "Rename2From": ("RenameTo", "RenameFailed"),
          "LinkFrom": ("LinkTo", "LinkFailed"), "LinkatFrom": ("LinkTo", "LinkFailed"),
          "SysClone": ("SchedFork", "SysCloneFailed")}
MAY_FAIL = {"Mount": "MountFailed", "Umount": "UmountFailed"}
SECOND_HALVES = {"RenameTo", "LinkTo"}
SIZES = {pair.split("=")[1] for _, strings in HEADS.values() for pair in strings.split()}


def pid_of(upid):
    return upid & ((1 << PID_BITS) - 1)


class Line:
    __slots__ = ("no", "upid", "cpu", "time", "tag", "index", "rest")

    def __init__(self, no, upid, cpu, time, tag, index, rest):
        self.no, self.upid, self.cpu, self.time, self.tag, self.index, self.rest = no, upid, cpu, time, tag, index, rest


class Event:
    """One event: its tag, numbers (without the sizes), strings, arguments. failed: the second half says so."""
    __slots__ = ("no", "upid", "cpu", "time", "tag", "numbers", "strings", "args", "failed", "upids")

    def __init__(self, line):
        self.no, self.upid, self.cpu, self.time, self.tag = line.no, line.upid, line.cpu, line.time, line.tag
        self.numbers, self.strings, self.args, self.failed, self.upids = {}, {}, [], False, []


class Wrong(Exception):
    def __init__(self, line, why):
        super().__init__(why)
        self.line = line


class Task:
    """The lines of one upid, one after the other, made into events."""

    def __init__(self, text, upid):
        self.text, self.upid, self.ahead, self.last = text, upid, None, None
        self.named_by = self.first = self.exit = None

    def events(self, lines):
        """Goes on with the next event after one that is wrong."""
        self.lines, self.at = lines, 0
        while self.at < len(lines):
            began = self.at
            try:
                event = self.event()
                for line in lines[began + 1:self.at]:
                    if line.cpu != event.cpu:
                        raise Wrong(line, "another CPU than the event's first line")
                yield event
            except Wrong as wrong:
                self.text.say(wrong.line, "%s" % wrong)
                self.at = max(self.at, began + 1)
                while self.at < len(lines) and lines[self.at].tag not in HEADS and lines[self.at].tag != "UPID":
                    self.at += 1

    def peek(self):
        return self.lines[self.at] if self.at < len(self.lines) else None

    def take(self, what):
        line = self.peek()
        if line is None:
            raise Wrong(self.lines[-1], "the task's lines end, want %s" % what)
        self.at += 1
        return line

    def event(self):
        line = self.take("an event")
        if line.tag == "UPID":
            return self.environment(line)
        if line.tag not in HEADS:
            raise Wrong(line, "%s is not the begin of an event" % line.tag)
        if line.tag in SECOND_HALVES:
            raise Wrong(line, "%s without its first half" % line.tag)
        event = Event(line)
        self.half(event, line)
        if event.tag == "New_proc":
            self.arguments(event)
        if event.tag in HALVES and event.tag != "SysClone":
            second = self.take(" or ".join(HALVES[event.tag]))
            if second.tag not in HALVES[event.tag]:
                raise Wrong(second, "%s after %s" % (second.tag, event.tag))
            event.failed = second.tag.endswith("Failed")
            self.half(event, second)
        elif event.tag == "SysClone":
            second = self.peek()
            if second is None or second.tag not in HALVES["SysClone"]:
                raise Wrong(line, "SysClone, then %s" % (second.tag if second else "nothing"))
        elif event.tag in MAY_FAIL and self.peek() and self.peek().tag == MAY_FAIL[event.tag]:
            self.half(event, self.take("failure"))
            event.failed = True
        elif event.tag.endswith("Failed"):
            event.failed = True
        return event

    def half(self, event, line):
        keys, strings = HEADS[line.tag]
        numbers = self.numbers(line, keys.split())
        for pair in strings.split():
            tag, size = pair.split("=")
            if size in numbers:
                event.strings[tag] = self.string(tag, numbers[size])
        if line.tag == "Comm" and numbers["size"] > LONGEST_COMM:
            raise Wrong(line, "a name of %d bytes" % numbers["size"])
        event.numbers.update((k, v) for k, v in numbers.items() if k not in SIZES)

    def numbers(self, line, keys):
        if line.index is not None:
            raise Wrong(line, "%s[ where %s| belongs" % (line.tag, line.tag))
        numbers, names = {}, []
        for pair in line.rest.decode("latin-1").split(",") if line.rest else []:
            name, _, value = pair.partition("=")
            if not NUMBER.fullmatch(value) or value == "-0":
                raise Wrong(line, "%s: %s is not a number" % (line.tag, pair))
            names.append(name)
            numbers[name] = int(value)
        want = [k.strip("[]") for k in keys if k[0] != "[" or k.strip("[]") in numbers]
        if names != want:
            raise Wrong(line, "%s has the keys %s, want %s" % (line.tag, names, want))
        return numbers

    def rest_of(self, line, size):
        """What Cont lines add to a part, with the Cont_end after them."""
        more = b""
        while self.peek() and self.peek().tag == "Cont":
            cont = self.take("Cont")
            if cont.index is not None:
                raise Wrong(cont, "Cont[")
            if size is None or size >= LONGEST_PART:
                self.part(cont)
            more += b"\n" + cont.rest
        if more:
            self.end("Cont_end")
        return line.rest + more

    def part(self, line):
        if len(line.rest) > LONGEST_PART:
            raise Wrong(line, "a part of %d bytes" % len(line.rest))

    def end(self, tag):
        line = self.take(tag)
        if line.tag != tag or line.index is not None or line.rest:
            raise Wrong(line, "%s where %s| belongs" % (line.tag, tag))

    def string(self, tag, size):
        line = self.take(tag)
        if line.tag != tag:
            raise Wrong(line, "%s where %s belongs" % (line.tag, tag))
        if line.index is None:
            if size >= LONGEST_PART and not (self.text.one_line and size <= LONGEST_ONE_LINE):
                raise Wrong(line, "%s of %d bytes in short form" % (tag, size))
            string = self.rest_of(line, 0)
        else:
            if size < LONGEST_PART:
                raise Wrong(line, "%s of %d bytes in long form" % (tag, size))
            string, count = b"", 0
            while True:
                if line.index != count:
                    raise Wrong(line, "%s[%d] where [%d] belongs" % (tag, line.index, count))
                self.part(line)
                string += self.rest_of(line, None)
                count += 1
                if not self.peek() or self.peek().tag != tag:
                    break
                line = self.take(tag)
            self.end(tag + "_end")
        if len(string) != size:
            raise Wrong(line, "%s has %d bytes, its event says %d" % (tag, len(string), size))
        if b"\0" in string:
            raise Wrong(line, "a NUL in %s" % tag)
        return string

    def arguments(self, event):
        while self.peek() and self.peek().tag == "A":
            line = self.take("A")
            if line.index is None:
                raise Wrong(line, "A| where A[n] belongs")
            self.part(line)
            string = self.rest_of(line, None)
            if event.args and line.index == len(event.args) - 1:
                event.args[-1] += string
            elif line.index == len(event.args):
                event.args.append(string)
            else:
                raise Wrong(line, "A[%d] after %d arguments" % (line.index, len(event.args)))
        self.end("End_of_args")
        size = sum(len(a) + 1 for a in event.args)
        if event.numbers["argsize"] != size:
            raise Wrong(event, "argsize=%d, the arguments have %d bytes" % (event.numbers["argsize"], size))

    def environment(self, line):
        event = Event(line)
        if line.upid:
            raise Wrong(line, "UPID in the name of a task")
        while line.tag == "UPID":
            if line.index is not None or not NUMBER.fullmatch(line.rest.decode("latin-1")):
                raise Wrong(line, "UPID of %r" % line.rest)
            event.upids.append(int(line.rest))
            line = self.take("Env")
        string, count = b"", 0
        while True:
            if line.tag != "Env" or line.index != count:
                raise Wrong(line, "%s where Env[%d] belongs" % (line.tag, count))
            self.part(line)
            string += self.rest_of(line, None)
            count += 1
            if not self.peek() or self.peek().tag != "Env":
                break
            line = self.take("Env")
        event.strings["Env"] = string
        return event


class Text:
    def __init__(self, path, one_line=False):
        self.one_line, self.wrong, self.lost, self.events, self.tasks = one_line, [], 0, [], {}
        self.cwd, self.children, self.root, lines = None, {}, None, {}
        last, first = -1, None
        for line in self.read(path):
            if first is None:
                first = line
            of_task = lines.setdefault(line.upid, [])
            if of_task and line.time <= of_task[-1].time:
                self.say(line, "not later than the task's line before")
            if line.time <= last:
                self.say(line, "not later than the line before")
            last = max(last, line.time)
            if line.time < first.time:
                self.say(line, "earlier than line 2")
            of_task.append(line)
        for upid, of_task in lines.items():
            task = self.tasks[upid] = Task(self, upid)
            task.first = of_task[0]
            if upid >> PID_BITS == 0 and upid:
                self.say(of_task[0], "upid %d has no sequence number" % upid)
            self.events += task.events(of_task)
        self.events.sort(key=lambda e: e.no)
        self.lives()
        self.environments()

    def say(self, line, why):
        self.wrong.append("%d: %s" % (line if isinstance(line, int) else line.no, why))

    def read(self, path):
        data = open(path, "rb").read()
        if data and not data.endswith(b"\n"):
            self.say(data.count(b"\n") + 1, "the last line has no end")
        rows = data.split(b"\n")
        rows.pop()
        if not rows or not rows[0].startswith(b"INITCWD=/"):
            self.say(1, "not INITCWD= and a directory")
        self.cwd = rows[0][8:] if rows else b""
        for no, row in enumerate(rows, 1):
            if len(row) > LONGEST_LINE:
                self.say(no, "%d bytes long" % len(row))
            if no == 1:
                continue
            lost = LOST.fullmatch(row)
            if lost:
                self.lost += int(lost[1])
                continue
            m = LINE.fullmatch(row)
            if not m:
                self.say(no, "not a line of the format: %r" % row[:60])
                continue
            upid, cpu, sec, nsec = map(int, m.group(1, 2, 3, 4))
            if nsec >= 10**9 or upid >= 1 << 63:
                self.say(no, "a number is too large")
            word = WORD.fullmatch(m[5])
            tag = word[1].decode() if word else None
            if tag not in KNOWN:
                self.say(no, "no known tag: %r" % m[5][:40])
                continue
            index = None if word[2] is None else int(word[2])
            yield Line(no, upid, cpu, sec * 10**9 + nsec, tag, index, word[3])

    def lives(self):
        """One root, one parent for each other task, one end, and nothing after it."""
        upids = [u for u in self.tasks if u]
        if not upids:
            self.say(1, "no event at all")
            return
        seen_seq = {}
        for event in self.events:
            task = self.tasks[event.upid]
            if event.tag == "SchedFork":
                child = event.numbers["pid"]
                if child in seen_seq:
                    self.say(event, "a second parent of %d" % child)
                seen_seq[child] = event
                if child in self.tasks:
                    self.tasks[child].named_by = event
                    if self.tasks[child].first.time <= event.time:
                        self.say(event, "the child has a line before it, line %d" % self.tasks[child].first.no)
            if task.exit and event.upid:
                self.say(event, "%s after the Exit of line %d" % (event.tag, task.exit.no))
            if event.tag == "Exit":
                if event.numbers["status"] not in range(256):
                    self.say(event, "status is not one byte")
                task.exit = event
        self.children = seen_seq
        self.root = min(set(upids) | set(seen_seq))
        if self.root in seen_seq:
            self.say(seen_seq[self.root], "the smallest upid, %d, has a parent" % self.root)
        for upid in upids:
            if upid != self.root and upid not in seen_seq:
                self.say(self.tasks[upid].first, "no SchedFork names %d" % upid)
        numbered = sorted(u >> PID_BITS for u in set(upids) | set(seen_seq))
        for one, next_one in zip(numbered, numbered[1:]):
            if one == next_one:
                self.say(1, "two tasks have the sequence number %d" % one)

    def environments(self):
        strings = set()
        for event in self.events:
            if event.tag != "UPID":
                continue
            string = event.strings["Env"]
            if string in strings:
                self.say(event, "a second block for %r" % string[:60])
            strings.add(string)
            if len(set(event.upids)) != len(event.upids):
                self.say(event, "a upid twice")


KNOWN = set(HEADS) | {"A", "End_of_args", "Cont", "Cont_end", "UPID", "Env"}
for _, _strings in HEADS.values():
    for _pair in _strings.split():
        KNOWN |= {_pair.split("=")[0], _pair.split("=")[0] + "_end"}
