/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/javascript/v8_file.h"
#include "tests/unit/unit.h"
#include "tests/unit/v8_fixture.h"

static void set(struct v8_image *i, const char *name, int32_t value)
{
	for (size_t k = 0; k < V8_CONSTANTS; k++) {
		if (strcmp(v8_constants[k].name, name))
			continue;
		i->constants[k] = value;
		return;
	}
	fail_msg("there is no %s", name);
}

static const char *read_file(struct v8_file *f, const struct v8_image *i)
{
	struct elf_file e;
	const char *problem;

	assert_int_equal(elf_file_open_memory(&e, i, sizeof(*i)), ELF_OK);
	assert_true(v8_file_is_one(&e));
	problem = v8_file_read(f, &e);
	elf_file_release(&e);
	return problem;
}

static void test_places_are_those_of_the_file(void **state)
{
	struct v8_file f;
	struct v8_image i;

	v8_image_build(&i);
	assert_null(read_file(&f, &i));
	assert_int_equal(f.code_offset, V8_AT(entry));
	assert_int_equal(f.process.entry_size, sizeof(i.entry));
	assert_int_equal(f.process.entry_frame, 8);
	assert_int_equal(f.process.function, 16);
	assert_int_equal(f.process.literal, 20);
	assert_int_equal(f.process.script_number, 64);
	assert_int_equal(f.process.made, 8);
	assert_int_equal(f.process.optimized, 11);
	assert_int_equal(f.process.optimization_index, 5);
}

/* Each of them alone: it is refused, or is a type's number, or what is inlined is not known. */
static void test_constants_that_are_too_large(void **state)
{
	static const int32_t values[] = { INT32_MAX, INT32_MAX - 3, INT32_MIN, INT32_MIN + 3 };
	struct v8_file f;
	struct v8_image i;

	for (size_t k = 0; k < V8_CONSTANTS; k++) {
		for (size_t v = 0; v < sizeof(values) / sizeof(*values); v++) {
			v8_image_build(&i);
			i.constants[k] = values[v];
			assert_true(read_file(&f, &i) || strstr(v8_constants[k].name, "_type_") ||
				    !f.process.made);
		}
	}
}

/* Numbers that follow each other beyond the largest one. */
static void test_constants_whose_sums_overflow(void **state)
{
	struct v8_file f;
	struct v8_image i;

	v8_image_build(&i);
	set(&i, "v8dbg_DeoptimizationDataOptimizationIdIndex", INT32_MIN);
	set(&i, "v8dbg_DeoptimizationDataLiteralArrayIndex", INT32_MAX - 2);
	set(&i, "v8dbg_DeoptimizationDataInliningPositionsIndex", INT32_MIN + 2);
	assert_null(read_file(&f, &i));
	assert_int_equal(f.process.made, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_places_are_those_of_the_file),
	cmocka_unit_test(test_constants_that_are_too_large),
	cmocka_unit_test(test_constants_whose_sums_overflow),
};

UNIT_TESTS(tests);
