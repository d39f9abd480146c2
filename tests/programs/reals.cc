/*
 * reals.cc - functions with floating-point numbers, structures and strings of C++ as arguments and results.
 *
 *	reals		one call of each
 *	reals N [T]	check() called N times in each of T threads, each call printed as uftrace shows it
 *	reals bad	strings where none are; prints how they are shown
 *	reals libcxx	strings as libc++ has them
 */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>
#include <sys/mman.h>

/* Called as it stands here, whatever else is inlined. */
#define CALLED	__attribute__((noipa))

struct Pair { long a, b; };
struct Block { long a[5]; };
struct Point { double x, y; };

namespace geo {
struct Circle {
	double r;
	CALLED double scale(double by) const;
};

double Circle::scale(double by) const
{
	return r * by;
}
}

/* What std::string is with libc++: told from libstdc++'s by the namespace in the function's name. */
namespace std {
inline namespace __1 {
struct text {
	union {
		struct { size_t room, len; const char *at; };
		char bytes[24];
	};
};
}
}

extern "C" {

CALLED double twice(double d)
{
	return d * 2;
}

CALLED float half(float f, double d)
{
	return f / 2 + (float)d;
}

CALLED long double precise(long double d)
{
	return d / 3;
}

CALLED double eight(float a, double b, float c, double d, float e, double f, float g, double h)
{
	return a + b + c + d + e + f + g + h;
}

CALLED double ten(double a, double b, double c, double d, double e, double f, double g, double h, double i, double j)
{
	return a + b + c + d + e + f + g + h + i + j;
}

CALLED double mixed(int a, double x, const char *s, float y)
{
	return a + x + s[0] + y;
}

CALLED long pair(Pair p)
{
	return p.a + p.b;
}

CALLED long block(int first, Block b)
{
	return first + b.a[0] + b.a[4];
}

CALLED double point(Point p)
{
	return p.x + p.y;
}

CALLED Pair makes_pair(long a)
{
	return { a, a + 1 };
}

CALLED double check(double a, float b, long c)
{
	return a + b + c;
}

CALLED void show(const std::string &s)
{
	asm volatile("" : : "r"(&s) : "memory");
}

}

CALLED const std::string &longer(std::string &s)
{
	return s += "+";
}

CALLED void other(const std::text &t)
{
	asm volatile("" : : "r"(&t) : "memory");
}

CALLED static void strings()
{
	for (size_t n : { 0, 1, 15, 16, 97, 98, 99, 300 })
		show(std::string(n, 'x'));
	show("quote\", tab\t, \303\251");
	std::string s = "grows";
	for (int i = 0; i < 3; i++)
		longer(s);
}

/* Not to be shown beside the -pg build: uftrace reads no strings of libc++. */
static void libcxx()
{
	static const char text[] = "a long string of libc++, in memory of its own";
	std::text t = {};

	t.bytes[0] = 5 << 1;
	memcpy(t.bytes + 1, "short", 5);
	other(t);
	t.room = 65;
	t.len = sizeof(text) - 1;
	t.at = text;
	other(t);
}

CALLED static void all()
{
	const double edges[] = { 0, -0.0, 1, -1.5, 0.1, 1e-300, 12345678.9, -3e20, INFINITY, -INFINITY, NAN };
	geo::Circle c = { 2.5 };

	for (double d : edges)
		twice(d), half((float)d, d), precise(d);
	eight(1, 2, 3, 4, 5, 6, 7, 8);
	ten(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	mixed(3, -0.25, "text", 7.75f);
	pair({ 1, 2 }), block(3, { { 1, 2, 3, 4, 5 } }), point({ 1, 2 }), makes_pair(7);
	c.scale(4);
	strings();
}

CALLED static void some(int n, uint64_t x, std::string *out)
{
	char line[256];

	for (int i = 0; i < n; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		double a = (double)(int64_t)x / (1 << (x & 30)), r;
		float b = (float)(int32_t)(x >> 20) / 1024;

		r = check(a, b, x & 0xffff);
		snprintf(line, sizeof(line), "check(%f, %f, %ld) = %f;\n", a, b, (long)(x & 0xffff), r);
		*out += line;
	}
}

static void many(int n, int threads)
{
	std::vector<std::string> out(threads);
	std::vector<std::thread> t;

	for (int i = 0; i < threads; i++)
		t.emplace_back(some, n, 88172645463325252ul + i * 0x9e3779b97f4a7c15ul, &out[i]);
	for (int i = 0; i < threads; i++) {
		t[i].join();
		fputs(out[i].c_str(), stdout);
	}
}

static void bad()
{
	char *page = (char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct { const void *at; size_t len, more[2]; } s = { (void *)16, 5, {} };

	mprotect(page + 4096, 4096, PROT_NONE);
	show(*(std::string *)8);
	show(*(std::string *)(page + 4096 - 8));
	show(*(std::string *)&s);
	s.at = page + 4096 - 2;
	show(*(std::string *)&s);
	s.len = ~0ul;
	show(*(std::string *)&s);
	printf("show(\"<0x8>\"s);\nshow(\"<%p>\"s);\nshow(\"<0x10>\"s);\n", page + 4096 - 8);
	printf("show(\"<%p>\"s);\nshow(\"<%p>\"s);\n", page + 4096 - 2, page + 4096 - 2);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		all();
	else if (!strcmp(argv[1], "libcxx"))
		libcxx();
	else if (!strcmp(argv[1], "bad"))
		bad();
	else
		many(atoi(argv[1]), argc > 2 ? atoi(argv[2]) : 1);
	return 0;
}
