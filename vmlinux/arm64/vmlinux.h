/* Made by vmlinux/renew arm64: the fields of kernel types that bpf/ names. Not to be edited. */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__
#include "../vmlinux-base.h"

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute push (__attribute__((preserve_access_index)), apply_to = record)
#endif

typedef int __s32;

typedef unsigned int __u32;

typedef long long unsigned int __u64;

typedef __s32 s32;

typedef __u32 u32;

typedef __u64 u64;

typedef int __kernel_pid_t;

typedef u32 __kernel_dev_t;

typedef __kernel_dev_t dev_t;

typedef __kernel_pid_t pid_t;

typedef unsigned long size_t;

typedef struct {
	int counter;
} atomic_t;

struct thread_info {
	long unsigned int flags;
	u32 cpu;
};

struct mm_struct;

struct fs_struct;

struct files_struct;

struct nsproxy;

struct signal_struct;

struct uprobe_task;

struct pid;

struct css_set;

typedef unsigned int __kernel_uid32_t;

typedef __kernel_uid32_t uid_t;

typedef struct {
	uid_t val;
} kuid_t;

struct cred {
	kuid_t uid;
	kuid_t euid;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int flags;
	unsigned int ptrace;
	struct mm_struct *mm;
	int exit_state;
	int exit_code;
	int prio;
	pid_t pid;
	pid_t tgid;
	struct task_struct *group_leader;
	struct task_struct *real_parent;
	struct pid *thread_pid;
	const struct cred *cred;
	char comm[16];
	struct fs_struct *fs;
	struct files_struct *files;
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
	long unsigned int sas_ss_sp;
	size_t sas_ss_size;
	struct css_set *cgroups;
	struct uprobe_task *utask;
	u64 start_time;
};

struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
};

struct pt_regs {
	union {
		struct user_pt_regs user_regs;
	};
	u64 orig_x0;
	s32 syscallno;
};

struct seqcount {
	unsigned int sequence;
};

typedef struct seqcount seqcount_t;

struct seqcount_spinlock {
	seqcount_t seqcount;
};

typedef struct seqcount_spinlock seqcount_spinlock_t;

struct xol_area;

struct uprobes_state {
	struct xol_area *xol_area;
};

struct file;

struct mm_struct {
	struct {
		long unsigned int start_stack;
		long unsigned int arg_start;
		long unsigned int arg_end;
		long unsigned int env_start;
		long unsigned int env_end;
		long unsigned int saved_auxv[50];
		struct file *exe_file;
		struct uprobes_state uprobes_state;
	};
};

enum pid_type {
	PIDTYPE_PID = 0,
	PIDTYPE_TGID = 1,
	PIDTYPE_PGID = 2,
	PIDTYPE_SID = 3,
	PIDTYPE_MAX = 4,
};

struct signal_struct {
	atomic_t live;
	struct pid *pids[4];
	int group_exit_code;
	unsigned int flags;
	struct task_struct *group_exec_task;
	short int oom_score_adj;
};

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct return_instance;

struct uprobe_task {
	struct return_instance *return_instances;
	unsigned int depth;
};

struct return_instance {
	long unsigned int stack;
	long unsigned int orig_ret_vaddr;
	struct return_instance *next;
};

struct vfsmount;

struct dentry;

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

typedef long long int __kernel_loff_t;

typedef __kernel_loff_t loff_t;

struct inode;

struct file {
	struct inode *f_inode;
	struct path f_path;
};

typedef long unsigned int vm_flags_t;

struct vm_area_struct {
	union {
		struct {
			long unsigned int vm_start;
			long unsigned int vm_end;
		};
	};
	union {
		const vm_flags_t vm_flags;
	};
	struct anon_vma *anon_vma;
	long unsigned int vm_pgoff;
	struct file *vm_file;
};

struct qstr {
	void *name;
};

struct inode;

struct hlist_bl_node {
	struct hlist_bl_node *next;
	struct hlist_bl_node **pprev;
};

struct dentry_operations {
	char * (*d_dname)(struct dentry *, char *, int);
};

struct dentry {
	seqcount_spinlock_t d_seq;
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct inode *d_inode;
	const struct dentry_operations *d_op;
	struct qstr d_name;
};

struct super_block;

struct inode {
	struct super_block *i_sb;
	long unsigned int i_ino;
	loff_t i_size;
	u32 i_generation;
};

struct super_block {
	dev_t s_dev;
	long unsigned int s_flags;
	long unsigned int s_magic;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct cgroup;

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct kernfs_node {
	unsigned long long id;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct fs_struct {
	struct path root;
	struct path pwd;
};

struct kernel_siginfo {
	struct {
		int si_errno;
		int si_code;
	};
};

struct sigaction {
	void *sa_handler;
	long unsigned int sa_flags;
};

struct k_sigaction {
	struct sigaction sa;
};

struct bpf_iter__task {
	union {
		struct task_struct *task;
	};
};

struct bpf_iter__task_vma {
	union {
		struct task_struct *task;
	};
	union {
		struct vm_area_struct *vma;
	};
};

struct xol_area {
	long unsigned int vaddr;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	struct mnt_namespace *mnt_ns;
	int mnt_id;
};

struct mnt_namespace {
	struct ns_common ns;
};

struct nsproxy {
	struct mnt_namespace *mnt_ns;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
	long unsigned int *open_fds;
};

struct files_struct {
	struct fdtable *fdt;
};

struct linux_binprm {
	struct file *file;
	const char *filename;
	const char *interp;
};

struct trace_event_raw_sys_enter {
	long int id;
};

struct trace_event_raw_sys_exit {
	long int id;
	long int ret;
};

struct trace_event_raw_mmap_lock_acquire_returned {
	bool write;
	bool success;
};

struct trace_event_raw_sched_process_fork {
	pid_t child_pid;
};

struct trace_event_raw_sched_process_exec {
	u32 __data_loc_filename;
	pid_t old_pid;
};

struct trace_event_raw_task_rename {
	char newcomm[16];
};

struct proc_inode {
	struct pid *pid;
	struct inode vfs_inode;
};

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute pop
#endif

#endif /* __VMLINUX_H__ */
