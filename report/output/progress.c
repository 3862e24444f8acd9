/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/output/progress.h"

#include "common/clock.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EACH_NS UINT64_C(200000000)

uint64_t progress_first_ns = 1000000000;

static bool silenced;
static volatile sig_atomic_t interrupted;
/* When a signal ends the program: */
static const char *volatile removed;
static void (*volatile restored)(void);

/* The signal is blocked in its handler, so that it ends the program when this returns. */
static void end(int signal_number)
{
	if (restored)
		restored();
	if (removed)
		unlink(removed);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* A second Ctrl-C ends the program at once. */
static void note_interrupt(int signal_number)
{
	if (interrupted)
		end(signal_number);
	interrupted = 1;
}

static void catch (int signal_number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler }, before;

	/* nohup(1) ignores SIGHUP, and shells SIGINT of what runs in the background. */
	if (sigaction(signal_number, NULL, &before) || before.sa_handler == SIG_IGN)
		return;
	sigemptyset(&action.sa_mask);
	sigaction(signal_number, &action, NULL);
}

void progress_catch_interrupt(void)
{
	catch (SIGINT, note_interrupt);
	catch (SIGTERM, end);
	catch (SIGHUP, end);
	catch (SIGQUIT, end);
}

void progress_silence(void)
{
	silenced = true;
}

static bool is_silent(void)
{
	return silenced || !isatty(STDERR_FILENO);
}

void progress_removes(const char *path)
{
	removed = path;
}

void progress_restores(void (*restore)(void))
{
	restored = restore;
}

bool progress_interrupted(void)
{
	return interrupted;
}

bool progress_take_interrupt(void)
{
	bool was = interrupted;

	interrupted = 0;
	return was;
}

/* 0: not known. */
static uint64_t size_of(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
}

void progress_begin(struct progress *p, const char *what)
{
	*p = (struct progress){ .what = what, .silent = is_silent() };
	if (!p->silent)
		p->start_ns = clock_now();
}

void progress_expect(struct progress *p, int fd)
{
	if (p->silent)
		return;
	p->size += size_of(fd);
	p->unknown = p->unknown || !size_of(fd);
}

void progress_show(struct progress *p, uint64_t bytes)
{
	uint64_t now, spent;

	if (p->silent)
		return;
	bytes += p->read;
	now = clock_now();
	spent = now - p->start_ns;
	if (spent < progress_first_ns || now - p->last_ns < EACH_NS)
		return;
	p->last_ns = now;
	p->shown = true;
	if (!p->unknown && bytes && bytes <= p->size)
		fprintf(stderr, "\r%s: %d %%, %.0f s left\033[K", p->what,
			(int)(bytes * 100 / p->size),
			(double)spent / 1e9 * (double)(p->size - bytes) / (double)bytes);
	else
		fprintf(stderr, "\r%s: %.1f MB\033[K", p->what, (double)bytes / 1e6);
}

void progress_show_reader(struct progress *p, const struct prf_reader *reader)
{
	uint64_t bytes = 0, raw;

	if (p->silent)
		return;
	prf_reader_bytes(reader, &bytes, &raw);
	progress_show(p, bytes);
}

void progress_next(struct progress *p, int fd)
{
	if (!p->silent)
		p->read += size_of(fd);
	progress_end(p);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
	p->shown = false;
}

/* -------- work in parts -------- */

static void wait_until(struct progress_parts *p, uint64_t ns)
{
	const struct timespec at = { .tv_sec = (time_t)(ns / 1000000000),
				     .tv_nsec = (long)(ns % 1000000000) };

	while (!p->ends && clock_now() < ns)
		pthread_cond_timedwait(&p->wake, &p->lock, &at);
}

static void *show_parts(void *argument)
{
	struct progress_parts *p = argument;

	pthread_mutex_lock(&p->lock);
	for (wait_until(p, p->start_ns + progress_first_ns); !p->ends;
	     wait_until(p, clock_now() + EACH_NS)) {
		fprintf(stderr, "\rfinding names: %s, %zu of %zu\033[K", p->what, p->done, p->all);
		p->shown = true;
	}
	if (p->shown)
		fprintf(stderr, "\r\033[K");
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

void progress_parts_init(struct progress_parts *p)
{
	*p = (struct progress_parts){ .silent = is_silent() };
}

static void start_parts(struct progress_parts *p)
{
	pthread_condattr_t attributes;
	sigset_t all, before;

	p->shown = p->ends = false;
	p->start_ns = clock_now();
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&p->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	/* Signals are for the threads that they are to interrupt. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	p->runs = !pthread_create(&p->thread, NULL, show_parts, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	p->silent = !p->runs;
}

void progress_parts_show(struct progress_parts *p, const char *what, size_t done, size_t all)
{
	if (p->silent)
		return;
	if (!p->runs) {
		p->what = what;
		start_parts(p);
	}
	if (!p->runs)
		return;
	pthread_mutex_lock(&p->lock);
	p->what = what;
	p->done = done;
	p->all = all;
	pthread_mutex_unlock(&p->lock);
}

void progress_parts_end(struct progress_parts *p)
{
	if (!p->runs)
		return;
	pthread_mutex_lock(&p->lock);
	p->ends = true;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->wake);
	p->runs = false;
}
