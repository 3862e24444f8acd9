/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/capture/side_record.h"
#include "tests/unit/unit.h"

#include "common/buffer.h"

#include <linux/perf_event.h>
#include <string.h>

static void begin(struct buffer *b, uint32_t type, uint16_t misc)
{
	buffer_clear(b);
	buffer_u32(b, type);
	buffer_u16(b, misc);
	buffer_u16(b, 0);
}

static void name(struct buffer *b, const char *text)
{
	buffer_append(b, text, strlen(text) + 1);
	while (b->size % 8)
		buffer_u8(b, 0);
}

static bool end(struct buffer *b, struct side_record *r)
{
	buffer_u64(b, 0x1122334455667788);
	b->data[6] = (uint8_t)b->size;
	return side_record_read(r, b->data, b->size);
}

static void map_head(struct buffer *b, uint16_t misc, uint64_t start, uint64_t size)
{
	begin(b, PERF_RECORD_MMAP2, misc);
	buffer_u32(b, 7);
	buffer_u32(b, 8);
	buffer_u64(b, start);
	buffer_u64(b, size);
	buffer_u64(b, 0x4000);
}

static void maps_with_inode(void **state)
{
	struct buffer b = { 0 };
	struct side_record r;

	map_head(&b, 0, 0x1000, 0x2000);
	buffer_u32(&b, 8);
	buffer_u32(&b, 1);
	buffer_u64(&b, 1234);
	buffer_u64(&b, 0);
	buffer_u64(&b, 0);
	name(&b, "/usr/lib/libx.so");
	assert_true(end(&b, &r));
	assert_int_equal(r.type, SIDE_RECORD_MAP);
	assert_int_equal(r.time_ns, 0x1122334455667788);
	assert_int_equal(r.pid, 7);
	assert_int_equal(r.tid, 8);
	assert_int_equal(r.map.start, 0x1000);
	assert_int_equal(r.map.size, 0x2000);
	assert_int_equal(r.map.offset, 0x4000);
	assert_int_equal(r.map.major, 8);
	assert_int_equal(r.map.minor, 1);
	assert_int_equal(r.map.inode, 1234);
	assert_int_equal(r.map.build_id_size, 0);
	assert_string_equal(r.name, "/usr/lib/libx.so");
	buffer_release(&b);
}

static void build_id_map(struct buffer *b, uint8_t size)
{
	map_head(b, PERF_RECORD_MISC_MMAP_BUILD_ID, 0x1000, 0x2000);
	buffer_u8(b, size);
	buffer_u8(b, 0);
	buffer_u16(b, 0);
	for (uint8_t i = 0; i < PRF_BUILD_ID_MAX; i++)
		buffer_u8(b, i);
	buffer_u64(b, 0);
	name(b, "/bin/x");
}

static void maps_with_build_id(void **state)
{
	struct buffer b = { 0 };
	struct side_record r;

	build_id_map(&b, 20);
	assert_true(end(&b, &r));
	assert_int_equal(r.map.build_id_size, 20);
	assert_int_equal(r.map.build_id[19], 19);
	assert_int_equal(r.map.inode, 0);
	assert_string_equal(r.name, "/bin/x");
	build_id_map(&b, 21);
	assert_false(end(&b, &r));
	buffer_release(&b);
}

static void refuses_impossible_maps(void **state)
{
	struct buffer b = { 0 };
	struct side_record r;

	map_head(&b, 0, UINT64_MAX - 10, 0x2000);
	buffer_append(&b, (uint8_t[32]){ 0 }, 32);
	name(&b, "/bin/x");
	assert_false(end(&b, &r));
	map_head(&b, 0, 0x1000, 0);
	buffer_append(&b, (uint8_t[32]){ 0 }, 32);
	name(&b, "/bin/x");
	assert_false(end(&b, &r));
	buffer_release(&b);
}

static void comm_head(struct buffer *b, uint16_t misc, uint32_t tid)
{
	begin(b, PERF_RECORD_COMM, misc);
	buffer_u32(b, 7);
	buffer_u32(b, tid);
}

static void names_and_exec(void **state)
{
	struct buffer b = { 0 };
	struct side_record r;

	comm_head(&b, 0, 8);
	name(&b, "worker");
	assert_true(end(&b, &r));
	assert_int_equal(r.type, SIDE_RECORD_COMM);
	assert_string_equal(r.name, "worker");
	comm_head(&b, PERF_RECORD_MISC_COMM_EXEC, 7);
	name(&b, "ls");
	assert_true(end(&b, &r));
	assert_int_equal(r.type, SIDE_RECORD_EXEC);
	buffer_release(&b);
}

