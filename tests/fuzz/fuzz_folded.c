/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof-report --from-folded of any bytes: what is taken for folded stacks is a whole trace, whose
 * weights add up to no more than was written there.
 */

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/folded_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool condition)
{
	if (!condition)
		abort();
}

static uint64_t weights(const struct prf_samples *samples)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < samples->n; i++) {
		check(samples->weight[i]);
		sum += samples->weight[i];
	}
	return sum;
}

static void read_all(int fd)
{
	struct prf_record record;
	struct prf_reader *r;
	uint64_t total = 0;

	check(lseek(fd, 0, SEEK_SET) == 0);
	check(!error_ignore(prf_reader_new_fd(&r, fd)));
	do {
		check(!error_ignore(prf_reader_next(r, &record)));
		check(record.type != PRF_RECORD_DAMAGE);
		if (record.type == PRF_RECORD_SAMPLES)
			total += weights(&record.samples);
	} while (record.type != PRF_RECORD_END);
	check(prf_reader_complete(r));
	check(total <= UINT64_C(1) << 53);
	prf_reader_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace t = { .path = "text", .fd = memfd_create("text", MFD_CLOEXEC) };

	check(t.fd >= 0 && write(t.fd, data, size) == (ssize_t)size);
	check(lseek(t.fd, 0, SEEK_SET) == 0);
	if (!error_ignore(folded_trace_open(&t)))
		read_all(t.fd);
	trace_close(&t);
	return 0;
}
