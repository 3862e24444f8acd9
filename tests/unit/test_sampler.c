/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the verifier has to do for the programs: too much, and older kernels refuse them. */

#include "bpf/sampler.skel.h"

#include <bpf/libbpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define INSTRUCTIONS_MAX 50000
#define LOG_BYTES 65536

static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

static void test_verifier_instructions(void **state)
{
	struct sampler_bpf *skeleton;
	struct bpf_program *program;
	char *log = malloc(LOG_BYTES);
	int programs = 0;

	libbpf_set_print(say_nothing);
	skeleton = sampler_bpf__open();
	assert_non_null(skeleton);
	/* One by one, since they share the log. */
	bpf_object__for_each_program(program, skeleton->obj) {
		struct sampler_bpf *one = sampler_bpf__open();
		struct bpf_program *other;
		unsigned long instructions;
		const char *processed;

		assert_non_null(one);
		one->rodata->off_cpu_event = 0; /* or what ends a wait is dead code */
		bpf_object__for_each_program(other, one->obj) {
			bool same = strcmp(bpf_program__name(other), bpf_program__name(program)) == 0;

			bpf_program__set_autoload(other, same);
			if (same)
				bpf_program__set_log_level(other, 4);
			if (same)
				bpf_program__set_log_buf(other, log, LOG_BYTES);
		}
		memset(log, 0, LOG_BYTES);
		if (sampler_bpf__load(one)) {
			sampler_bpf__destroy(one);
			continue; /* not every kernel has every tracepoint; privileges may be missing */
		}
		processed = strstr(log, "processed ");
		assert_non_null(processed);
		instructions = strtoul(processed + strlen("processed "), NULL, 10);
		print_message("%s: %lu instructions processed\n", bpf_program__name(program), instructions);
		assert_true(instructions > 0 && instructions <= INSTRUCTIONS_MAX);
		programs++;
		sampler_bpf__destroy(one);
	}
	sampler_bpf__destroy(skeleton);
	free(log);
	if (!programs)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verifier_instructions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
