/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/cpus.h"

#include "common/buffer.h"
#include "record/system/proc.h"

#include <errno.h>
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

int cpus_parse(struct cpus *c, const char *text)
{
	bool *wanted = calloc(CPUS_MAX, sizeof(*wanted));
	int status = 0;

	*c = (struct cpus){ 0 };
	if (!wanted)
		return -ENOMEM;
	if (!mark(wanted, text)) {
		status = -EINVAL;
		goto out;
	}
	c->ids = malloc(CPUS_MAX * sizeof(*c->ids));
	if (!c->ids) {
		status = -ENOMEM;
		goto out;
	}
	for (uint32_t i = 0; i < CPUS_MAX; i++)
		if (wanted[i])
			c->ids[c->n++] = i;
out:
	free(wanted);
	return status;
}

int cpus_online(struct cpus *c)
{
	struct buffer text = { 0 };
	int status = read_file("/sys/devices/system/cpu/online", &text);

	if (!status)
		status = cpus_parse(c, buffer_string(&text));
	buffer_release(&text);
	return status;
}
