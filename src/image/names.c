/*
 * names.c - functions that need care, by name: whose return, or which at all, must not be probed.
 *
 * A return probe replaces the return address. That is wrong where the address
 * is kept for later (setjmp), where it is looked at (dlsym, an unwinder), where
 * the stack's top is no return address (_start), and of no use where the
 * function does not return.
 */
#include <fnmatch.h>

#include "base.h"
#include "cuda.h"
#include "reader.h"

#define ENTRY	FUNC_ENTRY_ONLY
#define NEVER	FUNC_NEVER

/* What a name tells of its image, beside FUNC_* of the function. */
#define UNWINDS	0x100u
#define SWITCH	0x200u
#define GUARD	0x400u	/* nothing, but source/unwind.c or gate.c asks for it */

struct care {
	const char *name;	/* a '*' stands for anything */
	unsigned    says;	/* ENTRY, NEVER, UNWINDS, SWITCH */
};

static const struct care cares[] = {
	/* where a program or thread begins: no return address on the stack */
	{ "_start",			NEVER },
	{ "_start_c",			NEVER },	/* musl */
	{ "_dlstart",			NEVER },
	{ "_dlstart_c",			NEVER },
	{ "_dl_start",			NEVER },
	{ "_dl_start_user",		NEVER },
	{ "_dl_start_final",		NEVER },
	{ "_rt0_*",			NEVER },
	{ "__start_context",		NEVER },
	{ "_dl_relocate_static_pie",	NEVER },	/* runs before the image has been relocated */

	/* the C runtime's own, in each program: nothing a user wrote, and no compiler instruments it */
	{ "_init",			NEVER },
	{ "_fini",			NEVER },
	{ "frame_dummy",		NEVER },
	{ "register_tm_clones",		NEVER },
	{ "deregister_tm_clones",	NEVER },
	{ "__do_global_dtors_aux",	NEVER },
	{ "__do_global_ctors_aux",	NEVER },
	{ "__libc_csu_init",		NEVER },
	{ "__libc_csu_fini",		NEVER },
	{ "call_weak_fn",		NEVER },
	{ "__gmon_start__",		NEVER },
	{ "__cxa_finalize",		NEVER },	/* its stub: called by __do_global_dtors_aux alone */
	{ "atexit",			NEVER },	/* from libc_nonshared.a: __cxa_atexit() tells of the call */
	{ "at_quick_exit",		NEVER },

	/* gates with calling conventions of their own */
	{ "_dl_runtime_resolve*",	NEVER },
	{ "_dl_runtime_profile*",	NEVER },
	{ "_dl_tlsdesc_*",		NEVER },
	{ "_dl_fixup",			NEVER },
	{ "_dl_profile_fixup",		NEVER },
	{ "__restore_rt",		NEVER },
	{ "__restore",			NEVER },
	{ "__x86.get_pc_thunk*",	NEVER },
	{ "__x86_indirect_thunk*",	NEVER },
	{ "__llvm_retpoline_*",		NEVER },
	{ "__x86_return_thunk",		NEVER },
	{ "mcount",			NEVER },
	{ "_mcount",			NEVER },
	{ "__mcount*",			NEVER },
	{ "__fentry__",			NEVER },
	{ "__cyg_profile_func_*",	NEVER },	/* called at each function, and tells nothing itself */
	{ "__xray_*",			NEVER },
	{ "__sanitizer_cov_trace_*",	NEVER },
	{ "__morestack*",		NEVER },

	/* they return twice, or into another stack: the address they keep must be the true one */
	{ "clone",			ENTRY },
	{ "__clone",			ENTRY },
	{ "clone3",			ENTRY },
	{ "__clone3",			ENTRY },
	{ "__clone_internal",		ENTRY },
	{ "vfork",			ENTRY },
	{ "__vfork",			ENTRY },
	{ "__libc_vfork",		ENTRY },
	{ "setjmp",			ENTRY },
	{ "_setjmp",			ENTRY },
	{ "__setjmp",			ENTRY },
	{ "sigsetjmp",			ENTRY },
	{ "__sigsetjmp",		ENTRY },
	{ "__sigsetjmp_tail",		ENTRY },
	{ "savectx",			ENTRY },
	{ "getcontext",			ENTRY },
	{ "__getcontext",		ENTRY },
	{ "setcontext",			ENTRY | SWITCH },
	{ "__setcontext",		ENTRY | SWITCH },
	{ "swapcontext",		ENTRY | SWITCH },
	{ "__swapcontext",		ENTRY | SWITCH },
	{ "makecontext",		ENTRY | SWITCH },
	{ "__makecontext",		ENTRY | SWITCH },
	{ "longjmp",			ENTRY },
	{ "_longjmp",			ENTRY },
	{ "siglongjmp",			ENTRY },
	{ "__longjmp",			ENTRY },
	{ "__libc_longjmp",		ENTRY },
	{ "__libc_siglongjmp",		ENTRY },
	{ "____longjmp_chk",		ENTRY },
	{ "__longjmp_chk",		ENTRY },
	{ "_longjmp_unwind",		ENTRY },

	/* coroutines: Boost.Context, libaco, libco, minicoro, libucontext, Ruby, PHP, Julia */
	{ "jump_fcontext",		ENTRY | SWITCH },
	{ "make_fcontext",		ENTRY | SWITCH },
	{ "ontop_fcontext",		ENTRY | SWITCH },
	{ "acosw",			ENTRY | SWITCH },
	{ "co_switch",			ENTRY | SWITCH },
	{ "co_swap_function",		ENTRY | SWITCH },
	{ "coctx_swap",			ENTRY | SWITCH },
	{ "coroutine_transfer",		ENTRY | SWITCH },
	{ "coro_transfer",		ENTRY | SWITCH },
	{ "_mco_switch",		ENTRY | SWITCH },
	{ "libucontext_*context",	ENTRY | SWITCH },
	{ "zend_fiber_switch_context",	ENTRY | SWITCH },
	{ "qemu_coroutine_switch",	ENTRY | SWITCH },
	{ "st_thread_switch",		ENTRY | SWITCH },
	{ "swtch_*",			ENTRY | SWITCH },

	/* the unwinder itself looks at the frames from its own upwards */
	{ "_Unwind_Find_FDE",		UNWINDS },
	{ "_Unwind_*",			ENTRY | UNWINDS },
	{ "uw_init_context*",		ENTRY | UNWINDS },
	{ "uw_*",			ENTRY | UNWINDS },
	{ "__unw_*",			ENTRY | UNWINDS },
	{ "unw_*",			ENTRY | UNWINDS },
	{ "_U*86_64_*",			ENTRY | UNWINDS },	/* nongnu libunwind */
	{ "_U*aarch64_*",		ENTRY | UNWINDS },
	{ "backtrace",			ENTRY | UNWINDS },
	{ "__backtrace",		ENTRY | UNWINDS },
	{ "backtrace_full",		ENTRY | UNWINDS },	/* libbacktrace */
	{ "backtrace_simple",		ENTRY | UNWINDS },
	{ "backtrace_print",		ENTRY | UNWINDS },
	{ "__cxa_begin_catch",		GUARD },
	{ "__rust_panic_cleanup",	GUARD },
	{ "_dl_debug_state",		GUARD },
	{ "__cxa_throw",		ENTRY | UNWINDS },
	{ "__cxa_rethrow",		ENTRY | UNWINDS },
	{ "__cxa_end_cleanup",		ENTRY | UNWINDS },
	{ "__cxa_call_unexpected",	ENTRY | UNWINDS },
	{ "__cxa_call_terminate",	ENTRY | UNWINDS },
	{ "__cxa_bad_cast",		ENTRY | UNWINDS },
	{ "__cxa_bad_typeid",		ENTRY | UNWINDS },
	{ "__cxa_throw_bad_array*",	ENTRY | UNWINDS },
	{ "__cxa_pure_virtual",		ENTRY },
	{ "__cxa_deleted_virtual",	ENTRY },
	{ "__gxx_personality_*",	UNWINDS },
	{ "__gcc_personality_*",	UNWINDS },
	{ "rust_eh_personality",	UNWINDS },
	{ "_ZSt17rethrow_exception*",	ENTRY | UNWINDS },
	{ "_ZSt*__throw_*",		ENTRY | UNWINDS },
	{ "_ZSt9terminatev",		ENTRY },
	{ "pthread_exit",		ENTRY | UNWINDS },
	{ "__pthread_exit",		ENTRY | UNWINDS },
	{ "thrd_exit",			ENTRY | UNWINDS },
	{ "pthread_cancel",		UNWINDS },
	{ "__pthread_unwind*",		ENTRY | UNWINDS },
	{ "__do_cancel",		ENTRY | UNWINDS },
	{ "__libc_unwind_longjmp",	ENTRY | UNWINDS },

	/* they do not come back: a return probe would be a stale entry in the kernel's list of 64 */
	{ "exit",			ENTRY },
	{ "_exit",			ENTRY },
	{ "_Exit",			ENTRY },
	{ "__libc_exit",		ENTRY },
	{ "quick_exit",			ENTRY },
	{ "abort",			ENTRY },
	{ "__assert_fail",		ENTRY },
	{ "__assert_perror_fail",	ENTRY },
	{ "__assert",			ENTRY },
	{ "__stack_chk_fail*",		ENTRY },
	{ "__fortify_fail*",		ENTRY },
	{ "__chk_fail",			ENTRY },
	{ "__libc_fatal",		ENTRY },
	{ "__libc_start_main*",		ENTRY },
	{ "__libc_start_call_main",	ENTRY },
	{ "err",			ENTRY },
	{ "errx",			ENTRY },
	{ "verr",			ENTRY },
	{ "verrx",			ENTRY },

	/* they ask who called them, and behave by it */
	{ "dlopen",			ENTRY },
	{ "dlmopen",			ENTRY },
	{ "dlsym",			ENTRY },
	{ "dlvsym",			ENTRY },
	{ "__dlopen",			ENTRY },
	{ "__dlsym",			ENTRY },
	{ "___dlopen",			ENTRY },
	{ "___dlmopen",			ENTRY },
	{ "___dlsym",			ENTRY },
	{ "___dlvsym",			ENTRY },
	{ "_dl_sym",			ENTRY },
	{ "_dl_vsym",			ENTRY },
	{ "__libc_dlopen_mode",		ENTRY },
	{ "dl_iterate_phdr",		ENTRY },
	{ "__dl_iterate_phdr",		ENTRY },
};

