/*
 * fileplan.h - which system calls do something to descriptors or names, and where their arguments stand.
 *
 * Shared with BPF: made from the rows of src/source/file.c, read by bpf/file.bpf.c.
 */
#ifndef FILEPLAN_H
#define FILEPLAN_H

#include "record.h"

/* The place of an argument: 0..5, or one of these. */
#define FILE_AT_CWD	6	/* of a base: the current directory */
#define FILE_AT_NONE	7

#define FILE_FAILED_TOO	1u	/* told when it failed, too */
#define FILE_HOW	2u	/* flags and mode come in a struct open_how */
#define FILE_FCNTL	4u	/* only F_DUPFD and F_DUPFD_CLOEXEC */
#define FILE_SAME_IS_NO	8u	/* dup2(x, x) does nothing */
#define FILE_STRUCT	16u	/* clone3: flags and the signal come in a struct clone_args */

/* One per system call number. */
struct file_plan {
	__u8	op;			/* enum file_op; FILE_NONE: not told */
	__u8	flags;			/* FILE_* */
	__u8	name, base;		/* of the first name; where HOW says, the struct is at base + 2 */
	__u8	name2, base2;
	__u8	type;
	__u8	arg[3];			/* of rec_file.arg[] */
	__u16	fixed;			/* rec_file.arg[] that has no place of its own: arg[0] of an open, arg[2] of a dup, arg[1] of others */
};

#endif
