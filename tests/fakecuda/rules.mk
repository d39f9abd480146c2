# The stand-in CUDA driver and runtime, and the programs that call them: a part of tests/programs/Makefile. No CUDA toolkit is needed; where
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
RUNTIME	:= $(OUT)/fakecuda/libcudart
CUS	:= $(addprefix $(OUT)/,cudriver cugraph cuthreads cufork culate cuserve cumany cuchecks cuimages)
NVCC	:= $(firstword $(wildcard $(CUDA)/bin/nvcc) nvcc)
# Made where there is nvcc: linked with the runtime "statically", and as nvcc does it with the shared one.
MAYBE	+= $(addprefix $(OUT)/,vectoradd vectoradd.shared vectoradd.ptds)

# As the real one is: stripped, and the name that programs ask for is a link.
$(LIBCUDA): $(OUT)/fakecuda/libcuda.so.580.0
	@ln -sf $(<F) $@
$(OUT)/fakecuda/libcuda.so.580.0: $(CUDRV) $(CUHDRS) $(FAKE)/rules.mk
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CULIB) -s -Wl,-soname,libcuda.so.1 -o $@ $(CUDRV) -lpthread

# culate finds the driver by itself, the others are linked with it.
$(CUS): $(OUT)/%: $(FAKE)/programs/%.c $(CUHDRS) $(LIBCUDA)
	$(call say,CC)$(CC) $(CUFLAGS) -o $@ $< $(if $(filter %/culate,$@),-ldl,$(LIBCUDA)) -lpthread

$(OUT)/fakecuda/libinjected.so: $(FAKE)/injected.c | $(LIBCUDA)
	$(call say,CC)$(CC) $(CULIB) -o $@ $<

$(OUT)/fakecuda/libcupti.so.13: $(FAKE)/cupti.c $(FAKE)/watch.h ../../src/inject/cuptiapi.h | $(LIBCUDA)
	$(call say,CC)$(CC) $(CULIB) -s -Wl,-soname,$(@F) -o $@ $< -ldl -lpthread

# The version of its symbols is the one that programs made by nvcc ask for.
$(RUNTIME).so.13: $(FAKE)/runtime.c $(CUHDRS) | $(LIBCUDA)
	$(call say,CC)$(CC) $(CULIB) -s -Wl,-soname,$(@F) -Wl,--default-symver -o $@ $< -ldl -lpthread
$(RUNTIME)_static.a: $(FAKE)/runtime.c $(CUHDRS) | $(LIBCUDA)
	$(call say,CC)$(CC) $(filter-out -shared,$(CULIB)) -c -o $(@:.a=.o) $< && ar rcs $@ $(@:.a=.o)

$(OUT)/curuntime $(OUT)/curuntime.shared: $(FAKE)/programs/curuntime.c $(CUHDRS) $(RUNTIME).so.13 $(RUNTIME)_static.a
	$(call say,CC)$(CC) $(CUFLAGS) -o $@ $< $(RUNTIME)$(if $(filter %.shared,$@),.so.13,_static.a) -ldl -lpthread

$(OUT)/fakecuda/vectoradd.o $(OUT)/fakecuda/vectoradd.ptds.o: $(FAKE)/programs/vectoradd.cu | $(LIBCUDA)
	$(call say,NVCC)$(NVCC) -O1 -g $(if $(filter %.ptds.o,$@),-default-stream per-thread) -c -o $@ $<
$(OUT)/vectoradd $(OUT)/vectoradd.ptds: $(OUT)/%: $(OUT)/fakecuda/%.o $(RUNTIME)_static.a
	$(call say,NVCC)$(NVCC) -cudart none -o $@ $< $(RUNTIME)_static.a -ldl -lpthread
$(OUT)/vectoradd.shared: $(OUT)/fakecuda/vectoradd.o $(RUNTIME).so.13
	$(call say,NVCC)$(NVCC) -cudart shared -o $@ $<

$(OUT)/fakecuda/offsets.o: $(FAKE)/offsets.c $(CUHDRS) | $(LIBCUDA)
	$(call say,CC)$(CC) -I$(CUDA)/include -c -o $@ $<

$(OUT)/fakecuda/cuptioffsets.o: $(FAKE)/cuptioffsets.c ../../src/inject/cuptiapi.h | $(LIBCUDA)
	$(call say,CC)$(CC) -I$(CUDA)/include -c -o $@ $<

fakecuda: $(LIBCUDA) $(OUT)/fakecuda/libcupti.so.13 $(CUS) $(OUT)/curuntime $(OUT)/curuntime.shared $(OUT)/fakecuda/libinjected.so \
	$(if $(wildcard $(CUDA)/include/cuda.h),$(OUT)/fakecuda/offsets.o) \
	$(if $(wildcard $(CUDA)/include/cupti.h),$(OUT)/fakecuda/cuptioffsets.o)
.PHONY: fakecuda
