/*
 * test_codenvcc.c - device code that nvcc made, where there is one: judged by its source and by what ptxas says.
 */
#include "test_code.h"

static const char source[] =
	"struct forty { char b[40]; }; struct two_hundred { long b[25]; }; struct huge { char b[20000]; };\n"
	"__device__ int value;\n"
	"extern \"C\" __global__ void k0() { value = 1; }\n"
	"extern \"C\" __global__ void k1(int *p) { *p = 1; }\n"
	"extern \"C\" __global__ void k3(int *p, char c, double d) { *p = c + d; }\n"
	"extern \"C\" __global__ void k12(char a, short b, int c, long d, float e, double f, int *g, char h, char i, long j,\n"
	"	short k, int *l) { __shared__ int s[32]; s[threadIdx.x] = a + b; __syncthreads();\n"
	"	*l = s[31 - threadIdx.x] + c + d + e + f + *g + h + i + j + k; }\n"
	"extern \"C\" __global__ void by_value(forty s, int *p) { *p = s.b[threadIdx.x]; }\n"
	"extern \"C\" __global__ void unused(int *p, two_hundred s, char c) { }\n"
	"extern \"C\" __global__ void large(huge s, int *p) { *p = s.b[threadIdx.x]; }\n"
	"template <typename T> __global__ void put(T *p, T v) { *p = v; }\n"
	"template __global__ void put<float>(float *, float);\n"
	"namespace space { __global__ void put(float *p, int n) { if (n) *p = n; } }\n"
	"__device__ __noinline__ int helper(int a) { return a * value; }\n"
	"extern \"C\" __global__ void calls(int *p) { *p = helper(*p); }\n";

/* As the source above has them, laid out as C does. */
static const struct { const char *name; unsigned params, bytes; } in_source[] = {
	{ "k0", 0, 0 }, { "k1", 1, 8 }, { "k3", 3, 24 }, { "k12", 12, 72 }, { "by_value", 2, 48 }, { "unused", 3, 209 },
	{ "large", 2, 20008 }, { "_Z3putIfEvPT_S0_", 2, 12 }, { "_ZN5space3putEPfi", 2, 12 }, { "calls", 1, 8 },
};

static const char nvcc[] = "PATH=$PATH:${CUDA:-/usr/local/cuda}/bin nvcc";

static void need_nvcc(void)
{
	if (!run("%s --version >/dev/null 2>&1", nvcc))
		SKIP("no nvcc here");
	write_file(in_dir("source.cu"), source, strlen(source));
}

/* Newest first. */
static unsigned architecture(unsigned n)
{
	char cmd[256];
	unsigned arch;

	snprintf(cmd, sizeof(cmd), "%s --list-gpu-code | grep -x 'sm_[0-9]*' | sort -t_ -rnk2 | sed -n %up", nvcc, n + 1);
	CHECK(sscanf(line_of(cmd), "sm_%u", &arch) == 1);
	return arch;
}

static const char *told_of_file(const char *name)
{
	static uint8_t image[1 << 20];
	__cleanup(close_file) FILE *f = fopen(in_dir(name), "r");

	CHECK(f);
	return told_of(image, fread(image, 1, sizeof(image), f));
}

/* What ptxas said when it made the kernel: -Xptxas -v, kept in "log". */
static unsigned registers(const char *kernel, unsigned arch)
{
	char cmd[512];

	snprintf(cmd, sizeof(cmd), "awk -v what=\"'%s' for 'sm_%u'\" 'index($0, what) { on = 1 } "
		 "on && match($0, /Used [0-9]+/) { print substr($0, RSTART + 5, RLENGTH - 5); exit }' '%s'", kernel, arch,
		 in_dir("log"));
	return atoi(line_of(cmd));
}

/* @arch 0: as text. */
static void check_all_are_told(const char *told, unsigned arch)
{
	char want[256];

	for (size_t i = 0; i < ARRAY_SIZE(in_source); i++) {
		int n = snprintf(want, sizeof(want), "%s %u %u ", in_source[i].name, in_source[i].params, in_source[i].bytes);
		unsigned regs = arch ? registers(in_source[i].name, arch) : 0;

		CHECK(!arch || regs);
		snprintf(want + n, sizeof(want) - n, arch ? "%u %u;" : "0 ptx;", regs, arch);
		if (!strstr(told, want))
			test_failed(__FILE__, __LINE__, "not told: %s\nin %s", want, told);
	}
}

static size_t count(const char *told)
{
	size_t n = 0;

	for (; *told; told++)
		n += *told == ';';
	return n;
}

static void compile(const char *flags, const char *to)
{
	CHECK(run("cd '%s' && %s -Xptxas -v %s -o %s source.cu >>log 2>&1", dir, nvcc, flags, to));
}

static void check_cubin(const char *more, unsigned arch)
{
	char flags[128];

	snprintf(flags, sizeof(flags), "-cubin -arch=sm_%u %s", arch, more);
	compile(flags, "cubin");
	check_all_are_told(told_of_file("cubin"), arch);
	CHECK_INT(count(told_of_file("cubin")), ARRAY_SIZE(in_source));
}

TEST(code_of_nvccs_cubins_is_told_for_the_newest_and_the_oldest_architecture)
{
	SCRATCH;

	need_nvcc();
	check_cubin("", architecture(0));
	check_cubin("", 75);
}

TEST(code_of_nvccs_cubins_is_told_when_they_are_to_be_linked_or_debugged)
{
	SCRATCH;

	need_nvcc();
	check_cubin("-rdc=true", architecture(1));
	check_cubin("-G", architecture(2));
}

TEST(code_of_nvccs_text_is_told)
{
	SCRATCH;

	need_nvcc();
	compile("-ptx", "text");
	check_all_are_told(told_of_file("text"), 0);
	CHECK_INT(count(told_of_file("text")), ARRAY_SIZE(in_source));
}

/* Two architectures and text in one, packed by @mode. */
static void check_fatbin(const char *mode)
{
	unsigned a = architecture(0), b = architecture(3);
	char flags[256];

	snprintf(flags, sizeof(flags), "-fatbin %s -gencode arch=compute_%u,code=sm_%u -gencode arch=compute_%u,code=[sm_%u,compute_%u]",
		 mode, a, a, b, b, b);
	compile(flags, "fatbin");
	check_all_are_told(told_of_file("fatbin"), a);
	check_all_are_told(told_of_file("fatbin"), b);
	check_all_are_told(told_of_file("fatbin"), 0);
	CHECK_INT(count(told_of_file("fatbin")), 3 * ARRAY_SIZE(in_source));
}

TEST(code_of_nvccs_fat_binaries_is_told_as_they_come)
{
	SCRATCH;

	need_nvcc();
#ifndef HAVE_ZSTD
	SKIP("built without zstd");
#endif
	check_fatbin("");
	check_fatbin("--compress-mode=size -Xfatbin -compress-all");
}

TEST(code_of_nvccs_fat_binaries_is_told_packed_for_speed_and_not_packed)
{
	SCRATCH;

	need_nvcc();
	check_fatbin("--compress-mode=speed -Xfatbin -compress-all");
	check_fatbin("--no-compress");
}
