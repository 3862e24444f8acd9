/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library for LD_PRELOAD that lets calls of the C library fail. FAULT in the environment says
 * which: "KIND HOW FIRST COUNT", where KIND is a group of calls below, HOW an errno, or "short" for
 * reads and writes of one byte, FIRST the number of the first call of the group that fails, from 1,
 * and COUNT how many do; 0: all from there on. Without FAULT nothing fails.
 * FAULT_PROGRAM names the program that it is for; others are left alone, and so are its children,
 * unless FAULT_CHILD names some of them: then these are meant instead, and count together.
 * FAULT_CALLERS names the program and libraries whose calls are meant, by how their files' names
 * begin, with a space between; without it all are. FAULT_COUNTS names a file that gets "KIND CALLS"
 * for each group when the program ends. Beside it FAULT_COUNTS.hit is made as a call fails, and
 * FAULT_COUNTS.crash as the program or a child of it crashes, which may go unseen otherwise. Where
 * a sanitizer reports crashes, that is left to it.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
	MEMORY,
	MAP,
	OPEN,
	READ,
	LINE,
	STATUS,
	WRITE,
	CLOSE,
	NAME,
	FORK,
	WAIT,
	MESSAGE,
	BPF,
	KINDS
};
static const char *const names[KINDS] = {
	[MEMORY] = "memory", [MAP] = "map",	  [OPEN] = "open",   [READ] = "read",
	[LINE] = "line",     [STATUS] = "status", [WRITE] = "write", [CLOSE] = "close",
	[NAME] = "name",     [FORK] = "fork",	  [WAIT] = "wait",   [MESSAGE] = "message",
	[BPF] = "bpf",
};

#define SHORT -1

static atomic_ulong *calls; /* of the groups; shared with the children */
static const char *child;   /* NULL: none of them */
static const char *callers; /* NULL: all */
static bool active;
static pid_t process;
static int fault_kind = -1, fault_how;
static unsigned long fault_first, fault_count;
static char hit_path[4096], crash_path[4096]; /* empty: no FAULT_COUNTS */

/* The next definition of a function: the C library's, or that of a sanitizer. */
#define NEXT(name)                                                                                 \
	static __typeof__(name) *next;                                                             \
	if (!next)                                                                                 \
	*(void **)&next = dlsym(RTLD_NEXT, #name)

/* Whether this process is the one that is meant. */
static bool is_meant(void)
{
	char name[16] = "";

	if (!child)
		return getpid() == process;
	if (getpid() == process)
		return false;
	prctl(PR_GET_NAME, name);
	return !strcmp(name, child);
}

/* Whether calls from this address are meant. */
static bool is_caller(const void *address)
{
	const char *name = callers, *file;
	Dl_info info;

	if (!name)
		return true;
	if (!dladdr(address, &info))
		return false;
	file = strrchr(info.dli_fname, '/');
	file = file ? file + 1 : info.dli_fname;
	for (size_t n; *name; name += n + (name[n] == ' ')) {
		n = strcspn(name, " ");
		if (n && !strncmp(file, name, n))
			return true;
	}
	return false;
}

/* By no function of the C library: they are counted. */
static void mark(const char *path, const char *text)
{
	long fd = *path ? syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)
			: -1;

	if (fd < 0)
		return;
	syscall(SYS_write, fd, text, strlen(text));
	syscall(SYS_close, fd);
}

/* It dies by the default action, which is in place again. */
static void note_crash(int signal)
{
	char text[48], name[16] = "";

	prctl(PR_GET_NAME, name);
	snprintf(text, sizeof(text), "%s: signal %d\n", name, signal);
	mark(crash_path, text);
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
}

static void note_crashes(void)
{
	static const int crashes[] = { SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL };
	const struct sigaction action = { .sa_handler = note_crash, .sa_flags = SA_RESETHAND };

	if (dlsym(RTLD_DEFAULT, "__asan_init") || dlsym(RTLD_DEFAULT, "__tsan_init"))
		return;
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		sigaction(crashes[i], &action, NULL);
}

