/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/java/hotspot.h"

#include <string.h>

#include "record/runtimes/target_blocks.h"

#define CODELETS_MAX 4096
#define CODELET_ALIGNMENT 8
#define CODE_CACHE_MAX (UINT64_C(1) << 32)

static uint64_t field(const struct hotspot *h, enum hotspot_field name)
{
	return h->tables.fields[name];
}

static bool has(const struct hotspot *h, enum hotspot_field name)
{
	return h->tables.fields[name] != HOTSPOT_MISSING;
}

/* Its virtual machine has a version number of its own, 25. */
static bool is_jdk_8(const struct hotspot *h)
{
	return has(h, CODE_CACHE_HEAP);
}

static bool read_pointer(const struct hotspot *h, uint64_t object, enum hotspot_field name,
			 uint64_t *value)
{
	return target_u64(&h->memory, object + field(h, name), value);
}

static uint64_t read_static(const struct hotspot *h, enum hotspot_field name)
{
	uint64_t value = 0;

	target_u64(&h->memory, field(h, name), &value);
	return value;
}

/* -------- the code cache -------- */

struct heap {
	uint64_t low, high, segmap;
	uint32_t shift;
};

static bool read_heap(const struct hotspot *h, uint64_t address, struct heap *heap)
{
	uint64_t memory = address + field(h, CODE_HEAP_MEMORY);
	uint64_t segmap = address + field(h, CODE_HEAP_SEGMAP);

	return read_pointer(h, memory, VIRTUAL_SPACE_LOW, &heap->low) &&
	       read_pointer(h, memory, VIRTUAL_SPACE_HIGH, &heap->high) &&
	       read_pointer(h, segmap, VIRTUAL_SPACE_LOW, &heap->segmap) &&
	       target_u32(&h->memory, address + field(h, CODE_HEAP_SHIFT), &heap->shift) &&
	       heap->low && heap->high > heap->low && heap->shift >= 3 && heap->shift < 16;
}

/* Puts it where it belongs by its address. */
static void insert_heap(struct hotspot_process *p, unsigned int count, const struct heap *heap)
{
	unsigned int at = count;

	for (; at > 0 && p->low[at - 1] > heap->low; at--) {
		p->low[at] = p->low[at - 1];
		p->segmaps[at] = p->segmaps[at - 1];
	}
	p->low[at] = heap->low;
	p->segmaps[at] = heap->segmap;
	if (heap->high > p->high)
		p->high = heap->high;
}

/* JDK 8 has one. */
static enum hotspot_state read_only_heap(struct hotspot *h)
{
	struct heap heap;

	if (!read_heap(h, read_static(h, CODE_CACHE_HEAP), &heap))
		return HOTSPOT_NOT_YET;
	insert_heap(&h->process, 0, &heap);
	h->process.segment_shift = (uint8_t)heap.shift;
	return HOTSPOT_READY;
}

static enum hotspot_state read_heaps(struct hotspot *h, const char **why)
{
	struct hotspot_process *p = &h->process;
	uint64_t heaps = read_static(h, CODE_CACHE_HEAPS), list, address;
	struct heap heap;
	uint32_t count;

	if (!heaps || !target_u32(&h->memory, heaps + field(h, ARRAY_LENGTH), &count) || !count ||
	    !read_pointer(h, heaps, ARRAY_DATA, &list))
		return HOTSPOT_NOT_YET;
	*why = "its code cache has more heaps than are understood";
	if (count > HOTSPOT_HEAPS)
		return HOTSPOT_REFUSED;
	for (uint32_t i = 0; i < count; i++) {
		if (!target_u64(&h->memory, list + 8 * i, &address) ||
		    !read_heap(h, address, &heap))
			return HOTSPOT_NOT_YET;
		insert_heap(p, i, &heap);
		p->segment_shift = (uint8_t)heap.shift;
	}
	return HOTSPOT_READY;
}

static enum hotspot_state read_code_cache(struct hotspot *h, const char **why)
{
	enum hotspot_state state = is_jdk_8(h) ? read_only_heap(h) : read_heaps(h, why);

	if (state != HOTSPOT_READY)
		return state;
	*why = "its code cache makes no sense";
	return h->process.high - h->process.low[0] > CODE_CACHE_MAX ? HOTSPOT_REFUSED
								    : HOTSPOT_READY;
}

/* -------- the interpreter -------- */

static void extend(struct hotspot_piece *piece, uint32_t start, uint32_t size)
{
	if (!piece->size)
		piece->start = start;
	piece->size = start + size - piece->start;
}

