/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/kernel_name.h"

#include "bpf/abi/kernel_name.h"
#include "bpf/kernel_name.skel.h"

#include <bpf/bpf.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct kernel_names {
	struct kernel_name_bpf *skeleton;
	struct kernel_name_question question;
};

static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

/* What fails here is no failure of the recording: all names are read instead. */
struct kernel_names *kernel_names_new(void)
{
	struct kernel_names *n = calloc(1, sizeof(*n));
	libbpf_print_fn_t print = libbpf_set_print(say_nothing);

	if (n)
		n->skeleton = kernel_name_bpf__open_and_load();
	libbpf_set_print(print);
	if (n && n->skeleton)
		return n;
	kernel_names_free(n);
	return NULL;
}

void kernel_names_free(struct kernel_names *n)
{
	if (!n)
		return;
	kernel_name_bpf__destroy(n->skeleton);
	free(n);
}

/*
 * The kernel answers without a module for BPF programs, and what calls them, which /proc/kallsyms
 * lists as those of "bpf": "bpf_prog_", its tag and its name, or "bpf_trampoline_" and a number.
 */
static bool is_bpf(const char *name)
{
	static const char program[] = "bpf_prog_", trampoline[] = "bpf_trampoline_";
	const size_t tag = sizeof(program) - 1, digits = 16;

	if (!strncmp(name, trampoline, sizeof(trampoline) - 1))
		return isdigit((unsigned char)name[sizeof(trampoline) - 1]);
	return !strncmp(name, program, tag) && strspn(name + tag, "0123456789abcdef") == digits &&
	       (name[tag + digits] == '_' || !name[tag + digits]);
}

bool kernel_name_parse(char *answer, uint64_t address, struct kernel_name *found)
{
	char *plus = NULL, *rest;
	uint64_t offset, size;

	*found = (struct kernel_name){ 0 };
	/* The last one: names may have a plus sign, too. */
	for (rest = answer; (rest = strstr(rest, "+0x")); rest++)
		plus = rest;
	if (!plus || plus == answer)
		return false;
	offset = strtoull(plus + 1, &rest, 16);
	if (*rest != '/')
		return false;
	size = strtoull(rest + 1, &rest, 16);
	if (offset > address || offset >= size || size > UINT32_MAX)
		return false;
	*plus = 0;
	found->name = answer;
	found->start = address - offset;
	found->size = (uint32_t)size;
	if (rest[0] == ' ' && rest[1] == '[' && strchr(rest, ']')) {
		found->module = rest + 2;
		*strchr(rest, ']') = 0;
	} else if (is_bpf(answer)) {
		found->module = "bpf";
	}
	return true;
}

bool kernel_names_find(struct kernel_names *n, uint64_t address, struct kernel_name *found)
{
	struct kernel_name_question *question = &n->question;
	const int fd = bpf_map__fd(n->skeleton->maps.questions);
	const uint32_t first = 0;
	LIBBPF_OPTS(bpf_test_run_opts, options);

	question->address = address;
	question->answer[0] = 0;
	if (bpf_map_update_elem(fd, &first, question, BPF_ANY) ||
	    bpf_prog_test_run_opts(bpf_program__fd(n->skeleton->progs.ask_name), &options) ||
	    bpf_map_lookup_elem(fd, &first, question))
		return false;
	question->answer[sizeof(question->answer) - 1] = 0;
	return kernel_name_parse(question->answer, address, found);
}
