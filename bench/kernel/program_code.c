/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/kernel/program_code.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "common/sorted.h"

/* More than any kernel makes of a program, to bound what is asked for. */
#define CODE_BYTES_MAX (64u << 20)
#define FUNCTIONS_MAX 65536
#define LINES_MAX (4u << 20)

/* The kernel's answer, with the arrays that it fills. */
struct answer {
	struct bpf_prog_info info;
	uint8_t *code;
	uint64_t *addresses; /* of functions */
	uint32_t *lengths;
	struct bpf_func_info *functions;
	struct bpf_line_info *lines;
	uint64_t *line_addresses;
};

static void answer_release(struct answer *a)
{
	free(a->code);
	free(a->addresses);
	free(a->lengths);
	free(a->functions);
	free(a->lines);
	free(a->line_addresses);
}

static struct error *ask(const struct program *p, struct bpf_prog_info *info)
{
	uint32_t size = sizeof(*info);

	if (bpf_obj_get_info_by_fd(program_fd(p), info, &size))
		return error_system(errno, "cannot read the code of the BPF program");
	return NULL;
}

/* Room for all that the kernel has, as its first answer says. */
static struct error *make_room(struct answer *a, const struct bpf_prog_info *has)
{
	if (has->jited_prog_len > CODE_BYTES_MAX || has->nr_jited_func_lens > FUNCTIONS_MAX ||
	    has->nr_func_info > FUNCTIONS_MAX || has->nr_line_info > LINES_MAX)
		return error_new(ERROR_LIMIT, "the program has more code than is read");
	a->code = calloc(has->jited_prog_len, 1);
	a->addresses = calloc(has->nr_jited_func_lens, sizeof(*a->addresses));
	a->lengths = calloc(has->nr_jited_func_lens, sizeof(*a->lengths));
	a->functions = calloc(has->nr_func_info + 1, sizeof(*a->functions));
	a->lines = calloc(has->nr_line_info + 1, sizeof(*a->lines));
	a->line_addresses = calloc(has->nr_line_info + 1, sizeof(*a->line_addresses));
	if (!a->code || !a->addresses || !a->lengths || !a->functions || !a->lines ||
	    !a->line_addresses)
		return error_memory();
	a->info = (struct bpf_prog_info){
		.jited_prog_len = has->jited_prog_len,
		.jited_prog_insns = (uint64_t)(uintptr_t)a->code,
		.nr_jited_ksyms = has->nr_jited_func_lens,
		.jited_ksyms = (uint64_t)(uintptr_t)a->addresses,
		.nr_jited_func_lens = has->nr_jited_func_lens,
		.jited_func_lens = (uint64_t)(uintptr_t)a->lengths,
	};
	if (has->nr_func_info) {
		a->info.nr_func_info = has->nr_func_info;
		a->info.func_info_rec_size = sizeof(*a->functions);
		a->info.func_info = (uint64_t)(uintptr_t)a->functions;
	}
	if (has->nr_line_info && has->nr_line_info == has->nr_jited_line_info) {
		a->info.nr_line_info = has->nr_line_info;
		a->info.line_info_rec_size = sizeof(*a->lines);
		a->info.line_info = (uint64_t)(uintptr_t)a->lines;
		a->info.nr_jited_line_info = has->nr_line_info;
		a->info.jited_line_info_rec_size = sizeof(*a->line_addresses);
		a->info.jited_line_info = (uint64_t)(uintptr_t)a->line_addresses;
	}
	return NULL;
}

static const char *text_at(const struct btf *btf, uint32_t offset)
{
	const char *text = btf ? btf__name_by_offset(btf, offset) : NULL;

	return text ? text : "";
}

static const char *function_name(const struct btf *btf, uint32_t type)
{
	const struct btf_type *t = btf ? btf__type_by_id(btf, type) : NULL;

	return t ? text_at(btf, t->name_off) : "";
}

