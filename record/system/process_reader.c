/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/process_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "record/system/child_process.h"
#include "record/system/proc.h"

#define PIECES_MAX 1024		/* of one request, as the kernel's IOV_MAX */
#define PIECE_BYTES (64u << 10) /* of one answer */
/* An answer is waited for so long, and so long while a process is silent. */
#define PATIENCE_MS 100
#define SHORT_PATIENCE_MS 20
#define DYING_MS 100 /* a killed child is waited for so long */
#define SILENT_NS UINT64_C(60000000000)
#define SILENT_MAX 64
#define SILENT_OF_USER 4
#define WARNINGS_MAX 8 /* of silent processes */
#define RESTARTS_MAX 8
/* What is known of a process's user holds so long: less than another program takes to start. */
#define OWN_NS UINT64_C(200000)

struct piece {
	uint64_t address, size;
};

/*
 * One message: `count` pieces of memory, or without any, `most` bytes of the file `name` of
 * /proc/PID.
 */
struct request {
	uint32_t pid, count;
	uint64_t most;
	char name[24];
	struct piece pieces[PIECES_MAX];
};

/*
 * One message: their number, or -errno, and the bytes. The memory that was asked for is one answer;
 * a file is any number of them, the last of which has none.
 */
struct answer {
	int64_t size;
	uint8_t bytes[PIECE_BYTES];
};

struct silent {
	uint32_t pid, uid;
	uint64_t until_ns;
};

static struct {
	bool started; /* or the caller reads */
	void (*warn)(const char *text);
	pid_t process; /* 0: none yet */
	int socket, patience_ms, cpu;
	pid_t dying; /* was killed, and has not ended yet; 0: none */
	struct silent silent[SILENT_MAX];
	size_t n;
	unsigned int warnings, restarts;
	uint64_t cpu_ns; /* of those that have ended */
	bool own;	 /* is own_pid */
	uint32_t own_pid;
	uint64_t own_until_ns;
} reader;

/* -------- the child -------- */

