"""folders.py DIR... - the launches of NEUTRINO folders as recorder writes them: launches.bin and kernel.info.

Written from the layout alone: 32 bytes of head, 16 of one section, then rows of 64 bytes, host_launch.
"""
import collections
import glob
import os
import struct
import sys

Launch = collections.namedtuple("Launch", "entry ret sync func stream seq tid result flags kernel name folder")
CAPTURED, GRAPH_NODE = 8, 16


def kernel_names(folder):
    names = {}
    for d in glob.glob(os.path.join(folder, "kernel", "*_*")):
        try:
            names[int(os.path.basename(d).split("_")[0])] = open(os.path.join(d, "kernel.info"), errors="replace").readline().strip()
        except (OSError, ValueError):
            pass
    return names


def launches(top):
    """Of all folders under @top."""
    ret = []
    for path in sorted(glob.glob(os.path.join(top, "**", "result", "launches.bin"), recursive=True)):
        folder = os.path.dirname(os.path.dirname(path))
        names = kernel_names(folder)
        data = open(path, "rb").read()
        rows = struct.unpack_from("<8I", data)[0]
        size, _, at = struct.unpack_from("<IIQ", data, 32)
        for i in range(rows):
            row = struct.unpack_from("<6Q4I", data, at + i * size)
            ret.append(Launch(*row, names.get(row[9], "?"), folder))
    return ret


def main():
    for top in sys.argv[1:]:
        rows = launches(top)
        ran = [r for r in rows if not r.flags & CAPTURED]
        print(top, "rows", len(rows), "ran", len(ran), "of graphs", sum(1 for r in ran if r.flags & GRAPH_NODE))
        for (name, flags), n in sorted(collections.Counter((r.name, r.flags) for r in rows).items()):
            print("  %6d flags 0x%x %s" % (n, flags, name))


if __name__ == "__main__":
    main()
