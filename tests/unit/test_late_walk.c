/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/late_walk.h"
#include "tests/unit/unit.h"

#include <stddef.h>
#include <string.h>

#include "bpf/abi/runtimes.h"

#define STACK UINT64_C(0x7ffd00000000)
#define HEAD offsetof(struct walk_rest, stack)

/* Code by the upper digits of its addresses. */
#define BY_SP UINT64_C(0x401000) /* CFA = sp + 24 */
#define BY_FP UINT64_C(0x402000) /* CFA = fp + 16, which saves the frame pointer */
#define OUTERMOST UINT64_C(0x403000)
#define SIGNAL UINT64_C(0x404000)
#define START UINT64_C(0x405000) /* the root, entered at its first byte */
#define NO_TABLE UINT64_C(0x406000)
#define ENTERS UINT64_C(0x407000) /* the handler of an exception, by what it has found */
#define CODE_END UINT64_C(0x408000)
#define MADE UINT64_C(0x700000) /* by the process itself */

static bool rule_at(void *context, const struct layout *layout, uint64_t address,
		    struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){ .words = 2,
				      .ra_word = 1,
				      .fp_word = UNWIND_IN_REGISTER,
				      .base_word = UNWIND_IN_REGISTER,
				      .read_offset = -16 };
	switch (address & ~UINT64_C(0xfff)) {
	case BY_SP:
		rule->kind = UNWIND_CFA_SP;
		rule->cfa_offset = 24;
		return true;
	case BY_FP:
		rule->kind = UNWIND_CFA_FP;
		rule->cfa_offset = 16;
		rule->fp_word = 0;
		return true;
	case ENTERS:
		rule->kind = UNWIND_CONTEXT;
		rule->cfa_offset = 16;
		rule->fp_far = -24;
		return true;
	case OUTERMOST: rule->kind = UNWIND_END; return true;
	case SIGNAL: rule->kind = UNWIND_SIGNAL; return true;
	case START:
		rule->kind = UNWIND_END;
		rule->flags = UNWIND_AT_START;
		return true;
	default: return false;
	}
}

static bool unreadable;	    /* the process has ended */
static uint64_t not_called; /* no call is before this address */
static uint64_t returning;  /* add $8,%rsp; ret is there */

static bool code_at(void *context, uint32_t pid, const struct mapping *mapping, uint64_t address,
		    uint64_t *bytes)
{
	assert_true(address >= mapping->start && mapping->end - address >= sizeof(*bytes));
	/* BL of arm64, and above its place the opcode of x86's call. */
	*bytes = address + 8 == not_called ? 0 : UINT64_C(0x94000000e8000000);
	if (address == returning)
		*bytes = 0xc308c48348;
	return !unreadable;
}

/* The loop of Python finds its frame by fp. */
static uint64_t mark_at(void *context, const struct layout *layout, enum script_runtime runtime,
			uint64_t address)
{
	return runtime == SCRIPT_PYTHON && address >> 12 == BY_FP >> 12 ? FRAME_EVALUATES : 0;
}

/* As the ring has it: what comes after the sample lies where its frames are. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wgnu-variable-sized-type-not-at-end"
#endif

/* A record: a sample with one user frame and one of the kernel, and the rest of its walk. */
struct record {
	struct sample sample;
	__u64 user, kernel;
	struct walk_rest rest;
};

struct fixture {
	struct late_walk late;
	struct record record;
	uint32_t size;
	struct layout layout;
};

static void put_word(struct fixture *f, uint64_t address, uint64_t word)
{
	memcpy(f->record.rest.stack + (address - STACK), &word, sizeof(word));
}

/*
 * Interrupted in code that finds its frame by sp; its caller does by fp, and was called by the code
 * at `root`.
 */
static void begin(struct fixture *f, uint64_t root)
{
	unreadable = false;
	not_called = returning = 0;
	mappings_release(&f->layout.mappings);
	*f = (struct fixture){
		.late = { .rule = rule_at, .code = code_at, .mark = mark_at },
		.record = { .sample = { .user_frames = 1,
					.kernel_frames = 1,
					.walk_end = WALK_NO_TABLE },
			    .user = (BY_SP + 5) | FRAME_EXACT,
			    .kernel = 0xffffffff81000000,
			    .rest = { .sp = STACK + 8,
				      .fp = STACK + 64,
				      .start = STACK,
				      .bytes = 1024 } },
	};
	f->size = offsetof(struct record, rest) + HEAD + 1024;
	put_word(f, STACK + 24, BY_FP + 7); /* CFA 32, the return address below it */
	put_word(f, STACK + 64, 0);
	put_word(f, STACK + 72, root);
}

