#!/usr/bin/env python3
"""cudarows.py TRACE... - the tables of NEUTRINO folders below each TRACE, summed as the stand-in driver tells its truth.

Lines "launch NAME COUNT" (they ran), "captured NAME COUNT", "failed NAME COUNT", "bytes KIND COUNT" and "waits COUNT".
Written from the format's description, not from the writer.
"""
import collections
import glob
import os
import struct
import sys

KINDS = {1: "HtoD", 2: "DtoH", 3: "DtoD", 4: "copy", 5: "set", 6: "alloc", 8: "alloc", 10: "hostalloc", 12: "managed", 16: "peer"}
CAPTURED = 1 << 3
NO_RESULT = 0xffffffff


def rows(path):
    with open(path, "rb") as f:
        data = f.read()
    count, one, _, block, _, _, _, maps = struct.unpack_from("<8I", data)
    size, warp_div, offset = struct.unpack_from("<IIQ", data, 32)
    assert block == 1 and one == 1 and maps >= 1 and warp_div == 1, path
    assert len(data) >= offset + count * size, path
    return [data[offset + i * size:offset + (i + 1) * size] for i in range(count)]


def name_of(folder, kernel):
    found = glob.glob(os.path.join(folder, "kernel", "%d_*" % kernel, "kernel.info"))
    return open(found[0]).readline().strip() if found else "kernel_%d" % kernel


def main():
    sums = collections.Counter()
    for trace in sys.argv[1:]:
        for log in glob.glob(os.path.join(trace, "*", "event.log")):
            folder = os.path.dirname(log)
            for row in rows(os.path.join(folder, "result", "launches.bin")):
                entry, ret, sync, func, stream, seq, tid, result, flags, kernel = struct.unpack("<6Q4I", row[:64])
                what = "captured" if flags & CAPTURED and result in (0, NO_RESULT) else "launch" if result in (0, NO_RESULT) else "failed"
                sums[what, name_of(folder, kernel)] += 1
                sums["synced", "all"] += what == "launch" and sync >= ret > entry
            for row in rows(os.path.join(folder, "result", "mem.bin")):
                entry, ret, dst, src, size, stream, kind, result, tid, flags = struct.unpack("<6Q4I", row[:64])
                if kind in KINDS and not result:
                    sums["bytes", KINDS[kind]] += size
    for (what, name), count in sorted(sums.items()):
        print(what, name, count)


main()
