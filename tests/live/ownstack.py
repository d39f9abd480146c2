"""Which of a process's BPF programs have a stack of the CPU's: ownstack.py PID. A line for each program, as the kernel has it in
machine code: its type, its name, and "cpu" or "task", the stack it is run on.

The kernel's JIT compiler for x86-64 puts such a stack's address into r9 (arch/x86/net/bpf_jit_comp.c, emit_priv_frame_ptr()):
add r9, gs:this_cpu_off. Compiled code has that instruction for nothing else."""
import ctypes
import os
import re
import struct
import sys

SYS_BPF, PROG_GET_FD_BY_ID, OBJ_GET_INFO_BY_FD = 321, 13, 15
TYPES = {2: "uprobe", 5: "tracepoint", 7: "perf_event", 17: "raw_tracepoint", 26: "tracing", 29: "lsm", 31: "syscall"}
CPU_STACK = bytes.fromhex("654c030c25")

libc = ctypes.CDLL(None, use_errno=True)


def bpf(command, attr):
    given = ctypes.create_string_buffer(attr, 128)
    got = libc.syscall(SYS_BPF, command, given, 128)
    if got < 0:
        raise OSError(ctypes.get_errno(), "bpf(2)")
    return got


def info_of(fd, code):
    """struct bpf_prog_info of the program, its machine code copied into @code."""
    info = ctypes.create_string_buffer(232)
    struct.pack_into("I", info, 16, len(code) if code else 0)           # jited_prog_len
    struct.pack_into("Q", info, 24, ctypes.addressof(code) if code else 0)
    bpf(OBJ_GET_INFO_BY_FD, struct.pack("IIQ", fd, len(info), ctypes.addressof(info)))
    return info.raw


def program(number):
    fd = bpf(PROG_GET_FD_BY_ID, struct.pack("I", number))
    try:
        length = struct.unpack_from("I", info_of(fd, None), 16)[0]
        code = ctypes.create_string_buffer(length) if length else None
        info = info_of(fd, code)
    finally:
        os.close(fd)
    if not code or not struct.unpack_from("Q", info, 24)[0]:
        raise SystemExit("the kernel does not show what it has compiled")
    kind = struct.unpack_from("I", info, 0)[0]
    return TYPES.get(kind, str(kind)), info[64:80].split(b"\0")[0].decode(), "cpu" if CPU_STACK in code.raw else "task"


def programs_of(pid):
    """The numbers of all programs that its descriptors are of, or links to."""
    found = set()
    for name in os.listdir(f"/proc/{pid}/fdinfo"):
        with open(f"/proc/{pid}/fdinfo/{name}") as file:
            found |= {int(n) for n in re.findall(r"^prog_id:\s*(\d+)", file.read(), re.M)}
    return sorted(found)


for number in programs_of(int(sys.argv[1])):
    print(*program(number))