/* 0: this call does what it always does; else an errno or SHORT. */
#define fault(kind) fault_of(kind, __builtin_return_address(0))
static int fault_of(enum kind kind, const void *caller)
{
	unsigned long n;

	if (!active || !is_meant() || !is_caller(caller))
		return 0;
	n = atomic_fetch_add(&calls[kind], 1) + 1;
	if ((int)kind != fault_kind || n < fault_first ||
	    (fault_count && n >= fault_first + fault_count))
		return 0;
	mark(hit_path, names[kind]);
	return fault_how;
}

/* Whether the call fails; errno says how. */
#define fails(kind) fails_of(kind, __builtin_return_address(0))
static bool fails_of(enum kind kind, const void *caller)
{
	int how = fault_of(kind, caller);

	if (how)
		errno = how;
	return how;
}

__attribute__((constructor)) static void begin(void)
{
	static const struct {
		const char *name;
		int how;
	} hows[] = { { "short", SHORT },   { "EINTR", EINTR },	 { "EIO", EIO },
		     { "ENOSPC", ENOSPC }, { "EMFILE", EMFILE }, { "ENOMEM", ENOMEM },
		     { "EAGAIN", EAGAIN }, { "EDQUOT", EDQUOT } };
	const char *program = getenv("FAULT_PROGRAM"), *text = getenv("FAULT");
	const char *counts = getenv("FAULT_COUNTS");
	char kind[16], how[16];

	process = getpid();
	child = getenv("FAULT_CHILD");
	callers = getenv("FAULT_CALLERS");
	/* Not by mmap(), which is counted. */
	calls = (atomic_ulong *)syscall(SYS_mmap, NULL, KINDS * sizeof(*calls),
					PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (text && sscanf(text, "%15s %15s %lu %lu", kind, how, &fault_first, &fault_count) == 4) {
		for (int i = 0; i < KINDS; i++)
			if (!strcmp(kind, names[i]))
				fault_kind = i;
		for (size_t i = 0; i < sizeof(hows) / sizeof(*hows); i++)
			if (!strcmp(how, hows[i].name))
				fault_how = hows[i].how;
	}
	if (counts) {
		snprintf(hit_path, sizeof(hit_path), "%s.hit", counts);
		snprintf(crash_path, sizeof(crash_path), "%s.crash", counts);
	}
	active = calls != MAP_FAILED && program && !strcmp(program, program_invocation_short_name);
	if (active)
		note_crashes();
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAULT_COUNTS");
	FILE *file;

	if (!active || getpid() != process)
		return;
	active = false;
	file = path ? fopen(path, "w") : NULL;
	for (int i = 0; file && i < KINDS; i++)
		fprintf(file, "%s %lu\n", names[i], atomic_load(&calls[i]));
	if (file)
		fclose(file);
}

/* -------- memory -------- */

/* dlsym() itself may need memory before there is any. */
static char first_memory[4096];
static size_t first_used;

static void *from_first(size_t size)
{
	void *memory = first_memory + first_used;

	first_used += (size + 15) & ~(size_t)15;
	return first_used <= sizeof(first_memory) ? memory : NULL;
}

static bool is_first(const void *memory)
{
	return (const char *)memory >= first_memory &&
	       (const char *)memory < first_memory + sizeof(first_memory);
}

static void *(*next_malloc)(size_t), *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);

static bool find_memory(void)
{
	static bool looking;

	if (next_malloc)
		return true;
	if (looking)
		return false;
	looking = true;
	*(void **)&next_calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)&next_free = dlsym(RTLD_NEXT, "free");
	*(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
	return true;
}

void *malloc(size_t size)
{
	if (!find_memory())
		return from_first(size);
	return fails(MEMORY) ? NULL : next_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	if (!find_memory())
		return from_first(n * size);
	return fails(MEMORY) ? NULL : next_calloc(n, size);
}

void *realloc(void *memory, size_t size)
{
	if (!find_memory())
		return NULL;
	return fails(MEMORY) ? NULL : next_realloc(memory, size);
}

void free(void *memory)
{
	if (!is_first(memory) && find_memory())
		next_free(memory);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	NEXT(mmap);
	return fails(MAP) ? MAP_FAILED : next(address, size, protection, flags, fd, offset);
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset)
{
	return mmap(address, size, protection, flags, fd, offset);
}

/* -------- files -------- */

static int mode_of(int flags, va_list args)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, int) : 0;
}

int openat(int folder, const char *path, int flags, ...)
{
	NEXT(openat);
	va_list args;
	int mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return fails(OPEN) ? -1 : next(folder, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return openat(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));

/* What the fortified headers of the C library make of calls without a mode. */
int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
	return openat(AT_FDCWD, path, flags);
}

