/*
 * autoargs.c - calls whose arguments and results the program itself writes down, as a viewer shows them.
 *
 * Functions that begin with x are called as their types say, whatever the compiler
 * knows of their callers: all of them must be shown whole. Of the others a compiler
 * may remove arguments and results; those it has must not be shown wrong.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#ifdef __clang__
#define X	__attribute__((noinline)) extern
#else
#define X	__attribute__((noipa)) extern
#endif
#define LOCAL	__attribute__((noinline)) static
#define KEEP	__asm__ volatile("" ::: "memory")

enum color { RED = 1, GREEN = 2, BLUE = 4, DARK = -7 };
typedef enum { ONE, TWO } digit;
typedef const char *text;
typedef int (*pick)(int, text, enum color);
struct point { int x, y; };
struct mixed { double d; long n; };
struct big { long a, b, c; };
union word { int n; char c[8]; };

X int x_three(int a, const char *s, enum color c);
int x_three(int a, const char *s, enum color c) { KEEP; return a + s[0] + c; }
X unsigned x_sizes(unsigned char a, short b, unsigned c, unsigned long d, signed char e, bool f);
unsigned x_sizes(unsigned char a, short b, unsigned c, unsigned long d, signed char e, bool f)
{
	KEEP;
	return a + b + c + d + e + f;
}
X long long x_stack(int a, int b, int c, int d, int e, int f, int g, long h, short i, char j);
long long x_stack(int a, int b, int c, int d, int e, int f, int g, long h, short i, char j)
{
	KEEP;
	return a + b + c + d + e + f + g + h + i + j;
}
X text x_text(text s, digit d, char *t, char c);
text x_text(text s, digit d, char *t, char c) { KEEP; return d == TWO && c ? s : t; }
X enum color x_color(enum color c);
enum color x_color(enum color c) { KEEP; return c == RED ? BLUE : DARK; }
X int x_pick(pick f, int n);
int x_pick(pick f, int n) { KEEP; return n + (f == x_three); }
X void x_nothing(void);
void x_nothing(void) { KEEP; }

/* Values that are passed in other ways: what is behind them must be right, or not shown. */
X int after_struct(struct point p, int n);
int after_struct(struct point p, int n) { KEEP; return p.x + p.y + n; }
X int after_big(struct big b, struct mixed m, int n);
int after_big(struct big b, struct mixed m, int n) { KEEP; return b.a + m.n + n; }
X struct big gives_big(int n);
struct big gives_big(int n) { KEEP; return (struct big){ n, n, n }; }
X int after_float(int a, float f, double d, int b);
int after_float(int a, float f, double d, int b) { KEEP; return a + (int)(f + d) + b; }
X int after_long_double(int a, long double f, int b);
int after_long_double(int a, long double f, int b) { KEEP; return a + (int)f + b; }
X int after_wide(int a, __int128 w, int b);
int after_wide(int a, __int128 w, int b) { KEEP; return a + (int)w + b; }
X int after_union(union word w, int b);
int after_union(union word w, int b) { KEEP; return w.n + b; }

/* Called in another way than the types say. */
X int old_style();
int old_style(a, b, c, n) char a; short b; float c; int n; { KEEP; return a + b + (int)c + n; }
#ifdef __x86_64__
#define WINDOWS	__attribute__((ms_abi))
#else
#define WINDOWS
#endif
X WINDOWS int windows(int a, const char *s, double d, short n);
WINDOWS int windows(int a, const char *s, double d, short n) { KEEP; return a + s[0] + (int)d + n; }

/* What only this file calls. */
LOCAL int same(int constant, int n) { KEEP; return constant * n; }
LOCAL int unused(int nobody, int n) { KEEP; (void)nobody; return n + 1; }
LOCAL int ignored(int n) { KEEP; return write(-1, "", n & 1) < 0; }
LOCAL int by_address(const struct point *p, int n) { KEEP; return p->x + p->y + n; }
LOCAL int middle(int a, int nobody, const char *s) { KEEP; (void)nobody; return a + s[0]; }

int main(int argc, char **argv)
{
	struct point p = { argc, 2 };

	(void)argv;
	for (int i = argc; i < argc + 3; i++) {
		printf("x_three(%d, \"abc\", GREEN) = %d\n", i, x_three(i, "abc", GREEN));
		printf("x_sizes(255, %d, 70000, 5, -5, 1) = %u\n", -i, x_sizes(255, -i, 70000, 5, -5, true));
		printf("x_stack(1, 2, 3, 4, 5, %d, 7, -8, -9, 'j') = %lld\n", i, x_stack(1, 2, 3, 4, 5, i, 7, -8, -9, 'j'));
		printf("x_text(\"yes\", TWO, \"no\", 'c') = \"%s\"\n", x_text("yes", TWO, (char *)"no", 'c'));
		printf("x_color(RED) = %s\n", x_color(RED) == BLUE ? "BLUE" : "?");
		printf("x_color(DARK) = %s\n", x_color(DARK) == DARK ? "DARK" : "?");
		printf("x_pick(&x_three, %d) = %d\n", -i, x_pick(x_three, -i));
		x_nothing();
		printf("x_nothing()\n");
		printf("after_struct(?, %d) = %d\n", i, after_struct(p, i));
		printf("after_big(?, ?, %d) = %d\n", i, after_big((struct big){ 3, 4, 5 }, (struct mixed){ 1.5, 2 }, i));
		printf("gives_big(%d) = %ld...\n", i, gives_big(i).b);
		printf("after_float(%d, ?, ?, 4) = %d\n", i, after_float(i, 2.5, 3.5, 4));
		printf("after_long_double(%d, ?, 4) = %d\n", i, after_long_double(i, 2.5, 4));
		printf("after_wide(%d, ?, 4) = %d\n", i, after_wide(i, 7, 4));
		printf("after_union(?, 4) = %d\n", after_union((union word){ i }, 4));
		printf("old_style('a', -3, 1.500000, %d) = %d\n", i, old_style('a', -3, 1.5, i));
		printf("windows(%d, \"abc\", 2.500000, 9) = %d\n", i, windows(i, "abc", 2.5, 9));
		printf("same(3, %d) = %d\n", i, same(3, i));
		printf("unused(%d, %d) = %d\n", i * 2, i, unused(i * 2, i));
		ignored(i);
		printf("ignored(%d) = 1\n", i);
		printf("by_address(?, %d) = %d\n", i, by_address(&p, i));
		printf("middle(%d, %d, \"s\") = %d\n", i, i * 3, middle(i, i * 3, "s"));
	}
	fflush(stdout);
	close(open("/dev/null", O_WRONLY | O_CLOEXEC));
	return 0;
}
