# recorder: build, test, install.   make help

CC	?= cc
CLANG	?= clang
BPFTOOL	?= $(shell command -v bpftool || echo /usr/sbin/bpftool)
CFLAGS	?= -O2 -g
PREFIX	?= $(or $(prefix),/usr/local)
BINDIR	?= $(PREFIX)/bin
LIBDIR	?= $(PREFIX)/lib/recorder
B	:= build

HOST	:= $(shell uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
ARCH	?= $(HOST)
VERSION	:= $(shell cat src/VERSION)
override CFLAGS += -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -iquote include -iquote src -iquote $B -MMD -MP -DVERSION='"$(VERSION)"'
BPFFLAGS = -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Wall -Wno-unused-function -Wno-gnu-variable-sized-type-not-at-end \
	   -Iinclude -Ivmlinux/$(ARCH) -idirafter /usr/include/$(shell uname -m)-linux-gnu -MMD -MP
ZSTD	:= $(shell pkg-config --exists libzstd && echo 1)# without it trace.dat is not compressed
LZMA	:= $(shell pkg-config --exists liblzma && echo 1)# without it .gnu_debugdata is not read
override CFLAGS += $(if $(LZMA),-DHAVE_LZMA) $(if $(ZSTD),-DHAVE_ZSTD)
LDLIBS	:= -lbpf -ldw -lelf -lz -liberty $(if $(LZMA),-llzma) $(if $(ZSTD),-lzstd) $(if $(filter x86,$(HOST)),-lZydis) -lpthread

SRC	:= $(shell find src -name '*.c' -not -path 'src/inject/*')
OBJ	:= $(SRC:%.c=$B/%.o)
BPFOBJ	 = $(patsubst bpf/%.bpf.c,$B/bpf-$(ARCH)/%.bpf.o,$(wildcard bpf/*.bpf.c))
UNIT	:= $(patsubst %.c,$B/%.o,$(wildcard tests/unit/*.c))

SUDO	:= $(if $(filter-out 0,$(shell id -u)),sudo)

ifneq ($V,1)
say	= @printf '  %-5s %s\n' $1 $(patsubst $B/%,%,$@);
endif

all: recorder librecorder_cupti.so			## build ./recorder, and what --gpu-times loads

recorder: $(OBJ)
	$(call say,LINK)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

# Loaded into the recorded program, so it needs nothing but the C library: no CUDA to build it, none to link with.
librecorder_cupti.so: src/inject/cupti.c
	@mkdir -p $B/src/inject
	$(call say,CC)$(CC) $(CFLAGS) -MF $B/$(<:.c=.d) -fPIC -shared -fvisibility=hidden -o $@ $< -ldl -lpthread

$B/%.o: %.c $B/recorder.skel.h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CFLAGS) -c $< -o $@

$B/bpf-$(ARCH)/%.bpf.o: bpf/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF)$(CLANG) $(BPFFLAGS) -c $< -o $@

# The BPF files share maps, so they are linked into one object and loaded together.
$B/bpf-$(ARCH)/recorder.o: $(BPFOBJ)
	$(call say,LINK)$(BPFTOOL) gen object $@ $^

bpf: $B/bpf-$(ARCH)/recorder.o				## only the BPF object, for ARCH=x86 or ARCH=arm64

$B/recorder.skel.h: $B/bpf-$(HOST)/recorder.o Makefile
	$(call say,SKEL){ echo '#include "fileplan.h"'; $(BPFTOOL) gen skeleton $B/bpf-$(HOST)/recorder.o name recorder_bpf; } > $@

$B/unit: $(UNIT) $(filter-out $B/src/main.o,$(OBJ))
	$(call say,LINK)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

$B/hello: examples/hello/hello.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -O1 -g -fno-inline -o $@ $< -lpthread

# On a fresh machine make knows no tools yet: what is missing is installed first, then make is asked again.
demo:							## install what is missing, build, record examples/hello, show it
	@tests/deps/install demo
	@$(MAKE) --no-print-directory recorder $B/hello
	$(SUDO) ./recorder -o $B/hello.data -- $B/hello
	uftrace replay -d $B/hello.data --no-pager

check:							## install what tests need, build, and pass them; the live ones need root
	@tests/deps/install test
	@$(MAKE) --no-print-directory -j$$(nproc) recorder librecorder_cupti.so $B/unit bpf ARCH=$(HOST)
	@$(MAKE) --no-print-directory -j$$(nproc) bpf ARCH=arm64
	@$(MAKE) --no-print-directory -C tests/programs OUT=$(abspath $B)/programs
	@tests/run-all $B/unit $(abspath recorder)

check-long:						## what takes long: real programs counted, live tests with all their rounds; needs root
	@tests/deps/install long
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory -C tests/programs OUT=$(abspath $B)/programs
	@FULL=1 SLOW=10 tests/live/run $(abspath recorder) $(sort $(wildcard tests/long/*.sh tests/live/*.sh))

check-vm:						## the live tests under 6.1, 6.12 (arm64 too) and Debian's newest kernel, by QEMU; a row each
	@tests/deps/install long
	@$(MAKE) --no-print-directory recorder $B/unit $B/hello
	@$(MAKE) --no-print-directory -C tests/programs OUT=$(abspath $B)/programs
	@tests/vm/check

bench:							## the figures we publish, beside other tools; needs root
	@tests/deps/install bench
	@$(MAKE) --no-print-directory recorder
	@tests/bench/run.sh $(abspath recorder)
	@tests/bench/chosen.sh $(abspath recorder)
	@tests/bench/bystander.sh $(abspath recorder)
	@tests/bench/attach.sh $(abspath recorder)
	@tests/bench/programs.sh $(abspath recorder)
	@tests/bench/bas.sh $(abspath recorder)
	@tests/bench/tracedat.sh $(abspath recorder)
	@tests/bench/cuda.sh $(abspath recorder)

vmlinux:						## renew vmlinux/ARCH/vmlinux.h; BTF=FILE of a kernel of another architecture
	vmlinux/renew $(ARCH) $(BTF)

install: recorder librecorder_cupti.so			## into $(DESTDIR)$(PREFIX)
	install -D -m 755 recorder $(DESTDIR)$(BINDIR)/recorder
	install -D -m 755 librecorder_cupti.so $(DESTDIR)$(LIBDIR)/librecorder_cupti.so

uninstall:						## and out again
	rm -f $(DESTDIR)$(BINDIR)/recorder $(DESTDIR)$(LIBDIR)/librecorder_cupti.so

clean:							## remove everything built
	rm -rf $B recorder librecorder_cupti.so

help:							## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

.PHONY: all bpf demo check check-long check-vm bench vmlinux install uninstall clean help
.DELETE_ON_ERROR:
-include $(shell find $B -path $B/truth -prune -o -path $B/vm -prune -o -name '*.d' -print 2>/dev/null)
