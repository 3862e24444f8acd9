/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/compressor.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "common/clock.h"
#include "format/block.h"
#include "format/header.h"

/* Blocks that may wait for the thread: a disk that stalls shortly does not stop the recorder. */
#define QUEUE 4
/* How often somebody is asked whether to wait on for a pipe's reader. */
#define STALL_MS 100

struct compressor {
	int fd, level;
	ZSTD_CCtx *zstd;
	struct buffer out; /* the whole trace with fd -1, else one block */
	struct index index;
	uint32_t sequence;
	uint64_t samples;

	bool threaded;
	bool may_stall; /* a pipe or a socket */
	void (*thread_began)(void);
	bool (*keep_waiting)(void *context, uint64_t stalled_ns);
	void *context;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock from here on: */
	struct payload queue[QUEUE];
	size_t first, count; /* of the queue; the first one is being worked on */
	bool stop;
	struct error *error; /* the first one */
	uint64_t file_bytes, raw_bytes;
};

/* Whether the fd takes nothing for some time, or until a signal comes. */
static bool is_stalled(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int ready = poll(&p, 1, STALL_MS);

	return ready == 0 || (ready < 0 && errno == EINTR);
}

/* Until the fd takes PIPE_BUF bytes without blocking, or fails, which write() will report. */
static struct error *await_room(const struct compressor *c)
{
	uint64_t began = clock_now();

	while (is_stalled(c->fd))
		if (c->keep_waiting && !c->keep_waiting(c->context, clock_now() - began))
			return error_system(ECANCELED,
					    "cannot write, as nothing is read from the pipe");
	return NULL;
}

static struct error *write_all(const struct compressor *c, const uint8_t *bytes, size_t size)
{
	while (size) {
		/* What is more could block in write(), where nothing gives up. */
		size_t most = c->may_stall && size > PIPE_BUF ? PIPE_BUF : size;
		struct error *error = c->may_stall ? await_room(c) : NULL;
		ssize_t written;

		if (error)
			return error;
		written = write(c->fd, bytes, most);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return error_system(written ? errno : EIO, "cannot write");
		bytes += written;
		size -= (size_t)written;
	}
	return NULL;
}

/* What is in `out` since `before` goes where it belongs. */
static struct error *deliver(struct compressor *c, size_t before)
{
	size_t size = c->out.size - before;
	struct error *error;

	if (c->fd >= 0) {
		error = write_all(c, c->out.data + before, size);
		buffer_clear(&c->out);
		if (error)
			return error;
	}
	pthread_mutex_lock(&c->lock);
	c->file_bytes += size;
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

static struct error *write_block(struct compressor *c, const struct payload *p)
{
	size_t before = c->out.size;
	uint64_t offset = c->file_bytes;
	const struct block_options options = {
		.zstd = c->zstd,
		/* The end block is looked for from the end of the file: its size must be known. */
		.level = p->type == WIRE_END ? 0 : c->level,
		.flags = wire_is_optional(p->type) ? WIRE_FLAG_OPTIONAL : 0,
		.sequence = c->sequence,
	};
	struct error *error = block_encode(&c->out, p, &options);

