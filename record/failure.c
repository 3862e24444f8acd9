/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/failure.h"

#include "common/buffer.h"
#include "common/message.h"
#include "format/prf.h"
#include "record/capture/sampler.h"

#include <errno.h>
#include <string.h>

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

int explain(const char *what, int status)
{
	const char *remedy = "";

	if (status == -EPERM || status == -EACCES)
		remedy = "; run as root, or grant cap_bpf,cap_perfmon";
	else if (status == -EMFILE || status == -ENFILE)
		remedy = FAILURE_MORE_FILES;
	else if (status == -ENOMEM)
		remedy = "; a smaller ring (-m) or more locked memory (ulimit -l) may help";
	message_detail("%s", sampler_log());
	return fail("cannot %s: %s%s", what, strerror(-status), remedy);
}

int trace_failed(const char *path, int status)
{
	return fail("cannot write %s: %s", path, strerror(-status));
}
