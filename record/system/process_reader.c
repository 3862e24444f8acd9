/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/process_reader.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "record/system/child_process.h"
#include "record/system/patience.h"
#include "record/system/proc.h"
#include "record/system/process_owner.h"
#include "record/system/reader_process.h"

#define SOCKET_BYTES (256 << 10)
/* A child is waited for so long, by turns, as long as it is slow itself. */
#define TURN_MS 100
#define TURNS_MAX 10
#define DYING_MS 20 /* a child that was killed is waited for so long */
/* Children that were killed, and that the kernel keeps all the same: one for each user. */
#define KEPT_MAX 8
#define KEPT_OF_OTHERS 6	  /* the rest are for the recorder's own user */
#define RESTARTS_MAX 8		  /* after somebody else has killed it */
#define QUICK_NS UINT64_C(200000) /* an answer that takes no longer costs nobody anything */
/* Who a process belongs to holds so long: less than another program takes to start. */
#define OWNER_NS UINT64_C(200000)

static struct {
	bool started; /* or the caller reads */
	bool traces;  /* memory of other users' processes can be read */
	void (*warn)(const char *text);
	pid_t process; /* 0: none */
	int socket, turn_ms, cpu;
	struct {
		pid_t pid;
		uint32_t user; /* whose process keeps it */
	} kept[KEPT_MAX];
	size_t n_kept;
	unsigned int restarts;
	uint64_t cpu_ns;     /* of those that have ended */
	uint64_t at_work_ns; /* as at_work_ns(), when that was last looked at */
	struct process_owner owner;
	uint64_t owner_until_ns; /* so long it holds */
	struct patience patience;
} reader;

/* False: the process is not there, and what it costs is nobody's. */
static bool find_owner(uint32_t pid)
{
	uint64_t now = clock_now();

	if (pid == reader.owner.pid && now < reader.owner_until_ns)
		return true;
	reader.owner_until_ns = now + OWNER_NS;
	return process_owner_read(&reader.owner, pid);
}

/* Whether its memory is read here. */
static bool is_direct(uint32_t pid)
{
	return !reader.started || !reader.traces || (find_owner(pid) && reader.owner.own);
}

/* -------- the child's life -------- */

static void say(const char *text)
{
	if (reader.warn)
		reader.warn(text);
}

/* Those that have ended by now. */
static void reap_kept(void)
{
	for (size_t i = reader.n_kept; i-- > 0;)
		if (waitpid(reader.kept[i].pid, NULL, WNOHANG))
			reader.kept[i] = reader.kept[--reader.n_kept];
}

static void end_child(void)
{
	if (!reader.process)
		return;
	reader.cpu_ns += child_process_cpu_ns(reader.process);
	kill(reader.process, SIGKILL);
	close(reader.socket);
	reader.kept[reader.n_kept].pid = reader.process;
	reader.kept[reader.n_kept++].user = reader.owner.user;
	reader.process = 0;
	for (int ms = 0; ms < DYING_MS; ms++) {
		const struct timespec pause = { .tv_nsec = 1000000 };
		size_t before = reader.n_kept;

		reap_kept();
		if (reader.n_kept < before)
			break;
		nanosleep(&pause, NULL);
	}
}

static bool keeps_one(uint32_t user)
{
	reap_kept();
	for (size_t i = 0; i < reader.n_kept; i++)
		if (reader.kept[i].user == user)
			return true;
	return false;
}

static void set_turn(int ms)
{
	const struct timeval turn = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	if (ms != reader.turn_ms &&
	    !setsockopt(reader.socket, SOL_SOCKET, SO_RCVTIMEO, &turn, sizeof(turn)))
		reader.turn_ms = ms;
}

/* Whether no process keeps the child: it does its work, or waits for a CPU. */
static bool is_running(void)
{
	return proc_state((uint32_t)reader.process, NULL) == 'R';
}

/*
 * Receives one answer, with its bytes where parts[1] and following say. 0, or -errno: -EAGAIN if
 * there was none in time.
 */
static int take(struct iovec *parts, size_t n, struct reader_head *head)
{
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = n };
	int error = -EAGAIN;

	parts[0] = (struct iovec){ head, sizeof(*head) };
	for (int turn = 0; turn < TURNS_MAX; turn += error != -EINTR) {
		ssize_t got = recvmsg(reader.socket, &m, 0);

		if (got >= (ssize_t)sizeof(*head))
			return 0;
		error = got < 0 ? -errno : -EPIPE;
		if (error != -EINTR && (error != -EAGAIN || !is_running()))
			break;
	}
	return error;
}

