/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/opener.h"

#include <errno.h>
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
#include "record/system/opener_process.h"

#define ASKED_MAX 256
/* An answer is waited for so long, and so long while another file does not answer. */
#define PATIENCE_NS UINT64_C(100000000)
#define SHORT_PATIENCE_NS UINT64_C(2000000)
#define POLL_MS 2
#define OVERDUE_NS UINT64_C(1000000000)
/* An answer that nobody has asked for again by then is not wanted any more. */
#define KEPT_NS UINT64_C(10000000000)
#define WARNINGS_MAX 8

/* A question, until its answer is taken. */
struct asked {
	uint64_t since_ns;
	bool waited_for; /* by a thread that is in opener_open() */
	bool answered, warned;
	int error;
	struct open_file file;
	struct opener_request request;
};

static struct {
	pthread_mutex_t lock;
	int socket; /* -1: files are opened here */
	pid_t process;
	bool gone; /* the process has ended */
	uint64_t next_id, answers;
	struct asked *asked[ASKED_MAX];
	size_t n;
	unsigned int warnings;
	void (*warn)(const char *text);
} opener = { .lock = PTHREAD_MUTEX_INITIALIZER, .socket = -1 };

struct error *opener_start(void (*warn)(const char *text))
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
	opener.warn = warn;
	return NULL;
}

static void forget(size_t i)
{
	struct asked *a = opener.asked[i];

	if (a->file.fd >= 0)
		close(a->file.fd);
	free(a);
	opener.asked[i] = opener.asked[--opener.n];
}

void opener_stop(void)
{
	if (opener.socket < 0)
		return;
	while (opener.n)
		forget(0);
	close(opener.socket);
	opener.socket = -1;
	waitpid(opener.process, NULL, WNOHANG);
}

/* -------- questions and answers, with the lock held -------- */

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

static struct asked *find_asked(const struct opener_request *r, size_t *at)
{
	for (*at = 0; *at < opener.n; ++*at)
		if (!opener.asked[*at]->waited_for && is_same(&opener.asked[*at]->request, r))
			return opener.asked[*at];
	return NULL;
}

static void take_answer(const struct opener_answer *answer, int fd)
{
	for (size_t i = 0; i < opener.n; i++) {
		struct asked *a = opener.asked[i];

		if (a->request.id != answer->id)
			continue;
		a->answered = true;
		a->error = answer->error;
		a->file = (struct open_file){ fd, answer->copied, answer->status };
		opener.answers += !a->waited_for;
		return;
	}
	if (fd >= 0)
		close(fd);
}

static void take_answers(void)
{
	struct opener_answer answer;
	ssize_t size;
	int fd;

	while ((size = opener_receive(opener.socket, &answer, sizeof(answer), &fd, MSG_DONTWAIT)) >
	       0)
		take_answer(&answer, fd);
	opener.gone |= !size || (size < 0 && size != -EAGAIN);
	for (size_t i = 0; opener.gone && i < opener.n; i++) {
		opener.asked[i]->answered = true;
		opener.asked[i]->error = opener.asked[i]->file.fd < 0 ? -EIO : 0;
	}
}

static struct asked *ask(const struct opener_request *request)
{
	struct asked *a = opener.n < ASKED_MAX ? calloc(1, sizeof(*a)) : NULL;

	if (!a)
		return NULL;
	a->request = *request;
	a->request.id = ++opener.next_id;
	a->file.fd = -1;
	a->since_ns = clock_now();
	a->waited_for = true;
	if (opener_send(opener.socket, &a->request, request_size(&a->request),
			request->in_folder ? request->folder : -1)) {
		free(a);
		return NULL;
	}
	opener.asked[opener.n++] = a;
	return a;
}

static uint64_t patience(uint64_t now)
{
	for (size_t i = 0; i < opener.n; i++)
		if (!opener.asked[i]->answered && !opener.asked[i]->waited_for)
			return now + SHORT_PATIENCE_NS;
	return now + PATIENCE_NS;
}

/* The lock is released meanwhile. */
static void wait_for_answer(struct asked *a)
{
	uint64_t until = patience(a->since_ns);

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

static int open_by_process(const struct opener_request *request, struct open_file *file)
{
	size_t at;
	struct asked *a = find_asked(request, &at);
	int error;

	if (a) {
		take_answers();
	} else {
		a = opener.gone ? NULL : ask(request);
		if (!a)
			return -EBUSY;
		wait_for_answer(a);
	}
	if (!a->answered)
		return -EAGAIN;
	*file = a->file;
	error = a->error;
	a->file.fd = -1;
	for (at = 0; opener.asked[at] != a; at++)
		;
	forget(at);
	return error;
}

static struct opener_request request_of(const struct opening *what)
{
	struct opener_request r;

	memset(&r, 0, sizeof(r)); /* also what is between the members: requests are compared */
	r.kind = what->kind;
	r.pid = what->pid;
	r.start = what->start;
	r.end = what->end;
	r.uid = what->uid;
	r.in_folder = what->in_folder;
	r.folder = what->in_folder ? what->folder : -1;
	snprintf(r.path, sizeof(r.path), "%s", what->path);
	return r;
}

int opener_open(const struct opening *what, struct open_file *file)
{
	struct opener_request request = request_of(what);
	struct opener_answer answer;
	int error;

	*file = (struct open_file){ .fd = -1 };
	if (strlen(what->path) >= sizeof(request.path))
		return -ENAMETOOLONG;
	if (opener.socket < 0) {
		opener_process_answer(&request, &answer, &file->fd);
		file->copied = answer.copied;
		file->status = answer.status;
		return answer.error;
	}
	pthread_mutex_lock(&opener.lock);
	error = open_by_process(&request, file);
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

void opener_look(uint64_t now_ns)
{
	if (opener.socket < 0)
		return;
	pthread_mutex_lock(&opener.lock);
	take_answers();
	for (size_t i = opener.n; i-- > 0;) {
		struct asked *a = opener.asked[i];

		if (a->waited_for)
			continue;
		if (a->answered && now_ns > a->since_ns + KEPT_NS)
			forget(i);
		else if (!a->answered && !a->warned && now_ns > a->since_ns + OVERDUE_NS &&
			 !is_reported(&a->request))
			warn_of(a);
	}
	pthread_mutex_unlock(&opener.lock);
}

int opener_fd(void)
{
	return opener.gone ? -1 : opener.socket;
}

uint64_t opener_answers(void)
{
	uint64_t answers;

	pthread_mutex_lock(&opener.lock);
	answers = opener.answers;
	pthread_mutex_unlock(&opener.lock);
	return answers;
}
