"""folders.py DIR... - the launches of NEUTRINO folders as recorder writes them: launches.bin and kernel.info.

Written from the layout alone: 32 bytes of head, 16 of one section, then rows of 64 bytes, host_launch.
"""
import collections
import glob
import os
import struct
import sys

Launch = collections.namedtuple("Launch", "entry ret sync func stream seq tid result flags kernel name folder")
Copy = collections.namedtuple("Copy", "entry ret dst src bytes stream kind result tid flags folder")
CAPTURED, GRAPH_NODE = 8, 16


def kernel_names(folder):
    names = {}
    for d in glob.glob(os.path.join(folder, "kernel", "*_*")):
        try:
            names[int(os.path.basename(d).split("_")[0])] = open(os.path.join(d, "kernel.info"), errors="replace").readline().strip()
        except (OSError, ValueError):
            pass
    return names


def rows(top, table):
    """(row, folder) of all tables of that name under @top."""
    for path in sorted(glob.glob(os.path.join(top, "**", "result", table), recursive=True)):
        data = open(path, "rb").read()
        size, _, at = struct.unpack_from("<IIQ", data, 32)
        for i in range(struct.unpack_from("<I", data)[0]):
            yield struct.unpack_from("<6Q4I", data, at + i * size), os.path.dirname(os.path.dirname(path))


def launches(top):
    names = {}
    ret = []
    for row, folder in rows(top, "launches.bin"):
        if folder not in names:
            names[folder] = kernel_names(folder)
        ret.append(Launch(*row, names[folder].get(row[9], "?"), folder))
    return ret


def copies(top):
    return [Copy(*row, folder) for row, folder in rows(top, "mem.bin")]


def images(top):
    """What became of the images of all loads, and of how many kernels the parameters are known: (Counter, known, kernels)."""
    became, known, kernels = collections.Counter(), 0, 0
    for path in glob.glob(os.path.join(top, "**", "event.log"), recursive=True):
        for line in open(path, errors="replace"):
            if line.startswith("[recorder] image module/"):
                became["saved, %s" % ("up to 1 MiB" if int(line.split()[-1]) <= 1 << 20 else "longer")] += 1
            elif line.startswith("[recorder] image not saved: "):
                became[line.strip()[len("[recorder] image "):]] += 1
    for path in glob.glob(os.path.join(top, "**", "process.log"), recursive=True):
        kernels += 1
        known += "as the image says" in open(path, errors="replace").read()
    return became, known, kernels


def params(top):
    """{kernel: number of parameters}, as kernel.info has it."""
    ret = {}
    for path in glob.glob(os.path.join(top, "**", "kernel.info"), recursive=True):
        lines = open(path, errors="replace").read().split("\n")
        ret[lines[0]] = int(lines[1])
    return ret


def main():
    for top in sys.argv[1:]:
        found = launches(top)
        ran = [r for r in found if not r.flags & CAPTURED]
        print(top, "rows", len(found), "ran", len(ran), "of graphs", sum(1 for r in ran if r.flags & GRAPH_NODE))
        became, known, kernels = images(top)
        print("  images:", "; ".join("%d %s" % (n, w) for w, n in became.items()), "| parameters known of %d of %d kernels" % (known, kernels))
        for (name, flags), n in sorted(collections.Counter((r.name, r.flags) for r in found).items()):
            print("  %6d flags 0x%x %s" % (n, flags, name))


if __name__ == "__main__":
    main()
