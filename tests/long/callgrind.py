#!/usr/bin/env python3
"""How often each function of one object was called, from a file of valgrind's callgrind: "COUNT NAME" a line.

    callgrind.py FILE OBJECT	OBJECT: the end of the object's path

The format: names come as "(ID) NAME" once and "(ID)" from then on; "cob=" and "cfn=" name what "calls=COUNT ..." calls,
in the caller's own object where no "cob=" stands before.
"""
import collections
import re
import sys


class Names:
    def __init__(self):
        self.by_id = {}

    def read(self, text):
        number, name = re.match(r"\((\d+)\)(?: (.*))?$", text).groups()
        return self.by_id.setdefault(number, name) if name else self.by_id[number]


def main(path, wanted):
    objects, functions, calls = Names(), Names(), collections.Counter()
    here = called_object = called = None
    for line in open(path):
        key, is_there, value = line.rstrip("\n").partition("=")
        if not is_there:
            continue
        if key == "ob":
            here = objects.read(value)
        elif key == "fn":
            functions.read(value)
        elif key == "cob":
            called_object = objects.read(value)
        elif key == "cfn":
            called = functions.read(value)
        elif key == "calls":
            if (called_object or here).endswith(wanted):
                calls[re.sub(r"'\d+$", "", called)] += int(value.split()[0])	# 'N: a level of a recursion
            called_object = None
    for name, count in calls.items():
        print(count, name)


main(*sys.argv[1:])
