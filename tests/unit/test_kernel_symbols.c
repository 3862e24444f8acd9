/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/kernel_symbols.h"
#include "tests/unit/unit.h"

#include "tests/unit/trace_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kallsyms[] = "0000000000010000 A per_cpu_counter\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81000000 T startup\n"
			       "ffffffff81000100 t read_it\n"
			       "ffffffff81000300 T write_it\n"
			       "ffffffff81000400 D some_data\n"
			       "ffffffffc0000000 t helper\t[ext4]\n"
			       "ffffffffc0000080 T ext4_read\t[ext4]\n"
			       "ffffffffc0004000 t bpf_prog_1234_probe\t[bpf]\n"
			       "ffffffffc0006020 t ftrace_trampoline\t[__builtin__ftrace]\n"
			       "ffffffffc0007040 t first\t[unlisted]\n"
			       "ffffffffc0007080 t second\t[unlisted]\n"
			       "short\n";
static const char modules[] = "ext4 1000000 2 - Live 0xffffffffc0000000\n"
			      "other 4096 0 - Live 0xffffffffc0008000 (OE)\n";

struct fixture {
	char *kallsyms, *modules;
	struct kernel_symbols *k;
	struct prf_writer *w;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->kallsyms = strdup(kallsyms);
	f->modules = strdup(modules);
	assert_null(kernel_symbols_parse(&f->k, f->kallsyms, f->modules));
	/* Only the text of the modules must stay. */
	memset(f->kallsyms, 'x', sizeof(kallsyms) - 1);
	fixture_must(prf_writer_new(&f->w, &(struct prf_writer_options){ .fd = -1 }));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	kernel_symbols_free(f->k);
	prf_writer_free(f->w);
	free(f->kallsyms);
	free(f->modules);
	free(f);
	return 0;
}

/* Looks an address up and returns its offset; the object's id in `object`. */
static uint64_t place(struct fixture *f, uint64_t address, uint32_t flags, uint32_t *object)
{
	struct prf_frame frame = { .flags = flags };

	assert_null(kernel_symbols_frame(f->k, f->w, address, &frame));
	assert_true(frame.flags & PRF_FRAME_KERNEL);
	*object = frame.object;
	return frame.offset;
}

/* Ends the trace and reads it: the symbols of all objects as "path:start+size=name ". */
static void check_written(struct fixture *f, const char *expected)
{
	struct prf_reader *r;
	struct prf_record record;
	char text[1024] = "";

	assert_null(kernel_symbols_write(f->k, f->w));
	r = fixture_read_back(f->w);
	while (fixture_next(r, &record)) {
		if (record.type != PRF_RECORD_SYMBOLS)
			continue;
		for (size_t i = 0; i < record.symbols.n; i++) {
			const struct prf_symbol *s = &record.symbols.symbols[i];

			snprintf(text + strlen(text), sizeof(text) - strlen(text),
				 "%s:%llx+%llx=%s ",
				 prf_reader_object(r, record.symbols.object)->path,
				 (unsigned long long)s->start, (unsigned long long)s->size,
				 s->name);
		}
	}
	assert_string_equal(text, expected);
	prf_reader_free(r);
}

static void writes_what_was_hit(void **state)
{
	struct fixture *f = *state;
	uint32_t kernel, module;

	assert_int_equal(place(f, 0xffffffff81000180, PRF_FRAME_EXACT, &kernel), 0x180);
	assert_int_equal(place(f, 0xffffffffc0000090, 0, &module), 0x90);
	assert_int_not_equal(kernel, module);
	check_written(f, "[kernel]:100+200=read_it ext4:80+f80=ext4_read ");
}

/* A module that is loaded later has no symbols, and not the last one of what lies before it. */
static void what_was_loaded_later_has_no_name(void **state)
{
	struct fixture *f = *state;
	uint32_t object;

	assert_int_equal(place(f, 0xffffffffc0001000, PRF_FRAME_EXACT, &object),
			 0xffffffffc0001000 - 0xffffffff81000000);
	place(f, 0xffffffffc0008000, PRF_FRAME_EXACT, &object);
	check_written(f, "");
}

/* Where it lies differs between boots of one kernel, whose build-id is the same. */
static void what_the_kernel_made_is_no_part_of_it(void **state)
{
	struct fixture *f = *state;
	uint32_t kernel, made, unlisted;

	place(f, 0xffffffff81000180, PRF_FRAME_EXACT, &kernel);
	assert_int_equal(place(f, 0xffffffffc0006040, PRF_FRAME_EXACT, &made), 0x20);
	assert_int_equal(place(f, 0xffffffffc0007090, PRF_FRAME_EXACT, &unlisted), 0x50);
	assert_int_not_equal(made, kernel);
	assert_int_not_equal(unlisted, kernel);
	check_written(f, "[kernel]:100+200=read_it ftrace_trampoline:0+fe0=ftrace_trampoline "
			 "unlisted:40+f80=second ");
}

