/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/capture/side_record.h"

#include "common/cursor.h"

#include <linux/perf_event.h>

#define HEADER_BYTES 8
#define TIME_BYTES 8

/* Of KSYMBOL and BPF_EVENT, up to the name or the time. */
#define SYMBOL_BYTES (HEADER_BYTES + 16)

/*
 * The bytes of a record that are valid. When several events listen, the kernel reserves room for
 * the time in these two types once for each of them, but writes it once: the rest holds bytes of
 * older records.
 */
static size_t true_size(const void *data, size_t size)
{
	struct cursor c = cursor_over(data, size);
	uint32_t type = cursor_u32(&c);
	size_t used = SYMBOL_BYTES;

	if (type != PERF_RECORD_KSYMBOL && type != PERF_RECORD_BPF_EVENT)
		return size;
	if (type == PERF_RECORD_KSYMBOL) {
		cursor_seek(&c, SYMBOL_BYTES);
		if (!cursor_string(&c))
			return size;
		/* The name is padded to a multiple of 8. */
		used = (cursor_offset(&c) + 7) & ~(size_t)7;
	}
	return used + TIME_BYTES < size ? used + TIME_BYTES : size;
}

uint64_t side_record_time(const void *data, size_t size)
{
	struct cursor c;

	if (size < HEADER_BYTES + TIME_BYTES)
		return 0;
	size = true_size(data, size);
	c = cursor_over(data, size);
	cursor_seek(&c, size - TIME_BYTES);
	return cursor_u64(&c);
}

/* Text padded with NULs up to the end. */
static const char *read_name(struct cursor *c)
{
	size_t size = cursor_left(c);
	const uint8_t *bytes = cursor_bytes(c, size);

	if (!size || !bytes || !memchr(bytes, 0, size)) {
		cursor_fail(c);
		return "";
	}
	return (const char *)bytes;
}

static void read_map(struct side_record *r, struct cursor *c, bool by_build_id)
{
	const uint8_t *bytes;

	r->pid = cursor_u32(c);
	r->tid = cursor_u32(c);
	r->map.start = cursor_u64(c);
	r->map.size = cursor_u64(c);
	r->map.offset = cursor_u64(c);
	if (by_build_id) {
		r->map.build_id_size = cursor_u8(c);
		cursor_skip(c, 3);
		bytes = cursor_bytes(c, PRF_BUILD_ID_MAX);
		if (!bytes || r->map.build_id_size > PRF_BUILD_ID_MAX) {
			cursor_fail(c);
			return;
		}
		memcpy(r->map.build_id, bytes, r->map.build_id_size);
	} else {
		r->map.major = cursor_u32(c);
		r->map.minor = cursor_u32(c);
		r->map.inode = cursor_u64(c);
		cursor_skip(c, 8); /* generation of the inode */
	}
	cursor_skip(c, 8); /* protection and flags */
	r->name = read_name(c);
	if (!r->map.size || r->map.start + r->map.size < r->map.start)
		cursor_fail(c);
}

static void read_family(struct side_record *r, struct cursor *c)
{
	r->pid = cursor_u32(c);
	r->parent_pid = cursor_u32(c);
	r->tid = cursor_u32(c);
	r->parent_tid = cursor_u32(c);
}

bool side_record_read(struct side_record *record, const void *data, size_t size)
{
	struct side_record r = { .name = "" };
	struct cursor c;
	uint32_t type;
	uint16_t misc;

	if (size < HEADER_BYTES + TIME_BYTES)
		return false;
	r.time_ns = side_record_time(data, size);
	size = true_size(data, size);
	c = cursor_over(data, size - TIME_BYTES);
	type = cursor_u32(&c);
	misc = cursor_u16(&c);
	cursor_skip(&c, 2); /* the size again */
	switch (type) {
	case PERF_RECORD_MMAP2:
		r.type = SIDE_RECORD_MAP;
		read_map(&r, &c, misc & PERF_RECORD_MISC_MMAP_BUILD_ID);
		break;
	case PERF_RECORD_COMM:
		r.type = misc & PERF_RECORD_MISC_COMM_EXEC ? SIDE_RECORD_EXEC : SIDE_RECORD_COMM;
		r.pid = cursor_u32(&c);
		r.tid = cursor_u32(&c);
		r.name = read_name(&c);
		break;
	case PERF_RECORD_FORK:
		r.type = SIDE_RECORD_FORK;
		read_family(&r, &c);
		break;
	case PERF_RECORD_EXIT:
		r.type = SIDE_RECORD_EXIT;
		read_family(&r, &c);
		break;
	case PERF_RECORD_KSYMBOL:
		r.type = SIDE_RECORD_KERNEL_SYMBOL;
		r.symbol.start = cursor_u64(&c);
		r.symbol.size = cursor_u32(&c);
		cursor_skip(&c, 2); /* what kind of code */
		r.symbol.gone = cursor_u16(&c) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
		r.name = read_name(&c);
		break;
	case PERF_RECORD_LOST:
		r.type = SIDE_RECORD_LOST;
		cursor_skip(&c, 8); /* which event */
		r.lost = cursor_u64(&c);
		break;
	default: r.type = SIDE_RECORD_OTHER;
	}
	*record = r;
	return cursor_ok(&c);
}
