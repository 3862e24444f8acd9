/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/limits.h"
#include "record/system/opener_process.h"
#include "record/system/patience.h"
#include "record/system/proc.h"

/*
 * Questions of the processes of one user, and the recorder's own, that are open at a time. Of the
 * recorder's own some may be answered late that nobody asks again.
 */
#define USER_ASKED_MAX 4
#define OWN_ASKED_MAX (OPENER_OPEN_MAX / 2)
/* Writes that are waited for at a time, of which files of one user may have one. */
#define WRITES_ASKED_MAX (OPENER_OPEN_MAX / 4)
/* In place of a user. */
#define OWNER_RECORDER UINT32_MAX
#define OWNER_GONE (UINT32_MAX - 1) /* of a process that has ended */
/* An answer is waited for so long, and so long while another file of that user does not answer. */
#define PATIENCE_NS UINT64_C(100000000)
#define SHORT_PATIENCE_NS UINT64_C(2000000)
#define WRITE_PATIENCE_MS 20
#define WRITE_FREE_NS UINT64_C(1000000) /* waits of this length are nobody's fault */
#define POLL_MS 2
#define OVERDUE_NS UINT64_C(1000000000)
/* An answer that nobody has asked for again by then is not wanted any more. */
#define KEPT_NS UINT64_C(10000000000)
#define WARNINGS_MAX 8
#define RESTARTS_MAX 8

/* A question, until its answer is taken. */
struct asked {
	uint64_t since_ns;
	bool waited_for; /* by a thread that is in opener_open() */
	bool answered, warned;
	uint32_t owner;	 /* a uid, or OWNER_... */
	bool in_the_way; /* of a question that can be asked after this one has ended */
	int error;
	struct open_file file;
	struct opener_request request;
};

static struct {
	pthread_mutex_t lock;
	bool started; /* or files are opened here */
	int socket;
	pid_t process;
	pid_t ended; /* the one before, until all its threads have ended; 0: none */
	bool gone;   /* the process has ended */
	uint64_t next_id, answers;
	struct asked *asked[OPENER_OPEN_MAX];
	size_t n;
	unsigned int warnings, restarts;
	void (*warn)(const char *text);
	struct patience writes; /* by the files' owners */
} opener = { .lock = PTHREAD_MUTEX_INITIALIZER, .socket = -1 };

static struct error *start_process(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error_system(errno, "cannot make a socket");
	opener.process = fork();
	if (!opener.process)
		opener_process_run(ends[1]);
	close(ends[1]);
	if (opener.process < 0) {
		close(ends[0]);
		return error_system(errno, "cannot start a process");
	}
	opener.socket = ends[0];
	return NULL;
}

struct error *opener_start(void (*warn)(const char *text))
{
	struct error *error = start_process();

	opener.started = !error;
	opener.warn = warn;
	return error;
}

static void forget(size_t i)
{
	struct asked *a = opener.asked[i];

	opener.answers += a->in_the_way;
	if (a->file.fd >= 0)
		close(a->file.fd);
	free(a);
	opener.asked[i] = opener.asked[--opener.n];
}

static void forget_asked(const struct asked *a)
{
	size_t i = 0;

	while (opener.asked[i] != a)
		i++;
	forget(i);
}

void opener_stop(void)
{
	if (!opener.started)
		return;
	while (opener.n)
		forget(0);
	opener.started = false;
	opener.gone = false;
	if (opener.socket < 0)
		return;
	close(opener.socket);
	opener.socket = -1;
	waitpid(opener.process, NULL, WNOHANG);
}

/* -------- questions and answers, with the lock held -------- */

static bool opens(enum opening_kind kind)
{
	return kind != OPENING_STATUS && kind != OPENING_QUIET;
}

/* All that tells requests apart is after the id. */
static size_t request_size(const struct opener_request *r)
{
	return offsetof(struct opener_request, path) + strlen(r->path) + 1;
}

static bool is_same(const struct opener_request *a, const struct opener_request *b)
{
	size_t from = offsetof(struct opener_request, kind), size = request_size(a);

	return request_size(b) == size &&
	       !memcmp((const char *)a + from, (const char *)b + from, size - from);
}