/* It waits for nobody: one long turn. */
static bool is_there(void)
{
	struct iovec part;
	struct reader_head head;

	set_turn(TURNS_MAX * TURN_MS);
	return !take(&part, 1, &head);
}

/*
 * How long the child has worked, and it and this process have waited for a CPU, so far: all that
 * nobody else is to be charged with. See proc(5), schedstat.
 */
static uint64_t at_work_ns(void)
{
	unsigned long long worked[2] = { 0 }, waited[2] = { 0 };
	const uint32_t pids[2] = { (uint32_t)reader.process, (uint32_t)getpid() };

	for (size_t i = 0; i < 2; i++) {
		struct buffer text = { 0 };

		if (!proc_read(pids[i], "schedstat", &text))
			sscanf(buffer_string(&text), "%llu %llu", &worked[i], &waited[i]);
		buffer_release(&text);
	}
	return worked[0] + waited[0] + waited[1];
}

static bool fail_start(void)
{
	if (reader.restarts++ == RESTARTS_MAX)
		say("cannot start a process that reads the memory of others: names are missing "
		    "from now on");
	return false;
}

static bool start_child(void)
{
	int ends[2], bytes = SOCKET_BYTES;

	reap_kept();
	if (reader.n_kept == KEPT_MAX || reader.restarts > RESTARTS_MAX)
		return false;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return fail_start();
	for (size_t i = 0; i < 2; i++)
		setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	reader.process = fork();
	if (!reader.process) {
		child_process_begin(ends[1], "prof-reader", PRIVILEGES_FOR_READING);
		reader_process_run();
	}
	close(ends[1]);
	if (reader.process < 0) {
		close(ends[0]);
		reader.process = 0;
		return fail_start();
	}
	reader.socket = ends[0];
	reader.turn_ms = 0;
	reader.cpu = -1;
	if (is_there()) {
		reader.at_work_ns = at_work_ns();
		return true;
	}
	end_child();
	return fail_start();
}

/*
 * On one CPU, question and answer are two switches from one process to the other. Else another CPU
 * has to be woken up for each of them, which takes half as long again.
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

/* -------- questions -------- */

/* The child has not taken the question, or not answered it. */
static void give_up(uint32_t pid, int error)
{
	char text[192];

	end_child();
	if (error == -EAGAIN) {
		if (patience_lose(&reader.patience, reader.owner.user, pid, clock_now(), text,
				  sizeof(text)))
			say(text);
		if (reader.n_kept == KEPT_OF_OTHERS)
			say("the kernel keeps too many processes that read others' memory; "
			    "names are missing until it lets one go");
	} else if (reader.restarts++ < RESTARTS_MAX) {
		say("the process that reads the memory of others has ended; another one is "
		    "started");
	} else {
		say("the process that reads the memory of others has ended: names are missing "
		    "from now on");
	}
}

/* How long an answer is to be waited for; 0: not at all. Most of the time nobody was silent. */
static int turn_for(uint32_t pid)
{
	if (!reader.patience.n && !reader.n_kept)
		return TURN_MS;
	if (!find_owner(pid) || keeps_one(reader.owner.user) ||
	    (reader.n_kept >= KEPT_OF_OTHERS && !reader.owner.own))
		return 0;
	return patience_of(&reader.patience, reader.owner.user, reader.owner.own, pid, clock_now());
}

/* False if there will be no answer. */
static bool ask(struct reader_request *r)
{
	size_t size = offsetof(struct reader_request, pieces) + r->count * sizeof(*r->pieces);
	int turn_ms = turn_for(r->pid);

	if (!turn_ms || (!reader.process && !start_child()))
		return false;
	set_turn(turn_ms);
	stay_together();
	if (send(reader.socket, r, size, MSG_NOSIGNAL) == (ssize_t)size)
		return true;
	give_up(r->pid, -EPIPE);
	return false;
}

/* What the process has kept the recorder waiting. */
static void charge(uint32_t pid, uint64_t ns)
{
	uint64_t at_work = at_work_ns(), since = at_work - reader.at_work_ns;
	char text[192];

	reader.at_work_ns = at_work;
	if (since >= ns)
		return;
	/* It may have ended meanwhile: who it was before counts. */
	if (reader.owner.pid != pid)
		find_owner(pid);
	if (patience_waited(&reader.patience, reader.owner.user, ns - since, clock_now(), text,
			    sizeof(text)))
		say(text);
}

