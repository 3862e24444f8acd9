/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/trace/resolver.h"
#include "record/system/error_status.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define STACK_SLOTS 65536
#define FRAME_SLOTS 32768
#define FRAMES_MAX (MAX_USER_FRAMES + 2 * MAX_KERNEL_FRAMES + 1)

struct known_stack {
	XXH128_hash_t hash;
	uint32_t stack;
};

struct known_frame {
	uint64_t layout, address; /* address with its marks; layout 0: kernel */
	uint32_t generation;	  /* of kernel symbols */
	uint32_t frame;		  /* PRF_NONE: the slot is empty */
};

struct resolver {
	struct resolver_sources sources;
	struct known_stack stacks[STACK_SLOTS];
	struct known_frame frames[FRAME_SLOTS];
};

struct resolver *resolver_new(const struct resolver_sources *sources)
{
	struct resolver *r = malloc(sizeof(*r));

	if (!r)
		return NULL;
	r->sources = *sources;
	resolver_forget(r);
	return r;
}

void resolver_free(struct resolver *r)
{
	free(r);
}

void resolver_forget(struct resolver *r)
{
	memset(r->stacks, 0, sizeof(r->stacks));
	for (size_t i = 0; i < FRAME_SLOTS; i++)
		r->frames[i].frame = PRF_NONE;
}

static int user_place(struct resolver *r, struct prf_writer *w, const struct layout *layout,
		      uint32_t pid, uint64_t address, struct prf_frame *frame)
{
	/* A return address right behind a mapping belongs to the call at its end. */
	uint64_t inside = frame->flags & PRF_FRAME_EXACT ? address : address - 1;
	const struct mapping *mapping = mappings_find(&layout->mappings, inside);
	static const struct prf_object unknown = {
		.kind = PRF_OBJECT_UNKNOWN,
		.path = "[unknown]",
		.root = "",
	};

	frame->offset = address;
	if (!mapping)
		return error_status(prf_writer_object(w, &unknown, &frame->object));
	object_examine(mapping->object, pid, mapping->start, mapping->end);
	switch (mapping->object->definition.kind) {
	case PRF_OBJECT_FILE:
		frame->offset = address - mapping->start + mapping->offset;
		object_hit(mapping->object, inside - mapping->start + mapping->offset);
		break;
	case PRF_OBJECT_VDSO: frame->offset = address - mapping->start; break;
	case PRF_OBJECT_ANONYMOUS:
		frame->object = jit_object(r->sources.jit, pid, inside);
		return frame->object == PRF_NONE ? -ENOMEM : 0;
	default: break;
	}
	return error_status(prf_writer_object(w, &mapping->object->definition, &frame->object));
}

static int resolve_frame(struct resolver *r, struct prf_writer *w, const struct layout *layout,
			 uint32_t pid, uint64_t marked, uint32_t flags, uint32_t *id)
{
	uint64_t layout_id = layout ? layout->id : 0;
	uint64_t slot = (marked ^ layout_id << 40 ^ flags) * UINT64_C(0x9e3779b97f4a7c15);
	struct known_frame *known = &r->frames[slot >> 49];
	uint32_t generation = layout ? 0 : kernel_symbols_generation(r->sources.kernel);
	struct prf_frame frame = { .flags = flags };
	int status;

	if (layout && layout->made_code)
		generation = jit_generation(r->sources.jit) ^ pid * 0x9e3779b9u;
	_Static_assert(FRAME_SLOTS == 1 << 15, "the slot number is the hash's upper 15 bits");
	/* Exactness is part of a user address, and a kernel address is a leaf seldom enough. */
	if (known->frame != PRF_NONE && known->address == marked && known->layout == layout_id &&
	    known->generation == generation && !(flags & PRF_FRAME_EXACT && !layout)) {
		*id = known->frame;
		return 0;
	}
	if (!layout)
		status = kernel_symbols_frame(r->sources.kernel, w, marked, flags, &frame);
	else
		status = user_place(r, w, layout, pid, marked & FRAME_ADDRESS, &frame);
	if (!status)
		status = error_status(prf_writer_frame(w, &frame, id));
	if (!status && !(flags & PRF_FRAME_EXACT && !layout))
		*known = (struct known_frame){ layout_id, marked, generation, *id };
	return status;
}