static const struct sample *finish(struct fixture *f)
{
	return late_walk_finish(&f->late, &f->layout, &f->record, &f->size);
}

/* The process maps that, and nothing else. */
static void map(struct fixture *f, const struct mapping *mapped, size_t n)
{
	mappings_release(&f->layout.mappings);
	for (size_t i = 0; i < n; i++)
		assert_true(mappings_add(&f->layout.mappings, &mapped[i]));
}

/* The same in a process that has made code. */
static void begin_with_made_code(struct fixture *f)
{
	static struct object file = { .definition.kind = PRF_OBJECT_FILE },
			     made = { .definition.kind = PRF_OBJECT_ANONYMOUS };
	const struct mapping mapped[] = { { BY_SP - 4096, CODE_END, 0, &file },
					  { MADE, MADE + 4096, 0, &made } };

	begin(f, OUTERMOST + 9);
	map(f, mapped, 2);
	f->late.guesses = true;
}

/* Interrupted in that: by the frame pointer, the code that finds its frame by sp has called it. */
static void begin_in_made_code(struct fixture *f)
{
	begin_with_made_code(f);
	f->record.user = (MADE + 5) | FRAME_EXACT;
	put_word(f, STACK + 64, STACK + 200); /* the frame pointer, and the return address */
	put_word(f, STACK + 72, BY_SP + 7);
	put_word(f, STACK + 96, BY_FP + 7); /* CFA 104, the return address below it */
	put_word(f, STACK + 208, OUTERMOST + 9);
}

/* What came is the record, as it is without the copy of the stack. */
static void assert_unchanged(struct fixture *f)
{
	assert_ptr_equal(finish(f), &f->record);
	assert_int_equal(f->size, offsetof(struct record, rest));
	assert_int_equal(f->record.sample.user_frames, 1);
}

static void goes_on_to_the_root(void **state)
{
	static struct fixture f;
	const struct sample *s;

	begin(&f, OUTERMOST + 9);
	s = finish(&f);
	assert_int_equal(f.size, sizeof(*s) + 4 * 8);
	assert_int_equal(s->walk_end, WALK_ROOT);
	assert_int_equal(s->user_frames, 3);
	assert_int_equal(s->kernel_frames, 1);
	assert_int_equal(s->frames[0], (BY_SP + 5) | FRAME_EXACT);
	assert_int_equal(s->frames[1], BY_FP + 7);
	assert_int_equal(s->frames[2], OUTERMOST + 9);
	assert_int_equal(s->frames[3], 0xffffffff81000000);
}

static void marks_code_that_was_not_called(void **state)
{
	static struct fixture f;

	begin(&f, START + 1);
	assert_int_equal(finish(&f)->frames[2], (START + 1) | FRAME_EXACT);
}

static void leaves_what_does_not_reach_the_root(void **state)
{
	static struct fixture f;

	begin(&f, UINT64_C(0x999000)); /* has no table, still */
	assert_unchanged(&f);
	begin(&f, SIGNAL + 1);
	assert_unchanged(&f);
	/* The copy ends below the return address of the second frame. */
	begin(&f, OUTERMOST + 9);
	f.record.rest.bytes = 72;
	f.size = offsetof(struct record, rest) + HEAD + 72;
	assert_unchanged(&f);
	/* A frame pointer below the frame. */
	begin(&f, OUTERMOST + 9);
	f.record.rest.fp = STACK;
	assert_unchanged(&f);
	/* No tables are made. */
	begin(&f, OUTERMOST + 9);
	f.late.rule = NULL;
	assert_unchanged(&f);
}

/* Interrupted in code that enters a handler, the first byte of the code that finds its frame by fp.
 */
static void begin_in_unwinder(struct fixture *f)
{
	begin(f, OUTERMOST + 9);
	f->record.user = (ENTERS + 5) | FRAME_EXACT;
	put_word(f, STACK + 40, STACK + 128); /* where the handler's frame pointer is saved */
	put_word(f, STACK + 80, STACK + 200); /* its stack */
	put_word(f, STACK + 88, BY_FP);
	put_word(f, STACK + 128, STACK + 304);
	put_word(f, STACK + 312, OUTERMOST + 9);
}

static void enters_a_handler(void **state)
{
	static struct fixture f;
	const struct sample *s;

	begin_in_unwinder(&f);
	s = finish(&f);
	assert_int_equal(s->walk_end, WALK_ROOT);
	assert_int_equal(s->user_frames, 3);
	assert_int_equal(s->frames[1], BY_FP | FRAME_EXACT);
	assert_int_equal(s->frames[2], OUTERMOST + 9);
	/* Its stack does not lie above, its frame pointer is not in the copy, or there is no code.
	 */
	begin_in_unwinder(&f);
	put_word(&f, STACK + 80, STACK + 8);
	assert_unchanged(&f);
	begin_in_unwinder(&f);
	put_word(&f, STACK + 40, STACK + 1024);
	assert_unchanged(&f);
	begin_in_unwinder(&f);
	put_word(&f, STACK + 88, 0);
	assert_unchanged(&f);
}

