"""elffacts.py FILE - what a shared library's file says of itself: SONAME, build-id, sections, FDEs, symbols, first bytes of functions."""
import struct
import sys


class Elf:
    def __init__(self, path):
        self.data = d = open(path, "rb").read()
        assert d[:6] == b"\x7fELF\x02\x01", "not a 64-bit little-endian ELF"
        phoff, shoff, = struct.unpack_from("<QQ", d, 32)
        _, _, phn, _, shn, shstr = struct.unpack_from("<6H", d, 52)
        self.loads = [p for p in (struct.unpack_from("<IIQQQQQQ", d, phoff + 56 * i) for i in range(phn)) if p[0] == 1]
        sh = [struct.unpack_from("<IIQQQQIIQQ", d, shoff + 64 * i) for i in range(shn)]
        self.sections = {self.text(sh[shstr][4] + s[0]): s for s in sh} if shn else {}
        self.sh = sh

    def text(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode("utf-8", "replace")

    def offset(self, addr):
        for p in self.loads:
            if p[3] <= addr < p[3] + p[5]:
                return addr - p[3] + p[2]
        return None

    def symbols(self, section=".dynsym"):
        """(name, addr, size, is_function) of those defined here."""
        s = self.sections.get(section)
        if not s:
            return []
        strings = self.sh[s[6]][4]
        ret = []
        for at in range(s[4], s[4] + s[5], 24):
            name, info, _, shndx, value, size = struct.unpack_from("<IBBHQQ", self.data, at)
            if shndx:
                ret.append((self.text(strings + name), value, size, info & 15 in (2, 10)))
        return ret

    def dynamic(self):
        s = self.sections.get(".dynamic")
        strings = self.sh[s[6]][4]
        for at in range(s[4], s[4] + s[5], 16):
            tag, value = struct.unpack_from("<QQ", self.data, at)
            if tag in (1, 14):
                yield {1: "NEEDED", 14: "SONAME"}[tag], self.text(strings + value)

    def build_id(self):
        s = self.sections.get(".note.gnu.build-id")
        return self.data[s[4] + 16:s[4] + s[5]].hex() if s else "none"

    def fdes(self):
        s = self.sections.get(".eh_frame")
        if not s:
            return None
        at, end, n = s[4], s[4] + s[5], 0
        while at + 8 <= end:
            length, cie = struct.unpack_from("<II", self.data, at)
            if not length or length == 0xffffffff:
                break
            n += cie != 0
            at += 4 + length
        return n


def begins(code):
    if code[:4] == b"\xf3\x0f\x1e\xfa":
        return "endbr64, then " + begins(code[4:])
    for first, what in ((b"\xe9", "jmp rel32"), (b"\xeb", "jmp rel8"), (b"\xff\x25", "jmp [rip]"), (b"\x0f\x1f\x44\x00\x00", "nop5"),
                        (b"\x48\x83\xec", "sub rsp"), (b"\x48\x81\xec", "sub rsp"), (b"\x31", "xor"), (b"\x48\x89", "mov"),
                        (b"\x48\x8b", "mov load"), (b"\x48\x8d", "lea"), (b"\x48\x85", "test"), (b"\xb8", "mov eax")):
        if code.startswith(first):
            return what
    if code and (0x50 <= code[0] <= 0x57 or code[0] == 0x41 and 0x50 <= code[1] <= 0x57):
        return "push"
    return "other " + code[:2].hex()


def main():
    e = Elf(sys.argv[1])
    print("file", sys.argv[1], len(e.data), "bytes")
    for what, text in e.dynamic():
        print(what, text)
    print("build-id", e.build_id())
    print("sections", *e.sections)
    print("FDEs", e.fdes(), ".symtab", len(e.symbols(".symtab")))
    syms = sorted(s for s in e.symbols() if s[3])
    kinds = {}
    by_addr = {}
    for name, addr, size, _ in syms:
        code = e.data[e.offset(addr):][:16] if False else e.data[e.offset(addr):e.offset(addr) + 16]
        kinds.setdefault(begins(code), []).append(name)
        by_addr.setdefault(addr, []).append(name)
        print("code %-50s addr 0x%x offset 0x%x size %d %s %s" % (name, addr, e.offset(addr), size, code.hex(" "), begins(code)))
    for what, names in sorted(kinds.items(), key=lambda k: -len(k[1])):
        print("begins %-40s %4d, as %s" % (what, len(names), names[0]))
    print("exported functions", len(syms), "at", len(by_addr), "addresses")
    for names in by_addr.values():
        if len(names) > 1:
            print("same", *names)


if __name__ == "__main__":
    main()