/* Go: stack switches and entries of the runtime, which run on stacks and with registers of their own. */
static const char *const go_never[] = {
	"runtime.morestack*", "runtime.goexit*", "runtime.rt0_go*", "runtime.sigreturn*", "runtime.sigtramp*",
	"runtime.cgoSigtramp*", "runtime.sigprofNonGo*", "runtime.sigfwd*", "runtime.mcall*", "runtime.systemstack*",
	"runtime.gogo*", "gogo", "runtime.asmcgocall*", "runtime.cgocallback*", "runtime.cgo*callback*",
	"runtime.asyncPreempt*", "runtime.mstart*", "runtime.clone*", "runtime.newproc1*", "runtime.gosave*",
	"gosave_*", "runtime.breakpoint*", "runtime.abort*", "runtime.stackcheck*", "runtime.settls*",
	"runtime.vdsoCall*", "runtime.nanotime1*", "runtime.walltime*", "runtime.call*", "runtime.reflectcall*",
	"callRet", "runtime.gcWriteBarrier*", "runtime.wbBuf*", "runtime.memequal_varlen*", "runtime.duffzero*",
	"runtime.duffcopy*", "runtime.spillArgs*", "runtime.unspillArgs*", "runtime.debugCall*", "runtime.setg_gcc*",
	"runtime.procyield*", "runtime.publicationBarrier*", "runtime.sigaltstack*", "runtime.exit*",
	"runtime.crosscall*", "crosscall*", "x_cgo_*", "_cgo_*", "_rt0_*", "runtime.switchtothread*",
	"runtime/internal/syscall.Syscall6*", "internal/runtime/syscall.Syscall6*", "runtime.panicIndex*",
	"runtime.panicSlice*", "go.buildid", "go:buildid", "main", "indexbody", "countbody", "memeqbody", "cmpbody",
	"aeshashbody", "setg_gcc<>", "setg_gcc", "debugCall*", "callbackasm*", "runtime.addmoduledata*",
};

