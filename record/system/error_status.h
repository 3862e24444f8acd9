/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_ERROR_STATUS_H
#define RECORD_SYSTEM_ERROR_STATUS_H

/* From errors with a text to functions that return 0 or -errno. */

#include <errno.h>

#include "common/error.h"

/* Ends an error: its negative errno, or -EINVAL where there is none; 0 for none. */
static inline int error_status(struct error *error)
{
	int status = !error ? 0 : error->os_error ? -error->os_error : -EINVAL;

	error_free(error);
	return status;
}

#endif