int __open64_2(const char *path, int flags) __attribute__((alias("__open_2")));

FILE *fopen(const char *path, const char *mode)
{
	NEXT(fopen);
	return fails(OPEN) ? NULL : next(path, mode);
}

FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));

FILE *tmpfile(void)
{
	NEXT(tmpfile);
	return fails(OPEN) ? NULL : next();
}

FILE *tmpfile64(void) __attribute__((alias("tmpfile")));

int pipe2(int ends[2], int flags)
{
	NEXT(pipe2);
	return fails(OPEN) ? -1 : next(ends, flags);
}

int socketpair(int domain, int type, int protocol, int ends[2])
{
	NEXT(socketpair);
	return fails(OPEN) ? -1 : next(domain, type, protocol, ends);
}

int dup2(int from, int to)
{
	NEXT(dup2);
	return fails(OPEN) ? -1 : next(from, to);
}

int memfd_create(const char *name, unsigned int flags)
{
	NEXT(memfd_create);
	return fails(OPEN) ? -1 : next(name, flags);
}

int eventfd(unsigned int value, int flags)
{
	NEXT(eventfd);
	return fails(OPEN) ? -1 : next(value, flags);
}

int signalfd(int fd, const sigset_t *signals, int flags)
{
	NEXT(signalfd);
	return fails(OPEN) ? -1 : next(fd, signals, flags);
}

int inotify_init1(int flags)
{
	NEXT(inotify_init1);
	return fails(OPEN) ? -1 : next(flags);
}

int inotify_add_watch(int fd, const char *path, uint32_t events)
{
	NEXT(inotify_add_watch);
	return fails(OPEN) ? -1 : next(fd, path, events);
}

int stat(const char *path, struct stat *status)
{
	NEXT(stat);
	return fails(STATUS) ? -1 : next(path, status);
}

int stat64(const char *path, struct stat64 *status) __attribute__((alias("stat")));

int lstat(const char *path, struct stat *status)
{
	NEXT(lstat);
	return fails(STATUS) ? -1 : next(path, status);
}

int lstat64(const char *path, struct stat64 *status) __attribute__((alias("lstat")));

int fstat(int fd, struct stat *status)
{
	NEXT(fstat);
	return fails(STATUS) ? -1 : next(fd, status);
}

int fstat64(int fd, struct stat64 *status) __attribute__((alias("fstat")));

int statx(int folder, const char *path, int flags, unsigned int mask, struct statx *status)
{
	NEXT(statx);
	return fails(STATUS) ? -1 : next(folder, path, flags, mask, status);
}

ssize_t read(int fd, void *data, size_t size)
{
	NEXT(read);
	int how = fault(READ);

	if (how > 0) {
		errno = how;
		return -1;
	}
	return next(fd, data, how == SHORT && size ? 1 : size);
}

ssize_t __read_chk(int fd, void *data, size_t size, size_t room);
ssize_t __read_chk(int fd, void *data, size_t size, size_t room)
{
	return read(fd, data, size);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
	NEXT(pread);
	int how = fault(READ);

	if (how > 0) {
		errno = how;
		return -1;
	}
	return next(fd, data, how == SHORT && size ? 1 : size, offset);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t offset) __attribute__((alias("pread")));
ssize_t __pread_chk(int fd, void *data, size_t size, off_t offset, size_t room);
ssize_t __pread_chk(int fd, void *data, size_t size, off_t offset, size_t room)
{
	return pread(fd, data, size, offset);
}
ssize_t __pread64_chk(int fd, void *data, size_t size, off_t offset, size_t room)
	__attribute__((alias("__pread_chk")));

/* Of the first buffer only, if it is short. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long n_here,
			 const struct iovec *there, unsigned long n_there, unsigned long flags)
{
	NEXT(process_vm_readv);
	int how = fault(READ);
	const struct iovec one = { n_here ? here->iov_base : NULL, 1 };

	if (how > 0) {
		errno = how;
		return -1;
	}
	return how == SHORT && n_here ? next(pid, &one, 1, there, n_there, flags)
				      : next(pid, here, n_here, there, n_there, flags);
}

/* A stream of which nothing can be read any more, as feof() and ferror() see it. */
static void break_stream(FILE *file)
{
	file->_flags |= 0x20; /* _IO_ERR_SEEN */
}