static bool answer_with(struct answer *a, int64_t size)
{
	size_t bytes = sizeof(a->size) + (size > 0 ? (size_t)size : 0);

	a->size = size;
	return send(CHILD_PROCESS_SOCKET, a, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

static bool answer_memory(const struct request *r, struct answer *a)
{
	static struct iovec there[PIECES_MAX];
	struct iovec here = { a->bytes, 0 };
	ssize_t n;

	for (uint32_t i = 0; i < r->count; i++) {
		there[i] = (struct iovec){ (void *)(uintptr_t)r->pieces[i].address,
					   r->pieces[i].size };
		here.iov_len += r->pieces[i].size;
	}
	n = process_vm_readv((pid_t)r->pid, &here, 1, there, r->count, 0);
	return answer_with(a, n == (ssize_t)here.iov_len ? n : -EFAULT);
}

static bool answer_file(const struct request *r, struct answer *a)
{
	uint64_t left = r->most;
	char path[64];
	ssize_t n;
	bool sent;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", r->pid, r->name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return answer_with(a, -errno);
	do {
		n = read(fd, a->bytes, left < PIECE_BYTES ? left : PIECE_BYTES);
		sent = answer_with(a, n < 0 ? -errno : n);
		left -= n > 0 ? (uint64_t)n : 0;
	} while (n > 0 && sent);
	close(fd);
	return sent;
}

/* No signal reaches it but those that end it. */
static _Noreturn void serve(void)
{
	struct request *r = malloc(sizeof(*r));
	struct answer *a = malloc(sizeof(*a));

	while (r && a && recv(CHILD_PROCESS_SOCKET, r, sizeof(*r), 0) > 0 &&
	       (r->count ? answer_memory(r, a) : answer_file(r, a)))
		;
	_exit(0);
}

/* -------- processes that are silent -------- */

static void say(const char *text)
{
	if (reader.warn)
		reader.warn(text);
}

/* The real user, whom no process can change without privileges. */
static uint32_t user_of(uint32_t pid)
{
	uint32_t uid;

	return proc_status(pid, "Uid:", &uid) ? UINT32_MAX : uid;
}

/* All are if there is no room for more: there are that many users then, who may be one. */
static bool is_silent(uint32_t pid)
{
	size_t of_user = 0, left = 0;
	uint64_t now = reader.n ? clock_now() : 0;
	uint32_t uid = reader.n ? user_of(pid) : 0;
	bool silent = false;

	for (size_t i = 0; i < reader.n; i++) {
		const struct silent s = reader.silent[i];

		if (s.until_ns <= now)
			continue;
		reader.silent[left++] = s;
		of_user += s.uid == uid;
		silent |= s.pid == pid;
	}
	reader.n = left;
	return silent || of_user >= SILENT_OF_USER || left == SILENT_MAX;
}

static void add_silent(uint32_t pid)
{
	char text[192];

	reader.silent[reader.n++] = (struct silent){ pid, user_of(pid), clock_now() + SILENT_NS };
	if (reader.warnings++ >= WARNINGS_MAX)
		return;
	snprintf(text, sizeof(text),
		 "process %" PRIu32
		 " does not answer when its memory is read; it is not asked again "
		 "for a minute, and functions may have no names%s",
		 pid, reader.warnings == WARNINGS_MAX ? "; other such ones are not reported" : "");
	say(text);
}

/* -------- processes of the recorder's own user -------- */

/* Whether all its users are the recorder's: real, effective, saved and of files. */
static bool has_own_user(uint32_t pid)
{
	struct buffer text = { 0 };
	unsigned int uids[4];
	const char *line;
	bool own;

	line = proc_read(pid, "status", &text) ? NULL : strstr(buffer_string(&text), "\nUid:");
	own = line &&
	      sscanf(line, "\nUid: %u %u %u %u", &uids[0], &uids[1], &uids[2], &uids[3]) == 4;
	for (size_t i = 0; i < 4 && own; i++)
		own = uids[i] == (unsigned int)geteuid();
	buffer_release(&text);
	return own;
}

/*
 * Such a one may as well be read here: it could stop the recorder anyhow. To read by the child
 * takes ten times as long.
 */
static bool is_own(uint32_t pid)
{
	uint64_t now = clock_now();

	if (pid != reader.own_pid || now > reader.own_until_ns) {
		reader.own = has_own_user(pid);
		reader.own_pid = pid;
		reader.own_until_ns = now + OWN_NS;
	}
	return reader.own;
}

/* -------- the child's life -------- */

static bool has_died(void)
{
	for (int ms = 0; ms < DYING_MS; ms++) {
		const struct timespec pause = { .tv_nsec = 1000000 };

		if (waitpid(reader.dying, NULL, WNOHANG))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void end_child(void)
{
	if (!reader.process)
		return;
	reader.cpu_ns += child_process_cpu_ns(reader.process);
	kill(reader.process, SIGKILL);
	close(reader.socket);
	reader.dying = reader.process;
	reader.process = 0;
	if (has_died())
		reader.dying = 0;
	else
		say("the process that reads the memory of others cannot be killed: functions of "
		    "runtimes have no names until it can");
}

static void set_patience(int ms)
{
	const struct timeval patience = { .tv_usec = ms * 1000 };

	if (ms != reader.patience_ms &&
	    !setsockopt(reader.socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		reader.patience_ms = ms;
}

static bool start_child(void)
{
	int ends[2];

	if (reader.dying && waitpid(reader.dying, NULL, WNOHANG))
		reader.dying = 0;
	if (reader.dying || reader.restarts > RESTARTS_MAX ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return false;
	reader.process = fork();
	if (!reader.process) {
		child_process_begin(ends[1], "prof-reader", PRIVILEGES_FOR_READING);
		serve();
	}
	close(ends[1]);
	if (reader.process < 0) {
		close(ends[0]);
		reader.process = 0;
		return false;
	}
	reader.socket = ends[0];
	reader.patience_ms = 0;
	reader.cpu = -1;
	return true;
}

/*
 * On one CPU, question and answer are two switches from one process to the other. Else another CPU
 * has to be woken up for each of them, which takes ten times as long.
 */
static void stay_together(void)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	if (cpu < 0 || cpu == reader.cpu)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (!sched_setaffinity(reader.process, sizeof(set), &set))
		reader.cpu = cpu;
}

/* False if it cannot be asked about that process now. */
static bool is_ready(uint32_t pid)
{
	if (is_silent(pid) || (!reader.process && !start_child()))
		return false;
	set_patience(reader.n ? SHORT_PATIENCE_MS : PATIENCE_MS);
	return true;
}

/* After a question that the child did not take, or did not answer. */
static void give_up(uint32_t pid, bool silent)
{
	end_child();
	if (silent)
		add_silent(pid);
	else if (reader.restarts++ < RESTARTS_MAX)
		say("the process that reads the memory of others has ended; another one is "
		    "started");
	else
		say("the process that reads the memory of others has ended: functions of runtimes "
		    "have no names from now on");
}

static bool ask(struct request *r)
{
	size_t size = offsetof(struct request, pieces) + r->count * sizeof(*r->pieces);

	if (!is_ready(r->pid))
		return false;
	stay_together();
	if (send(reader.socket, r, size, MSG_NOSIGNAL) == (ssize_t)size)
		return true;
	give_up(r->pid, false);
	return false;
}

/* Receives one answer, with its bytes where parts[1] and following say. False: there is none. */
static bool take(uint32_t pid, struct iovec *parts, size_t n, int64_t *size)
{
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = n };
	ssize_t got;

	parts[0] = (struct iovec){ size, sizeof(*size) };
	do
		got = recvmsg(reader.socket, &m, 0);
	while (got < 0 && errno == EINTR);
	if (got >= (ssize_t)sizeof(*size))
		return true;
	give_up(pid, got < 0 && errno == EAGAIN);
	return false;
}

/* -------- questions -------- */

void process_reader_start(void (*warn)(const char *text))
{
	reader.started = true;
	reader.warn = warn;
}

void process_reader_stop(void)
{
	end_child();
	reader.started = false;
	reader.n = reader.warnings = reader.restarts = 0;
}

uint64_t process_reader_cpu_ns(void)
{
	return reader.cpu_ns + (reader.process ? child_process_cpu_ns(reader.process) : 0);
}

/* Pieces that are asked for at once. */
struct batch {
	struct request request;
	struct iovec here[1 + PIECES_MAX];
	size_t size;
};

static bool ask_batch(struct batch *b)
{
	size_t wanted = b->size, n = 1 + b->request.count;
	int64_t size;
	bool answered = ask(&b->request) && take(b->request.pid, b->here, n, &size);

	b->request.count = 0;
	b->size = 0;
	return answered && size == (int64_t)wanted;
}

/* As much of a piece as there is room for; returns how much. */
static size_t add_piece(struct batch *b, void *here, uint64_t there, size_t size)
{
	struct request *r = &b->request;

	if (size > PIECE_BYTES - b->size)
		size = PIECE_BYTES - b->size;
	r->pieces[r->count++] = (struct piece){ there, size };
	b->here[r->count] = (struct iovec){ here, size };
	b->size += size;
	return size;
}

bool process_reader_memory(uint32_t pid, const struct iovec *here, const struct iovec *there,
			   size_t n)
{
	struct batch b;
	size_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += here[i].iov_len;
	if (!reader.started || is_own(pid))
		return process_vm_readv((pid_t)pid, here, n, there, n, 0) == (ssize_t)total;
	b.request.pid = pid;
	b.request.count = 0;
	b.size = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t done = 0; done < here[i].iov_len;) {
			done += add_piece(&b, (char *)here[i].iov_base + done,
					  (uintptr_t)there[i].iov_base + done,
					  here[i].iov_len - done);
			if ((b.size == PIECE_BYTES || b.request.count == PIECES_MAX) &&
			    !ask_batch(&b))
				return false;
		}
	return !b.size || ask_batch(&b);
}

int process_reader_file(uint32_t pid, const char *name, size_t most, struct buffer *text)
{
	static uint8_t bytes[PIECE_BYTES];
	struct request r = { .pid = pid, .most = most };
	struct iovec parts[2] = { { 0 }, { bytes, sizeof(bytes) } };
	int64_t size;

	if (!reader.started)
		return proc_read_most(pid, name, most, text);
	snprintf(r.name, sizeof(r.name), "%s", name);
	if (!ask(&r))
		return -ETIMEDOUT;
	do {
		if (!take(pid, parts, 2, &size))
			return -ETIMEDOUT;
		if (size > 0)
			buffer_append(text, bytes, (size_t)size);
	} while (size > 0);
	return size ? (int)size : buffer_ok(text) ? 0 : -ENOMEM;
}