/*
 * The interpreter is a row of codelets. Those of the method entries stand together: they run
 * before a method has its frame. Some entries are routines of mathematics or checksums, which call
 * a stub and have no frame at all.
 */
static void take_codelet(struct hotspot_process *p, const char *what, struct hotspot_piece at)
{
	const char *kind = strstr(what, "method entry point (kind = ");

	if (!kind)
		return;
	kind += strlen("method entry point (kind = ");
	extend(&p->entries, at.start, at.size);
	if (!strncmp(kind, "zerolocals", strlen("zerolocals")))
		extend(&p->framed, at.start, at.size);
	else if (!strncmp(kind, "native", strlen("native")))
		extend(&p->framed_native, at.start, at.size);
}

/* The interpreter's row of codelets. */
struct codelets {
	uint64_t buffer;
	uint32_t at, last; /* in it: the next one, and their end */
	bool bytecodes;	   /* seen: that of a bytecode */
};

static bool read_codelets(struct hotspot *h, const struct target_memory *memory, struct codelets *c)
{
	uint64_t description;
	uint32_t size = 0;
	char text[64];

	for (unsigned int i = 0; i < CODELETS_MAX && c->at < c->last; i++, c->at += size) {
		uint64_t codelet = c->buffer + c->at;

		if (!target_u64(memory, codelet + field(h, CODELET_DESCRIPTION), &description) ||
		    !target_u32(memory, codelet + field(h, CODELET_SIZE), &size) ||
		    size < CODELET_ALIGNMENT || size > c->last - c->at)
			return false;
		/* A long one is cut. */
		if (!target_text(memory, description, text, sizeof(text)) &&
		    !target_read(memory, description, text, sizeof(text) - 1))
			text[0] = 0;
		text[sizeof(text) - 1] = 0;
		c->bytecodes |= !strncmp(text, "nop", 4);
		take_codelet(&h->process, text, (struct hotspot_piece){ c->at, size });
	}
	return true;
}

/* There are hundreds of them, and all of their texts lie together. */
static bool read_codelets_at_once(struct hotspot *h, struct codelets *c)
{
	struct target_blocks *blocks = target_blocks_new(&h->memory);
	struct target_memory memory;
	bool all;

	if (!blocks)
		return false;
	memory = target_blocks_memory(blocks);
	all = read_codelets(h, &memory, c);
	target_blocks_free(blocks);
	return all;
}

static enum hotspot_state read_interpreter(struct hotspot *h, const char **why)
{
	uint64_t queue = read_static(h, INTERPRETER_CODE);
	struct hotspot_process *p = &h->process;
	struct codelets c = { 0 };

	if (!queue || !read_pointer(h, queue, STUB_QUEUE_BUFFER, &c.buffer) || !c.buffer ||
	    !target_u32(&h->memory, queue + field(h, STUB_QUEUE_BEGIN), &c.at) ||
	    !target_u32(&h->memory, queue + field(h, STUB_QUEUE_END), &c.last) ||
	    !read_codelets_at_once(h, &c))
		return HOTSPOT_NOT_YET;
	/* The interpreter is complete once its last codelets are there, those of deoptimization. */
	if (!p->entries.size || !c.bytecodes || !c.last)
		return HOTSPOT_NOT_YET;
	*why = "its interpreter is not in the code cache";
	if (c.buffer < p->low[0] || c.buffer + c.last > p->high)
		return HOTSPOT_REFUSED;
	p->interpreter = c.buffer;
	p->interpreter_size = c.last;
	return HOTSPOT_READY;
}

/* -------- the layout of its structures -------- */

/* For a field of 8 or 16 bits of struct hotspot_process. */
static bool take(struct hotspot *h, enum hotspot_field name, uint64_t limit, void *to)
{
	uint64_t value = field(h, name);

	if (value > limit) {
		h->tables.missing = hotspot_field_name(name);
		return false;
	}
	if (limit <= UINT8_MAX)
		*(uint8_t *)to = (uint8_t)value;
	else
		*(uint16_t *)to = (uint16_t)value;
	return true;
}

#define HEAD (128 - 8) /* of what the kernel half reads of a CodeBlob, room for one word */