static struct asked *find_asked(const struct opener_request *r)
{
	for (size_t i = 0; i < opener.n; i++)
		if (!opener.asked[i]->waited_for && is_same(&opener.asked[i]->request, r))
			return opener.asked[i];
	return NULL;
}

/* Memory of the copies that nobody has waited for. Their files may have claimed any size. */
static uint64_t late_bytes(void)
{
	uint64_t bytes = 0;
	struct stat st;

	for (size_t i = 0; i < opener.n; i++)
		if (opener.asked[i]->file.copied && !fstat(opener.asked[i]->file.fd, &st))
			bytes += (uint64_t)st.st_blocks * 512;
	return bytes;
}

static void refuse_late_copy(struct asked *a)
{
	close(a->file.fd);
	a->file.fd = -1;
	a->file.copied = false;
	a->error = -ENOMEM;
}

static void set_answer(struct asked *a, const struct opener_answer *answer, int fd)
{
	a->answered = true;
	a->error = answer->error;
	if (!a->error && fd < 0 && opens(a->request.kind))
		a->error = -EMFILE; /* received, but there was no number for it */
	a->file = (struct open_file){ fd, answer->copied && fd >= 0, answer->status };
	if (a->waited_for)
		return;
	opener.answers++;
	if (a->file.copied && late_bytes() > LIMIT_LATE_COPIES_BYTES)
		refuse_late_copy(a);
}

static void take_answer(const struct opener_answer *answer, int fd)
{
	for (size_t i = 0; i < opener.n; i++) {
		struct asked *a = opener.asked[i];

		if (a->request.id == answer->id) {
			set_answer(a, answer, fd);
			return;
		}
	}
	if (fd >= 0)
		close(fd);
}

/* The process has ended. What it was asked can be asked of the next one. */
static void lose_answers(void)
{
	opener.gone = true;
	for (size_t i = opener.n; i-- > 0;) {
		struct asked *a = opener.asked[i];

		if (!a->answered && !a->waited_for) {
			forget(i);
		} else if (!a->answered) {
			a->answered = true;
			a->error = -EAGAIN;
		}
	}
}

static void take_answers(void)
{
	struct opener_answer answer;
	ssize_t size;
	int fd;

	if (opener.gone)
		return;
	while ((size = opener_receive(opener.socket, &answer, sizeof(answer), &fd, MSG_DONTWAIT)) >
	       0)
		take_answer(&answer, fd);
	if (size != -EAGAIN)
		lose_answers();
}

/* Of those that are answered, and whose answer was not asked for again so far. */
static void forget_oldest(void)
{
	size_t oldest = opener.n;

	for (size_t i = 0; i < opener.n; i++) {
		const struct asked *a = opener.asked[i];

		if (a->answered && !a->waited_for &&
		    (oldest == opener.n || a->since_ns < opener.asked[oldest]->since_ns))
			oldest = i;
	}
	if (oldest < opener.n)
		forget(oldest);
}

static bool is_write(const struct asked *a)
{
	return a->request.kind == OPENING_QUIET;
}

/*
 * If there is none, those whose end makes some are marked. What is answered does not count: who
 * asked may have ended.
 */
static bool has_room(uint32_t owner)
{
	size_t max = owner == OWNER_RECORDER ? OWN_ASKED_MAX : USER_ASKED_MAX, of_owner = 0;
	bool full;

	if (opener.n == OPENER_OPEN_MAX)
		forget_oldest();
	full = opener.n == OPENER_OPEN_MAX;
	for (size_t i = 0; i < opener.n; i++)
		of_owner += opener.asked[i]->owner == owner && !is_write(opener.asked[i]) &&
			    !opener.asked[i]->answered;
	if (!full && of_owner < max)
		return true;
	for (size_t i = 0; i < opener.n; i++)
		opener.asked[i]->in_the_way |= of_owner < max || opener.asked[i]->owner == owner;
	return false;
}

/* Nobody asks again for a write: those that are answered late are in nobody's way. */
static bool has_room_for_write(uint32_t owner)
{
	size_t writes = 0;

	for (size_t i = 0; i < opener.n; i++) {
		const struct asked *a = opener.asked[i];

		if (is_write(a) && a->owner == owner)
			return false;
		writes += is_write(a);
	}
	return writes < WRITES_ASKED_MAX && opener.n < OPENER_OPEN_MAX;
}

