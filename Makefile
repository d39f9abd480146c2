# recorder: build, test, install.   make help

CC	?= cc
CLANG	?= clang
BPFTOOL	?= $(shell command -v bpftool || echo /usr/sbin/bpftool)
PKG_CONFIG ?= pkg-config
CFLAGS	?= -O2 -g
PREFIX	?= $(or $(prefix),/usr/local)
BINDIR	?= $(PREFIX)/bin
B	:= build

HOST	:= $(shell uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
ARCH	?= $(HOST)
VERSION	:= $(shell cat src/VERSION)
LIBS	:= libbpf libelf zlib $(if $(filter x86,$(HOST)),zydis)
override CFLAGS += -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Iinclude -Isrc -I$B -MMD -MP -DVERSION='"$(VERSION)"'
BPFFLAGS = -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Wall -Wno-unused-function -Wno-gnu-variable-sized-type-not-at-end \
	   -Iinclude -Ivmlinux/$(ARCH) -MMD -MP
LDLIBS	:= -lbpf -lelf -lz $(if $(filter x86,$(HOST)),-lZydis) -lpthread

SRC	:= $(shell find src -name '*.c')
OBJ	:= $(SRC:%.c=$B/%.o)
BPFOBJ	 = $(patsubst bpf/%.bpf.c,$B/bpf-$(ARCH)/%.bpf.o,$(wildcard bpf/*.bpf.c))
UNIT	:= $(patsubst %.c,$B/%.o,$(wildcard tests/unit/*.c))

ifneq ($V,1)
say	= @printf '  %-5s %s\n' $1 $(patsubst $B/%,%,$@);
endif

all: recorder						## build ./recorder

recorder: $(OBJ)
	$(call say,LINK)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

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

$B/recorder.skel.h: $B/bpf-$(HOST)/recorder.o
	$(call say,SKEL)$(BPFTOOL) gen skeleton $< name recorder_bpf > $@

clean:							## remove everything built
	rm -rf $B recorder

help:							## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

.PHONY: all bpf clean help
.DELETE_ON_ERROR:
-include $(shell find $B -name '*.d' 2>/dev/null)
