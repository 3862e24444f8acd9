/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What was read of two Java machines is worked out again, from images of their memory. */

#include "record/java/hotspot_names.h"
#include "tests/unit/unit.h"

#include <string.h>
#include <sys/uio.h>

#include "common/limits.h"
#include "testdata/memory_image.h"

static void attach(struct hotspot *h, struct memory_image *image)
{
	const char *why = NULL;

	*h = (struct hotspot){ .memory = { memory_image_read, image },
			       .bias = image->bias,
			       .exports = image->exports };
	assert_int_equal(hotspot_attach(h, &why), HOTSPOT_READY);
}

static struct shares java_bytes = { .limit = LIMIT_JAVA_TOTAL_BYTES };

/* All frames, against what was found then; how many have a name. */
static size_t check_frames(const struct hotspot *h, const struct memory_image *image)
{
	struct hotspot_names *names = hotspot_names_new(h, &java_bytes, 0);
	struct prf_place places[HOTSPOT_INLINED_MAX];
	struct buffer text = { 0 };
	size_t named = 0;

	assert_non_null(names);
	for (size_t i = 0; i < image->frame_count; i++) {
		const struct memory_image_frame *f = &image->frames[i];
		size_t n = hotspot_names_find(names, &f->frame, f->exact, places);

		buffer_clear(&text);
		memory_image_describe(&text, places, n);
		assert_string_equal(buffer_string(&text), f->expected);
		named += n > 0;
	}
	buffer_release(&text);
	hotspot_names_free(names);
	return named;
}

static const char *expected_with(const struct memory_image *image, const char *part)
{
	for (size_t i = 0; i < image->frame_count; i++)
		if (strstr(image->frames[i].expected, part))
			return image->frames[i].expected;
	return NULL;
}

static void check_image(const char *path, uint32_t version)
{
	struct memory_image image;
	struct hotspot h;

	assert_true(memory_image_open(&image, path));
	attach(&h, &image);
	assert_int_equal(h.version, version);
	assert_true(h.process.framed.size > 0 && h.process.framed_native.size > 0);
	assert_true(h.process.framed.start == h.process.entries.start);
	assert_true(h.process.framed_native.start + h.process.framed_native.size <=
		    h.process.entries.start + h.process.entries.size);
	assert_true(h.process.interpreter >= h.process.low[0]);
	assert_true(check_frames(&h, &image) > image.frame_count / 2);
	/* Inlined ones, with lines; packages as people write them. */
	assert_non_null(expected_with(&image, " < "));
	assert_non_null(expected_with(&image, "java.lang.String"));
	assert_non_null(expected_with(&image, "(java/lang/String"));
	memory_image_release(&image);
}

static void test_jdk_17(void **state)
{
	check_image("testdata/hotspot-17.image", 17);
}

static void test_other_jdks(void **state)
{
	check_image("testdata/hotspot-8.image", 8);
	check_image("testdata/hotspot-11.image", 11);
	check_image("testdata/hotspot-25.image", 25);
	check_image("testdata/hotspot-27.image", 27);
}

/* An image of JDK 17, to look names up in. */
struct looked_up {
	struct prf_place places[HOTSPOT_INLINED_MAX];
	struct memory_image image;
	struct hotspot_names *names;
	struct hotspot h;
};

static void open_17(struct looked_up *l)
{
	assert_true(memory_image_open(&l->image, "testdata/hotspot-17.image"));
	attach(&l->h, &l->image);
	l->names = hotspot_names_new(&l->h, &java_bytes, 0);
}

static void close_17(struct looked_up *l)
{
	hotspot_names_free(l->names);
	memory_image_release(&l->image);
}

/* The memory of "processes", by which system calls are answered; and the calls with pieces. */
static struct memory_image *process;
static unsigned int calls_with_pieces;

/* What the image does not have is 0: pieces of one page are read with what is between. */
static bool read_span(const struct iovec *here, const struct iovec *there)
{
	uint64_t address = (uintptr_t)there->iov_base;
	uint8_t *to = here->iov_base;
	bool any = false;

	for (size_t i = 0; i < here->iov_len; i++) {
		to[i] = 0;
		any |= memory_image_read(process, address + i, &to[i], 1);
	}
	return any;
}

