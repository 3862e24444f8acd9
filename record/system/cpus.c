/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/cpus.h"

#include "common/buffer.h"
#include "record/system/proc.h"

#include <stdbool.h>
#include <stdlib.h>

void cpus_release(struct cpus *c)
{
	free(c->ids);
	*c = (struct cpus){ 0 };
}

static bool read_number(const char **at, unsigned long *value)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	*value = strtoul(*at, &end, 10);
	*at = end;
	return *value < CPUS_MAX;
}

static bool mark(bool *wanted, const char *at)
{
	for (;;) {
		unsigned long first, last;

		if (!read_number(&at, &first))
			return false;
		last = first;
		if (*at == '-') {
			at++;
			if (!read_number(&at, &last) || last < first)
				return false;
		}
		for (unsigned long i = first; i <= last; i++)
			wanted[i] = true;
		if (*at == '\n' || !*at)
			return true;
		if (*at++ != ',')
			return false;
	}
}

struct error *cpus_parse(struct cpus *c, const char *text)
{
	bool *wanted = calloc(CPUS_MAX, sizeof(*wanted));
	struct error *error = NULL;

	*c = (struct cpus){ 0 };
	if (!wanted)
		return error_memory();
	if (!mark(wanted, text)) {
		error = error_new(ERROR_ARGUMENT, "not a list of CPUs");
		goto out;
	}
	c->ids = malloc(CPUS_MAX * sizeof(*c->ids));
	if (!c->ids) {
		error = error_memory();
		goto out;
	}
	for (uint32_t i = 0; i < CPUS_MAX; i++)
		if (wanted[i])
			c->ids[c->n++] = i;
out:
	free(wanted);
	return error;
}

static struct error *read_list(struct cpus *c, const char *path)
{
	struct buffer text = { 0 };
	int status = read_file(path, &text);
	struct error *error = status ? error_system(status, "cannot read %s", path)
				     : error_prefix(cpus_parse(c, buffer_string(&text)), "%s",
						    path);

	buffer_release(&text);
	return error;
}

struct error *cpus_online(struct cpus *c)
{
	return read_list(c, "/sys/devices/system/cpu/online");
}

struct error *cpus_possible(struct cpus *c)
{
	return read_list(c, "/sys/devices/system/cpu/possible");
}
