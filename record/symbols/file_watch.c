/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/file_watch.h"

#include "record/system/privileges.h"
#include "record/system/thread.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FILES_MAX 64
/* Pause between two looks: compilers write line by line, thousands at once. */
#define PAUSE_NS 500000

struct watched {
	int fd; /* -1: the entry is free */
	int descriptor;
	bool claimed; /* by file_watch_add(); else it was only seen to be created */
	struct write_times times;
};

struct file_watch {
	int inotify, stop;
	int folder, tmp; /* the watch's descriptor of /tmp, and its fd */
	bool running;
	pthread_t thread;
	pthread_mutex_t lock; /* of `files` */
	struct watched files[FILES_MAX];
};

static void release(struct watched *f)
{
	if (f->fd >= 0)
		close(f->fd);
	write_times_release(&f->times);
	f->fd = -1;
}

void file_watch_free(struct file_watch *w)
{
	if (!w)
		return;
	if (w->running && !eventfd_write(w->stop, 1))
		pthread_join(w->thread, NULL);
	for (size_t i = 0; i < FILES_MAX; i++)
		release(&w->files[i]);
	if (w->inotify >= 0)
		close(w->inotify);
	if (w->stop >= 0)
		close(w->stop);
	if (w->tmp >= 0)
		close(w->tmp);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

static struct watched *find_watched(struct file_watch *w, int descriptor)
{
	for (size_t i = 0; i < FILES_MAX; i++)
		if (w->files[i].fd >= 0 && w->files[i].descriptor == descriptor)
			return &w->files[i];
	return NULL;
}

/* An entry that can be used: a free one, else one that nobody claimed. */
static struct watched *room(struct file_watch *w)
{
	struct watched *unclaimed = NULL;

	for (size_t i = 0; i < FILES_MAX; i++) {
		if (w->files[i].fd < 0)
			return &w->files[i];
		if (!w->files[i].claimed)
			unclaimed = &w->files[i];
	}
	if (unclaimed) {
		inotify_rm_watch(w->inotify, unclaimed->descriptor);
		release(unclaimed);
	}
	return unclaimed;
}

/* A file has one entry, since inotify has one watch for it. Takes over `fd`. */
static struct watched *add_locked(struct file_watch *w, int fd)
{
	char path[64];
	struct watched *f;
	int descriptor;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	descriptor = inotify_add_watch(w->inotify, path, IN_MODIFY);
	f = descriptor < 0 ? NULL : find_watched(w, descriptor);
	if (f || descriptor < 0) {
		close(fd);
		return f;
	}
	f = room(w);
	if (!f) {
		inotify_rm_watch(w->inotify, descriptor);
		close(fd);
		return NULL;
	}
	*f = (struct watched){ .fd = fd, .descriptor = descriptor };
	write_times_look(&f->times, f->fd);
	return f;
}

/* Files in /tmp may be anyone's: this one is only opened to look at its size. */
static void add_created(struct file_watch *w, const char *name)
{
	size_t digits = strncmp(name, "perf-", 5) ? 0 : strspn(name + 5, "0123456789");
	struct stat st;
	struct open_how how = {
		.flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	int fd;

	if (!digits || digits > 10 || strcmp(name + 5 + digits, ".map"))
		return;
	/* A file system that a user has mounted on the file may not answer. */
	fd = w->tmp < 0 ? -1 : (int)syscall(SYS_openat2, w->tmp, name, &how, sizeof(how));
	if (fd < 0)
		return;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		close(fd);
	else
		add_locked(w, fd);
}

static void take_events(struct file_watch *w)
{
	char events[4096] __attribute__((aligned(8)));
	const struct inotify_event *event;
	ssize_t n;

	while ((n = read(w->inotify, events, sizeof(events))) > 0) {
		for (const char *at = events; at < events + n; at += sizeof(*event) + event->len) {
			event = (const struct inotify_event *)at;
			if (event->wd == w->folder && event->len)
				add_created(w, event->name);
		}
	}
	/* All files are looked at, whichever was written: there are few. */
	for (size_t i = 0; i < FILES_MAX; i++)
		if (w->files[i].fd >= 0)
			write_times_look(&w->files[i].times, w->files[i].fd);
}

static void *watch_files(void *context)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	struct file_watch *w = context;
	struct pollfd fds[2] = { { w->inotify, POLLIN, 0 }, { w->stop, POLLIN, 0 } };

	/* A map may be readable by its owner only. */
	privileges_drop_in_thread(PRIVILEGES_FOR_FILES);
	for (;;) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			return NULL;
		pthread_mutex_lock(&w->lock);
		take_events(w);
		pthread_mutex_unlock(&w->lock);
		nanosleep(&pause, NULL);
	}
}

static bool start(struct file_watch *w)
{
	w->running = !thread_start(&w->thread, watch_files, w);
	return w->running;
}

struct file_watch *file_watch_new(void)
{
	struct file_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	for (size_t i = 0; i < FILES_MAX; i++)
		w->files[i].fd = -1;
	pthread_mutex_init(&w->lock, NULL);
	w->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	w->stop = eventfd(0, EFD_CLOEXEC);
	w->tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	w->folder = w->inotify < 0 ? -1 : inotify_add_watch(w->inotify, "/tmp", IN_CREATE);
	if (w->inotify < 0 || w->stop < 0 || !start(w)) {
		file_watch_free(w);
		return NULL;
	}
	return w;
}

int file_watch_add(struct file_watch *w, int fd)
{
	struct watched *f = NULL;
	int copy;

	if (!w)
		return -1;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return -1;
	pthread_mutex_lock(&w->lock);
	f = add_locked(w, copy);
	/* A file that two processes add is watched for the first one only. */
	if (f && f->claimed)
		f = NULL;
	if (f)
		f->claimed = true;
	pthread_mutex_unlock(&w->lock);
	return f ? (int)(f - w->files) : -1;
}

void file_watch_remove(struct file_watch *w, int number)
{
	if (!w || number < 0)
		return;
	pthread_mutex_lock(&w->lock);
	inotify_rm_watch(w->inotify, w->files[number].descriptor);
	release(&w->files[number]);
	pthread_mutex_unlock(&w->lock);
}

void file_watch_take(struct file_watch *w, int number, struct write_times *times)
{
	struct watched *f;

	if (!w || number < 0)
		return;
	f = &w->files[number];
	pthread_mutex_lock(&w->lock);
	for (size_t i = 0; i < f->times.n; i++)
		write_times_add(times, f->times.looks[i]);
	f->times.n = 0;
	pthread_mutex_unlock(&w->lock);
}