/* NULL if the question cannot be asked now. */
static struct asked *ask(const struct opener_request *request, uint32_t owner)
{
	const bool room = request->kind == OPENING_QUIET ? has_room_for_write(owner)
							 : has_room(owner);
	struct asked *a = !opener.gone && room ? calloc(1, sizeof(*a)) : NULL;

	if (!a)
		return NULL;
	a->request = *request;
	a->request.id = ++opener.next_id;
	a->owner = owner;
	a->file.fd = -1;
	a->since_ns = clock_now();
	a->waited_for = true;
	if (opener_send(opener.socket, &a->request, request_size(&a->request),
			request->in_folder ? request->folder : -1, MSG_DONTWAIT)) {
		free(a);
		return NULL;
	}
	opener.asked[opener.n++] = a;
	return a;
}

/* The recorder's own questions and folders are asked only once. */
static uint64_t patience(const struct asked *a)
{
	for (size_t i = 0; i < opener.n; i++) {
		const struct asked *other = opener.asked[i];

		if (a->owner != OWNER_RECORDER && a->request.kind != OPENING_FOLDER &&
		    other->owner == a->owner && !is_write(other) && !other->answered &&
		    !other->waited_for)
			return a->since_ns + SHORT_PATIENCE_NS;
	}
	return a->since_ns + PATIENCE_NS;
}

/* The lock is released meanwhile. */
static void wait_for_answer(struct asked *a, uint64_t until)
{
	for (;;) {
		struct pollfd socket = { opener.socket, POLLIN, 0 };

		take_answers();
		if (a->answered || clock_now() >= until)
			break;
		pthread_mutex_unlock(&opener.lock);
		poll(&socket, 1, POLL_MS);
		pthread_mutex_lock(&opener.lock);
	}
	a->waited_for = false;
}

static int open_by_process(const struct opener_request *request, uint32_t owner,
			   struct open_file *file)
{
	struct asked *a;
	int error;

	take_answers();
	a = find_asked(request);
	if (!a) {
		a = ask(request, owner);
		if (!a)
			return opener.socket < 0 ? -EIO : -EAGAIN;
		wait_for_answer(a, patience(a));
	}
	if (!a->answered)
		return -EAGAIN;
	*file = a->file;
	error = a->error;
	a->file.fd = -1;
	forget_asked(a);
	return error;
}

/* What others' writes may keep us for has a limit, also where they end at last. */
static int wait_for_write(const struct opener_request *request, uint32_t owner)
{
	const uint32_t user = patience_user(owner, false), file = (uint32_t)request->folder_inode;
	uint64_t now = clock_now(), waited;
	int ms = patience_of(&opener.writes, user, false, file, now), error;
	struct asked *a;

	take_answers();
	a = ms ? ask(request, owner) : NULL;
	if (!a)
		return -EAGAIN;
	if (ms > WRITE_PATIENCE_MS)
		ms = WRITE_PATIENCE_MS;
	wait_for_answer(a, now + (uint64_t)ms * 1000000);
	waited = clock_now() - now;
	if (waited > WRITE_FREE_NS)
		patience_waited(&opener.writes, user, waited, now, NULL, 0);
	if (!a->answered) {
		patience_lose(&opener.writes, user, file, now, NULL, 0);
		return -EAGAIN;
	}
	error = a->error;
	forget_asked(a);
	return error;
}

static struct opener_request request_of(const struct opening *what)
{
	struct opener_request r;
	struct statx folder;

	memset(&r, 0, sizeof(r)); /* also what is between the members: requests are compared */
	r.kind = what->kind;
	r.pid = what->pid;
	r.start = what->start;
	r.end = what->end;
	r.uid = what->uid;
	r.in_folder = what->in_folder;
	r.folder = what->in_folder ? what->folder : -1;
	/* Its number may be another folder's by the time of the answer. */
	if (what->in_folder &&
	    !statx(what->folder, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &folder)) {
		r.folder_device = (uint64_t)folder.stx_dev_major << 32 | folder.stx_dev_minor;
		r.folder_inode = folder.stx_ino;
	}
	snprintf(r.path, sizeof(r.path), "%s", what->path);
	return r;
}