/* In place of the C library's. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long here_count,
			 const struct iovec *there, unsigned long there_count, unsigned long flags)
{
	ssize_t size = 0;

	assert_int_equal(here_count, there_count);
	for (unsigned long i = 0; i < there_count; i++, size += (ssize_t)there[i - 1].iov_len)
		if (!read_span(&here[i], &there[i]))
			break;
	calls_with_pieces += there_count > 1;
	return size ? size : -1;
}

/* What a frame depends on is read once more by one system call, however many methods it has. */
static void test_a_frame_is_settled_at_once(void **state)
{
	struct prf_place places[HOTSPOT_INLINED_MAX];
	size_t named = 0, inlined = 0;
	struct memory_image image;
	struct hotspot_names *n;
	struct hotspot h;

	assert_true(memory_image_open(&image, "testdata/hotspot-17.image"));
	attach(&h, &image);
	process = &image;
	h.memory = target_memory_of(1);
	n = hotspot_names_new(&h, &java_bytes, 0);
	for (size_t i = 0; i < image.frame_count; i++) {
		const struct memory_image_frame *f = &image.frames[i];
		struct buffer text = { 0 };
		size_t count;

		calls_with_pieces = 0;
		hotspot_names_as_of(n, UINT64_MAX);
		count = hotspot_names_find(n, &f->frame, f->exact, places);
		assert_in_range(calls_with_pieces, 0, 1);
		memory_image_describe(&text, places, count);
		assert_string_equal(buffer_string(&text), f->expected);
		buffer_release(&text);
		named += calls_with_pieces && count;
		inlined += calls_with_pieces && count > 1;
	}
	assert_true(named > 20 && inlined > 5);
	hotspot_names_free(n);
	memory_image_release(&image);
}

/* A compile id or a cookie that is not that of what is there now. */
static void test_what_is_something_else_now_has_no_name(void **state)
{
	struct looked_up l;
	size_t tried = 0;

	open_17(&l);
	for (size_t i = 0; i < l.image.frame_count; i++) {
		struct script_frame frame = l.image.frames[i].frame;

		if (frame.code & HOTSPOT_STUB)
			continue;
		frame.position ^= UINT64_C(1) << 62;
		assert_int_equal(hotspot_names_find(l.names, &frame, false, l.places), 0);
		tried++;
	}
	assert_true(tried > 100);
	close_17(&l);
}

/* Memory in which one method has become another one. */
struct reused {
	struct memory_image *image;
	uint64_t at, is; /* the word that leads to its names, and what that is now; 0: as before */
};

static bool read_reused(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct reused *r = context;

	if (!memory_image_read(r->image, address, bytes, size))
		return false;
	if (r->is && address <= r->at && r->at + 8 <= address + size)
		memcpy((uint8_t *)bytes + (r->at - address), &r->is, 8);
	return true;
}

/* What was known of its place is not what is there. */
static void test_a_method_in_the_place_of_another_has_its_own_name(void **state)
{
	const struct memory_image_frame *first = NULL, *second = NULL;
	struct reused reused = { 0 };
	struct script_frame frame;
	struct looked_up l;
	char name[512];

	open_17(&l);
	for (size_t i = 0; i < l.image.frame_count && !second; i++) {
		const struct memory_image_frame *f = &l.image.frames[i];

		if (!(f->frame.code & HOTSPOT_METHOD) || !f->expected[0])
			continue;
		if (!first)
			first = f;
		else if (f->frame.code != first->frame.code)
			second = f;
	}
	assert_non_null(second);
	reused.image = &l.image;
	reused.at = (first->frame.code & HOTSPOT_CODE) + l.h.process.const_method;
	l.h.memory = (struct target_memory){ read_reused, &reused };
	assert_int_equal(hotspot_names_find(l.names, &first->frame, false, l.places), 1);
	snprintf(name, sizeof(name), "%s", l.places[0].function);
	assert_true(memory_image_read(
		&l.image, (second->frame.code & HOTSPOT_CODE) + l.h.process.const_method,
		&reused.is, 8));
	hotspot_names_as_of(l.names, UINT64_MAX);
	frame = (struct script_frame){ first->frame.code, second->frame.position };
	assert_int_equal(hotspot_names_find(l.names, &frame, false, l.places), 1);
	assert_string_not_equal(l.places[0].function, name);
	assert_int_equal(hotspot_names_find(l.names, &second->frame, false, l.places), 1);
	snprintf(name, sizeof(name), "%s", l.places[0].function);
	assert_int_equal(hotspot_names_find(l.names, &frame, false, l.places), 1);
	assert_string_equal(l.places[0].function, name);
	close_17(&l);
}

/*
 * Memory in which a method becomes another one after it was read by a block, and before it is read
 * once more.
 */