/* The kernel half's reasons are written to the trace as they are. */
_Static_assert((int)WALK_ROOT == PRF_END_ROOT && (int)WALK_NO_TABLE == PRF_END_NO_TABLE &&
		       (int)WALK_BAD_READ == PRF_END_BAD_READ &&
		       (int)WALK_TOO_DEEP == PRF_END_TOO_DEEP &&
		       (int)WALK_UNSUPPORTED == PRF_END_UNSUPPORTED &&
		       (int)WALK_NO_REGISTERS == PRF_END_NO_REGISTERS &&
		       (int)WALK_NO_MAPPING == PRF_END_NO_MAPPING &&
		       (int)WALK_FRAME_POINTER == PRF_END_FRAME_POINTER,
	       "enum walk_end and enum prf_stack_end have the same values");

static int end_marker(struct prf_writer *w, enum walk_end end, uint32_t *id)
{
	struct prf_frame frame = {
		.object = PRF_NONE,
		.flags = PRF_FRAME_END,
		.offset = end,
	};

	return error_status(prf_writer_frame(w, &frame, id));
}

/* Taken at a switch: the kernel's stack begins with what took it. */
static bool is_wait(const struct resolver *r, const struct sample *s)
{
	return r->sources.events->events[s->event].source == EVENT_SCHEDULER;
}

/* How many of the frames, from the leaf on, only belong to running our program. */
static size_t plumbing(struct resolver *r, const __u64 *addresses, size_t n)
{
	size_t i = 0;

	while (i < n && kernel_symbols_is_plumbing(r->sources.kernel, addresses[i]))
		i++;
	return i;
}

static int kernel_frames(struct resolver *r, struct prf_writer *w, const __u64 *addresses, size_t n,
			 uint32_t *ids)
{
	int status = 0;

	for (size_t i = 0; i < n && !status; i++)
		status = resolve_frame(r, w, NULL, 0, addresses[i],
				       PRF_FRAME_KERNEL | (i ? 0 : PRF_FRAME_EXACT), &ids[i]);
	return status;
}

/* The stack, leaf first: kernel frames, user frames, and why it ends there. */
static int resolve_stack(struct resolver *r, struct prf_writer *w, const struct sample *s,
			 const struct layout *layout, uint32_t *stack)
{
	uint32_t ids[FRAMES_MAX];
	const __u64 *kernel = s->frames + s->user_frames;
	size_t skip = is_wait(r, s) ? plumbing(r, kernel, s->kernel_frames) : 0;
	size_t n = s->kernel_frames - skip;
	int status = kernel_frames(r, w, kernel + skip, n, ids);

	for (size_t i = 0; i < s->user_frames && !status; i++) {
		uint64_t address = s->frames[i];
		uint32_t flags = (address & FRAME_EXACT ? PRF_FRAME_EXACT : 0) |
				 (address & FRAME_GUESSED ? PRF_FRAME_GUESSED : 0);

		status = resolve_frame(r, w, layout, s->pid, address, flags, &ids[n++]);
	}
	if (!status && s->walk_end != WALK_ROOT && s->walk_end != WALK_NO_USER_STACK)
		status = end_marker(w, s->walk_end, &ids[n++]);
	return status ? status : error_status(prf_writer_frames(w, ids, n, stack));
}

