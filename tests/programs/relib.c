/* relib.c - a library of one function, FUNC, which is called as "call". Libraries that differ in that name alone are of one size. */

__attribute__((noipa)) int FUNC(int n)
{
	return n + 1;
}

int (*const call)(int) = FUNC;
