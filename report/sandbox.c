/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/sandbox.h"

#include <asm/ioctls.h>
#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_landlock_create_ruleset
#include <linux/landlock.h>
#endif

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
#ifdef SYS_pidfd_send_signal
	SYS_pidfd_send_signal,
#endif
#ifdef SYS_process_madvise
	SYS_process_madvise,
#endif
#ifdef SYS_process_mrelease
	SYS_process_mrelease,
#endif
	SYS_move_pages,
	SYS_migrate_pages,
	SYS_kcmp,
	SYS_setpriority,
	SYS_ioprio_set,
	SYS_sched_setaffinity,
	SYS_sched_setattr,
	SYS_sched_setparam,
	SYS_sched_setscheduler,
#ifndef LEAK_CHECK
	SYS_ptrace,
#endif
};
static const unsigned int network_calls[] = {
	SYS_socket, SYS_socketpair, SYS_connect, SYS_bind,    SYS_listen,
	SYS_accept, SYS_accept4,    SYS_sendto,	 SYS_sendmsg, SYS_sendmmsg,
};

/*
 * Whose first argument must be this process, as abort() and raise() make them. tkill() names a
 * thread: of ours, only the first.
 */
static const struct {
	unsigned int call;
	bool zero; /* which is this process, too; for signals it is a group of processes */
} of_a_process[] = {
	{ SYS_kill, false },
	{ SYS_tkill, false },
	{ SYS_tgkill, false },
	{ SYS_rt_sigqueueinfo, false },
	{ SYS_rt_tgsigqueueinfo, false },
	{ SYS_prlimit64, true },
};

/* What must not be asked for: input for a terminal's other readers, and signals by the kernel. */
static const struct {
	unsigned int call, request;
} requests[] = {
	{ SYS_ioctl, TIOCSTI },	  { SYS_ioctl, TIOCLINUX }, { SYS_ioctl, FIOSETOWN },
	{ SYS_ioctl, SIOCSPGRP }, { SYS_fcntl, F_SETOWN },  { SYS_fcntl, F_SETOWN_EX },
};

/* What clone() must not be asked for, as unshare() would do it. */
#define NAMESPACES                                                                                 \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | \
	 CLONE_NEWCGROUP)

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

/* A program under construction. */
struct filter {
	struct sock_filter code[14 + 2 * (COUNT(always) + COUNT(network_calls)) +
				6 * COUNT(of_a_process) + 5 * COUNT(requests)];
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

static void jump(struct filter *f, unsigned int k, uint8_t if_equal, uint8_t otherwise)
{
	f->code[f->n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, if_equal,
						       otherwise);
}

/* Of an argument its lower half, which is all that the kernel looks at of these. */
static void load_argument(struct filter *f, unsigned int argument)
{
	add(f, BPF_LD | BPF_W | BPF_ABS,
	    (unsigned int)(offsetof(struct seccomp_data, args) + 8 * argument));
}

static void load_call(struct filter *f)
{
	add(f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
}

static void refuse_other_processes(struct filter *f, unsigned int own)
{
	for (size_t i = 0; i < COUNT(of_a_process); i++) {
		jump(f, of_a_process[i].call, 0, 5);
		load_argument(f, 0);
		jump(f, own, 2, 0);
		jump(f, of_a_process[i].zero ? 0 : own, 1, 0);
		add(f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
		load_call(f);
	}
}

static void refuse_requests(struct filter *f)
{
	for (size_t i = 0; i < COUNT(requests); i++) {
		jump(f, requests[i].call, 0, 4);
		load_argument(f, 1);
		refuse(f, BPF_JEQ, requests[i].request);
		load_call(f);
	}
}

/*
 * Threads are made by clone(), whose first argument can be looked at. That of clone3() lies in
 * memory: the C library takes clone() where the kernel seems not to have the other.
 */
static void refuse_namespaces(struct filter *f)
{
	jump(f, SYS_clone3, 0, 1);
	add(f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
	jump(f, SYS_clone, 0, 3);
	load_argument(f, 0);
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
	jump(&f, NATIVE, 1, 0);
	add(&f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	load_call(&f);
	refuse(&f, BPF_JGE, FIRST_OF_X32);
	for (size_t i = 0; i < COUNT(always); i++)
		refuse(&f, BPF_JEQ, always[i]);
	for (size_t i = 0; i < COUNT(network_calls) && !network; i++)
		refuse(&f, BPF_JEQ, network_calls[i]);
	refuse_other_processes(&f, (unsigned int)getpid());
	refuse_requests(&f);
	refuse_namespaces(&f);
	add(&f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = f.n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return -errno;
	return 0;
}

#ifdef SYS_landlock_create_ruleset
int sandbox_leave_processes(void)
{
	/* Something must be given up for it, too: what the filter refuses as well. */
	const struct landlock_ruleset_attr rules = { .handled_access_fs =
							     LANDLOCK_ACCESS_FS_EXECUTE };
	int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0), error = 0;

	if (fd < 0)
		return -errno;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_landlock_restrict_self, fd, 0))
		error = -errno;
	close(fd);
	return error;
}
#else
int sandbox_leave_processes(void)
{
	return -ENOSYS;
}
#endif
