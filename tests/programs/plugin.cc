// plugin.cc - a library with an unwinder of its own and no symbols to find it by: -static-libgcc, stripped.
#include <unwind.h>

static _Unwind_Reason_Code count(_Unwind_Context *, void *n)
{
	++*static_cast<int *>(n);
	return _URC_NO_REASON;
}

extern "C" {

// How many frames there are up to where the stack's tables end.
int plugin_frames()
{
	int n = 0;

	_Unwind_Backtrace(count, &n);
	return n;
}

void plugin_throw(int n) { throw n; }

// What @call throws, or returns.
int plugin_catch(int (*call)(int), int n)
{
	try {
		return call(n);
	} catch (int thrown) {
		return thrown;
	}
}

}
