/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#else
#define NATIVE 0
#endif

/* Numbers from here on are those of x32, another way to the same calls. */
#define FIRST_OF_X32 0x40000000

#if defined(__SANITIZE_ADDRESS__)
#define LEAK_CHECK 1 /* it stops the process's threads with ptrace() */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEAK_CHECK 1
#endif
#endif

/* Of io_uring, which makes calls that no filter sees, not even the first step is left. */
static const unsigned int always[] = {
	SYS_execve,
	SYS_execveat,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_userfaultfd,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
#ifdef SYS_kexec_file_load
	SYS_kexec_file_load,
#endif
	SYS_mount,
	SYS_umount2,
	SYS_open_tree,
	SYS_move_mount,
	SYS_fsopen,
	SYS_fspick,
#ifdef SYS_mount_setattr
	SYS_mount_setattr,
#endif
	SYS_pivot_root,
	SYS_chroot,
	SYS_unshare,
	SYS_setns,
	SYS_open_by_handle_at,
	SYS_add_key,
	SYS_request_key,
	SYS_keyctl,
	SYS_personality,
	SYS_reboot,
	SYS_swapon,
	SYS_io_uring_setup,
	SYS_io_uring_enter,
	SYS_io_uring_register,
#ifdef SYS_pidfd_getfd
	SYS_pidfd_getfd,
#endif
#ifndef LEAK_CHECK
	SYS_ptrace,
#endif
};
static const unsigned int network_calls[] = {
	SYS_socket, SYS_socketpair, SYS_connect, SYS_bind,    SYS_listen,
	SYS_accept, SYS_accept4,    SYS_sendto,	 SYS_sendmsg, SYS_sendmmsg,
};

/* What clone() must not be asked for, as unshare() would do it. */
#define NAMESPACES                                                                                 \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | \
	 CLONE_NEWCGROUP)

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

/* A program under construction. */
struct filter {
	struct sock_filter code[14 + 2 * (COUNT(always) + COUNT(network_calls))];
	unsigned short n;
};

static void add(struct filter *f, unsigned short code, unsigned int k)
{
	f->code[f->n++] = (struct sock_filter)BPF_STMT(code, k);
}

/* Refuses what compares so with `k`: the next instruction runs if it does, and ends the program. */
static void refuse(struct filter *f, unsigned short comparison, unsigned int k)
{
	f->code[f->n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | comparison | BPF_K, k, 0, 1);
	add(f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
}

/*
 * Threads are made by clone(), whose first argument can be looked at. That of clone3() lies in
 * memory: the C library takes clone() where the kernel seems not to have the other.
 */
static void refuse_namespaces(struct filter *f)
{
	f->code[f->n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
	add(f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
	f->code[f->n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3);
	add(f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args));
	refuse(f, BPF_JSET, NAMESPACES);
}

int sandbox_enter(bool network)
{
	struct filter f = { .n = 0 };
	struct sock_fprog program = { .filter = f.code };

	if (!NATIVE)
		return -ENOSYS;
	add(&f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	/* A 32-bit system call has other numbers. Nothing of ours makes one. */
	f.code[f.n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0);
	add(&f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	add(&f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	refuse(&f, BPF_JGE, FIRST_OF_X32);
	for (size_t i = 0; i < COUNT(always); i++)
		refuse(&f, BPF_JEQ, always[i]);
	for (size_t i = 0; i < COUNT(network_calls) && !network; i++)
		refuse(&f, BPF_JEQ, network_calls[i]);
	refuse_namespaces(&f);
	add(&f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = f.n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return -errno;
	return 0;
}
