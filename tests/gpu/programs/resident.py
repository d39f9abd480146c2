"""resident.py - how much of libtorch_cuda's device code is mapped into the process before its first CUDA call, and after."""
import os
import struct

import torch


def section(path):
    """File offset and size of .nv_fatbin, read from the section table only."""
    with open(path, "rb") as f:
        head = f.read(64)
        shoff, = struct.unpack_from("<Q", head, 40)
        size, count, names = struct.unpack_from("<3H", head, 58)
        f.seek(shoff)
        sh = [struct.unpack_from("<IIQQQQ", f.read(size)) for _ in range(count)]
        for s in sh:
            f.seek(sh[names][4] + s[0])
            if f.read(11) == b".nv_fatbin\0":
                return s[4], s[5]
    return None


def mapped(path, at, size):
    """Pages of that part of the file which this process has, and all of them."""
    have = total = 0
    with open("/proc/self/maps") as maps, open("/proc/self/pagemap", "rb") as pagemap:
        for line in maps:
            w = line.split()
            if len(w) < 6 or w[5] != path:
                continue
            begin, end = (int(x, 16) for x in w[0].split("-"))
            offset = int(w[2], 16)
            lo, hi = max(at, offset), min(at + size, offset + end - begin)
            if lo >= hi:
                continue
            first, last = (begin + lo - offset) // 4096, (begin + hi - offset + 4095) // 4096
            pagemap.seek(first * 8)
            entries = pagemap.read((last - first) * 8)
            total += last - first
            have += sum(e >> 63 for e, in struct.iter_unpack("<Q", entries))
    return have, total


def with_device_code():
    words = [line.split() for line in open("/proc/self/maps")]
    paths = sorted({w[5] for w in words if len(w) == 6 and w[5].startswith("/")})
    return [p for p in paths if os.path.basename(p).startswith(("libtorch_cuda", "libcublas", "libcudnn"))]


found = [(p, section(p)) for p in with_device_code()]


def tell(when):
    for p, s in found:
        if s:
            print("resident %s: %s: %d of %d pages of .nv_fatbin mapped" % ((when, os.path.basename(p)) + mapped(p, *s)))


tell("before the first CUDA call")
x = torch.ones(4, device="cuda")
(x + x).sum().item()
tell("after two kernels")
