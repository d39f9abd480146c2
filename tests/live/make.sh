# make.sh - what the Makefile promises: a second run installs nothing, install obeys PREFIX and DESTDIR, the BPF code
# compiles for arm64 too.
. "$LIVE/lib.sh"
root=$(realpath "$LIVE/../..")
[ -f "$root/Makefile" ] || { skip make "there is no Makefile above the tests"; exit 0; }

# Where everything is there nothing is asked of the package manager: one that fails is put before it.
mkdir bin
for tool in apt-get dnf pacman sudo; do printf '#!/bin/sh\necho called >> "%s/called"\nexit 1\n' "$scratch" > bin/$tool; done
chmod +x bin/*
check "nothing is installed twice" env PATH="$scratch/bin:$PATH" "$root/tests/deps/install" test
check "nor is a package manager asked" [ ! -e called ]

check "make is up to date after make" make -s -q -C "$root" recorder
check "make install obeys PREFIX and DESTDIR" make -s -C "$root" install PREFIX=/opt/x DESTDIR="$scratch/dest"
check "and installs the program" [ -x dest/opt/x/bin/recorder ]
check "and what --gpu-times loads, where recorder looks for it" [ -e dest/opt/x/bin/../lib/recorder/librecorder_cupti.so ]
check "and nothing outside" equal "$(ls dest) $(ls dest/opt)" "opt x"
check "the BPF code compiles for arm64" make -s -C "$root" bpf ARCH=arm64 B="$scratch/build"
check "into an object of BPF" grep -q 'eBPF\|Linux BPF' <(readelf -h build/bpf-arm64/recorder.o)
