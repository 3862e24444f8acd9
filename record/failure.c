/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/failure.h"

#include "common/buffer.h"
#include "common/message.h"
#include "record/capture/sampler.h"
#include "record/system/privileges.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int fail(const char *format, ...)
{
	struct buffer text = { 0 };
	va_list args;

	va_start(args, format);
	buffer_vprintf(&text, format, args);
	va_end(args);
	message_error("%s", buffer_string(&text));
	buffer_release(&text);
	return 1;
}

static bool lacks_files(const struct error *error)
{
	return error_is(error, EMFILE) || error_is(error, ENFILE);
}

int fail_error(struct error *error)
{
	fail("%s%s", error->text, lacks_files(error) ? FAILURE_MORE_FILES : "");
	error_free(error);
	return 1;
}

int fail_kernel(struct error *error)
{
	const char *remedy = "";
	char paranoid[96], *log = sampler_log();

	if (!geteuid() && log && strstr(log, "PROG LOAD LOG")) {
		remedy = ": this kernel's verifier refuses them, which is a defect of prof-record; "
			 "-v shows its reason";
	} else if ((error_is(error, EPERM) || error_is(error, EACCES)) &&
		   privileges_paranoid() > 2) {
		snprintf(paranoid, sizeof(paranoid),
			 "; run as root, or set kernel.perf_event_paranoid, which is %d, to 2",
			 privileges_paranoid());
		remedy = paranoid;
	} else if (error_is(error, EPERM) || error_is(error, EACCES))
		remedy = "; run as root, or grant " PRIVILEGES_WANTED;
	else if (error_is(error, ENOMEM))
		remedy = "; a smaller ring (-m) or more locked memory (ulimit -l) may help";
	else if (lacks_files(error))
		remedy = FAILURE_MORE_FILES;
	message_detail("%s", log ? log : "");
	free(log);
	fail("%s%s", error->text, remedy);
	error_free(error);
	return 1;
}
