"""stracelog.py - a log of strace -f -q -ttt -y -v -xx, as calls in the order of each task.

lives(path) gives {pid: [Life, ...]}: a number may be had by one task after another.
"""
import re

ROW = re.compile(r"(\d+) +\d+\.\d+ (.*)", re.S)
CALL = re.compile(r"([a-z_0-9]+)\((.*)", re.S)
RESUMED = re.compile(r"<\.\.\. ([a-z_0-9]+) resumed>(.*)", re.S)
ENDED = re.compile(r"\+\+\+ (?:exited with (\d+)|killed by (\w+)(?: \(core dumped\))?) \+\+\+")
SUPERSEDED = re.compile(r"\+\+\+ superseded by execve in pid (\d+) \+\+\+")
TOKEN = re.compile(r'"[^"]*"(?:\.\.\.)?|<(?:\\x[0-9a-f]{2})*>(?:\(deleted\))?|/\*.*?\*/|[\[\](){},<>]|[^"\[\](){},<>/]+|/')
RESULT = re.compile(r"\s*= (-?\d+|0x[0-9a-f]+|\?)(<(?:\\x[0-9a-f]{2})*>(?:\(deleted\))?)?(?: ([A-Z]\w+))?", re.S)
UNFINISHED = "<unfinished ...>"


class Fd(str):
    """A descriptor as printed, with the path that -y shows."""
    path = None


class Call:
    __slots__ = ("name", "args", "named", "result", "path", "error", "row")


class Life:
    def __init__(self, pid):
        self.pid, self.calls, self.status, self.ended, self.parent, self.open = pid, [], None, False, None, None


def unhex(text):
    return bytes.fromhex(text.replace("\\x", ""))


def shown_path(token):
    """Of <path>(deleted), as the kernel says it."""
    return unhex(token[1:token.rindex(">")]) + (b" (deleted)" if token.endswith("(deleted)") else b"")


class Arguments:
    """strace's arguments up to the parenthesis that ends them: bytes, lists, dicts, and text for all else."""

    def __init__(self, text):
        self.text, self.at = text, 0
        self.next()

    def next(self):
        m = TOKEN.match(self.text, self.at)
        self.token, self.at = (m[0], m.end()) if m else (None, self.at)

    def item(self):
        name, value = None, ""
        while self.token is not None and self.token not in ",)]}":
            token = self.token
            if token[0] == '"':
                value = None if token.endswith("...") else unhex(token[1:-1])
                self.next()
            elif token[0] in "[{(":
                value = self.group("]})"["[{(".index(token[0])])
            elif token[0] == "<" and len(token) > 1:
                fd = Fd(value)
                fd.path = shown_path(token)
                value = fd
                self.next()
            elif token.startswith("/*") or token in "<>/":
                self.next()
            else:
                m = re.match(r"\s*(\w+)=(?!>)(.*)", token, re.S)
                if m:
                    name, token = m[1], m[2]
                if token.strip() and value == "":
                    value = token.strip()
                self.next()
            if value not in ("", None) and self.token is not None and self.token.strip() in ("=", "=>"):
                while self.token is not None and self.token not in ",)]}":	# what a struct became
                    self.skip()
        return name, value

    def skip(self):
        if self.token[0] in "[{(" and len(self.token) == 1:
            self.group("]})"["[{(".index(self.token[0])])
        else:
            self.next()

    def group(self, end):
        items, names = [], {}
        self.next()
        while self.token is not None and self.token != end:
            name, value = self.item()
            if name:
                names[name] = value
            elif value != "":
                items.append(value)
            if self.token == ",":
                self.next()
            elif self.token != end:
                break
        if self.token == end:
            self.next()
        return names if names else items


def call_of(row):
    m = CALL.match(row)
    if not m:
        return None
    call = Call()
    call.name, call.row = m[1], row
    args = Arguments("(" + m[2])
    call.args, call.named = [], {}
    args.next()
    while args.token is not None and args.token != ")":
        name, value = args.item()
        call.args.append(value)
        if name:
            call.named[name] = value
        if args.token == ",":
            args.next()
    result = RESULT.match(args.text, args.at)
    if args.token != ")" or not result:
        return None
    call.result = None if result[1] == "?" else int(result[1], 0)
    call.path = shown_path(result[2]) if result[2] else None
    call.error = result[3]
    return call


def lives(path):
    all_lives, strange, ends = {}, [], 0

    def life(pid):
        own = all_lives.setdefault(pid, [])
        if not own or own[-1].ended:
            own.append(Life(pid))
        return own[-1]

    for raw in open(path, encoding="latin-1", newline="\n"):
        m = ROW.match(raw.rstrip("\n"))
        if not m:
            strange.append(raw)
            continue
        task, row = life(int(m[1])), m[2]
        ended, superseded, resumed = ENDED.match(row), SUPERSEDED.match(row), RESUMED.match(row)
        if ended:
            task.ended, task.status = True, int(ended[1]) & 255 if ended[1] else 0
            ends += 1
        elif superseded:
            other = life(int(superseded[1]))
            task.open, other.open = other.open, None
            other.ended, other.status = True, 0
        elif row.endswith(UNFINISHED):
            task.open = row[:-len(UNFINISHED)].rstrip(" ") if not resumed else (task.open or "") + resumed[2]
        elif resumed:
            call = call_of((task.open or "") + resumed[2])
            task.open = None
            if call:
                task.calls.append(call)
            else:
                strange.append(raw)
        elif row.startswith(("---", "[ Process", "strace:")):
            pass
        else:
            call = call_of(row)
            if call:
                task.calls.append(call)
            else:
                strange.append(raw)
    if not ends:
        strange.append("no task ended: strace with -q, not -qq")
    return all_lives, strange
