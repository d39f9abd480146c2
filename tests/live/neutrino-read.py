"""A reader of NEUTRINO folders made from the format's description alone; it shares nothing with what writes them.

    neutrino-read.py FOLDER         the folder of a process: every bin is read here and by the folder's own read.py,
                                    and all that the files say of each other has to agree; prints what was found
    neutrino-read.py --sections FILE...     (size, warpDiv, offset) of each section, and where its data really begins
"""
import hashlib
import importlib.util
import os
import re
import struct
import sys

WIDTH = {"u64": ("Q", 8), "u32": ("I", 4)}
NOT_RUN, UNKNOWN, UNSEEN = 1 << 3, 0xFFFFFFFF, 0xFFFFFFFF


def fail(*words):
    sys.exit(" ".join(str(w) for w in words))


def expect(what, got, want):
    if got != want:
        fail(what, "is", repr(got), "want", repr(want))


# ---- the part of TOML that probe.toml uses

def value(text):
    if text.startswith("["):
        return [value(v.strip()) for v in text.strip("[]").split(",") if v.strip()]
    return text.strip('"') if text.startswith('"') else int(text)


def toml(path):
    top = table = {}
    for line in open(path):
        line = line.strip()
        if line.startswith("["):
            table = top
            for key in line.strip("[]").split("."):
                table = table.setdefault(key, {})
        elif line and not line.startswith("#"):
            key, text = line.split("=", 1)
            table[key.strip()] = value(text.strip())
    return top


def maps_of(path):
    """What NEUTRINO's load() asks of the file, then its maps as [(name, struct, fields)]."""
    t = toml(path)
    if not isinstance(t["regs"], int) or not t["probe"] or not t["map"]:
        fail(path, "has no regs, probe or map")
    for name, probe in t["probe"].items():
        if probe["level"] not in ("thread", "warp") or "pos" not in probe or not {"before", "after"} & set(probe):
            fail(path, "probe", name)
    maps = []
    for name, m in t["map"].items():
        kinds = [kind for kind, _ in m["regs"].values()]
        if kinds != sorted(kinds, reverse=True) or m["type"] != "array" or m["level"] not in ("thread", "warp"):
            fail(path, "map", name)
        layout = struct.Struct("<" + "".join(WIDTH[k][0] for k in kinds))
        expect(path + " size", m["size"], layout.size)
        expect(path + " size % 8", layout.size % 8, 0)
        maps.append((name, layout, list(m["regs"])))
    return maps


# ---- the container

