/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --dump and --check of a trace. In what --check finds nothing wrong, --dump comes to the end.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool reads(bool (*read)(struct trace *t, struct sink *s), const char *path)
{
	struct trace trace;
	struct sink sink;
	bool ok;

	sink_init(&sink, -1);
	if (error_ignore(trace_open(&trace, path)))
		abort();
	ok = read(&trace, &sink);
	trace_close(&trace);
	sink_release(&sink);
	return ok;
}

static bool checks(struct trace *t, struct sink *s)
{
	return check_trace(t, s, NULL);
}

static bool dumps(struct trace *t, struct sink *s)
{
	return !dump_trace(t, s, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	int fd = memfd_create("trace", MFD_CLOEXEC);
	bool whole;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	whole = reads(checks, path);
	if (!reads(dumps, path) && whole)
		abort();
	close(fd);
	return 0;
}
