/* -A and -R: what uftrace's grammar means, and one line about what it does not allow. */
#include "argspec.h"
#include "base.h"
#include "image.h"
#include "test.h"

static struct func add = { .name = "add" }, adder = { .name = "adder" }, stub = { .name = "add", .flags = FUNC_PLT };
static struct image img = { .path = (char *)"/opt/prog" };

static void give(struct argspecs *s, const char *text, bool is_result)
{
	char why[160] = "";
	int err = argspecs_add(s, text, is_result, why, sizeof(why));

	CHECK_STR(why, "");
	CHECK_INT(err, 0);
}

/* The forms as text: "arg1/d64 arg2%3/x32 retval/s64"; the place is shown where it is not the usual one. */
static const char *forms(const struct argspecs *s, const struct func *f)
{
	static char text[512];
	struct func_args args;
	size_t n = 0;

	text[0] = '\0';
	if (!argspecs_find(s, &args, &img, f))
		return "none";
	for (unsigned i = 0; i < args.count; i++) {
		n += snprintf(text + n, sizeof(text) - n, "%sarg%u", i ? " " : "", args.arg[i].index);
		if (args.arg[i].place != args.arg[i].index)
			n += snprintf(text + n, sizeof(text) - n, "%%%u", args.arg[i].place);
		n += snprintf(text + n, sizeof(text) - n, "/%c%u", "diuxcps"[args.arg[i].format], args.arg[i].size * 8);
	}
	if (args.result_bytes)
		snprintf(text + n, sizeof(text) - n, "%sretval/%c%u", n ? " " : "", "diuxcps"[args.result.format],
			 args.result.size * 8);
	return text;
}

static void means(const char *args, const char *result, const char *want)
{
	struct argspecs s = {};

	if (args)
		give(&s, args, false);
	if (result)
		give(&s, result, true);
	CHECK_STR(forms(&s, &add), want);
	argspecs_release(&s);
}

TEST(arguments_have_formats_and_sizes)
{
	means("add@arg1", NULL, "arg1/d64");
	means("add@arg1/d,arg2/i,arg3/u,arg4/x,arg5/c,arg6/p,arg7/s", NULL,
	      "arg1/d64 arg2/i64 arg3/u64 arg4/x64 arg5/c8 arg6/p64 arg7/s64");
	means("add@arg1/i8,arg2/u16,arg3/x32,arg4/d64", NULL, "arg1/i8 arg2/u16 arg3/x32 arg4/d64");
	means(NULL, "add@retval", "retval/d64");
	means("add@arg2/x", "add@retval/s", "arg2/x64 retval/s64");
}

TEST(arguments_keep_their_order_and_the_last_form_counts)
{
	means("add@arg3,arg1/x", NULL, "arg3/d64 arg1/x64");
	means("add@arg3,arg1/x;add@arg2,arg3/i", NULL, "arg3/i64 arg1/x64 arg2/d64");
	means("add@arg1,arg1/x", NULL, "arg1/x64");
	means("add@arg1/i32;a.*@arg1/x,arg2", NULL, "arg1/i32 arg2/d64");	/* the name goes before the pattern */
	means("a.*@arg1/x;add@arg1/i32", NULL, "arg1/i32");
}

TEST(several_functions_are_parted_by_semicolons)
{
	struct argspecs s = {};

	give(&s, ";add@arg1;;adder@arg2/s;", false);
	give(&s, "adder@arg1/i32", false);
	CHECK_STR(forms(&s, &add), "arg1/d64");
	CHECK_STR(forms(&s, &adder), "arg2/s64 arg1/i32");
	argspecs_release(&s);
}

TEST(functions_are_patterns_of_files)
{
	means("^ad+$@arg1", NULL, "arg1/d64");
	means("ad@arg1", NULL, "none");
	means("add@prog,arg1", NULL, "arg1/d64");
	means("add@other,arg1", NULL, "none");
	means("add@PLT,arg1", NULL, "none");
}

