/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_JSON_FIXTURE_H
#define TESTS_UNIT_JSON_FIXTURE_H

/* A profile rendered and read back by a JSON library, which also checks that it is UTF-8. */

#include <jansson.h>

#include "profile_fixture.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

static json_t *render_json(struct error *(*render)(const struct profile *,
						   const struct view_options *, struct sink *),
			   const struct profile *p)
{
	struct view_options o = { 0 };
	json_error_t error;
	struct sink s;
	json_t *root;

	sink_init(&s, -1);
	assert_no_error(render(p, &o, &s));
	assert_no_error(sink_flush(&s));
	root = json_loadb((const char *)s.buffer.data, s.buffer.size, 0, &error);
	if (!root)
		print_error("%d:%d: %s\n", error.line, error.column, error.text);
	assert_non_null(root);
	sink_release(&s);
	return root;
}

/* The fixture as times of waits. */
static inline struct profile fixture_in_us(void)
{
	struct profile p = fixture;

	p.value = PROFILE_TIME;
	p.unit = "us";
	return p;
}

static json_int_t number_at(json_t *array, size_t i)
{
	return json_integer_value(json_array_get(array, i));
}

#endif