struct becoming {
	struct memory_image *image;
	uint64_t at, was; /* the word that leads to its names, and what that was */
	bool settled;
};

static bool read_becoming(void *context, uint64_t address, void *bytes, size_t size)
{
	struct becoming *b = context;
	bool any = false;

	if (size < 4096) {
		b->settled |= address == b->at;
		return memory_image_read(b->image, address, bytes, size);
	}
	memset(bytes, 0, size);
	for (size_t i = 0; i < size; i += GRANULE)
		any |= memory_image_read(b->image, address + i, (char *)bytes + i, GRANULE);
	if (!b->settled && address <= b->at && b->at + 8 <= address + size)
		memcpy((char *)bytes + (b->at - address), &b->was, 8);
	return any;
}

/* The word that leads to the names of the frame's own method. */
static uint64_t names_of(const struct looked_up *l, const struct script_frame *frame)
{
	uint64_t method = frame->code & HOTSPOT_CODE;

	if (!(frame->code & HOTSPOT_METHOD))
		assert_true(target_u64(&l->h.memory, method + l->h.tables.fields[NMETHOD_METHOD],
				       &method));
	return method + l->h.process.const_method;
}

/* Not from what was read by blocks before. */
static void test_what_has_changed_is_read_afresh(void **state)
{
	size_t interpreted = 0, compiled = 0;
	uint64_t is = 0, was = 0, now; /* of this method, and of the last other one */
	struct buffer text = { 0 };
	struct looked_up l;

	open_17(&l);
	for (size_t i = 0; i < l.image.frame_count; i++) {
		const struct memory_image_frame *f = &l.image.frames[i];
		struct becoming becoming = { .image = &l.image };
		struct hotspot h = l.h;
		struct hotspot_names *n;

		if (f->frame.code & HOTSPOT_STUB || !f->expected[0])
			continue;
		becoming.at = names_of(&l, &f->frame);
		assert_true(target_u64(&l.h.memory, becoming.at, &now));
		was = now != is ? is : was;
		is = now;
		if (!was)
			continue;
		becoming.was = was;
		h.memory = (struct target_memory){ read_becoming, &becoming };
		n = hotspot_names_new(&h, &java_bytes, 0);
		buffer_clear(&text);
		memory_image_describe(&text, l.places,
				      hotspot_names_find(n, &f->frame, f->exact, l.places));
		assert_string_equal(buffer_string(&text), f->expected);
		assert_true(becoming.settled);
		hotspot_names_free(n);
		interpreted += (f->frame.code & HOTSPOT_METHOD) != 0;
		compiled += !(f->frame.code & HOTSPOT_METHOD);
	}
	assert_true(interpreted > 10 && compiled > 10);
	buffer_release(&text);
	close_17(&l);
}

/* Memory whose symbols have other characters each time after their heads were read. */
struct restless {
	struct memory_image *image;
	uint64_t body, heads[4096];
	size_t count;
};

static bool read_restless(void *context, uint64_t address, void *bytes, size_t size)
{
	struct restless *r = context;

	/* Not by blocks, of which head and characters would come from one moment. */
	if (size >= 512 || !memory_image_read(r->image, address, bytes, size))
		return false;
	if (size == HOTSPOT_SYMBOL_WORDS * 8 && r->count < sizeof(r->heads) / sizeof(r->heads[0]))
		r->heads[r->count++] = address;
	for (size_t i = 0; i < r->count; i++)
		if (address == r->heads[i] + r->body)
			((char *)bytes)[0] ^= 1;
	return true;
}

static void test_a_name_that_changes_while_it_is_read_is_none(void **state)
{
	static struct restless restless;
	size_t tried = 0, named = 0;
	struct looked_up l;

	open_17(&l);
	restless = (struct restless){ .image = &l.image, .body = l.h.process.symbol_body };
	l.h.memory = (struct target_memory){ read_restless, &restless };
	for (size_t i = 0; i < l.image.frame_count; i++) {
		if (!(l.image.frames[i].frame.code & HOTSPOT_METHOD))
			continue;
		named += hotspot_names_find(l.names, &l.image.frames[i].frame, false, l.places) > 0;
		tried++;
	}
	assert_true(tried > 20 && restless.count > 20);
	assert_int_equal(named, 0);
	close_17(&l);
}

