"""rawcalls.py FILE - the function calls of a raw recording, one a line: time, tid, entry or exit, name, values.

include/record.h has the records, src/flow/raw.h the file, src/image/pack.c an image; written from those alone.
"""
import collections
import struct
import sys

ENTRY, EXIT, ENTRY_ARGS, EXIT_ARGS, TASK_LOST, LOST = 8, 9, 13, 14, 10, 11
HEAD, FUNC = "=QQQIIQQQQQQQQIIIIII40sQ", "=QQQQQIIIBBH"
FLOAT_OR_TEXT = (6, 7, 8, 9)

Call = collections.namedtuple("Call", "time pid tid entry name values")


def blocks(data):
    at = 8
    while at + 16 <= len(data):
        kind, _, size = struct.unpack_from("=IIQ", data, at)
        yield kind, data[at + 16:at + 16 + size]
        at += 16 + size


def image_names(block, names):
    """Puts the functions of an image into @names by their index; its path."""
    h = struct.unpack_from(HEAD, block)
    count, path_len, interp_len, first = h[11], h[13], h[14], h[16]
    at = struct.calcsize(HEAD)
    text = at + count * struct.calcsize(FUNC)
    path = block[text:text + path_len].rstrip(b"\0").decode("utf-8", "replace")
    base = text + path_len + interp_len
    for i in range(count):
        name = struct.unpack_from(FUNC, block, at + i * struct.calcsize(FUNC))[7]
        names[first + i] = block[base + name:block.index(b"\0", base + name)].decode("utf-8", "replace")
    return path


def values_of(body):
    """Of what follows struct rec_func: numbers as numbers, texts as texts; None: it could not be read."""
    length = struct.unpack_from("=I", body)[0]
    at, ret = 8, []
    while at < 8 + length:
        index, form, size, flags, used, room = struct.unpack_from("=BBBBHH", body, at)
        raw = body[at + 8:at + 8 + used]
        if form == 6 or form == 8:
            ret.append(raw.decode("utf-8", "replace") if not flags & 2 else None)
        else:
            ret.append(int.from_bytes(raw[:size], "little", signed=form == 1))
        at += 8 + room
    return ret


def chunks(block):
    _, count, _ = struct.unpack_from("=QII", block)
    at = 16 + 8 * count
    for length in struct.unpack_from("=%dQ" % count, block, 16):
        yield block[at:at + length]
        at += length


def records(chunk):
    at = 0
    while at + 24 <= len(chunk):
        head = struct.unpack_from("=QIIHHHH", chunk, at)
        yield head, chunk[at + 24:at + head[4]]
        at += max(head[4], 24)


def read(path):
    """Calls in the order of their times, images by path, how many records were lost."""
    data = open(path, "rb").read()
    assert data[:7] == b"RECRAW2", "not a raw recording"
    names, images, calls, lost = {}, [], [], 0
    found = list(blocks(data))
    for kind, block in found:
        if kind == 2:
            images.append(image_names(block, names))
    for block in (b for k, b in found if k == 3):
        for chunk in chunks(block):
            for (time, pid, tid, kind, size, cpu, flags), body in records(chunk):
                if kind in (LOST, TASK_LOST):
                    lost += sum(struct.unpack_from("=%dQ" % (len(body) // 8), body))
                if kind in (ENTRY, EXIT, ENTRY_ARGS, EXIT_ARGS):
                    func = struct.unpack_from("=I", body)[0]
                    values = values_of(body[16:]) if kind in (ENTRY_ARGS, EXIT_ARGS) else []
                    calls.append(Call(time, pid, tid, kind in (ENTRY, ENTRY_ARGS), names.get(func, "func_%d" % func), values))
    calls.sort(key=lambda c: c.time)
    return calls, images, lost


def main():
    calls, images, lost = read(sys.argv[1])
    for c in calls:
        print(c.time, c.tid, "entry" if c.entry else "exit ", c.name,
              *[v if isinstance(v, str) else "?" if v is None else hex(v) for v in c.values])
    print("# images", *images)
    print("# lost", lost)


if __name__ == "__main__":
    main()