static bool take_blob(struct hotspot *h)
{
	struct hotspot_process *p = &h->process;
	bool addresses = has(h, BLOB_CODE_BEGIN) && has(h, BLOB_CODE_END) &&
			 has(h, NMETHOD_DEOPT_HANDLER);

	enum hotspot_field deopt = addresses ? NMETHOD_DEOPT_HANDLER : NMETHOD_DEOPT_OFFSET;

	if (!addresses)
		p->flags |= HOTSPOT_OFFSETS;
	if (has(h, NMETHOD_DEOPT_ENTRY)) {
		p->flags |= HOTSPOT_ONE_HANDLER;
		deopt = NMETHOD_DEOPT_ENTRY;
	}
	if (h->tables.short_frame_complete)
		p->flags |= HOTSPOT_SHORT_COMPLETE;
	return take(h, BLOB_NAME, HEAD, &p->name) &&
	       take(h, BLOB_FRAME_SIZE, HEAD, &p->frame_size) &&
	       take(h, BLOB_FRAME_COMPLETE, HEAD, &p->frame_complete) &&
	       take(h, addresses ? BLOB_CODE_BEGIN : BLOB_CODE_OFFSET, HEAD, &p->code_begin) &&
	       take(h, addresses ? BLOB_CODE_END : BLOB_DATA_OFFSET, HEAD, &p->code_end) &&
	       take(h, deopt, UINT16_MAX, &p->deopt_handler) &&
	       take(h, NMETHOD_COMPILE_ID, UINT16_MAX, &p->compile_id) &&
	       take(h, NMETHOD_ORIG_PC, UINT16_MAX, &p->orig_pc);
}

/* Where a symbol has its length, in the first word. The reference count is beside it. */
static bool take_symbols(struct hotspot *h)
{
	struct hotspot_process *p = &h->process;

	if (has(h, SYMBOL_LENGTH) && (field(h, SYMBOL_LENGTH) == 4 || !field(h, SYMBOL_LENGTH)))
		p->symbol_length_shift = (uint8_t)(8 * field(h, SYMBOL_LENGTH));
	else if (has(h, SYMBOL_LENGTH_AND_REFCOUNT) && !field(h, SYMBOL_LENGTH_AND_REFCOUNT))
		p->symbol_length_shift = 16;
	else
		return take(h, SYMBOL_LENGTH, 0, &p->symbol_length_shift);
	return take(h, SYMBOL_BODY, 8, &p->symbol_body);
}

static bool take_methods(struct hotspot *h)
{
	struct hotspot_process *p = &h->process;

	if (h->tables.sizes[SIZE_CONST_METHOD] > UINT8_MAX ||
	    h->tables.sizes[SIZE_CONSTANTS] > UINT8_MAX ||
	    h->tables.sizes[SIZE_HEAP_BLOCK] > UINT8_MAX)
		return false;
	p->const_method_size = (uint8_t)h->tables.sizes[SIZE_CONST_METHOD];
	p->pool_size = (uint8_t)h->tables.sizes[SIZE_CONSTANTS];
	p->block_header = (uint8_t)h->tables.sizes[SIZE_HEAP_BLOCK];
	p->bcp = is_jdk_8(h) ? -7 : -8;
	return take_symbols(h) && take(h, METHOD_CONST_METHOD, UINT8_MAX, &p->const_method) &&
	       take(h, CONST_METHOD_CONSTANTS, UINT8_MAX, &p->constants) &&
	       take(h, CONST_METHOD_NAME, UINT8_MAX, &p->name_index) &&
	       take(h, CONSTANTS_HOLDER, UINT8_MAX, &p->holder) &&
	       take(h, KLASS_NAME, UINT8_MAX, &p->klass_name);
}

bool hotspot_init(struct hotspot *h, const struct target_memory *memory,
		  const struct elf_file *libjvm, uint64_t bias)
{
	*h = (struct hotspot){ .memory = *memory, .bias = bias };
	return hotspot_tables_find(&h->exports, libjvm);
}

enum hotspot_state hotspot_attach(struct hotspot *h, const char **why)
{
	enum hotspot_state state;

	if (!h->tables_known) {
		*why = hotspot_tables_read(&h->tables, &h->memory, &h->exports, h->bias);
		if (*why)
			return HOTSPOT_NOT_YET;
		h->tables_known = true;
	}
	h->process = (struct hotspot_process){ 0 };
	target_u32(&h->memory, field(h, VM_MAJOR_VERSION), &h->version);
	if (is_jdk_8(h))
		h->version = 8;
	*why = "its structures are laid out in a way that is not understood";
	if (!take_blob(h) || !take_methods(h))
		return HOTSPOT_REFUSED;
	*why = "it makes no code";
	state = read_code_cache(h, why);
	if (state == HOTSPOT_READY)
		state = read_interpreter(h, why);
	if (state != HOTSPOT_READY)
		return state;
	h->process.call_stub_return = read_static(h, CALL_STUB_RETURN);
	return h->process.call_stub_return ? HOTSPOT_READY : HOTSPOT_NOT_YET;
}