/* A hit of read_it(), whose name is written then if it is not yet. */
static void hit_read_it(struct fixture *f, uint64_t offset)
{
	uint32_t object;

	place(f, 0xffffffff81000100 + offset, PRF_FRAME_EXACT, &object);
	assert_null(kernel_symbols_write(f->k, f->w));
}

static void each_name_is_written_once(void **state)
{
	struct fixture *f = *state;

	hit_read_it(f, 0x80);
	hit_read_it(f, 0x90);
	check_written(f, "[kernel]:100+200=read_it ");
}

static void another_trace_gets_them_again(void **state)
{
	struct fixture *f = *state;

	hit_read_it(f, 0x80);
	kernel_symbols_forget_written(f->k);
	prf_writer_free(f->w);
	fixture_must(prf_writer_new(&f->w, &(struct prf_writer_options){ .fd = -1 }));
	hit_read_it(f, 0x80);
	check_written(f, "[kernel]:100+200=read_it ");
}

static void a_return_address_belongs_to_the_call(void **state)
{
	struct fixture *f = *state;
	uint32_t object;

	/* The first byte of write_it, as what a call at the end of read_it returns to. */
	assert_int_equal(place(f, 0xffffffff81000300, 0, &object), 0x300);
	check_written(f, "[kernel]:100+200=read_it ");
}

static void data_has_no_name_for_code(void **state)
{
	struct fixture *f = *state;
	uint32_t object;

	assert_int_equal(place(f, 0xffffffff81000480, PRF_FRAME_EXACT, &object), 0x480);
	check_written(f, "");
}

static void bpf_programs_come_and_go(void **state)
{
	struct fixture *f = *state;
	uint32_t generation = kernel_symbols_generation(f->k), object, known;

	assert_int_equal(place(f, 0xffffffffc0004010, PRF_FRAME_EXACT, &known), 0x10);
	assert_null(kernel_symbols_add(f->k, 0xffffffffc0005000, 0x40, "bpf_prog_a"));
	assert_int_not_equal(kernel_symbols_generation(f->k), generation);
	assert_int_equal(place(f, 0xffffffffc0005008, PRF_FRAME_EXACT, &object), 8);
	assert_int_not_equal(known, object);
	kernel_symbols_remove(f->k, 0xffffffffc0005000);
	assert_null(kernel_symbols_add(f->k, 0xffffffffc0005000, 0x80, "bpf_prog_b"));
	assert_int_equal(place(f, 0xffffffffc0005050, PRF_FRAME_EXACT, &object), 0x50);
	kernel_symbols_remove(f->k, 0xffffffffc0005000);
	kernel_symbols_remove(f->k, 0xffffffffc0005000);
	check_written(f, "bpf_prog_1234_probe:0+2020=bpf_prog_1234_probe "
			 "bpf_prog_b:0+80=bpf_prog_b bpf_prog_a:0+40=bpf_prog_a ");
}

static void zeros_mean_hidden(void **state)
{
	char hidden[] = "0000000000000000 T _text\n0000000000000000 T read_it\n", none[] = "";
	struct fixture *f = *state;
	struct kernel_symbols *k;
	struct prf_frame frame = { 0 };

	assert_false(kernel_symbols_hidden(f->k));
	assert_null(kernel_symbols_parse(&k, hidden, none));
	assert_true(kernel_symbols_hidden(k));
	assert_null(kernel_symbols_frame(k, f->w, 0xffffffff81000180, &frame));
	assert_null(kernel_symbols_write(k, f->w));
	kernel_symbols_free(k);
}

/* Nothing of the trace says where the kernel is, though samples have its addresses. */
static void hidden_addresses_are_not_stored(void **state)
{
	char zeros[] = "0000000000000000 T _text\n0000000000000000 t read_it\n", none[] = "";
	struct fixture *f = *state;
	struct kernel_symbols *seen = f->k;
	struct prf_writer *w = f->w;
	struct prf_reader *r;
	struct prf_record record;
	uint32_t kernel, other, program;

	assert_null(kernel_symbols_parse(&f->k, zeros, none));
	assert_true(kernel_symbols_hidden(f->k));
	assert_null(kernel_symbols_add(f->k, 0xffffffffc0005000, 0x100, "bpf_prog_5_new"));
	assert_int_equal(place(f, 0xffffffff81000180, PRF_FRAME_EXACT, &kernel), 0);
	assert_int_equal(place(f, 0xffffffff81000280, 0, &other), 0);
	assert_int_equal(kernel, other);
	assert_int_equal(place(f, 0xffffffffc0005020, PRF_FRAME_EXACT, &program), 0x20);
	assert_null(kernel_symbols_write(f->k, w));
	r = fixture_read_back(w);
	while (fixture_next(r, &record))
		if (record.type == PRF_RECORD_SYMBOLS)
			assert_int_equal(record.symbols.symbols[0].start, 0);
	for (uint32_t object = 0; object <= program; object++)
		assert_int_equal(prf_reader_object(r, object)->base, 0);
	prf_reader_free(r);
	kernel_symbols_free(f->k);
	f->k = seen;
}