static void a_name_must_end(void **state)
{
	struct buffer b = { 0 };
	struct side_record r;

	comm_head(&b, 0, 8);
	buffer_append(&b, "12345678", 8);
	assert_false(end(&b, &r));
	comm_head(&b, 0, 8);
	assert_false(end(&b, &r));
	buffer_release(&b);
}

static void families(void **state)
{
	static const uint32_t types[] = { PERF_RECORD_FORK, PERF_RECORD_EXIT };
	struct buffer b = { 0 };
	struct side_record r;

	for (int i = 0; i < 2; i++) {
		begin(&b, types[i], 0);
		buffer_u32(&b, 10);
		buffer_u32(&b, 1);
		buffer_u32(&b, 11);
		buffer_u32(&b, 2);
		buffer_u64(&b, 5);
		assert_true(end(&b, &r));
		assert_int_equal(r.type, i ? SIDE_RECORD_EXIT : SIDE_RECORD_FORK);
		assert_int_equal(r.pid, 10);
		assert_int_equal(r.parent_pid, 1);
		assert_int_equal(r.tid, 11);
		assert_int_equal(r.parent_tid, 2);
	}
	buffer_release(&b);
}

static void kernel_symbols_and_loss(void **state)
{
	struct buffer b = { 0 };
	struct side_record r;

	begin(&b, PERF_RECORD_KSYMBOL, 0);
	buffer_u64(&b, 0xffffffffc0001000);
	buffer_u32(&b, 300);
	buffer_u16(&b, 1);
	buffer_u16(&b, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
	name(&b, "bpf_prog_x");
	assert_true(end(&b, &r));
	assert_int_equal(r.type, SIDE_RECORD_KERNEL_SYMBOL);
	assert_true(r.symbol.gone);
	assert_int_equal(r.symbol.start, 0xffffffffc0001000);
	assert_int_equal(r.symbol.size, 300);
	begin(&b, PERF_RECORD_LOST, 0);
	buffer_u64(&b, 1);
	buffer_u64(&b, 42);
	assert_true(end(&b, &r));
	assert_int_equal(r.type, SIDE_RECORD_LOST);
	assert_int_equal(r.lost, 42);
	buffer_release(&b);
}

static void every_cut_is_noticed(void **state)
{
	struct buffer b = { 0 };
	struct side_record r;

	build_id_map(&b, 20);
	assert_true(end(&b, &r));
	/* Eight bytes less and the name's end is taken for the time. */
	for (size_t size = 0; size < b.size - 8; size++)
		assert_false(side_record_read(&r, b.data, size));
	assert_int_equal(side_record_time(b.data, 15), 0);
	buffer_release(&b);
}

/* Kernels make these two too long when several recorders listen. */
static void symbols_that_end_with_old_bytes(void **state)
{
	static const uint32_t types[] = { PERF_RECORD_KSYMBOL, PERF_RECORD_BPF_EVENT };

	for (int i = 0; i < 2; i++) {
		struct buffer b = { 0 };
		struct side_record r;

		begin(&b, types[i], 0);
		buffer_u64(&b, 0xffffffffc0001000);
		buffer_u64(&b, 300);
		if (!i)
			name(&b, "bpf_prog_1234567");
		assert_true(end(&b, &r));
		assert_int_equal(r.time_ns, 0x1122334455667788);
		buffer_u64(&b, 0xdeadbeefdeadbeef);
		buffer_u64(&b, 0xdeadbeefdeadbeef);
		b.data[6] = (uint8_t)b.size;
		assert_true(side_record_read(&r, b.data, b.size));
		assert_int_equal(r.time_ns, 0x1122334455667788);
		assert_int_equal(side_record_time(b.data, b.size), 0x1122334455667788);
		if (!i)
			assert_string_equal(r.name, "bpf_prog_1234567");
		buffer_release(&b);
	}
}

static void others_are_passed_over(void **state)
{
	struct buffer b = { 0 };
	struct side_record r;

	begin(&b, PERF_RECORD_THROTTLE, 0);
	assert_true(end(&b, &r));
	assert_int_equal(r.type, SIDE_RECORD_OTHER);
	begin(&b, 12345, 0);
	assert_true(end(&b, &r));
	assert_int_equal(r.type, SIDE_RECORD_OTHER);
	buffer_release(&b);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(maps_with_inode),
	cmocka_unit_test(maps_with_build_id),
	cmocka_unit_test(refuses_impossible_maps),
	cmocka_unit_test(names_and_exec),
	cmocka_unit_test(a_name_must_end),
	cmocka_unit_test(families),
	cmocka_unit_test(kernel_symbols_and_loss),
	cmocka_unit_test(symbols_that_end_with_old_bytes),
	cmocka_unit_test(every_cut_is_noticed),
	cmocka_unit_test(others_are_passed_over),
};

UNIT_TESTS(tests);