/* Many machines together take no more than is allowed, and what they took is given back. */
static void test_all_machines_have_one_limit(void **state)
{
	struct looked_up l;
	size_t named = 0;

	assert_int_equal(java_bytes.taken, 0);
	shares_take(&java_bytes, 0, LIMIT_JAVA_TOTAL_BYTES - 4096);
	open_17(&l);
	for (size_t i = 0; i < l.image.frame_count; i++)
		named += hotspot_names_find(l.names, &l.image.frames[i].frame,
					    l.image.frames[i].exact, l.places) > 0;
	assert_true(named > 0 && named < l.image.frame_count);
	assert_true(java_bytes.taken <= LIMIT_JAVA_TOTAL_BYTES);
	close_17(&l);
	assert_int_equal(java_bytes.taken, LIMIT_JAVA_TOTAL_BYTES - 4096);
	shares_release(&java_bytes);
}

/* Memory that is not there, or that is all the same. */
static bool read_same(void *context, uint64_t address, void *bytes, size_t size)
{
	if (!context)
		return false;
	memset(bytes, *(const int *)context, size);
	return true;
}

static void test_machines_that_are_none(void **state)
{
	static const int values[] = { 0, 1, 8, 0x7f, 0xff };
	const char *why = NULL;

	for (size_t i = 0; i <= sizeof(values) / sizeof(*values); i++) {
		struct hotspot h = { .memory = { read_same,
						 i ? (void *)(uintptr_t)&values[i - 1] : NULL } };

		assert_int_equal(hotspot_attach(&h, &why), HOTSPOT_NOT_YET);
		assert_non_null(why);
	}
}

/*
 * Without a field that is needed, it is named. The texts may be cut by a granule's end. The last
 * one may be replaced by others, which are not there either.
 */
static void test_missing_field(void **state)
{
	static const char *const fields[] = { "_frame_complete_offset", "_segmap", "_pool_holder",
					      "_code_begin" };
	struct memory_image image;
	struct hotspot h;

	for (size_t i = 0; i < 4; i++) {
		size_t size = strlen(fields[i]), left;
		const char *why = NULL;
		uint8_t *at;

		assert_true(memory_image_open(&image, "testdata/hotspot-17.image"));
		at = image.bytes;
		left = image.size;
		for (; (at = memmem(at, left, fields[i], size));
		     left = image.size - (at - image.bytes))
			*at = 'x';
		h = (struct hotspot){ .memory = { memory_image_read, &image },
				      .bias = image.bias,
				      .exports = image.exports };
		assert_int_equal(hotspot_attach(&h, &why),
				 i < 3 ? HOTSPOT_NOT_YET : HOTSPOT_REFUSED);
		if (i < 3)
			assert_string_equal(why, "its tables lack a field");
		assert_string_equal(h.tables.missing, i < 3 ? fields[i] : "_code_offset");
		memory_image_release(&image);
	}
}

struct stretched {
	struct memory_image image;
	uint64_t high; /* where the code cache ends; read as far above */
};

static bool read_stretched(void *context, uint64_t address, void *bytes, size_t size)
{
	struct stretched *s = context;
	uint64_t high = s->high + (UINT64_C(1) << 33);

	if (!memory_image_read(&s->image, address, bytes, size))
		return false;
	if (size == sizeof(high) && !memcmp(bytes, &s->high, size))
		memcpy(bytes, &high, size);
	return true;
}

static void test_code_cache_that_is_too_large(void **state)
{
	static const char *const paths[] = { "testdata/hotspot-8.image",
					     "testdata/hotspot-17.image" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct stretched s = { 0 };
		const char *why = NULL;
		struct hotspot h;

		assert_true(memory_image_open(&s.image, paths[i]));
		attach(&h, &s.image);
		s.high = h.process.high;
		h.memory = (struct target_memory){ read_stretched, &s };
		assert_int_equal(hotspot_attach(&h, &why), HOTSPOT_REFUSED);
		assert_string_equal(why, "its code cache makes no sense");
		memory_image_release(&s.image);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_jdk_17),
	cmocka_unit_test(test_other_jdks),
	cmocka_unit_test(test_a_frame_is_settled_at_once),
	cmocka_unit_test(test_what_is_something_else_now_has_no_name),
	cmocka_unit_test(test_a_method_in_the_place_of_another_has_its_own_name),
	cmocka_unit_test(test_what_has_changed_is_read_afresh),
	cmocka_unit_test(test_a_name_that_changes_while_it_is_read_is_none),
	cmocka_unit_test(test_all_machines_have_one_limit),
	cmocka_unit_test(test_machines_that_are_none),
	cmocka_unit_test(test_missing_field),
	cmocka_unit_test(test_code_cache_that_is_too_large),
};

UNIT_TESTS(tests);
