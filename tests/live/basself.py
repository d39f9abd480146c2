#!/usr/bin/env python3
"""basself.py - the judges of bas text judged: good text passes, each kind of damage is found, and so is each difference."""
import contextlib
import io
import os
import sys
import tempfile

import basstrace
from bastext import Text

ROOT, SH, CC = 4194404, 8388709, 12583014
FOLDER = tempfile.mkdtemp()
bad = []


def lines(upid, begin, *texts):
    return ["0: %d,0,10,%d!%s" % (upid, begin + i, text) for i, text in enumerate(texts)]


GOOD = ["INITCWD=/w"]
GOOD += lines(ROOT, 1, "SysClone|flags=18874385", "SchedFork|pid=%d" % SH)
GOOD += lines(SH, 500, "New_proc|argsize=20,prognameisize=11,prognamepsize=11,cwdsize=2", "PI|/usr/bin/sh", "PP|/usr/bin/sh",
              "CW|/w", "A[0]sh", "A[1]-c", 'A[2]cc -c "a b.c"', "End_of_args|",
              "Open|fnamesize=4,forigsize=6,flags=524288,mode=0,fd=3", "FN|/w/x", "FO|/w/./x",
              "Pipe|fd1=4,fd2=5,flags=0", "Dup|oldfd=4,newfd=6,flags=0", "Close|fd=3", "SchedFork|pid=%d" % CC)
GOOD += lines(CC, 600, "RenameFrom|fnamesize=4", "RF|/w/a", "RenameTo|fnamesize=4", "RT|/w/b", "RenameFailed|",
              "Symlink|targetnamesize=1,linknamesize=4", "ST|b", "SL|/w/l", "Exit|status=127")
GOOD += lines(SH, 700, "Exit|status=127")


def judged(rows, one_line=False):
    path = os.path.join(FOLDER, "text")
    with open(path, "wb") as f:
        f.write("".join(r + "\n" for r in rows).encode("latin-1"))
    return Text(path, one_line)


def expect(name, rows, wrong, one_line=False):
    said = judged(rows, one_line).wrong
    if not wrong and said or wrong and not any(wrong in s for s in said):
        bad.append("%s: want %r, is %s" % (name, wrong, said[:3]))


def edited(old, new):
    rows = "\n".join(GOOD)
    assert rows.count(old) == 1, old
    return rows.replace(old, new).split("\n")


def with_args(*texts, size):
    """GOOD with other arguments."""
    begin = next(i for i, r in enumerate(GOOD) if "!A[0]" in r)
    return [r.replace("argsize=20", "argsize=%d" % size).replace(",10,5", ",10,9") for r in GOOD[:begin]] + \
        ["0: %d,0,11,%d!%s" % (SH, i, t) for i, t in enumerate(texts + ("End_of_args|", "Exit|status=0"))]


def opened(*texts, size):
    texts = ("Open|fnamesize=%d,forigsize=2,flags=0,mode=0,fd=3" % size,) + texts + ("FO|/x",)
    return GOOD[:3] + lines(SH, 500, *texts)


