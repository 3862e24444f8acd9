/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/python_memory.h"

static __thread const struct target_memory *walked;

#define WALK_READ_USER(to, size, from) (!target_read(walked, from, to, size))
#include "bpf/runtimes/python.bpf.h"

/*
 * A code object that was freed keeps what identifies it until its memory is used again, while its
 * texts may be overwritten already. But its count of references is 0 then, or the allocator has
 * stored a pointer there or at the type.
 */
static bool is_alive(const struct python_process *p, uint64_t code)
{
	uint64_t head[2];

	return target_read(walked, code, head, sizeof(head)) && (uint32_t)head[0] &&
	       !(head[0] >> 32 & 0xffff) && head[1] == p->code_type;
}

static bool is_still(const struct python_process *p, const struct script_name *name)
{
	struct python_walk w = { .process = name->process };
	uint64_t identity = python_identity(&w, p, name->code);

	return identity >> SCRIPT_POSITION_BITS << SCRIPT_POSITION_BITS == name->cookie &&
	       is_alive(p, name->code);
}

size_t python_memory_text(const struct target_memory *memory, const struct python_process *p,
			  const struct script_name *name, struct script_text *text, void *to,
			  size_t most)
{
	struct python_walk w = { 0 };
	size_t size;

	walked = memory;
	if (!is_still(p, name))
		return 0;
	if (!text->data && text == &name->table)
		python_find_table(&w, text, text->address);
	else if (!text->data)
		python_find_text(&w, p, text, text->address);
	size = text->bytes < most ? text->bytes : most;
	if (!text->data || !target_read(memory, text->data, to, size))
		return 0;
	return is_still(p, name) ? size : 0;
}
