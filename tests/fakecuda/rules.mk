# The stand-in CUDA driver and the programs that call it: a part of tests/programs/Makefile. No CUDA toolkit is needed; where
# there is one, its header is asked whether ours has the right places.
#
# The programs know no path to the driver: LD_LIBRARY_PATH=$(OUT)/fakecuda gives it to them.

FAKE	:= ../fakecuda
CUDA	?= /usr/local/cuda
CUFLAGS	:= -std=gnu11 -D_GNU_SOURCE -g -Wall -Wextra -O2 -I$(FAKE)
# Each exported function stays a function of its own that returns by itself: a probe sees each call once.
CULIB	:= $(CUFLAGS) -fPIC -shared -fvisibility=hidden -fno-optimize-sibling-calls -fno-ipa-icf -fno-ipa-cp -fno-ipa-sra
CUDRV	:= $(addprefix $(FAKE)/,core.c count.c stream.c module.c launch.c memory.c graph.c proc.c)
CUHDRS	:= $(wildcard $(FAKE)/*.h $(FAKE)/programs/*.h)
LIBCUDA	:= $(OUT)/fakecuda/libcuda.so.1
CUS	:= $(patsubst $(FAKE)/programs/%.c,$(OUT)/%,$(wildcard $(FAKE)/programs/cu*.c))

# As the real one is installed: the name that programs ask for is a link.
$(LIBCUDA): $(OUT)/fakecuda/libcuda.so.580.0
	@ln -sf $(<F) $@
$(OUT)/fakecuda/libcuda.so.580.0: $(CUDRV) $(CUHDRS) $(FAKE)/rules.mk
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CULIB) -Wl,-soname,libcuda.so.1 -o $@ $(CUDRV) -lpthread

# culate finds the driver by itself, the others are linked with it.
$(CUS): $(OUT)/%: $(FAKE)/programs/%.c $(CUHDRS) $(LIBCUDA)
	$(call say,CC)$(CC) $(CUFLAGS) -o $@ $< $(if $(filter %/culate,$@),-ldl,$(LIBCUDA)) -lpthread

$(OUT)/fakecuda/offsets.o: $(FAKE)/offsets.c $(CUHDRS) | $(LIBCUDA)
	$(call say,CC)$(CC) -I$(CUDA)/include -c -o $@ $<

fakecuda: $(LIBCUDA) $(CUS) $(if $(wildcard $(CUDA)/include/cuda.h),$(OUT)/fakecuda/offsets.o)
.PHONY: fakecuda