expect("the example", GOOD, None)
expect("empty", [], "INITCWD")
expect("no first line", GOOD[1:], "INITCWD")
expect("cwd not absolute", edited("INITCWD=/w", "INITCWD=w"), "INITCWD")
expect("no event", GOOD[:1], "no event")
expect("a blank line", GOOD[:3] + [""] + GOOD[3:], "not a line")
expect("no 0:", edited("0: %d,0,10,1!" % ROOT, "%d,0,10,1!" % ROOT), "not a line")
expect("padded number", edited("10,1!", "10,01!"), "not a line")
expect("a lost line", GOOD[:3] + ["CPU:1 [LOST 17 EVENTS]"] + GOOD[3:], None)
expect("a wrong lost line", GOOD[:3] + ["CPU:1 [LOST 17 EVENT]"] + GOOD[3:], "not a line")
expect("unknown tag", edited("Close|fd=3", "Read|fd=3"), "no known tag")
expect("a name of 15 bytes", GOOD[:3] + lines(SH, 500, "Comm|size=15", "CN|" + 15 * "a"), None)
expect("a name of 16 bytes", GOOD[:3] + lines(SH, 500, "Comm|size=16", "CN|" + 16 * "a"), "a name of")
expect("end marker without bar", edited("End_of_args|", "End_of_args"), "no known tag")
expect("key missing", edited("fd1=4,fd2=5,flags=0", "fd1=4,fd2=5"), "has the keys")
expect("key added", edited("Close|fd=3", "Close|fd=3,flags=0"), "has the keys")
expect("keys in another order", edited("fd1=4,fd2=5,flags=0", "fd1=4,flags=0,fd2=5"), "has the keys")
expect("not a number", edited("Close|fd=3", "Close|fd=x"), "not a number")
expect("size of FN", edited("fnamesize=4,forigsize=6", "fnamesize=5,forigsize=6"), "FN has 4 bytes")
expect("size of FO", edited("fnamesize=4,forigsize=6", "fnamesize=4,forigsize=7"), "FO has 6 bytes")
expect("size of CW", edited("cwdsize=2", "cwdsize=1"), "CW has 2 bytes")
expect("argsize", edited("argsize=20", "argsize=19"), "argsize")
expect("FO missing", [r for r in GOOD if "!FO" not in r], "where FO belongs")
expect("SR without its key", edited("!SL|/w/l", "!SR|/w/l"), "where SL belongs")
expect("second half missing", [r for r in GOOD if "RenameTo" not in r and "!RT" not in r and "!RenameFailed" not in r], "after RenameFrom")
expect("second half alone", [r for r in GOOD if "RenameFrom" not in r and "!RF" not in r], "without its first half")
expect("SysClone alone", edited("!SchedFork|pid=%d" % SH, "!Close|fd=3"), "SysClone, then")
expect("equal times", edited("10,501!", "10,500!"), "not later than the task's line before")
expect("earlier", edited("10,600!", "10,499!"), "not later than the line before")
expect("another CPU inside a block", edited("%d,0,10,509!" % SH, "%d,1,10,509!" % SH), "another CPU")
expect("a line in a block", edited("!PP|", "!Close|fd=1\n0: %d,0,10,501!PP|" % SH), "where PP belongs")
expect("two Exits", GOOD + lines(SH, 701, "Exit|status=127"), "after the Exit")
expect("something after Exit", GOOD + lines(SH, 701, "Close|fd=1"), "after the Exit")
expect("status", edited("700!Exit|status=127", "700!Exit|status=256"), "one byte")
expect("an orphan", GOOD + lines(16777320, 800, "Exit|status=0"), "no SchedFork names")
expect("two parents", GOOD[:3] + lines(ROOT, 400, "SchedFork|pid=%d" % SH) + GOOD[3:], "a second parent")
expect("forked too late", GOOD[:1] + lines(ROOT, 0, "Close|fd=0") + GOOD[3:] + lines(ROOT, 900, "SchedFork|pid=%d" % SH), "before it")
expect("the root has a parent", GOOD[:3] + lines(SH, 3, "SchedFork|pid=%d" % ROOT) + GOOD[3:], "has a parent")
expect("one sequence number twice", GOOD + lines(SH - 1, 800, "Close|fd=1"), "sequence number")
expect("line 2 is not the earliest", GOOD[:1] + GOOD[3:4] + GOOD[1:3] + GOOD[4:], "earlier than line 2")
expect("the end of a block missing", GOOD[:5], "lines end")
expect("arguments: empty and with newlines", with_args("A[0]", "A[1]a", "Cont|", "Cont|b", "Cont_end|", "A[2]", size=1 + 5 + 1), None)
expect("an argument in parts", with_args("A[0]" + "x" * 900, "A[0]" + "y" * 100, size=1001), None)
expect("parts after a newline", with_args("A[0]x", "Cont|" + "x" * 900, "Cont_end|", "A[0]y", size=904), None)
expect("Cont_end missing", with_args("A[0]x", "Cont|y", "A[1]z", size=6), "where Cont_end| belongs")
expect("part too long", with_args("A[0]" + "x" * 901, size=902), "a part of 901")
expect("index left out", with_args("A[0]x", "A[2]y", size=4), "after 1 arguments")
expect("a line of 2048 bytes", opened("FN|" + "x" * 2040, size=2040), "bytes long")
expect("long form", opened("FN[0]" + "/" * 900, "FN[1]x", "FN_end|", size=901), None)
expect("long form of exactly 900", opened("FN[0]" + "/" * 900, "FN_end|", size=900), None)
expect("long form with newlines", opened("FN[0]" + "/" * 900, "FN[1]x", "Cont|", "Cont|" + "y" * 9, "Cont_end|", "FN_end|", size=912), None)
expect("long form of a short string", opened("FN[0]/x", "FN_end|", size=2), "in long form")
expect("long form without its end", opened("FN[0]" + "/" * 900, size=900), "where FN_end| belongs")
expect("parts out of order", opened("FN[0]" + "/" * 900, "FN[2]x", "FN_end|", size=901), "where [1] belongs")
expect("short form of a long string", opened("FN|" + "/" * 900, size=900), "in short form")
expect("short form of a long string, asked for", opened("FN|" + "/" * 900, size=900), None, True)
expect("newline in a path", opened("FN|/a", "Cont|b", "Cont_end|", size=4), None)
expect("newline in a path, no end", opened("FN|/a", "Cont|b", size=4), "where Cont_end| belongs")
expect("environment", GOOD + lines(0, 800, "UPID|%d" % SH, "UPID|%d" % CC, "Env[0]A=b", "UPID|%d" % SH, "Env[0]B=", "Cont|x", "Cont_end|"), None)
expect("environment twice", GOOD + lines(0, 800, "UPID|%d" % SH, "Env[0]A=b", "UPID|%d" % CC, "Env[0]A=b"), "a second block")
expect("environment in short form", GOOD + lines(0, 800, "UPID|%d" % SH, "Env|A=b"), "where Env[0] belongs")