/* Of a runtime that keeps a list. Others have no such frames. */
static void marks_what_runs_the_frames_of_a_list(void **state)
{
	static struct fixture f;
	const struct sample *s;

	begin(&f, OUTERMOST + 9);
	f.record.sample.script_runtime = SCRIPT_PYTHON;
	s = finish(&f);
	assert_int_equal(s->walk_end, WALK_ROOT);
	assert_int_equal(s->frames[0], (BY_SP + 5) | FRAME_EXACT);
	assert_int_equal(s->frames[1], (BY_FP + 7) | FRAME_EVALUATES);
	assert_int_equal(s->frames[2], OUTERMOST + 9);
	begin(&f, OUTERMOST + 9);
	f.record.sample.script_runtime = SCRIPT_RUBY;
	assert_int_equal(finish(&f)->frames[1], BY_FP + 7);
	begin(&f, OUTERMOST + 9);
	f.late.mark = NULL;
	f.record.sample.script_runtime = SCRIPT_HOTSPOT;
	assert_int_equal(finish(&f)->frames[1], BY_FP + 7);
}

static void assert_guessed(struct fixture *f)
{
	const struct sample *s = finish(f);

	assert_int_equal(s->walk_end, WALK_ROOT);
	assert_int_equal(s->user_frames, 4);
	assert_int_equal(s->frames[0], (MADE + 5) | FRAME_EXACT);
	assert_int_equal(s->frames[1], (BY_SP + 7) | FRAME_GUESSED);
	assert_int_equal(s->frames[2], BY_FP + 7);
	assert_int_equal(s->frames[3], OUTERMOST + 9);
}

static void guesses_the_caller_of_made_code(void **state)
{
	static struct fixture f;

	begin_in_made_code(&f);
	assert_guessed(&f);
	/* The register has another use; it was saved below the return address. */
	begin_in_made_code(&f);
	f.record.rest.fp = MADE;
	put_word(&f, STACK + 16, STACK + 200);
	put_word(&f, STACK + 24, BY_SP + 7);
	put_word(&f, STACK + 48, BY_FP + 7);
	assert_guessed(&f);
}

/* A trampoline, whose caller's frame pointer is not its own. */
static void follows_made_code_that_returns(void **state)
{
#if defined(__x86_64__)
	static struct fixture f;
	const struct sample *s;

	begin_with_made_code(&f);
	returning = MADE + 7;
	put_word(&f, STACK + 24, returning);
	put_word(&f, STACK + 40, BY_FP + 7);
	s = finish(&f);
	assert_int_equal(s->walk_end, WALK_ROOT);
	assert_int_equal(s->user_frames, 4);
	assert_int_equal(s->frames[1], MADE + 7);
	assert_int_equal(s->frames[2], BY_FP + 7);
	assert_int_equal(s->frames[3], OUTERMOST + 9);
	/* Where nothing is returned to, the frame pointer still leads on. */
	begin_with_made_code(&f);
	returning = MADE + 7;
	f.record.rest.fp = STACK + 40;
	put_word(&f, STACK + 24, returning);
	put_word(&f, STACK + 40, 0);
	put_word(&f, STACK + 48, BY_SP + 7);
	s = finish(&f);
	assert_int_equal(s->walk_end, WALK_ROOT);
	assert_int_equal(s->user_frames, 4);
	assert_int_equal(s->frames[1], MADE + 7);
	assert_int_equal(s->frames[2], (BY_SP + 7) | FRAME_GUESSED);
	assert_int_equal(s->frames[3], OUTERMOST + 9);
	/* Where it was interrupted, it may not have called yet. */
	begin_with_made_code(&f);
	returning = MADE + 5;
	f.record.user = returning | FRAME_EXACT;
	f.record.rest.fp = MADE;
	memset(f.record.rest.stack, 0, 1024);
	put_word(&f, STACK + 16, BY_FP + 7);
	not_called = BY_FP + 7;
	assert_unchanged(&f);
#else
	skip();
#endif
}

