/*
 * autoargs.cc - as autoargs.c, of C++: the program writes down its own calls. Less may be shown, not other.
 *
 * An object is written as its address, also one that is given back. A '?' is a value that nobody compares.
 */
#include <cstdarg>
#include <cstdio>
#include <string>

#ifdef __clang__
#define X	__attribute__((noinline))
#else
#define X	__attribute__((noipa))
#endif
#define KEEP	__asm__ volatile("" ::: "memory")
#define TELL(...)	(printf(__VA_ARGS__), putchar('\n'))

enum class Small : unsigned char { ONE = 1, MANY = 200 };
struct Two { int x, y; };
struct Big { long a, b, c; };
struct Owner {
	int n;
	Owner(int v) : n(v) {}
	Owner(const Owner &o) : n(o.n) {}
	~Owner() { n = 0; }
	X Owner m_owner(int more) const
	{
		Owner ret(n + more);

		KEEP;
		TELL("m_owner(%p, %d) = %p", (const void *)this, more, (void *)&ret);
		return ret;
	}
	X Big m_big(int more) const { KEEP; TELL("m_big(%p, %d)", (const void *)this, more); return Big{ more, 0, 0 }; }
	X Two m_two(int more) const { KEEP; TELL("m_two(%p, %d)", (const void *)this, more); return Two{ more, 0 }; }
	X static Owner m_static(int v)
	{
		Owner ret(v);

		KEEP;
		TELL("m_static(%d) = %p", v, (void *)&ret);
		return ret;
	}
};

X Owner g_owner(int n, const char *s)
{
	Owner ret(n + *s);

	KEEP;
	TELL("g_owner(%d, \"%s\") = %p", n, s, (void *)&ret);
	return ret;
}
X std::string g_string(const std::string &a, int n)
{
	std::string ret = a + "x";

	KEEP;
	TELL("g_string(%p, %d) = %p", (const void *)&a, n, (void *)&ret);
	return ret;
}
X Big g_big(int n, double d) { KEEP; TELL("g_big(%d, %f)", n, d); return Big{ n, 0, (long)d }; }
X Two g_two(int n) { KEEP; TELL("g_two(%d)", n); return Two{ n, n }; }
X int t_owner(int a, Owner o, int n)
{
	KEEP;
	TELL("t_owner(%d, %p, %d) = %d", a, (void *)&o, n, a + n);
	return a + n;
}
X Owner t_both(Owner o, double d, Owner p, int n)
{
	Owner ret(o.n + p.n);

	KEEP;
	TELL("t_both(%p, %f, %p, %d) = %p", (void *)&o, d, (void *)&p, n, (void *)&ret);
	return ret;
}
X int t_refs(const int &a, int &&b, Small s, Owner &o)
{
	KEEP;
	TELL("t_refs(%p, %p, %d, %p) = %d", (const void *)&a, (void *)&b, (int)s, (void *)&o, a);
	return a;
}
X int t_member(int n, int Two::*field, int (*f)(int), int Owner::*other)
{
	KEEP;
	TELL("t_member(%d, ?, ?, ?) = %d", n, n + 1);
	return n + (field && f && other);
}
X int t_unnamed(int, const char *, int n) { KEEP; TELL("t_unnamed(?, ?, %d) = %d", n, n); return n; }
X Owner t_varied(int n, const char *s, ...)
{
	va_list list;
	Owner ret(n);

	va_start(list, s);
	TELL("t_varied(%d, \"%s\") = %p", n, s, (void *)&ret);
	va_end(list);
	return ret;
}
template <class T> X T t_template(T a, short b) { KEEP; TELL("t_template(%d, %d) = %d", (int)a, b, (int)(a + b)); return a + b; }

/* Called by way of Right, v_call() gets the address of the whole: what is between is not seen, or called alike. */
struct Base { long pad; Base(int n) : pad(n) {} virtual ~Base() {} };
struct Right { long r; virtual int v_call(int n) { return n; } virtual ~Right() {} };
struct Both : virtual Base, Right {
	Both(int n) : Base(n) {}
	X int v_call(int n) override { KEEP; TELL("v_call(%p, %d) = %d", (void *)this, n, n + 2); return n + 2; }
};

int main(int argc, char **)
{
	Owner o(5);
	std::string text = "text";

	for (int i = argc; i < argc + 3; i++) {
		g_owner(i, "abc");
		g_string(text, i);
		g_big(i, i + 0.5);
		g_two(i);
		t_owner(i, o, i + 1);
		t_both(o, i + 0.25, o, i);
		t_refs(i, i + 1, i == 2 ? Small::ONE : Small::MANY, o);
		t_member(i, &Two::y, putchar, &Owner::n);
		t_unnamed(3, "a", i);
		t_varied(i, "varied", 1, 2.5);
		t_template<int>(i, -i);
		t_template<signed char>(i, 7);
		o.m_owner(i);
		o.m_big(i);
		o.m_two(i);
		Owner::m_static(i);
		Both both(i);
		Right *right = &both;
		right->v_call(i);
	}
	return 0;
}
