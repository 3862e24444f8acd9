/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/measure/registry.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "bench/results/output.h"
#include "common/message.h"

static const struct benchmark_table *const tables[] = {
	&common_benchmarks, &drain_benchmarks,	  &format_benchmarks,
	&report_benchmarks, &demangle_benchmarks, &xdp_benchmarks,
};

const struct benchmark *registry_get(size_t i)
{
	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++) {
		if (i < tables[t]->count)
			return &tables[t]->all[i];
		i -= tables[t]->count;
	}
	return NULL;
}

static bool named(const struct settings *s, const char *name)
{
	for (size_t i = 0; i < s->rest_count; i++)
		if (!strcmp(s->rest[i], name))
			return true;
	return !s->rest_count;
}

static bool all_known(const struct settings *s)
{
	for (size_t i = 0; i < s->rest_count; i++) {
		const struct benchmark *b;
		size_t j = 0;

		while ((b = registry_get(j)) && strcmp(b->name, s->rest[i]))
			j++;
		if (!b) {
			message_error("there is no benchmark \"%s\"; see prof-bench run --list",
				      s->rest[i]);
			return false;
		}
	}
	return true;
}

const struct benchmark **registry_select(const struct settings *s, size_t *count)
{
	const struct benchmark **selected, *b;
	size_t total = 0;
	regex_t filter;

	if (!all_known(s))
		return NULL;
	if (regcomp(&filter, s->filter ? s->filter : "", REG_EXTENDED | REG_NOSUB)) {
		message_error("--filter: \"%s\" is no regular expression", s->filter);
		return NULL;
	}
	while (registry_get(total))
		total++;
	selected = calloc(total + 1, sizeof(*selected));
	*count = 0;
	for (size_t i = 0; selected && (b = registry_get(i)); i++)
		if (named(s, b->name) && !regexec(&filter, b->name, 0, NULL, 0) &&
		    (!b->extra || s->filter || s->rest_count || s->list))
			selected[(*count)++] = b;
	regfree(&filter);
	if (selected && !*count) {
		message_error("no benchmark matches; see prof-bench run --list");
		free(selected);
		return NULL;
	}
	return selected;
}

enum verdict registry_list(const struct settings *s)
{
	size_t count;
	const struct benchmark **selected = registry_select(s, &count);

	if (!selected)
		return VERDICT_ERROR;
	for (size_t i = 0; i < count; i++)
		output_line("%s", selected[i]->name);
	free(selected);
	return VERDICT_FINE;
}