/* Pointers to functions lie on stacks, too. */
static void skips_what_follows_no_call(void **state)
{
	static struct fixture f;

	begin_in_made_code(&f);
	not_called = BY_FP + 0x100;
	f.record.rest.fp = MADE;
	put_word(&f, STACK + 8, not_called);
	put_word(&f, STACK + 16, STACK + 200);
	put_word(&f, STACK + 24, BY_SP + 7);
	put_word(&f, STACK + 48, BY_FP + 7);
	assert_guessed(&f);
	/* Where the frame pointer leads; nor is there a return address above. */
	begin_in_made_code(&f);
	not_called = BY_SP + 7;
	put_word(&f, STACK + 24, 0);
	put_word(&f, STACK + 96, 0);
	put_word(&f, STACK + 208, 0);
	assert_unchanged(&f);
	begin_in_made_code(&f);
	unreadable = true;
	assert_unchanged(&f);
}

/* Who has mapped what lies there, and how that is read, is asked for one mapping at a time. */
static void reads_nothing_beyond_a_mapping(void **state)
{
	static struct object file = { .definition.kind = PRF_OBJECT_FILE };
	static struct fixture f;
	struct mapping mapped[3] = { { BY_SP - 4096, BY_SP, 0, &file },
				     { BY_SP, CODE_END, 4096, &file } };

	/* The call would be in two mappings. */
	begin_in_made_code(&f);
	mapped[2] = *mappings_find(&f.layout.mappings, MADE);
	map(&f, mapped, 3);
	put_word(&f, STACK + 96, 0);
	put_word(&f, STACK + 208, 0);
	assert_unchanged(&f);
	/* What returns would be. */
	begin_with_made_code(&f);
	returning = MADE + 4096 - 4;
	f.record.rest.fp = MADE;
	put_word(&f, STACK + 24, returning);
	put_word(&f, STACK + 40, BY_FP + 7);
	assert_unchanged(&f);
}

static void guesses_nothing_else(void **state)
{
	static struct fixture f;

	/* The kernel half knows what made it. */
	begin_in_made_code(&f);
	f.late.guesses = false;
	assert_unchanged(&f);
	/* A file without a table. */
	begin_in_made_code(&f);
	f.record.user = (NO_TABLE + 5) | FRAME_EXACT;
	assert_unchanged(&f);
	/* There is no return address. */
	begin_in_made_code(&f);
	f.record.rest.fp = MADE;
	memset(f.record.rest.stack, 0, 1024);
	assert_unchanged(&f);
}

/* A chain of frames that never ends. */
static void ends_with_the_room_for_frames(void **state)
{
	static struct fixture f;

	begin(&f, OUTERMOST + 9);
	f.record.rest.bytes = WALK_REST_BYTES;
	f.size = offsetof(struct record, rest) + HEAD + WALK_REST_BYTES;
	for (uint64_t at = STACK; at < STACK + WALK_REST_BYTES; at += 8)
		put_word(&f, at, BY_SP + 5);
	assert_unchanged(&f);
}

static void leaves_records_without_a_rest(void **state)
{
	static struct fixture f;

	begin(&f, OUTERMOST + 9);
	f.size = offsetof(struct record, rest);
	assert_unchanged(&f);
	f.size = 8;
	assert_ptr_equal(finish(&f), &f.record);
	assert_int_equal(f.size, 8);
}

/* They stay as they are, and the resolver refuses them. */
static void leaves_invalid_records(void **state)
{
	static struct fixture f;
	uint32_t size;

	begin(&f, OUTERMOST + 9);
	size = f.size - 8; /* the copy is shorter than it says */
	f.size = size;
	assert_ptr_equal(finish(&f), &f.record);
	assert_int_equal(f.size, size);
	begin(&f, OUTERMOST + 9);
	f.record.rest.bytes = UINT32_MAX;
	size = f.size;
	assert_ptr_equal(finish(&f), &f.record);
	assert_int_equal(f.size, size);
	begin(&f, OUTERMOST + 9);
	f.record.sample.user_frames = MAX_USER_FRAMES + 1;
	f.size = sizeof(f.record);
	assert_ptr_equal(finish(&f), &f.record);
	assert_int_equal(f.size, sizeof(f.record));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(goes_on_to_the_root),
	cmocka_unit_test(marks_code_that_was_not_called),
	cmocka_unit_test(leaves_what_does_not_reach_the_root),
	cmocka_unit_test(enters_a_handler),
	cmocka_unit_test(marks_what_runs_the_frames_of_a_list),
	cmocka_unit_test(guesses_the_caller_of_made_code),
	cmocka_unit_test(follows_made_code_that_returns),
	cmocka_unit_test(skips_what_follows_no_call),
	cmocka_unit_test(reads_nothing_beyond_a_mapping),
	cmocka_unit_test(guesses_nothing_else),
	cmocka_unit_test(ends_with_the_room_for_frames),
	cmocka_unit_test(leaves_records_without_a_rest),
	cmocka_unit_test(leaves_invalid_records),
};

UNIT_TESTS(tests);