/* As kernels with and without FRED name what an interrupt enters, and arm64's. */
static void interrupts_are_known_by_name(void **state)
{
	static const char *const names[] = {
		"asm_sysvec_apic_timer_interrupt", "asm_common_interrupt", "asm_spurious_interrupt",
		"fred_sysvec_apic_timer_interrupt", "fred_extint", "common_interrupt",
		"el0t_64_irq", "el0t_64_irq_handler", "el0t_64_fiq", "el0t_32_irq", "el0t_32_fiq",
		"el1h_64_irq", "el1h_64_fiq",
		/* the others */
		"asm_exc_page_fault", "fred_entry_from_user", "asm_fred_entrypoint_user",
		"fred_exc_debug", "el0t_64_sync", "el1h_64_error", "do_syscall_64"
	};
	const size_t n = sizeof(names) / sizeof(*names), others = 7;
	struct kernel_symbols *k = NULL;
	char text[4096] = "", none[] = "";

	for (size_t i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%lx T %s\n",
			 0xffffffff81000000 + 0x1000 * i, names[i]);
	assert_null(kernel_symbols_parse(&k, text, none));
	for (size_t i = 0; i < n; i++)
		assert_int_equal(kernel_symbols_is_interrupt(k, 0xffffffff81000010 + 0x1000 * i),
				 i < n - others);
	kernel_symbols_free(k);
}

/* Code that the kernel has made for ftrace. False if there is none, or its address is hidden. */
static bool find_made(uint64_t *address, char name[256])
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], module[64];
	bool found = false;

	*address = 0;
	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%" SCNx64 " %*c %255s [%63[^]]]", address, name, module) ==
				3 &&
			!strcmp(module, "__builtin__ftrace");
	if (file)
		fclose(file);
	return found && *address;
}

/* It does not tell when it is asked: then all that is listed is read. */
static void the_running_kernel_names_what_it_made(void **state)
{
	struct fixture *f = *state;
	struct kernel_symbols *parsed = f->k;
	struct prf_record record;
	struct prf_reader *r;
	bool found = false;
	uint64_t address;
	uint32_t object;
	char name[256];

	if (!find_made(&address, name))
		skip();
	assert_null(kernel_symbols_new(&f->k));
	place(f, UINT64_MAX - 4095, PRF_FRAME_EXACT, &object); /* nothing is there */
	place(f, address, PRF_FRAME_EXACT, &object);
	assert_null(kernel_symbols_write(f->k, f->w));
	r = fixture_read_back(f->w);
	while (fixture_next(r, &record))
		if (record.type == PRF_RECORD_SYMBOLS)
			found |= !strcmp(record.symbols.symbols[0].name, name);
	assert_true(found);
	prf_reader_free(r);
	kernel_symbols_free(f->k);
	f->k = parsed;
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(writes_what_was_hit, setup, teardown),
	cmocka_unit_test_setup_teardown(what_was_loaded_later_has_no_name, setup, teardown),
	cmocka_unit_test_setup_teardown(what_the_kernel_made_is_no_part_of_it, setup, teardown),
	cmocka_unit_test_setup_teardown(each_name_is_written_once, setup, teardown),
	cmocka_unit_test_setup_teardown(another_trace_gets_them_again, setup, teardown),
	cmocka_unit_test_setup_teardown(a_return_address_belongs_to_the_call, setup, teardown),
	cmocka_unit_test_setup_teardown(data_has_no_name_for_code, setup, teardown),
	cmocka_unit_test_setup_teardown(bpf_programs_come_and_go, setup, teardown),
	cmocka_unit_test_setup_teardown(zeros_mean_hidden, setup, teardown),
	cmocka_unit_test_setup_teardown(hidden_addresses_are_not_stored, setup, teardown),
	cmocka_unit_test(interrupts_are_known_by_name),
	cmocka_unit_test_setup_teardown(the_running_kernel_names_what_it_made, setup, teardown),
};

UNIT_TESTS(tests);
