/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/late_walk.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi/runtimes.h"

#define REST_HEAD offsetof(struct walk_rest, stack)
#define RULES_MAX 16
#define CODE UINT64_C(0x400000)
#define MADE UINT64_C(0x500000)
#define MAPPED 0x10000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The bytes: flags, how many rules there are, the rules, the head of the sample, the one of the
 * rest, and the stack, which is also what code the process has.
 */
struct input {
	struct unwind_rule rules[RULES_MAX];
	size_t n;
	const uint8_t *stack;
	size_t bytes;
};

static size_t take(void *to, size_t wanted, const uint8_t **data, size_t *size)
{
	size_t n = *size < wanted ? *size : wanted;

	if (n)
		memcpy(to, *data, n);
	*data += n;
	*size -= n;
	return n;
}

static bool rule_at(void *context, const struct layout *layout, uint64_t address,
		    struct unwind_rule *rule)
{
	const struct input *in = context;

	if (!in->n || address < CODE || address - CODE >= MAPPED)
		return false;
	*rule = in->rules[address % in->n];
	return true;
}

static bool code_at(void *context, uint32_t pid, const struct mapping *mapping, uint64_t address,
		    uint64_t *bytes)
{
	const struct input *in = context;
	size_t at = address % 1024;

	if (address < mapping->start || mapping->end - address < sizeof(*bytes))
		__builtin_trap();
	if (in->bytes < sizeof(*bytes) + at)
		return false;
	memcpy(bytes, in->stack + at, sizeof(*bytes));
	return true;
}

static uint64_t mark_at(void *context, const struct layout *layout, enum script_runtime runtime,
			uint64_t address)
{
	return address & 1 ? FRAME_EVALUATES : 0;
}

static void check(const struct sample *s, uint32_t size)
{
	if (size < sizeof(*s) || sample_words(s) != (size - sizeof(*s)) / sizeof(s->frames[0]) ||
	    s->user_frames > MAX_USER_FRAMES || s->walk_end != WALK_ROOT)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct object file = { .definition.kind = PRF_OBJECT_FILE },
			     made = { .definition.kind = PRF_OBJECT_ANONYMOUS };
	const struct mapping mapped[] = { { CODE, CODE + MAPPED, 0, &file },
					  { MADE, MADE + MAPPED, 0, &made } };
	static struct layout layout;
	static struct late_walk late;
	uint8_t flags[2] = { 0 };
	struct input in = { .n = 0 };
	struct sample head = { 0 };
	struct walk_rest *rest;
	uint64_t frames;
	uint32_t length;
	uint8_t *record;
	const void *done;

	if (!layout.mappings.n && (!mappings_add(&layout.mappings, &mapped[0]) ||
				   !mappings_add(&layout.mappings, &mapped[1])))
		__builtin_trap();
	take(flags, sizeof(flags), &data, &size);
	in.n = take(in.rules, flags[1] % (RULES_MAX + 1) * sizeof(*in.rules), &data, &size) /
	       sizeof(*in.rules);
	take(&head, sizeof(head), &data, &size);
	if (!(flags[0] & 1)) {
		head.user_frames = head.user_frames % 4 + 1;
		head.kernel_frames = head.script_frames = head.waker_frames = 0;
		head.giver_bytes = 0;
	}
	if (size < REST_HEAD || sample_words(&head) > 4096)
		return 0;
	in.stack = data + REST_HEAD;
	in.bytes = size - REST_HEAD;
	frames = sizeof(head) + sample_words(&head) * sizeof(head.frames[0]);
	length = (uint32_t)(frames + size);
	/* Of just this size, so that one byte too far is seen. */
	record = malloc(length);
	if (!record)
		return 0;
	memcpy(record, &head, sizeof(head));
	for (uint64_t i = sizeof(head); i < frames; i += 8) {
		uint64_t frame = (i & 8 ? CODE : MADE) + 64 + i;

		memcpy(record + i, &frame, sizeof(frame));
	}
	memcpy(record + frames, data, size);
	rest = (struct walk_rest *)(void *)(record + frames);
	if (!(flags[0] & 2))
		rest->bytes = (uint32_t)in.bytes;
	late.rule = rule_at;
	late.code = code_at;
	late.mark = mark_at;
	late.context = &in;
	late.guesses = flags[0] & 4;
	done = late_walk_finish(&late, &layout, record, &length);
	if (done != record)
		check(done, length);
	else if (length > frames + size)
		__builtin_trap();
	free(record);
	return 0;
}