char *fgets(char *line, int size, FILE *file)
{
	NEXT(fgets);

	if (!fails(LINE))
		return next(line, size, file);
	break_stream(file);
	return NULL;
}

char *__fgets_chk(char *line, size_t room, int size, FILE *file);
char *__fgets_chk(char *line, size_t room, int size, FILE *file)
{
	return fgets(line, size, file);
}

ssize_t getdelim(char **line, size_t *room, int end, FILE *file)
{
	NEXT(getdelim);

	if (!fails(LINE))
		return next(line, room, end, file);
	break_stream(file);
	return -1;
}

ssize_t __getdelim(char **line, size_t *room, int end, FILE *file)
	__attribute__((alias("getdelim")));

/* Messages get through, unless a write of theirs is cut short or interrupted. */
ssize_t write(int fd, const void *data, size_t size)
{
	NEXT(write);
	int how = fault(WRITE);

	if (how > 0 && (fd != STDERR_FILENO || how == EINTR)) {
		errno = how;
		return -1;
	}
	return next(fd, data, how == SHORT && size ? 1 : size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	NEXT(pwrite);
	int how = fault(WRITE);

	if (how > 0) {
		errno = how;
		return -1;
	}
	return next(fd, data, how == SHORT && size ? 1 : size, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
	__attribute__((alias("pwrite")));

/* There is no part of it to be done. */
int ftruncate(int fd, off_t size)
{
	NEXT(ftruncate);
	int how = fault(WRITE);

	if (how <= 0)
		return next(fd, size);
	errno = how;
	return -1;
}

int ftruncate64(int fd, off64_t size) __attribute__((alias("ftruncate")));

int close(int fd)
{
	NEXT(close);
	int how = fault(CLOSE), status = next(fd);

	/* Linux has closed it all the same. */
	if (how <= 0)
		return status;
	errno = how;
	return -1;
}

int poll(struct pollfd *fds, nfds_t n, int ms)
{
	NEXT(poll);
	return fails(WAIT) ? -1 : next(fds, n, ms);
}

int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t room);
int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t room)
{
	return poll(fds, n, ms);
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	NEXT(send);
	return fails(MESSAGE) ? -1 : next(fd, data, size, flags);
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
	NEXT(recv);
	return fails(MESSAGE) ? -1 : next(fd, data, size, flags);
}

ssize_t __recv_chk(int fd, void *data, size_t size, size_t room, int flags);
ssize_t __recv_chk(int fd, void *data, size_t size, size_t room, int flags)
{
	return recv(fd, data, size, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	NEXT(sendmsg);
	return fails(MESSAGE) ? -1 : next(fd, message, flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	NEXT(recvmsg);
	return fails(MESSAGE) ? -1 : next(fd, message, flags);
}

int rename(const char *from, const char *to)
{
	NEXT(rename);
	return fails(NAME) ? -1 : next(from, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned int flags)
{
	NEXT(renameat2);
	return fails(NAME) ? -1 : next(from_folder, from, to_folder, to, flags);
}

int mkdir(const char *path, mode_t mode)
{
	NEXT(mkdir);
	return fails(NAME) ? -1 : next(path, mode);
}

int mkostemp(char *path, int flags)
{
	NEXT(mkostemp);
	return fails(NAME) ? -1 : next(path, flags);
}

/* -------- processes and threads -------- */

pid_t fork(void)
{
	NEXT(fork);
	return fails(FORK) ? -1 : next();
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
		   void *argument)
{
	NEXT(pthread_create);
	return fails(FORK) ? EAGAIN : next(thread, attributes, start, argument);
}

/* -------- calls without a function, by their numbers -------- */

static enum kind kind_of(long number)
{
	switch (number) {
	case SYS_openat2:
	case SYS_perf_event_open:
	case SYS_pidfd_open: return OPEN;
	case SYS_bpf: return BPF;
	default: return KINDS;
	}
}

/* All have six arguments; those that a call does not use are whatever is there. */
long syscall(long number, ...)
{
	NEXT(syscall);
	enum kind kind = kind_of(number);
	va_list args;
	long a[6];

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	return kind != KINDS && fails(kind) ? -1 : next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