static int find_stack(struct resolver *r, struct prf_writer *w, const struct sample *s,
		      uint32_t *stack)
{
	const struct layout *layout = spaces_layout(r->sources.spaces, s->pid);
	uint64_t seed = layout->id * UINT64_C(0x9e3779b97f4a7c15) ^
			(uint64_t)kernel_symbols_generation(r->sources.kernel) << 40 ^
			(layout->made_code
				 ? (uint64_t)jit_set_sample(r->sources.jit, s->pid, s->time_ns)
						   << 32 ^
					   s->pid * UINT64_C(0xff51afd7ed558ccd)
				 : 0) ^
			(uint64_t)is_wait(r, s) << 63 ^ (uint64_t)s->walk_end << 32 ^
			(uint64_t)s->user_frames << 16 ^ s->kernel_frames;
	XXH128_hash_t hash = XXH3_128bits_withSeed(
		s->frames, (sample_words(s) - s->waker_frames) * sizeof(s->frames[0]), seed);
	struct known_stack *known = &r->stacks[hash.low64 % STACK_SLOTS];
	int status;

	if (XXH128_isEqual(known->hash, hash)) {
		*stack = known->stack;
		return 0;
	}
	status = resolve_stack(r, w, s, layout, stack);
	if (!status)
		*known = (struct known_stack){ hash, *stack };
	return status;
}

/* How many of the frames belong to an interrupt; 0: there was none. */
static size_t interrupted(struct resolver *r, const __u64 *addresses, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (kernel_symbols_is_interrupt(r->sources.kernel, addresses[i]))
			return i + 1;
	return 0;
}

/* Who ended the wait: a task, or an interrupt, which is not the doing of the task below it. */
static int find_waker(struct resolver *r, struct prf_writer *w, const struct sample *s,
		      struct prf_sample *sample)
{
	const __u64 *waker = s->frames + sample_words(s) - s->waker_frames;
	size_t skip = plumbing(r, waker, s->waker_frames), n = s->waker_frames - skip, by_interrupt;
	uint32_t ids[FRAMES_MAX];
	int status;

	if (!n)
		return 0;
	by_interrupt = interrupted(r, waker + skip, n);
	if (by_interrupt)
		n = by_interrupt;
	status = kernel_frames(r, w, waker + skip, n, ids);
	if (!status)
		status = error_status(prf_writer_frames(w, ids, n, &sample->waker));
	/* Where the stack was cut off, an interrupt may have been below. */
	if (!status && !by_interrupt && s->waker_frames < WAKER_FRAMES && s->waker_tid)
		status = tasks_define(r->sources.tasks, w, s->waker_pid, s->waker_tid,
				      &sample->waker_task);
	return status;
}

/* All that the counts promise must be there. */
static bool is_sample(const struct sample *s, size_t size)
{
	if (size < sizeof(*s))
		return false;
	if (s->user_frames > MAX_USER_FRAMES || s->kernel_frames > MAX_KERNEL_FRAMES ||
	    s->script_frames > MAX_SCRIPT_FRAMES || s->waker_frames > WAKER_FRAMES)
		return false;
	return size == sizeof(*s) + sample_words(s) * sizeof(s->frames[0]);
}

bool resolver_sample(struct resolver *r, struct prf_writer *w, const uint32_t *events,
		     size_t event_count, const void *data, size_t size, int *status)
{
	const struct sample *s = data;
	struct prf_sample sample = { .stack = PRF_NONE, .waker = PRF_NONE, .waker_task = PRF_NONE };

	*status = 0;
	if (!is_sample(s, size) || s->event >= event_count)
		return false;
	sample.time_ns = s->time_ns;
	sample.event = events[s->event];
	sample.cpu = s->cpu;
	sample.weight = s->weight;
	*status = tasks_define(r->sources.tasks, w, s->pid, s->tid, &sample.task);
	if (!*status)
		*status = find_stack(r, w, s, &sample.stack);
	if (!*status)
		*status = find_waker(r, w, s, &sample);
	if (!*status)
		*status = error_status(prf_writer_sample(w, &sample));
	return true;
}
