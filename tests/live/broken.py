#!/usr/bin/python3
"""broken.py - copies of a 64-bit ELF file with bits flipped in some of its sections, the same in each run.

    broken.py FILE PREFIX COUNT SEED FOLDER    makes FOLDER/0 .. FOLDER/COUNT-1; PREFIX: of the names of the sections
"""
import os
import random
import struct
import sys


def sections(data, prefix):
    """(offset, size) of each section with bytes in the file whose name begins with @prefix."""
    at, = struct.unpack_from('<Q', data, 40)
    size, count, names = struct.unpack_from('<HHH', data, 58)
    rows = [struct.unpack_from('<IIQQQQ', data, at + i * size) for i in range(count)]
    texts = rows[names][4]

    def name(row):
        begin = texts + row[0]
        return data[begin:data.index(b'\0', begin)].decode()

    return [(r[4], r[5]) for r in rows if r[1] != 8 and r[5] and name(r).startswith(prefix)]


def main():
    path, prefix, count, seed, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]
    whole = open(path, 'rb').read()
    places = sections(whole, prefix)
    dice = random.Random(seed)
    os.makedirs(folder)
    for i in range(count):
        data = bytearray(whole)
        for _ in range(dice.choice((1, 2, 4, 16, 64))):
            offset, size = dice.choice(places)
            data[offset + dice.randrange(size)] ^= 1 << dice.randrange(8)
        target = os.path.join(folder, str(i))
        with open(target, 'wb') as f:
            f.write(data)
        os.chmod(target, 0o755)


main()