# ---- the comparison ----

def hexed(text):
    return "".join("\\x%02x" % b for b in text.encode())


LOG = """101 1.000001 execve("{sh}", ["{a0}", "{a1}", "{a2}"], ["{a0}"]) = 0
101 1.000002 openat(AT_FDCWD<{w}>, "{x}", O_RDONLY|O_CLOEXEC <unfinished ...>
101 1.000003 <... openat resumed>)           = 3<{wx}>
101 1.000004 pipe([4<{p}>, 5<{p}>])          = 0
101 1.000005 dup(4<{p}>)                     = 6<{p}>
101 1.000006 dup2(4<{p}>, 4<{p}>)            = 4<{p}>
101 1.000007 close(3<{wx}>)                  = 0
101 1.000008 vfork( <unfinished ...>
102 1.000009 rename("{a}", "{b}")            = 0
102 1.000010 rename("{a}", "{b}")            = -1 ENOENT (No such file or directory)
102 1.000011 symlink("{b}", "{l}")           = 0
102 1.000012 exit_group(127)                 = ?
102 1.000013 +++ exited with 127 +++
101 1.000014 <... vfork resumed>)            = 102
101 1.000015 exit_group(127)                 = ?
101 1.000016 +++ exited with 127 +++
""".format(sh=hexed("/bin/sh"), a0=hexed("sh"), a1=hexed("-c"), a2=hexed('cc -c "a b.c"'), w=hexed("/w"), x=hexed("./x"),
           wx=hexed("/w/x"), p=hexed("pipe:[1]"), a=hexed("a"), b=hexed("b"), l=hexed("l"))


def differs(name, rows, log, want):
    judged(rows)
    path = os.path.join(FOLDER, "log")
    with open(path, "w") as f:
        f.write(log)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        status = basstrace.compared(os.path.join(FOLDER, "text"), path, "")
    if status != (want is not None) or (want or "\n0 differences") not in said.getvalue():
        bad.append("%s: want %r, is %d: %s" % (name, want, status, said.getvalue()[:400]))


differs("the same run", GOOD, LOG, None)
differs("an empty log", GOOD, "", "nothing to speak of")
differs("another run's log", GOOD, LOG.replace("101 ", "301 ").replace("102 ", "302 "), "the text has 0")
differs("an argument", edited("A[1]-c", "A[1]-d"), LOG, "arguments")
differs("a descriptor", edited("Close|fd=3", "Close|fd=2"), LOG, "missing in the text: close")
differs("a close too many", edited("!Close|fd=3", "!Close|fd=3\n0: %d,0,10,513!Close|fd=3" % SH), LOG, "not in strace's log")
differs("flags", edited("flags=524288", "flags=0"), LOG, "missing in the text: open")
differs("FN", edited("FN|/w/x", "FN|/w/y"), LOG, "FN is")
differs("FO", edited("FO|/w/./x", "FO|/w//.x"), LOG, "FO is")
differs("exit status", edited("700!Exit|status=127", "700!Exit|status=1"), LOG, "missing in the text: end")
differs("a rename's name", edited("RT|/w/b", "RT|/w/c"), LOG, "RT is")
differs("a failed rename", [r for r in GOOD if "RenameFailed" not in r], LOG, "missing in the text: rename")
differs("what a link says", edited("ST|b", "ST|c"), LOG, "ST is")
differs("a pipe's flags", edited("fd2=5,flags=0", "fd2=5,flags=1"), LOG, "missing in the text: pipe")
differs("fork as clone", edited("!SchedFork|pid=%d" % CC, "!SysClone|flags=17\n0: %d,0,10,515!SchedFork|pid=%d" % (SH, CC)), LOG,
        "missing in the text: vfork")
differs("a row that strace does not write", GOOD, LOG + "101 1.1 nonsense\n", "not understood")

for line in bad:
    print(line)
sys.exit(bool(bad))