	if (!error)
		error = deliver(c, before);
	if (error)
		return error;
	c->sequence++;
	if (p->type == WIRE_SAMPLES) {
		c->samples += p->samples;
		if (!index_add(&c->index, offset, p->from_ns, p->to_ns))
			return error_memory();
	}
	pthread_mutex_lock(&c->lock);
	c->raw_bytes += p->raw.size;
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

static void *work(void *context)
{
	struct compressor *c = context;

	if (c->thread_began)
		c->thread_began();
	pthread_mutex_lock(&c->lock);
	for (;;) {
		struct error *error;

		while (!c->count && !c->stop)
			pthread_cond_wait(&c->changed, &c->lock);
		if (!c->count)
			break;
		if (!c->error) {
			pthread_mutex_unlock(&c->lock);
			error = write_block(c, &c->queue[c->first]);
			pthread_mutex_lock(&c->lock);
			c->error = error;
		}
		c->first = (c->first + 1) % QUEUE;
		c->count--;
		pthread_cond_broadcast(&c->changed);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Signals are for the program's own threads. */
static bool start_thread(struct compressor *c)
{
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&c->thread, NULL, work, c) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

static bool may_stall(int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

struct error *compressor_new(struct compressor **compressor,
			     const struct prf_writer_options *options)
{
	struct compressor *c = calloc(1, sizeof(*c));
	uint8_t *header;
	struct error *error = error_memory();

	*compressor = NULL;
	if (!c)
		return error_memory();
	c->fd = options->fd;
	c->level = options->level;
	c->may_stall = may_stall(c->fd);
	c->thread_began = options->thread_began;
	c->keep_waiting = options->keep_waiting;
	c->context = options->context;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	if (c->level > 0) {
		c->zstd = ZSTD_createCCtx();
		if (!c->zstd)
			goto fail;
	}
	header = buffer_extend(&c->out, WIRE_HEADER_SIZE);
	if (!header)
		goto fail;
	header_encode(header);
	error = deliver(c, 0);
	if (error)
		goto fail;
	/* Without a thread the caller compresses. */
	c->threaded = options->compress_thread && start_thread(c);
	*compressor = c;
	return NULL;
fail:
	compressor_free(c);
	return error;
}

void compressor_free(struct compressor *c)
{
	if (!c)
		return;
	if (c->threaded) {
		pthread_mutex_lock(&c->lock);
		c->stop = true;
		pthread_cond_broadcast(&c->changed);
		pthread_mutex_unlock(&c->lock);
		pthread_join(c->thread, NULL);
	}
	for (size_t i = 0; i < QUEUE; i++)
		payload_release(&c->queue[i]);
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->changed);
	ZSTD_freeCCtx(c->zstd);
	buffer_release(&c->out);
	index_release(&c->index);
	error_free(c->error);
	free(c);
}

static struct error *put_now(struct compressor *c, struct payload *payload)
{
	/* After an error nothing is written: a hole in the middle is worse than an early end. */
	if (!c->error)
		c->error = write_block(c, payload);
	payload_clear(payload);
	return error_copy(c->error);
}

struct error *compressor_put(struct compressor *c, struct payload *payload)
{
	struct payload *slot, swapped;
	struct error *error;

	if (!buffer_ok(&payload->raw))
		return error_memory();
	if (!c->threaded)
		return put_now(c, payload);
	pthread_mutex_lock(&c->lock);
	while (c->count == QUEUE)
		pthread_cond_wait(&c->changed, &c->lock);
	slot = &c->queue[(c->first + c->count) % QUEUE];
	swapped = *slot;
	*slot = *payload;
	*payload = swapped;
	payload_clear(payload);
	c->count++;
	error = error_copy(c->error);
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	return error;
}

struct error *compressor_drain(struct compressor *c)
{
	struct error *error;

	pthread_mutex_lock(&c->lock);
	while (c->count)
		pthread_cond_wait(&c->changed, &c->lock);
	error = error_copy(c->error);
	pthread_mutex_unlock(&c->lock);
	return error;
}

struct error *compressor_finish(struct compressor *c)
{
	struct payload index = { .type = WIRE_INDEX }, end = { .type = WIRE_END };
	struct end values = { 0 };
	struct error *error = compressor_drain(c);

	if (error)
		return error;
	values.samples = c->samples;
	if (c->index.count) {
		values.index_offset = c->file_bytes;
		index_encode(&index.raw, &c->index);
		error = compressor_put(c, &index);
		if (!error)
			error = compressor_drain(c);
	}
	values.blocks = (uint64_t)c->sequence + 1;
	end_encode(&end.raw, &values);
	if (!error)
		error = compressor_put(c, &end);
	if (!error)
		error = compressor_drain(c);
	payload_release(&index);
	payload_release(&end);
	return error;
}

void compressor_totals(struct compressor *c, uint64_t *file_bytes, uint64_t *raw_bytes)
{
	pthread_mutex_lock(&c->lock);
	*file_bytes = c->file_bytes;
	*raw_bytes = c->raw_bytes;
	pthread_mutex_unlock(&c->lock);
}

const void *compressor_memory(struct compressor *c, size_t *size)
{
	*size = c->fd < 0 ? c->out.size : 0;
	return c->fd < 0 ? c->out.data : NULL;
}
