/*
 * reader.c - what a folder says of its bins: TOML in NEUTRINO's dialect, and readers in Python that need nothing else.
 */
#include "base.h"
#include "out.h"
#include "sink/neutrino/neutrino.h"

struct nt_map {
	const char *name, *level;
	const char *doc;	/* of its TOML file */
	const char *wide[7], *narrow[5];	/* fields of 8 bytes, then of 4: the order on disk */
};

static const struct nt_map host_launch = {
	"host_launch", "warp",
	"# What the host saw of a launch: times are ns of CLOCK_MONOTONIC, 0: not seen. One record, in block 0: the bins\n"
	"# say so by a warpDiv of all threads of a block, or one more where the grid is too large to be shown.\n",
	{ "entry_ns", "return_ns", "sync_ns", "func", "stream", "seq" }, { "tid", "result", "flags", "kernel" },
};

static const struct nt_map launches = {
	"host_launch", "thread",
	"# result/launches.bin: not a launch, but a table. Its grid is the number of rows, block i holds row i:\n"
	"# the launches of the process, in the order they began. sync_ns is when a later call was seen to prove it\n"
	"# complete, if the process has one context; flags bit 3: captured into a graph, it did not run.\n",
	{ "entry_ns", "return_ns", "sync_ns", "func", "stream", "seq" }, { "tid", "result", "flags", "kernel" },
};

static const struct nt_map mem = {
	"host_mem", "thread",
	"# result/mem.bin: not a launch, but a table. Its grid is the number of rows, block i holds row i: copies, sets,\n"
	"# allocations and waits, in the order they returned. kind: 1 HtoD, 2 DtoH, 3 DtoD, 4 unified, 5 memset, 6 alloc,\n"
	"# 7 free, 8 alloc-async, 9 free-async, 10 host-alloc, 11 host-free, 12 managed, 13 sync-ctx, 14 sync-stream,\n"
	"# 15 sync-event, 16 peer. flags: bit 2 of the thread's own stream, bit 3 captured into a graph.\n",
	{ "entry_ns", "return_ns", "dst", "src", "bytes", "stream" }, { "kind", "result", "tid", "flags" },
};

static int write_toml(int dirfd, const char *name, const struct nt_map *m)
{
	struct out *o = NULL;
	int err = out_create(&o, dirfd, name);

	if (!err) {
		out_printf(o, "%sregs = 0\n\n[probe.host]\nlevel = \"thread\"\npos = \"kernel\"\nafter = \"\"\n\n", m->doc);
		out_printf(o, "[map.%s]\nlevel = \"%s\"\ntype = \"array\"\nsize = %u\ncap = 1\n\n[map.%s.regs]\n",
			   m->name, m->level, NT_ROW, m->name);
		for (const char *const *f = m->wide; *f; f++)
			out_printf(o, "%s = [ \"u64\", \"None\",]\n", *f);
		for (const char *const *f = m->narrow; *f; f++)
			out_printf(o, "%s = [ \"u32\", \"None\",]\n", *f);
		err = out_seal(o);
	}
	out_destroy(o);
	return err;
}

static const char reader_begin[] =
	"#!/usr/bin/env python3\n"
	"\"\"\"Reads bins of this folder: parse(path) -> (header, sections, {map: [block][unit][record]}).\n"
	"\n"
	"Made by recorder. Little-endian: 8 u32 of the header, per section u32 size, u32 warpDiv, u64 offset, then data.\n"
	"A section that shows no units but holds a record is given as one block with it.\n"
	"\"\"\"\n"
	"import os\n"
	"import struct\n"
	"import sys\n"
	"from collections import namedtuple\n"
	"\n"
	"TraceHeader = namedtuple(\"TraceHeader\", \"gridDimX gridDimY gridDimZ blockDimX blockDimY blockDimZ \"\n"
	"                         \"sharedMemBytes numProbes\")\n"
	"TraceSection = namedtuple(\"TraceSection\", \"size warpDiv offset\")\n";

static const char reader_end[] =
	"\n"
	"\n"
	"def records(data, at, size, fields, layout):\n"
	"    return [fields._make(layout.unpack_from(data, at + i)) for i in range(0, size, layout.size)]\n"
	"\n"
	"\n"
	"def parse(path):\n"
	"    with open(path, \"rb\") as f:\n"
	"        data = f.read()\n"
	"    header = TraceHeader._make(struct.unpack_from(\"<8I\", data))\n"
	"    blocks = header.gridDimX * header.gridDimY * header.gridDimZ\n"
	"    threads = header.blockDimX * header.blockDimY * header.blockDimZ\n"
	"    sections, maps = [], {}\n"
	"    for i, (fields, layout) in zip(range(header.numProbes), MAPS):\n"
	"        section = TraceSection._make(struct.unpack_from(\"<IIQ\", data, 32 + 16 * i))\n"
	"        size, units = section.size, threads // section.warpDiv\n"
	"        shown = (blocks, units)\n"
	"        if not units and len(data) >= section.offset + size:\n"
	"            shown = (1, 1)\n"
	"        at = iter(range(section.offset, section.offset + shown[0] * shown[1] * size, size))\n"
	"        maps[fields.__name__] = [[records(data, next(at), size, fields, layout) for _ in range(shown[1])]\n"
	"                                 for _ in range(shown[0])]\n"
	"        sections.append(section)\n"
	"    return header, sections, maps\n"
	"\n"
	"\n"
	"def main():\n"
	"    here = os.path.dirname(os.path.abspath(__file__))\n"
	"    for path in sys.argv[1:] or [os.path.join(here, *USUAL)]:\n"
	"        header, sections, maps = parse(path)\n"
	"        print(path, header, *sections, sep=\"\\n\")\n"
	"        for name, blocks in maps.items():\n"
	"            for b, units in enumerate(blocks):\n"
	"                for found in units:\n"
	"                    for record in found:\n"
	"                        if any(record):\n"
	"                            print(f\"block {b}\", record)\n"
	"\n"
	"\n"
	"if __name__ == \"__main__\":\n"
	"    main()\n";

/* @usual: the file in result/ that it reads when none is named. */
static int write_reader(int dirfd, const char *name, const struct nt_map *m, const char *usual)
{
	struct out *o = NULL;
	int err = out_create(&o, dirfd, name), wide = 0, narrow = 0;

	if (!err) {
		out_bytes(o, reader_begin, sizeof(reader_begin) - 1);
		out_printf(o, "%s = namedtuple(\"%s\", \"", m->name, m->name);
		for (; m->wide[wide]; wide++)
			out_printf(o, "%s ", m->wide[wide]);
		for (; m->narrow[narrow]; narrow++)
			out_printf(o, "%s%s", narrow ? " " : "", m->narrow[narrow]);
		out_printf(o, "\")\nMAPS = [(%s, struct.Struct(\"<%dQ%dI\"))]\n", m->name, wide, narrow);
		out_printf(o, "USUAL = \"result\", \"%s\"\n", usual);
		out_bytes(o, reader_end, sizeof(reader_end) - 1);
		err = out_seal(o);
	}
	out_destroy(o);
	return err;
}

int nt_write_readers(int dirfd)
{
	int err = write_toml(dirfd, "probe.toml", &host_launch);

	err = err ?: write_reader(dirfd, "read.py", &host_launch, "launches.bin");
	err = err ?: write_toml(dirfd, "launches.toml", &launches);
	err = err ?: write_reader(dirfd, "read_launches.py", &launches, "launches.bin");
	err = err ?: write_toml(dirfd, "mem.toml", &mem);
	return err ?: write_reader(dirfd, "read_mem.py", &mem, "mem.bin");
}
