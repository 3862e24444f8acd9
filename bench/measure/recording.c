/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/measure/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/measure/child.h"

#define ARGUMENTS_MOST 256
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

/* Beside this program, or, for one that links libprof_bench, in PATH. */
static void find_program(char *path, const char *folder, const char *name)
{
	snprintf(path, PATH_MAX, "%s/%s", folder, name);
	if (access(path, X_OK))
		snprintf(path, PATH_MAX, "%s", name);
}

struct error *recording_begin(struct recording *r)
{
	char self[PATH_MAX - 32];

	*r = (struct recording){ .folder = "/tmp/prof-bench.XXXXXX" };
	if (!child_self(self, sizeof(self)))
		return error_system(errno, "cannot find prof-record");
	if (!mkdtemp(r->folder))
		return error_system(errno, "%s", r->folder);
	*strrchr(self, '/') = 0;
	find_program(r->record, self, "prof-record");
	find_program(r->report, self, "prof-report");
	snprintf(r->trace, sizeof(r->trace), "%s/trace", r->folder);
	snprintf(r->folded, sizeof(r->folded), "%s/folded", r->folder);
	snprintf(r->said, sizeof(r->said), "%s/said", r->folder);
	return NULL;
}

void recording_end(const struct recording *r)
{
	unlink(r->trace);
	unlink(r->folded);
	unlink(r->said);
	rmdir(r->folder);
}

/* With the last line that the program wrote to its standard error. */
static struct error *failed(const struct recording *r, const char *program, int status)
{
	char line[256], last[256] = "";
	FILE *f = fopen(r->said, "re");

	while (f && fgets(line, sizeof(line), f))
		memcpy(last, line, sizeof(last));
	if (f)
		fclose(f);
	last[strcspn(last, "\n")] = 0;
	return error_new(ERROR_ARGUMENT, "%s ended with status %d%s%s", program, status,
			 *last ? ": " : "", last);
}

static struct error *run(const struct recording *r, const char *const *arguments,
			 const char *stdout_path)
{
	const struct child_options options = { .arguments = arguments,
					       .stdout_path = stdout_path,
					       .stderr_path = r->said };
	struct child_cost cost;

	if (child_run(&options, &cost))
		return error_system(errno, "%s", arguments[0]);
	return cost.status ? failed(r, arguments[0], cost.status) : NULL;
}

struct error *recording_run(const struct recording *r, const char *const *options,
			    const char *const *command)
{
	const char *all[ARGUMENTS_MOST + 1] = { r->record, "-q",    "-F", TEXT(RECORDING_RATE),
						"-o",	   r->trace };
	size_t n = 6;

	for (; options && *options && n < ARGUMENTS_MOST; options++)
		all[n++] = *options;
	if (command && n < ARGUMENTS_MOST)
		all[n++] = "--";
	for (; command && *command && n < ARGUMENTS_MOST; command++)
		all[n++] = *command;
	if (n == ARGUMENTS_MOST)
		return error_new(ERROR_LIMIT, "the program has too many arguments");
	return run(r, all, NULL);
}

struct error *recording_fold(const struct recording *r)
{
	const char *const arguments[] = { r->report, "-q", "-f", "folded", r->trace, NULL };

	return run(r, arguments, r->folded);
}
