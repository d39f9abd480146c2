#!/usr/bin/env python3
"""rawcount.py FILE - counts the records of a raw recording by class, and what its LOST records say was not stored.

Prints "stored TASK SYSCALL FUNCTION EVENT CUDA", "lost ..." and "task-lost ..." of the same, "returns N",
those of functions that were seen, and "launches N M": M of the N returns are of the launch before them. include/record.h has the records, src/flow/raw.h the file. Written from those headers alone, so that it can disagree with recorder.
"""
import struct
import sys

TASK, SYSCALL, FUNCTION, EVENT, CUDA = range(5)
CLASS = {1: TASK, 2: TASK, 3: TASK, 4: TASK, 5: TASK, 6: SYSCALL, 7: SYSCALL, 8: FUNCTION, 9: FUNCTION,
         13: FUNCTION, 14: FUNCTION, 16: EVENT, 23: EVENT, 17: CUDA, 18: CUDA, 19: CUDA, 20: SYSCALL, 21: TASK, 22: TASK,
         24: CUDA, 25: CUDA, 26: CUDA, 27: CUDA, 28: CUDA, 29: EVENT}
REC_FUNC_EXIT, REC_TASK_LOST, REC_LOST, REC_CUDA_TIMES, REC_CUDA_RETURN, REC_CUDA_LAUNCH = 9, 10, 11, 19, 26, 27
BLOCK_ROUND = 3


def records(chunk):
    at = 0
    while at < len(chunk):
        time, pid, tid, kind, size, cpu, flags = struct.unpack_from("=QIIHHHH", chunk, at)
        assert size >= 24 and size % 8 == 0 and at + size <= len(chunk), "a record of %d bytes" % size
        yield kind, (time, tid), chunk[at + 24:at + size]
        at += size


def main():
    data = open(sys.argv[1], "rb").read()
    assert data[:8] == b"RECRAW3\n", "not a raw recording"
    stored, lost, task_lost = [0] * 5, [0] * 5, [0] * 5
    returns, ends, launch, of_launch, met = 0, [], {}, 0, 0
    at = 8
    while at < len(data):
        kind, _, size = struct.unpack_from("=IIQ", data, at)
        at += 16
        if kind == BLOCK_ROUND:
            instant, chunks, _ = struct.unpack_from("=QII", data, at)
            lengths = struct.unpack_from("=%dQ" % chunks, data, at + 16)
            begin = at + 16 + 8 * chunks
            for length in lengths:
                for rec, when, body in records(data[begin:begin + length]):
                    returns += rec == REC_FUNC_EXIT
                    if rec in (REC_CUDA_RETURN, REC_CUDA_LAUNCH):
                        func, _, sp = struct.unpack_from("=IIQ", body)
                        ends.append((*when, rec, func & 0xffff, sp))
                    if rec in CLASS:
                        # A batch of device times counts as many as it holds.
                        stored[CLASS[rec]] += struct.unpack_from("=I", body)[0] if rec == REC_CUDA_TIMES else 1
                    elif rec in (REC_LOST, REC_TASK_LOST):
                        into = lost if rec == REC_LOST else task_lost
                        for i, n in enumerate(struct.unpack_from("=5Q", body)):
                            into[i] += n
                begin += length
        at += size
    print("stored", *stored)
    print("lost", *lost)
    print("task-lost", *task_lost)
    print("returns", returns)
    for _, tid, rec, func, sp in sorted(ends):
        if rec == REC_CUDA_LAUNCH:
            launch[tid] = func, sp
        elif tid in launch:
            of_launch += 1
            met += launch.pop(tid) == (func, sp)
    print("launches", of_launch, met)


main()