/* One answer to the question. */
static bool take_answer(uint32_t pid, struct iovec *parts, size_t n, struct reader_head *head)
{
	uint64_t before = clock_now(), ns;
	int error = take(parts, n, head);

	ns = clock_now() - before;
	if (error || ns > QUICK_NS)
		charge(pid, ns);
	if (error)
		give_up(pid, error);
	return !error;
}

void process_reader_start(void (*warn)(const char *text))
{
	reader.started = true;
	reader.traces = privileges_can_trace();
	reader.warn = warn;
}

void process_reader_stop(void)
{
	end_child();
	reader.started = false;
	reader.restarts = 0;
	process_owner_release(&reader.owner);
	patience_reset(&reader.patience);
}

uint64_t process_reader_cpu_ns(void)
{
	return reader.cpu_ns + (reader.process ? child_process_cpu_ns(reader.process) : 0);
}

/* Pieces that are asked for at once. */
struct batch {
	struct reader_request request;
	struct iovec here[1 + READER_PIECES_MAX];
	size_t size;
};

static void begin_batch(struct batch *b, uint32_t pid, bool present)
{
	b->request.pid = pid;
	b->request.present = present;
	b->request.count = 0;
	b->size = 0;
}

static bool ask_batch(struct batch *b)
{
	size_t wanted = b->size, n = 1 + b->request.count;
	struct reader_head head;
	bool answered = ask(&b->request) && take_answer(b->request.pid, b->here, n, &head);

	b->request.count = 0;
	b->size = 0;
	return answered && head.size == (int32_t)wanted;
}

/* As much of a piece as there is room for; returns how much. */
static size_t add_piece(struct batch *b, void *here, uint64_t there, size_t size)
{
	struct reader_request *r = &b->request;

	if (size > READER_PIECE_BYTES - b->size)
		size = READER_PIECE_BYTES - b->size;
	r->pieces[r->count++] = (struct reader_piece){ there, size };
	b->here[r->count] = (struct iovec){ here, size };
	b->size += size;
	return size;
}

bool process_reader_present(uint32_t pid, void *here, uint64_t there, size_t size)
{
	const struct iovec to = { here, size }, from = { (void *)(uintptr_t)there, size };
	struct batch b;

	if (!size || size > READER_PIECE_BYTES)
		return false;
	if (is_direct(pid))
		return reader_process_is_present(pid, there, size) &&
		       process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0) == (ssize_t)size;
	begin_batch(&b, pid, true);
	add_piece(&b, here, there, size);
	return ask_batch(&b);
}

bool process_reader_memory(uint32_t pid, const struct iovec *here, const struct iovec *there,
			   size_t n)
{
	struct batch b;
	size_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += here[i].iov_len;
	if (is_direct(pid))
		return process_vm_readv((pid_t)pid, here, n, there, n, 0) == (ssize_t)total;
	begin_batch(&b, pid, false);
	for (size_t i = 0; i < n; i++)
		for (size_t done = 0; done < here[i].iov_len;) {
			done += add_piece(&b, (char *)here[i].iov_base + done,
					  (uintptr_t)there[i].iov_base + done,
					  here[i].iov_len - done);
			if ((b.size == READER_PIECE_BYTES ||
			     b.request.count == READER_PIECES_MAX) &&
			    !ask_batch(&b))
				return false;
		}
	return !b.size || ask_batch(&b);
}

int process_reader_file(uint32_t pid, const char *name, size_t most, struct buffer *text)
{
	static uint8_t bytes[READER_PIECE_BYTES];
	struct reader_request r = { .pid = pid, .most = most };
	struct iovec parts[2] = { { 0 }, { bytes, sizeof(bytes) } };
	struct reader_head head;

	if (!reader.started)
		return proc_read_most(pid, name, most, text);
	snprintf(r.name, sizeof(r.name), "%s", name);
	if (!ask(&r))
		return -ETIMEDOUT;
	do {
		if (!take_answer(pid, parts, 2, &head))
			return -ETIMEDOUT;
		/* So much of a minute is gone that the rest is not waited for. */
		if (head.more && !turn_for(pid)) {
			end_child();
			return -ETIMEDOUT;
		}
		if (head.size > 0)
			buffer_append(text, bytes, (size_t)head.size);
	} while (head.more);
	return head.size < 0 ? head.size : buffer_ok(text) ? 0 : -ENOMEM;
}
