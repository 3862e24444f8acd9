/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/symbols/debuginfod.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/shortage.h"

#define LIBRARY "libdebuginfod.so.1"
#define TIMEOUT_SECONDS "10"

typedef struct debuginfod_client debuginfod_client;

typedef int find_function(debuginfod_client *client, const unsigned char *build_id, int size,
			  char **path);

struct debuginfod {
	void *library;
	debuginfod_client *client;
	debuginfod_client *(*begin)(void);
	void (*end)(debuginfod_client *client);
	find_function *debug_file, *executable;
	void (*set_progress)(debuginfod_client *client,
			     int (*progress)(debuginfod_client *client, long a, long b));
	bool (*progress)(const char *what, void *context);
	void *context;
};

/* The library hands its callback nothing but the client, and may call it from anywhere. */
static struct debuginfod *current;

static int go_on(debuginfod_client *client, long a, long b)
{
	return current && current->progress && current->progress(NULL, current->context);
}

/* A static program loads no libraries. */
static void *open_library(void)
{
#ifdef PROF_STATIC
	return NULL;
#else
	return dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
#endif
}

/* dlsym() gives an object pointer; POSIX says how to make a function of it. */
static int load(struct debuginfod *d)
{
	d->library = open_library();
	if (!d->library)
		return -1;
	*(void **)&d->begin = dlsym(d->library, "debuginfod_begin");
	*(void **)&d->end = dlsym(d->library, "debuginfod_end");
	*(void **)&d->debug_file = dlsym(d->library, "debuginfod_find_debuginfo");
	*(void **)&d->executable = dlsym(d->library, "debuginfod_find_executable");
	*(void **)&d->set_progress = dlsym(d->library, "debuginfod_set_progressfn");
	return d->begin && d->end && d->debug_file && d->executable && d->set_progress ? 0 : -1;
}

struct debuginfod *debuginfod_new(bool (*progress)(const char *what, void *context), void *context)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct debuginfod *d;

	if (!urls || !*urls)
		return NULL;
	d = shortage_check(calloc(1, sizeof(*d)));
	if (!d)
		return NULL;
	d->progress = progress;
	d->context = context;
	setenv("DEBUGINFOD_TIMEOUT", TIMEOUT_SECONDS, 0);
	if (!load(d))
		d->client = shortage_check(d->begin());
	if (d->client)
		return d;
	debuginfod_free(d);
	return NULL;
}

void debuginfod_free(struct debuginfod *d)
{
	if (!d)
		return;
	if (d->client)
		d->end(d->client);
	if (d->library)
		dlclose(d->library);
	free(d);
}

static char *find(struct debuginfod *d, find_function *function, const struct prf_object *object)
{
	char *path = NULL;
	int fd;

	if (d->progress && d->progress(object->path, d->context))
		return NULL;
	current = d;
	d->set_progress(d->client, go_on);
	fd = function(d->client, object->build_id, object->build_id_size, &path);
	current = NULL;
	if (fd < 0) {
		shortage_note(-fd);
		return NULL;
	}
	close(fd);
	return path;
}

char *debuginfod_debug_file(struct debuginfod *d, const struct prf_object *object)
{
	return find(d, d->debug_file, object);
}

char *debuginfod_executable(struct debuginfod *d, const struct prf_object *object)
{
	return find(d, d->executable, object);
}

const char *debuginfod_missing(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	void *library;

	if (!urls || !*urls)
		return "DEBUGINFOD_URLS names no server";
	library = open_library();
	if (!library)
		return "libdebuginfod.so.1 is not installed, or this program is static";
	dlclose(library);
	return NULL;
}
