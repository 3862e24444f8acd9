/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/measure/registry.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "bench/results/output.h"
#include "common/message.h"

/* The i-th of all, or NULL after the last. */
static const struct benchmark *get(const struct settings *s, size_t i)
{
	for (size_t t = 0; s->benchmarks[t]; t++) {
		if (i < s->benchmarks[t]->count)
			return &s->benchmarks[t]->all[i];
		i -= s->benchmarks[t]->count;
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

		while ((b = get(s, j)) && strcmp(b->name, s->rest[i]))
			j++;
		if (!b) {
			message_error("there is no benchmark \"%s\"; see prof-bench run --list",
				      s->rest[i]);
			return false;
		}
	}
	return true;
}

/* The results of the second one would replace those of the first, which no gate would see. */
static bool each_once(const struct benchmark_selection *selection)
{
	for (size_t i = 0; i < selection->count; i++)
		for (size_t j = 0; j < i; j++)
			if (!strcmp(selection->all[i]->name, selection->all[j]->name)) {
				message_error("there are two benchmarks \"%s\"",
					      selection->all[i]->name);
				return false;
			}
	return true;
}

/* Of those in the tables. */
static bool select_named(const struct settings *s, struct benchmark_selection *selection)
{
	const struct benchmark *b;
	size_t total = 0;
	regex_t filter;

	if (!all_known(s))
		return false;
	if (regcomp(&filter, s->filter ? s->filter : "", REG_EXTENDED | REG_NOSUB)) {
		message_error("--filter: \"%s\" is no regular expression", s->filter);
		return false;
	}
	while (get(s, total))
		total++;
	selection->all = calloc(total + 1, sizeof(*selection->all));
	for (size_t i = 0; selection->all && (b = get(s, i)); i++)
		if (named(s, b->name) && !regexec(&filter, b->name, 0, NULL, 0) &&
		    (!b->extra || s->filter || s->rest_count || s->list))
			selection->all[selection->count++] = b;
	regfree(&filter);
	if (selection->all && !selection->count)
		message_error("no benchmark matches; see prof-bench run --list");
	return selection->count > 0 && each_once(selection);
}

static bool select_command(const struct settings *s, struct benchmark_selection *selection)
{
	if (s->rest_count || s->filter || !s->command[0]) {
		message_error("either names of benchmarks, or a command after \"--\"");
		return false;
	}
	command_benchmark_init(&selection->command, s->program_name, s->command);
	selection->all = calloc(1, sizeof(*selection->all));
	if (!selection->all)
		return false;
	selection->all[selection->count++] = &selection->command.benchmark;
	return true;
}

bool registry_select(const struct settings *s, struct benchmark_selection *selection)
{
	bool good;

	*selection = (struct benchmark_selection){ 0 };
	if (s->program_name && !s->command) {
		message_error("--name is for a command after \"--\"");
		return false;
	}
	good = s->command ? select_command(s, selection) : select_named(s, selection);
	if (!good)
		registry_release(selection);
	return good;
}

void registry_release(struct benchmark_selection *selection)
{
	free(selection->all);
	selection->all = NULL;
}

enum verdict registry_list(const struct settings *s)
{
	struct benchmark_selection selection;

	if (!registry_select(s, &selection))
		return VERDICT_ERROR;
	for (size_t i = 0; i < selection.count; i++)
		output_line("%s", selection.all[i]->name);
	registry_release(&selection);
	return VERDICT_FINE;
}
