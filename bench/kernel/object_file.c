/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/kernel/object_file.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/clock.h"

/* -------- what libbpf says -------- */

static struct buffer said;

static int hear(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level == LIBBPF_WARN)
		buffer_vprintf(&said, format, args);
	return 0;
}

/* The last line of the verifier's log before its statistics. */
static const char *verifier_line(char *log)
{
	char *end = strstr(log, "\nprocessed "), *line;

	if (!end)
		return NULL;
	*end = 0;
	line = strrchr(log, '\n');
	return line ? line + 1 : log;
}

/* Why an object was not loaded: the first thing that libbpf said, and the verifier's last. */
static struct error *not_loaded(const char *path, int status)
{
	const char *text = buffer_string(&said);
	char *copy = strdup(text ? text : ""), *log, *first;
	const char *verifier = NULL;
	struct error *error;

	if (!copy)
		return error_memory();
	first = strncmp(copy, "libbpf: ", 8) ? copy : copy + 8;
	log = strstr(copy, "PROG LOAD LOG --\n");
	if (log)
		verifier = verifier_line(log + strlen("PROG LOAD LOG --"));
	first[strcspn(first, "\n")] = 0;
	error = error_new(ERROR_FAILED, "%s: the kernel does not take it: %s%s%s%s%s", path,
			  strerror(-status), *first ? "; " : "", first, verifier ? "; " : "",
			  verifier ? verifier : "");
	free(copy);
	return error;
}

static struct error *load(struct object_file *o, const char *path)
{
	int status = bpf_object__load(o->object);

	if ((status == -EPERM || status == -EACCES) && geteuid())
		return error_new(ERROR_UNAVAILABLE,
				 "cannot load BPF programs: permission denied; run as root or with "
				 "cap_bpf, cap_perfmon and cap_sys_admin");
	return status ? not_loaded(path, status) : NULL;
}

/* -------- which programs -------- */

/* Whether `name` is among those with commas between them. */
static bool is_among(const char *name, const char *names)
{
	size_t length = strlen(name);

	for (const char *at = names; at; at = strchr(at, ','), at += at != NULL)
		if (!strncmp(at, name, length) && (!at[length] || at[length] == ','))
			return true;
	return false;
}

static struct error *no_such(const struct object_file *o, const char *path, const char *name)
{
	struct bpf_program *program;
	struct buffer all = { 0 };
	struct error *error;
	const char *text;

	bpf_object__for_each_program(program, o->object)
		buffer_printf(&all, "%s%s", all.size ? ", " : "", bpf_program__name(program));
	text = buffer_string(&all);
	error = error_new(ERROR_FAILED, "%s holds no program%s%s%s%s", path, name ? " " : "",
			  name ? name : "", text && *text ? "; it holds " : "", text ? text : "");
	buffer_release(&all);
	return error;
}

/* That each name is one of the file's programs. */
static struct error *check_names(const struct object_file *o, const char *path, const char *names)
{
	for (const char *at = names; at; at = strchr(at, ','), at += at != NULL) {
		char name[128];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ","), at);
		if (!bpf_object__find_program_by_name(o->object, name))
			return no_such(o, path, name);
	}
	return NULL;
}

static struct error *take_programs(struct object_file *o, const char *path, const char *names)
{
	struct bpf_program *program;
	struct error *error;
	size_t count = 0;

	bpf_object__for_each_program(program, o->object) count++;
	if (!count)
		return no_such(o, path, NULL);
	o->programs = calloc(count, sizeof(struct program *));
	if (!o->programs)
		return error_memory();
	bpf_object__for_each_program(program, o->object)
	{
		if (names && !is_among(bpf_program__name(program), names))
			continue;
		error = program_from_object(&o->programs[o->count], program);
		if (error)
			return error;
		o->count++;
	}
	return NULL;
}

struct error *object_file_load(struct object_file *o, const char *path, const char *names)
{
	uint64_t start = clock_now();
	struct bpf_program *program;
	struct error *error;

	libbpf_set_print(hear);
	*o = (struct object_file){ .object = bpf_object__open_file(path, NULL) };
	if (!o->object) {
		error = error_new(ERROR_FAILED, "%s: %s", path,
				  errno == ENOENT ? strerror(errno)
						  : "no BPF object file that can be used");
		goto out;
	}
	error = check_names(o, path, names);
	bpf_object__for_each_program(program, o->object) if (names)
		bpf_program__set_autoload(program, is_among(bpf_program__name(program), names));
	if (!error)
		error = load(o, path);
	o->load_ns = (double)(clock_now() - start);
	if (!error)
		error = take_programs(o, path, names);
out:
	libbpf_set_print(NULL);
	buffer_release(&said);
	if (error)
		object_file_release(o);
	return error;
}

void object_file_release(struct object_file *o)
{
	for (size_t i = 0; i < o->count; i++)
		program_free(o->programs[i]);
	free(o->programs);
	bpf_object__close(o->object);
	*o = (struct object_file){ 0 };
}
