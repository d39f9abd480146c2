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
	"# 15 sync-event, 16 peer. flags: bit 2 of the thread's own stream, bit 3 captured into a graph,\n"
	"# bit 9 it copies more than bytes.\n",
	{ "entry_ns", "return_ns", "dst", "src", "bytes", "stream" }, { "kind", "result", "tid", "flags" },
};

static const struct nt_map gpu_kernel = {
	"gpu_kernel", "warp",
	"# gpu_kernel: what CUPTI said of it on the device, ns of CLOCK_MONOTONIC; all 0: nothing. queued_ns 0: not measured.\n",
	{ "start_ns", "end_ns", "queued_ns", "graph_node" }, { "device", "stream_id", "correlation", "regs_per_thread" },
};

static const struct nt_map gpu_kernels = {
	"gpu_kernel", "thread",
	"# gpu_kernel: what CUPTI said of row i on the device, ns of CLOCK_MONOTONIC; all 0: nothing. It is there when the\n"
	"# process has ended, before that there is one map.\n",
	{ "start_ns", "end_ns", "queued_ns", "graph_node" }, { "device", "stream_id", "correlation", "regs_per_thread" },
};

static unsigned count_of(const char *const *fields)
{
	unsigned n = 0;

	while (fields[n])
		n++;
	return n;
}

static void write_map(struct out *o, const struct nt_map *m)
{
	out_printf(o, "[map.%s]\nlevel = \"%s\"\ntype = \"array\"\nsize = %u\ncap = 1\n\n[map.%s.regs]\n",
		   m->name, m->level, 8 * count_of(m->wide) + 4 * count_of(m->narrow), m->name);
	for (const char *const *f = m->wide; *f; f++)
		out_printf(o, "%s = [ \"u64\", \"None\",]\n", *f);
	for (const char *const *f = m->narrow; *f; f++)
		out_printf(o, "%s = [ \"u32\", \"None\",]\n", *f);
}

/* @more NULL: there is one map. */
static int write_toml(int dirfd, const char *name, const struct nt_map *m, const struct nt_map *more)
{
	struct out *o = NULL;
	int err = out_create(&o, dirfd, name);

	if (!err) {
		out_printf(o, "%s%sregs = 0\n\n[probe.host]\nlevel = \"thread\"\npos = \"kernel\"\nafter = \"\"\n\n", m->doc,
			   more ? more->doc : "");
		write_map(o, m);
		if (more)
			out_printf(o, "\n");
		if (more)
			write_map(o, more);
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

static void write_fields(struct out *o, const struct nt_map *m)
{
	out_printf(o, "%s = namedtuple(\"%s\", \"", m->name, m->name);
	for (const char *const *f = m->wide; *f; f++)
		out_printf(o, "%s ", *f);
	for (const char *const *f = m->narrow; *f; f++)
		out_printf(o, "%s%s", f == m->narrow ? "" : " ", *f);
	out_printf(o, "\")\n");
}

static void write_layout(struct out *o, const struct nt_map *m)
{
	out_printf(o, "(%s, struct.Struct(\"<%uQ%uI\"))", m->name, count_of(m->wide), count_of(m->narrow));
}

/* @usual: the file in result/ that it reads when none is named. */
static int write_reader(int dirfd, const char *name, const struct nt_map *m, const struct nt_map *more, const char *usual)
{
	struct out *o = NULL;
	int err = out_create(&o, dirfd, name);

	if (!err) {
		out_bytes(o, reader_begin, sizeof(reader_begin) - 1);
		write_fields(o, m);
		if (more)
			write_fields(o, more);
		out_printf(o, "MAPS = [");
		write_layout(o, m);
		if (more)
			out_printf(o, ", ");
		if (more)
			write_layout(o, more);
		out_printf(o, "]\nUSUAL = \"result\", \"%s\"\n", usual);
		out_bytes(o, reader_end, sizeof(reader_end) - 1);
		err = out_seal(o);
	}
	out_destroy(o);
	return err;
}

int nt_write_readers(int dirfd, bool has_gpu)
{
	const struct nt_map *of_bin = has_gpu ? &gpu_kernel : NULL, *of_table = has_gpu ? &gpu_kernels : NULL;
	int err = write_toml(dirfd, "probe.toml", &host_launch, of_bin);

	err = err ?: write_reader(dirfd, "read.py", &host_launch, of_bin, "launches.bin");
	err = err ?: write_toml(dirfd, "launches.toml", &launches, of_table);
	err = err ?: write_reader(dirfd, "read_launches.py", &launches, of_table, "launches.bin");
	err = err ?: write_toml(dirfd, "mem.toml", &mem, NULL);
	return err ?: write_reader(dirfd, "read_mem.py", &mem, NULL, "mem.bin");
}
