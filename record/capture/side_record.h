/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_CAPTURE_SIDE_RECORD_H
#define RECORD_CAPTURE_SIDE_RECORD_H

/*
 * One record of the kernel's side band: mappings, names, forks, exits. The layout is that of enum
 * perf_event_type in linux/perf_event.h, with sample_id_all and a sample_type of PERF_SAMPLE_TIME,
 * so that each record ends with its time.
 */

#include "format/prf.h"

enum side_record_type {
	SIDE_RECORD_OTHER, /* a type that is not used */
	SIDE_RECORD_MAP,   /* executable memory appeared, over whatever was there */
	SIDE_RECORD_COMM,
	SIDE_RECORD_EXEC, /* a COMM that also means: all mappings of `pid` are gone */
	SIDE_RECORD_FORK,
	SIDE_RECORD_EXIT,
	SIDE_RECORD_KERNEL_SYMBOL,
	SIDE_RECORD_LOST,
};

struct side_record {
	enum side_record_type type;
	uint64_t time_ns;
	uint32_t pid, tid;
	uint32_t parent_pid, parent_tid; /* fork */
	union {
		struct {
			uint64_t start, size, offset;
			uint32_t major, minor;
			uint64_t inode;
			uint8_t build_id[PRF_BUILD_ID_MAX];
			uint8_t build_id_size; /* 0: none; device and inode are set instead */
		} map;
		struct {
			uint64_t start;
			uint32_t size;
			bool gone;
		} symbol;
		uint64_t lost; /* records */
	};
	/* Path, comm or symbol; NUL-terminated, within the bytes that were read. */
	const char *name;
};

/* Time of a record of `size` bytes, which must be its whole length; 0 when it is too short. */
uint64_t side_record_time(const void *data, size_t size);

/* Decodes a record of `size` bytes. False when it breaks the rules of its layout. */
bool side_record_read(struct side_record *record, const void *data, size_t size);

#endif
