/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/message.h"
#include "record/options.h"
#include "record/session.h"
#include "record/system/process_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Opens /dev/null, read-only, in place of standard fds that are closed: writing still fails, and no
 * other file gets the number, and with it the messages or the trace.
 */
static void keep_standard_fds(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
			_exit(1);
}

/*
 * Making an unwind table may take a hundred MiB for a moment. By itself the C library keeps more of
 * what is freed with each such moment; with fixed limits it gives it back.
 */
static void give_memory_back(void)
{
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	mallopt(M_TRIM_THRESHOLD, 512 << 10);
}

static int list_events(void)
{
	event_list_print_available(stdout);
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	message_error("cannot write the list of events: %s", strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	struct settings settings;
	int status;

	keep_standard_fds();
	give_memory_back();
	message_setup("prof-record", MESSAGE_INFO);
	/* -p NAME asks all processes for theirs. */
	process_reader_start(NULL);
	status = settings_parse(&settings, argc, argv);
	if (status == OPTIONS_OK) {
		message_setup("prof-record", settings.quiet	? MESSAGE_ERROR
					     : settings.verbose ? MESSAGE_DETAIL
								: MESSAGE_INFO);
		status = settings.list ? list_events() : session_run(&settings);
	}
	process_reader_stop();
	settings_release(&settings);
	return status;
}