/* The real user, whom no process can change without privileges. */
static uint32_t owner_of(const struct opening *what)
{
	uint32_t uid;

	if (what->kind == OPENING_QUIET)
		return what->uid;
	if (!what->pid)
		return OWNER_RECORDER;
	return proc_status(what->pid, "Uid:", &uid) ? OWNER_GONE : uid;
}

int opener_open(const struct opening *what, struct open_file *file)
{
	struct opener_request request = request_of(what);
	struct opener_answer answer;
	uint32_t owner;
	int error;

	*file = (struct open_file){ .fd = -1 };
	if (what->kind == OPENING_STATUS && (what->pid || what->in_folder))
		return -EINVAL;
	if (strlen(what->path) >= sizeof(request.path))
		return -ENAMETOOLONG;
	if (!opener.started) {
		opener_process_answer(&request, &answer, &file->fd);
		file->copied = answer.copied;
		file->status = answer.status;
		return answer.error;
	}
	owner = owner_of(what);
	pthread_mutex_lock(&opener.lock);
	if (what->kind == OPENING_QUIET)
		error = wait_for_write(&request, owner);
	else
		error = open_by_process(&request, owner, file);
	pthread_mutex_unlock(&opener.lock);
	return error;
}

/* -------- what is overdue -------- */

static void warn_of(struct asked *a)
{
	char text[PATH_MAX + 128];

	a->warned = true;
	if (opener.warnings++ >= WARNINGS_MAX || !opener.warn)
		return;
	snprintf(text, sizeof(text), "%s does not answer; it is left out%s", a->request.path,
		 opener.warnings == WARNINGS_MAX ? ", and further ones are not reported" : "");
	opener.warn(text);
}

static bool is_reported(const struct opener_request *r)
{
	for (size_t i = 0; i < opener.n; i++)
		if (opener.asked[i]->warned && !strcmp(opener.asked[i]->request.path, r->path))
			return true;
	return false;
}

/* -------- the process has ended -------- */

/* A file that keeps one of its threads also keeps the socket open. */
static bool is_killed(void)
{
	return proc_state((uint32_t)opener.process, NULL) == 'Z';
}

/* Another one, with the capabilities that this thread has kept. */
static void restart(void)
{
	bool again = opener.restarts++ < RESTARTS_MAX;

	close(opener.socket);
	opener.socket = -1;
	opener.ended = opener.process;
	again = again && !error_ignore(start_process());
	opener.gone = !again;
	opener.answers++;
	if (opener.warn)
		opener.warn(again ? "the process that opens files has ended; another one is started"
				  : "the process that opens files has ended: programs that start "
				    "from now on may have cut stacks and no names");
}

static void look_at_process(void)
{
	if (!opener.gone && opener.n && is_killed())
		lose_answers();
	if (opener.gone && opener.socket >= 0)
		restart();
	if (opener.ended && waitpid(opener.ended, NULL, WNOHANG))
		opener.ended = 0;
}

void opener_look(uint64_t now_ns)
{
	if (!opener.started)
		return;
	pthread_mutex_lock(&opener.lock);
	take_answers();
	look_at_process();
	for (size_t i = opener.n; i-- > 0;) {
		struct asked *a = opener.asked[i];

		if (a->waited_for)
			continue;
		if (a->answered && now_ns > a->since_ns + KEPT_NS)
			forget(i);
		else if (!a->answered && !a->warned && !is_write(a) &&
			 now_ns > a->since_ns + OVERDUE_NS && !is_reported(&a->request))
			warn_of(a);
	}
	pthread_mutex_unlock(&opener.lock);
}

int opener_fd(void)
{
	int fd;

	pthread_mutex_lock(&opener.lock);
	fd = opener.gone ? -1 : opener.socket;
	pthread_mutex_unlock(&opener.lock);
	return fd;
}

uint64_t opener_answers(void)
{
	uint64_t answers;

	pthread_mutex_lock(&opener.lock);
	answers = opener.answers;
	pthread_mutex_unlock(&opener.lock);
	return answers;
}