class Bin:
    def __init__(self, path):
        self.data = open(path, "rb").read()
        self.grid = struct.unpack_from("<3I", self.data, 0)
        self.block = struct.unpack_from("<3I", self.data, 12)
        self.shared, count = struct.unpack_from("<2I", self.data, 24)
        self.sections = [struct.unpack_from("<IIQ", self.data, 32 + 16 * i) for i in range(count)]
        self.blocks = self.grid[0] * self.grid[1] * self.grid[2]
        self.threads = self.block[0] * self.block[1] * self.block[2]

    def units(self, section):
        """As NEUTRINO's readers count them."""
        return self.threads // section[1]

    def starts(self):
        """Where the data of each section is as NEUTRINO's driver writes it: a part of a warp is a warp."""
        at = 32 + 16 * len(self.sections)
        for size, div, _ in self.sections:
            yield at
            at += self.blocks * -(-self.threads // div) * size
        yield at

    def records(self, i, layout):
        size, _, at = self.sections[i]
        length = self.blocks * self.units(self.sections[i]) * size
        shown = [layout.unpack_from(self.data, at + n) for n in range(0, length, layout.size)]
        return shown or [layout.unpack_from(self.data, at)] if len(self.data) > at else shown


def reader(folder, name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(folder, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def read_twice(folder, name, maps, module):
    """The bin, and of each map its records and those of its rows by name."""
    path = os.path.join(folder, "result", name)
    b = Bin(path)
    expect(name + " sections", len(b.sections), len(maps))
    header, sections, found = module.parse(path)
    expect(name + " header", tuple(header), b.grid + b.block + (b.shared, len(b.sections)))
    expect(name + " sections", [tuple(s) for s in sections], b.sections)
    expect(name + " maps", list(found), [m[0] for m in maps])
    at = 32 + 16 * len(maps)
    all_ours, all_rows = [], []
    for i, (map_name, layout, fields) in enumerate(maps):
        expect(name + " size", b.sections[i][0], layout.size)
        expect(name + " offset", b.sections[i][2], at)
        ours = b.records(i, layout)
        theirs = [tuple(r) for block in found[map_name] for unit in block for r in unit]
        expect(f"{name} {map_name}", theirs, ours)
        at += len(ours) * layout.size
        all_ours.append(ours)
        all_rows.append([dict(zip(fields, r)) for r in (ours[:1] if name[0].isdigit() else ours)])
    expect(name + " bytes", len(b.data), at)
    return b, all_ours, all_rows


# ---- event.log

def launches_of(lines):
    """The lines of each launch; nothing may stand between them."""
    launch = []
    for line in lines + [""]:
        begins = line.startswith("[exec] funcmap-find ")
        goes_on = line.startswith("[exec] ") or line == "[recorder] return-not-seen"
        if launch and goes_on and not begins:
            launch.append(line)
            continue
        if goes_on and not begins:
            fail("stands alone:", line)
        if launch:
            yield launch
        launch = [line] if begins else []


def saved_in(log):
    saved = {}
    for launch in launches_of(log):
        expect("lines with param", ["param" in line for line in launch], [n == 1 for n in range(len(launch))])
        last = launch[-1].split()
        if last[1] == "save":
            if last[2] in saved:
                fail("saved twice:", last[2])
            saved[last[2]] = (int(last[4]), launch)
    return saved


def dmat_params(log):
    """The way of NEUTRINO's dmat_callback.py, which takes the last such line."""
    for line in reversed(log):
        if "[exec]" in line and "param" in line:
            return [int(p, 16) for p in line.split(" ")[:-1][3:]]
    return []


def params_of(image, name):
    """Parameters of the kernel in PTX, one .param each; 0 where there is no such text."""
    text = open(image, "rb").read() if os.path.exists(image) else b""
    entry = re.search(rb"\.entry " + re.escape(name.encode()) + rb"\(([^)]*)\)", text)
    return entry[1].count(b".param") if entry else 0


def check_kernel(folder, index, layouts):
    kernels = [d for d in os.listdir(os.path.join(folder, "kernel")) if d.startswith(f"{index}_")]
    expect(f"folders of kernel {index}", len(kernels), 1)
    name, params, maps, *rest = open(os.path.join(folder, "kernel", kernels[0], "kernel.info")).read().split("\n")
    if "\\" not in name:
        expect(kernels[0], kernels[0].split("_")[1], hashlib.sha1(name.encode()).hexdigest())
    expect("kernel.info", (int(params), int(maps), rest),
           (params_of(os.path.join(folder, "kernel", kernels[0], "original.bin"), name),
            len(layouts), [f"1,{l.size}" for l in layouts] + [""]))


def check_time(name, host, gpu):
    """What a device did of a launch is after the host asked for it."""
    if any(gpu.values()) and not host["entry_ns"] <= gpu["start_ns"] <= gpu["end_ns"]:
        fail(name, host, gpu)


def check(folder):
    log = open(os.path.join(folder, "event.log"), errors="ignore").read().split("\n")[:-1]
    expect("first lines", [re.match(r"\[init\] \w+", line).group() for line in log[:3]],
           ["[init] pid", "[init] cmd", "[init] success"])
    maps, module = maps_of(os.path.join(folder, "probe.toml")), reader(folder, "read")
    _, _, (rows, *timed) = read_twice(folder, "launches.bin", maps_of(os.path.join(folder, "launches.toml")),
                            reader(folder, "read_launches"))
    _, _, (memory,) = read_twice(folder, "mem.bin", maps_of(os.path.join(folder, "mem.toml")), reader(folder, "read_mem"))
    saved = saved_in(log)
    dmat_params(log)
    names = sorted((n for n in os.listdir(os.path.join(folder, "result")) if n[0].isdigit()),
                   key=lambda n: tuple(map(int, n.split(".")[:2])))
    expect("files saved", sorted(saved), sorted("result/" + n for n in names))
    seqs = []
    for name in names:
        b, ours, ((record,), *gpu) = read_twice(folder, name, maps, module)
        size, launch = saved["result/" + name]
        expect(name + " logged", size, len(b.data))
        expect(name + " row", record, rows[record["seq"]])
        expect(name + " others", any(any(r) for map_ in ours for r in map_[1:]), False)
        expect(name + " lines of maps", sum(line.startswith("[exec] grid") and " probe " in line for line in launch), len(maps))
        if gpu:
            expect(name + " gpu row", gpu[0][0], timed[0][record["seq"]])
            check_time(name, record, gpu[0][0])
        expect(name + " shape", launch[2],
               "[exec] grid {} {} {} block {} {} {} shared {}".format(*b.grid, *b.block, b.shared))
        if record["flags"] & NOT_RUN:
            fail(name, "did not run")
        if record["result"] != UNSEEN and not record["entry_ns"] <= record["return_ns"]:
            fail(name, record)
        check_kernel(folder, record["kernel"], [layout for _, layout, _ in maps])
        seqs.append(record["seq"])
    expect("order of names", seqs, sorted(seqs))
    expect("numbers of launches", [r["seq"] - rows[0]["seq"] for r in rows], list(range(len(rows))))
    times = [r for r in timed[0] if any(r.values())] if timed else []
    print(f"{len(names)} bins, {len(rows)} launches, {sum(1 for r in rows if r['flags'] & NOT_RUN)} not run, "
          f"{sum(1 for r in rows if r['sync_ns'])} complete, {len(memory)} rows of memory"
          + (f", {len(times)} timed, {sorted({r['end_ns'] - r['start_ns'] for r in times})} ns" if timed else ""))


def main(words):
    if words[0] != "--sections":
        return check(words[0])
    for path in words[1:]:
        b = Bin(path)
        *starts, end = b.starts()
        print(*b.sections, "at", *starts, "bytes", end - len(b.data) or "as they should be")


main(sys.argv[1:])