static bool matches(const char *pattern, const char *name)
{
	while (*pattern && *pattern != '*' && *pattern == *name) {
		pattern++;
		name++;
	}
	if (*pattern != '*')
		return *pattern == *name;
	return !pattern[1] || !fnmatch(pattern, name, 0);
}

static const struct care *find_care(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(cares); i++)
		if (cares[i].name[0] == name[0] && matches(cares[i].name, name))
			return &cares[i];
	return NULL;
}

unsigned name_flags(const char *name, bool is_go)
{
	const struct care *c = find_care(name);
	unsigned flags = c ? c->says & 0xff : 0;

	if (!is_go)
		return flags;
	for (size_t i = 0; i < ARRAY_SIZE(go_never); i++)
		if (go_never[i][0] == name[0] && matches(go_never[i], name))
			return flags | FUNC_NEVER;
	return flags | FUNC_ENTRY_ONLY;
}

bool name_unwinds(const char *name)
{
	const struct care *c = find_care(name);

	return c && c->says & UNWINDS;
}

bool name_switches_stacks(const char *name)
{
	const struct care *c = find_care(name);

	return c && c->says & SWITCH;
}

bool name_is_guarded(const char *name)
{
	const struct care *c = find_care(name);

	return c && c->says & (UNWINDS | GUARD);
}

bool name_is_cuda(const char *name)
{
	return name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z' && cuda_find(name) >= 0;
}

/* Any of these names, defined, shows that the unwinder's names are there: they come in one object file. */
static const char *const unwinders[] = {
	"_Unwind_RaiseException", "_Unwind_Backtrace",				/* libgcc, LLVM's, libunwind */
	"_ULx86_64_init_local", "_Ux86_64_init_local", "_ULaarch64_init_local",	/* libunwind */
	"__unw_init_local",							/* LLVM's */
};

unsigned name_hint(const char *name, bool is_import)
{
	if (is_import && !strncmp(name, "_Unwind_", 8))
		return HINT_UNWINDS;
	if (is_import && !strncmp(name, "dl_iterate_phdr", 15))
		return HINT_FRAMES;
	if (is_import && !strncmp(name, "_dl_find_object", 15))
		return HINT_OBJECTS;
	for (size_t i = 0; !is_import && i < ARRAY_SIZE(unwinders); i++)
		if (!strcmp(name, unwinders[i]))
			return HINT_UNWINDER;
	return 0;
}
