"""gputrace.py FOLDER < `trace-cmd report -R`: each device time in the NEUTRINO folders below FOLDER is in the report once, with
the same numbers, and no other is. event.log has a line for each; launches.bin tells more of those whose launch is known.

Prints how many there were of each kind. Written from the format's description, not from the writer.
"""
import collections
import glob
import os
import re
import struct
import sys

KERNEL, COPY, SET = "kernel", "copy", "set"
EVENTS = {"gpu_kernel": KERNEL, "gpu_memcpy": COPY, "gpu_memset": SET}
NO_SEQ = (1 << 64) - 1
line_of_log = re.compile(r"\[recorder\] gpu (kernel|copy|set) (unseen|seq (\d+)|call (\d+) of (\d+)) start (\d+) end (\d+) "
                         r"device (\d+) stream (\d+)(?: bytesize (\d+))?$")


def table(folder):
    """By the launch's number: its thread, stream and kernel's name, then what CUPTI said of it."""
    with open(os.path.join(folder, "result", "launches.bin"), "rb") as f:
        data = f.read()
    count, maps = struct.unpack_from("<I24xI", data)
    sections = [struct.unpack_from("<IIQ", data, 32 + 16 * i) for i in range(maps)]
    if maps < 2:
        return {}
    names = {}
    for info in glob.glob(os.path.join(folder, "kernel", "*_*", "kernel.info")):
        with open(info) as f:
            names[int(os.path.basename(os.path.dirname(info)).split("_")[0])] = f.readline().rstrip("\n")
    rows = {}
    for i in range(count):
        host = struct.unpack_from("<6Q4I", data, sections[0][2] + i * sections[0][0])
        gpu = struct.unpack_from("<4Q4I", data, sections[1][2] + i * sections[1][0])
        rows[host[5]] = (host[6], host[4], names.get(host[9]), host[0]), gpu
    return rows


def of_neutrino(top):
    for log in glob.glob(os.path.join(top, "**", "event.log"), recursive=True):
        with open(log) as f:
            lines = f.read().split("\n")
        pid = next(int(l.split()[2]) for l in lines if l.startswith("[init] pid"))
        rows = table(os.path.dirname(log))
        for kind, whose, seq, entry, tid, *ran in (m.groups() for m in map(line_of_log.match, lines) if m):
            start, end, device, stream, size = (int(n or 0) for n in ran)
            row = pid, kind, start, end, end - start, device, stream, size
            if seq:
                (tid, handle, name, entry), gpu = rows[int(seq)]
                if (start, end, device, stream) != (gpu[0], gpu[1], gpu[4], gpu[5]):
                    sys.exit("launches.bin and event.log differ: seq %s" % seq)
                row += int(seq), tid, entry, handle, name, gpu[2], gpu[3], gpu[6], gpu[7]
            elif entry:
                row += NO_SEQ, int(tid), int(entry)
            else:
                row += NO_SEQ, 0, 0
            yield row


def of_report(lines):
    """Also whose line it is, which is its thread's, and that a kernel's shape is that of its launch."""
    launches, told = {}, []
    for line in lines:
        m = re.match(r"\s*\S*-(\d+)\s+\[\d+\].* (launch|gpu_kernel|gpu_memcpy|gpu_memset): +(.*)$", line)
        if not m:
            continue
        field = dict(pair.split("=", 1) for pair in m.group(3).split() if "=" in pair)
        shape = tuple(int(field.get(c + d, "0"), 0) for c in "gb" for d in "xyz")
        if m.group(2) == "launch":      # stands where it returned: its kernel may have begun
            launches[int(field["tgid"], 0), int(field["seq"], 0)] = shape
        else:
            told.append((line, m, field, shape))
    for line, m, field, shape in told:
        number = lambda name: int(field.get(name, "0"), 0)
        if int(m.group(1)) != (number("tid") or number("tgid")):
            sys.exit("not its thread's: " + line)
        kind = EVENTS[m.group(2)]
        seq = number("seq") if kind == KERNEL else NO_SEQ
        row = tuple(number(f) for f in ("tgid", "start", "end", "duration", "device", "stream_id", "bytes"))
        row = row[:1] + (kind,) + row[1:] + (seq, number("tid"), number("entry"))
        if seq != NO_SEQ:
            row += number("stream"), field["kernel"], number("queued"), number("graph_node"), number("corr"), number("regs")
            if launches.get((number("tgid"), seq)) != shape:
                sys.exit("not its launch's shape: " + line)
        yield row


def main():
    want, got = collections.Counter(of_neutrino(sys.argv[1])), collections.Counter(of_report(sys.stdin))
    for text, rows in ("not in the report: ", want - got), ("only in the report: ", got - want):
        for row in list(rows)[:3]:
            print(text, row)
    kinds = collections.Counter(row[1] + (" of no call" if not row[10] else "") for row in got.elements())
    print(", ".join("%d %s" % (n, kind) for kind, n in sorted(kinds.items())) or "none")
    sys.exit(want != got or not got)


main()