static struct error *take_functions(struct program_code *code, const struct answer *a)
{
	size_t n = a->info.nr_jited_func_lens, at = 0;

	if (a->info.nr_jited_ksyms < n)
		n = a->info.nr_jited_ksyms;
	code->functions = calloc(n + 1, sizeof(*code->functions));
	if (!code->functions)
		return error_memory();
	for (size_t i = 0; i < n && a->lengths[i] <= a->info.jited_prog_len - at; i++) {
		struct program_function *f = &code->functions[i];

		f->name = strdup(i < a->info.nr_func_info
					 ? function_name(code->btf, a->functions[i].type_id)
					 : "");
		if (!f->name)
			return error_memory();
		f->address = a->addresses[i];
		f->bytes = code->bytes + at;
		f->size = a->lengths[i];
		at += f->size;
		code->count++;
	}
	return NULL;
}

static int by_address(const void *left, const void *right)
{
	const struct program_line *a = left, *b = right;

	return SORTED_BY_TWO(a, b, address, instruction);
}

static struct error *take_lines(struct program_code *code, const struct answer *a)
{
	size_t n = a->info.nr_line_info;

	if (!code->btf || !n || a->info.nr_jited_line_info != n)
		return NULL;
	code->lines = calloc(n, sizeof(*code->lines));
	if (!code->lines)
		return error_memory();
	for (size_t i = 0; i < n; i++)
		code->lines[i] = (struct program_line){
			.address = a->line_addresses[i],
			.instruction = a->lines[i].insn_off,
			.file = text_at(code->btf, a->lines[i].file_name_off),
			.line = BPF_LINE_INFO_LINE_NUM(a->lines[i].line_col),
			.text = text_at(code->btf, a->lines[i].line_off),
		};
	code->line_count = n;
	qsort(code->lines, n, sizeof(*code->lines), by_address);
	return NULL;
}

static struct error *read_all(struct answer *a, const struct program *p)
{
	struct bpf_prog_info has = { 0 };
	struct error *error = ask(p, &has);

	if (error)
		return error;
	if (!has.jited_prog_len)
		return error_new(ERROR_UNAVAILABLE,
				 "the kernel has no machine code of it (net.core.bpf_jit_enable), "
				 "or cap_bpf is missing");
	error = make_room(a, &has);
	if (error)
		return error;
	error = ask(p, &a->info);
	/* Where addresses are withheld, so is the code, and its place is 0. */
	if (!error && (!a->info.jited_prog_insns || !a->info.nr_jited_func_lens ||
		       !a->info.nr_jited_ksyms || !a->addresses[0]))
		error = error_new(
			ERROR_UNAVAILABLE,
			"the kernel does not show its machine code: kernel.kptr_restrict, "
			"or cap_syslog is missing");
	return error;
}

struct error *program_code_read(struct program_code *code, const struct program *p)
{
	struct answer a = { 0 };
	struct error *error = read_all(&a, p);

	*code = (struct program_code){ 0 };
	if (!error) {
		code->bytes = a.code;
		a.code = NULL;
		code->btf = a.info.btf_id ? btf__load_from_kernel_by_id(a.info.btf_id) : NULL;
		error = take_functions(code, &a);
	}
	if (!error)
		error = take_lines(code, &a);
	answer_release(&a);
	if (error)
		program_code_release(code);
	return error;
}

void program_code_release(struct program_code *code)
{
	for (size_t i = 0; i < code->count; i++)
		free(code->functions[i].name);
	free(code->functions);
	free(code->lines);
	free(code->bytes);
	btf__free(code->btf);
	*code = (struct program_code){ 0 };
}

const struct program_line *program_code_line(const struct program_code *code, uint64_t address)
{
	size_t n = sorted_up_to(code->lines, code->line_count,
				SORTED_BY(struct program_line, address), address);

	return n ? &code->lines[n - 1] : NULL;
}
