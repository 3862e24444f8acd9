/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/output/progress.h"

#include "common/clock.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

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

void progress_begin(struct progress *p, bool quiet)
{
	*p = (struct progress){ .silent = quiet || !isatty(STDERR_FILENO) };
	if (!p->silent)
		p->start_ns = p->last_ns = clock_now();
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
	if (spent < 1000000000 || now - p->last_ns < 200000000)
		return;
	p->last_ns = now;
	p->shown = true;
	if (!p->unknown && bytes && bytes <= p->size)
		fprintf(stderr, "\rreading: %d %%, %.0f s left\033[K", (int)(bytes * 100 / p->size),
			(double)spent / 1e9 * (double)(p->size - bytes) / (double)bytes);
	else
		fprintf(stderr, "\rreading: %.1f MB\033[K", (double)bytes / 1e6);
}

void progress_next(struct progress *p, int fd)
{
	if (!p->silent)
		p->read += size_of(fd);
	if (p->shown)
		fprintf(stderr, "\r\033[K");
	p->shown = false;
}
