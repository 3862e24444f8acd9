/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof-report --embed of any bytes: what it writes can be read without damage, and says that it is
 * complete only if the trace was.
 */

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/embed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool condition)
{
	if (!condition)
		abort();
}

static void read_copy(int fd, const struct embed_result *result)
{
	struct prf_record record;
	struct prf_reader *r;

	check(lseek(fd, 0, SEEK_SET) == 0);
	check(!error_ignore(prf_reader_new_fd(&r, fd)));
	do {
		check(!error_ignore(prf_reader_next(r, &record)));
		check(record.type != PRF_RECORD_DAMAGE);
	} while (record.type != PRF_RECORD_END);
	check(prf_reader_complete(r) == result->complete);
	prf_reader_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct symbolizer_options symbols = { .sysroot = "/nonexistent",
						    .demangle = true,
						    .jobs = 1 };
	const struct embed_options options = { .symbols = &symbols, .code = size % 2 };
	int from = memfd_create("trace", MFD_CLOEXEC), to = memfd_create("copy", MFD_CLOEXEC);
	struct embed_result result;

	check(from >= 0 && to >= 0 && write(from, data, size) == (ssize_t)size);
	check(lseek(from, 0, SEEK_SET) == 0);
	if (!error_ignore(embed_names(from, to, &options, &result)))
		read_copy(to, &result);
	error_free(result.code.missing);
	close(from);
	close(to);
	return 0;
}
