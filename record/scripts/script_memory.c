/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/script_memory.h"

static __thread const struct target_memory *walked;

#define WALK_READ_USER(to, size, from) (!target_read(walked, from, to, size))
#include "bpf/runtimes/php.bpf.h"
#include "bpf/runtimes/python.bpf.h"
#include "bpf/runtimes/ruby.bpf.h"

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

static uint64_t identity_of(struct script_walk *w, const struct script_process *p, uint64_t code)
{
	switch (p->runtime) {
	case SCRIPT_RUBY: return ruby_identity(w, script_ruby(p), code);
	case SCRIPT_PHP: return php_identity(w, script_php(p), code);
	default: return python_identity(w, script_python(p), code);
	}
}

/* What is read of the code object is then in `w`. */
static bool is_still(struct script_walk *w, const struct script_process *p,
		     const struct script_name *name)
{
	uint64_t identity;

	*w = (struct script_walk){ .process = name->process };
	identity = identity_of(w, p, name->code);
	if (!identity || identity >> SCRIPT_POSITION_BITS << SCRIPT_POSITION_BITS != name->cookie)
		return false;
	return p->runtime != SCRIPT_PYTHON || is_alive(script_python(p), name->code);
}

/* Completes the text, of the code object that is in `w`. */
static void find_text(struct script_walk *w, const struct script_process *p,
		      const struct script_name *name, struct script_text *text)
{
	if (p->runtime == SCRIPT_PYTHON && text == &name->table) {
		python_find_table(w, text, text->address);
	} else if (p->runtime == SCRIPT_PYTHON) {
		python_find_text(w, script_python(p), text, text->address);
	} else {
		if (p->runtime == SCRIPT_RUBY)
			ruby_find_texts(w, script_ruby(p));
		else
			php_find_texts(w, script_php(p));
		*text = text == &name->file    ? w->name.file
			: text == &name->table ? w->name.table
					       : w->name.name;
	}
}

size_t script_memory_text(const struct target_memory *memory, const struct script_process *p,
			  const struct script_name *name, struct script_text *text, void *to,
			  size_t most)
{
	struct script_walk w;
	size_t size;

	walked = memory;
	if (!is_still(&w, p, name))
		return 0;
	if (!text->data)
		find_text(&w, p, name, text);
	size = text->bytes < most ? text->bytes : most;
	if (!text->data || !target_read(memory, text->data, to, size))
		return 0;
	return is_still(&w, p, name) ? size : 0;
}