TEST(a_stub_is_meant_by_its_name_or_by_PLT)
{
	struct argspecs s = {};

	give(&s, "add@PLT,arg1/s", false);
	CHECK_STR(forms(&s, &stub), "arg1/s64");
	CHECK_STR(forms(&s, &add), "none");
	argspecs_release(&s);
	give(&s, "add@arg1/x", false);
	CHECK_STR(forms(&s, &stub), "arg1/x64");
	argspecs_release(&s);
}

#ifdef __x86_64__
TEST(an_argument_may_be_in_another_place)
{
	means("add@arg1%rsi", NULL, "arg1%2/d64");
	means("add@arg1/x32%r9,arg2/s%stack+1", NULL, "arg1%6/x32 arg2%7/s64");
	means("add@arg7", NULL, "arg7/d64");
}
#endif

TEST(the_values_of_a_record_lie_behind_each_other)
{
	struct argspecs s = {};
	struct func_args args;

	give(&s, "add@arg1,arg2/s,arg3", false);
	give(&s, "add@retval/s", true);
	CHECK(argspecs_find(&s, &args, &img, &add));
	CHECK_INT(args.arg[0].at, 0);
	CHECK_INT(args.arg[1].at, 16);
	CHECK_INT(args.arg[2].at, 16 + 112);
	CHECK_INT(args.bytes, 16 + 112 + 16);
	CHECK_INT(args.result_bytes, 112);
	CHECK(ARGS_MAX * 112 <= VALUES_MAX);
	argspecs_release(&s);
}

static void refused(const char *text, bool is_result, const char *want)
{
	struct argspecs s = {};
	char why[160] = "";

	CHECK_INT(argspecs_add(&s, text, is_result, why, sizeof(why)), -EINVAL);
	CHECK_STR(why, want);
	argspecs_release(&s);
}

TEST(what_is_malformed_is_named)
{
	refused("", false, "'' names no function");
	refused(";", false, "';' names no function");
	refused("add", false, "'add' asks for nothing, as FUNC@arg1 would");
	refused("add@", true, "'add@' asks for nothing, as FUNC@retval would");
	refused("@arg1", false, "'@arg1' names no function");
	refused("a(@arg1", false, "'a(' is not a regular expression");
	refused("add@argx", false, "'argx' is not an argument, such as arg1/x");
	refused("add@arg0", false, "'arg0': arguments are arg1 to arg63");
	refused("add@arg64", false, "'arg64': arguments are arg1 to arg63");
	refused("add@arg1/q", false, "'arg1/q': a format is one of d i u x c p s");
	refused("add@arg1/", false, "'arg1/': a format is one of d i u x c p s");
	refused("add@arg1/i7", false, "'arg1/i7': a size is one of 8 16 32 64");
	refused("add@arg1/s8", false, "'arg1/s8': a string has no size");
	refused("add@arg1/x32z", false, "'arg1/x32z': 'z' is not understood");
	refused("add@arg1,,arg2", false, "an argument is missing before a ','");
	refused("add@retval", false, "'retval' is for -R; here it is arg1, arg2 ...");
	refused("add@arg1", true, "'arg1' is for -A; here it is retval");
	refused("add@a,b,arg1", false, "'b' is not an argument, such as arg1/x");
	refused("add@arg1%stack+0", false, "'arg1%stack+0': the stack is asked for from %stack+1 to %stack+57");
}

TEST(what_is_not_built_yet_says_so)
{
	refused("add@fparg1", false, "'fparg1': floating-point arguments are not built yet");
	refused("add@arg1/f32", false, "'arg1/f32': the format 'f' is not built yet");
	refused("add@retval/S", true, "'retval/S': the format 'S' is not built yet");
	refused("add@arg1,if:arg1==3", false, "'if:arg1==3' is not built yet");
}
