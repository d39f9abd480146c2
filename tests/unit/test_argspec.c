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
		n += snprintf(text + n, sizeof(text) - n, "%s%sarg%u", i ? " " : "",
			      args.arg[i].format == VALUE_FLOAT ? "fp" : "", args.arg[i].index);
		if (args.arg[i].place != args.arg[i].index)
			n += snprintf(text + n, sizeof(text) - n, "%%%u", args.arg[i].place);
		if (args.arg[i].second)
			n += snprintf(text + n, sizeof(text) - n, "+%u", args.arg[i].second);
		n += snprintf(text + n, sizeof(text) - n, "/%c%u", "diuxcpsfSt"[args.arg[i].format], args.arg[i].size * 8);
	}
	if (args.result_bytes)
		snprintf(text + n, sizeof(text) - n, "%sretval/%c%u", n ? " " : "", "diuxcpsfSt"[args.result.format],
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
	refused("add@arg1/q", false, "'arg1/q': a format is one of d i u x c p s f S t");
	refused("add@arg1/", false, "'arg1/': a format is one of d i u x c p s f S t");
	refused("add@arg1/i7", false, "'arg1/i7': a size is one of 8 16 32 64");
	refused("add@arg1/s8", false, "'arg1/s8': a string has no size");
	refused("add@arg1/x32z", false, "'arg1/x32z': 'z' is not understood");
	refused("add@arg1,,arg2", false, "an argument is missing before a ','");
	refused("add@retval", false, "'retval' is for -R; here it is arg1, arg2 ...");
	refused("add@arg1", true, "'arg1' is for -A; here it is retval");
	refused("add@a,b,arg1", false, "'b' is not an argument, such as arg1/x");
	refused("add@arg1%stack+0", false, "'arg1%stack+0': the stack is asked for from %stack+1 to %stack+57");
}

TEST(what_is_malformed_of_numbers_and_structures_is_named)
{
	refused("add@fparg1/16", false, "'fparg1/16': a size is one of 32 64 80");
	refused("add@fparg1/x", false, "'fparg1/x': a size is one of 32 64 80");
	refused("add@fparg1", true, "'fparg1' is for -A; here it is retval");
	refused("add@retval/f16", true, "'retval/f16': a size is one of 32 64 80");
	refused("add@arg1/i80", false, "'arg1/i80': a size is one of 8 16 32 64");
	refused("add@arg1/S8", false, "'arg1/S8': a string has no size");
	refused("add@arg1/t", false, "'arg1/t': a structure has from 1 to 64 bytes, as in arg1/t16:NAME");
	refused("add@arg1/t65", false, "'arg1/t65': a structure has from 1 to 64 bytes, as in arg1/t16:NAME");
	refused("add@arg1/t16:", false, "'arg1/t16:': a type's name has from 1 to 31 letters");
}

TEST(what_is_not_built_yet_says_so)
{
	refused("add@retval/e:color", true, "'retval/e:color': enumerations are named by --auto-args");
	refused("add@arg1/o", false, "'arg1/o': uftrace 0.13 shows no octal numbers, x are shown");
	refused("add@arg1,if:arg1==3", false, "'if:arg1==3' is not built yet");
}

TEST(floats_are_arguments_of_their_own)
{
	means("add@fparg1,fparg2/32,arg1/f,arg1/i32", NULL, "fparg1%128/f64 fparg2%129/f32 arg1/i32");
	means("add@arg3/f32", "add@retval/f80", "fparg3%130/f32 retval/f80");
}

TEST(functions_of_cplusplus_are_meant_by_the_name_that_is_shown)
{
	struct func method = { .name = "_ZNK3geo6Circle5scaleEd", .plain = "geo::Circle::scale" };
	struct argspecs s = {};

	give(&s, "geo::Circle::scale@fparg1;^geo::@arg1", false);
	CHECK_STR(forms(&s, &method), "fparg1%128/f64 arg1/d64");
	CHECK_STR(forms(&s, &add), "none");
	argspecs_release(&s);
}

#ifdef __x86_64__
TEST(floats_and_structures_are_where_the_calling_convention_has_them)
{
	means("add@fparg8,fparg9,fparg2/80", NULL, "fparg8%135/f64 fparg9%7/f64 fparg2%9/f80");
	means("add@fparg1%xmm7,fparg2%stack+3", NULL, "fparg1%135/f64 fparg2%9/f64");
	means("add@arg1/t8,arg2/t16,arg6/t16,arg4/t24,arg7/t4", NULL,
	      "arg1/t64 arg2+3/t128 arg6%7/t128 arg4%7/t192 arg7/t32");
	means("add@arg1/t16:a::b<c>%xmm1+RDI,arg2/t3%rsi,arg3/t64:x%stack+2", NULL,
	      "arg1%129+1/t128 arg2/t24 arg3%8/t512");
	refused("add@fparg1%rdi", false,
		"'fparg1%rdi': a floating-point number is in %xmm0 to %xmm7; of %rdi ask for an integer, argN/i64");
	refused("add@fparg1/80%xmm0", false, "'fparg1/80%xmm0': a long double is in no register: try %stack+N");
	refused("add@arg2/i32%xmm3", false, "'arg2/i32%xmm3': in %xmm3 is a floating-point number: fpargN/64, or argN/f64");
	refused("add@arg1/t16%rdi+rax", false,
		"'arg1/t16%rdi+rax': an argument is in %rdi to %r9, %xmm0 to %xmm7 or in %stack+N");
	refused("add@arg1/x%xmm0", false,
		"'arg1/x%xmm0': in %xmm0 is a floating-point number: fpargN/64, or argN/f64");
	refused("add@arg1/x%rax", false,
		"'arg1/x%rax': an argument is in %rdi to %r9, %xmm0 to %xmm7 or in %stack+N");
	refused("add@arg1/t24%rdi+rsi", false, "'arg1/t24%rdi+rsi': so many bytes are not in registers");
}

TEST(only_what_is_in_vector_registers_needs_them)
{
	static const struct { const char *text; bool is_result, needs; } cases[] = {
		{ "add@fparg1", false, true }, { "add@fparg9", false, false }, { "add@arg1/t16", false, false },
		{ "add@arg1/t16%rdi+xmm0", false, true }, { "add@retval/f", true, true }, { "add@retval/t16", true, false },
		{ "add@fparg1/80", false, false }, { "add@arg1/S", false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct argspecs s = {};

		give(&s, cases[i].text, cases[i].is_result);
		CHECK_INT(argspecs_have_vectors(&s), cases[i].needs);
		argspecs_release(&s);
	}
}
#endif

TEST(a_string_of_libcxx_is_told_by_its_function)
{
	struct func old = { .name = "_Z4openRKNSt7__cxx1112basic_stringIcE", .plain = "open" },
		    other = { .name = "_Z4openRKNSt3__112basic_stringIcE", .plain = "open" };
	struct argspecs s = {};
	struct func_args args;

	give(&s, "open@arg1/S", false);
	CHECK(argspecs_find(&s, &args, &img, &old));
	CHECK_INT(args.arg[0].flags, 0);
	CHECK(argspecs_find(&s, &args, &img, &other));
	CHECK_INT(args.arg[0].flags, FORM_LIBCXX);
	argspecs_release(&s);
}
