/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/trace/resolver.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "bpf/abi/runtimes.h"
#include "common/hash_seed.h"
#include "record/system/opener.h"

#define STACK_SLOTS 65536
#define FRAME_SLOTS 32768
#define FRAMES_MAX (2 * SCRIPT_MERGE_MAX + 2 * MAX_KERNEL_FRAMES + 2)

struct known_stack {
	XXH128_hash_t hash; /* see stack_hash() */
	uint32_t stack;
	uint32_t match; /* enum script_match, when it has frames of a script */
};

/* Whose addresses are resolved, and the generation of the names. */
struct owner {
	const struct layout *layout; /* NULL: the kernel */
	uint64_t layout_id;	     /* 0: the kernel */
	uint32_t pid;		     /* 0 for the kernel */
	uint32_t made_pid;   /* the same if the layout has made code; else processes agree */
	uint32_t generation; /* of made code's names, or of kernel symbols */
};

struct known_frame {
	uint64_t layout, address; /* address with its marks; layout 0: kernel */
	uint32_t made_pid, generation;
	uint32_t number; /* of the frame, plus one; 0: the slot is empty */
};

struct resolver {
	struct resolver_sources sources;
	const struct trace_file *trace;
	uint64_t matches[SCRIPT_RUNTIMES][SCRIPT_MATCHES]; /* of the trace's samples */
	struct script_merged merged[SCRIPT_MERGE_MAX];
	uint64_t seed;	       /* of the hashes of stacks */
	size_t unmapped;       /* frames of the current stack where more made code may be mapped */
	bool knows;	       /* something is in the two tables below */
	bool late;	       /* known frames are of files that have not answered yet, */
	uint64_t late_answers; /* since there were so many answers: see opener_answers() */
	struct known_stack stacks[STACK_SLOTS];
	struct known_frame frames[FRAME_SLOTS];
};

struct resolver *resolver_new(const struct resolver_sources *sources)
{
	struct resolver *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->sources = *sources;
	r->seed = hash_seed();
	return r;
}

void resolver_free(struct resolver *r)
{
	free(r);
}

/* The tables are large: at the start they are empty, and no page of theirs is touched. */
static void forget_known(struct resolver *r)
{
	if (r->knows) {
		memset(r->stacks, 0, sizeof(r->stacks));
		memset(r->frames, 0, sizeof(r->frames));
	}
	r->knows = r->late = false;
}

void resolver_begin(struct resolver *r, const struct trace_file *trace)
{
	r->trace = trace;
	memset(r->matches, 0, sizeof(r->matches));
	forget_known(r);
	if (r->sources.scripts && trace)
		script_names_set_writer(scripts_names(r->sources.scripts), trace->writer);
}

/* -------- frames -------- */

static struct owner owner_of(struct resolver *r, const struct sample *s)
{
	struct owner owner = {
		.layout = spaces_layout(r->sources.spaces, s->pid),
		.pid = s->pid,
	};

	owner.layout_id = owner.layout->id;
	if (owner.layout->made_code) {
		owner.made_pid = s->pid;
		owner.generation = jit_set_sample(r->sources.jit, s->pid, s->time_ns);
	}
	return owner;
}

/* If the file is late, frames in it are resolved once more when it may have answered. */
static void examine(struct resolver *r, uint32_t pid, const struct mapping *m)
{
	object_examine(pid, m);
	if (m->object->late && !r->late)
		r->late_answers = m->object->late_answers;
	r->late |= m->object->late;
}

/* Sets object and offset of a user address from what is mapped there. */
static struct error *user_place(struct resolver *r, const struct owner *owner,
				struct prf_frame *frame)
{
	static const struct prf_object unknown = {
		.kind = PRF_OBJECT_UNKNOWN,
		.path = "[unknown]",
		.root = "",
	};
	uint64_t address = frame->offset;
	/* A call may be the last instruction of a mapping: then its return address lies outside. */
	uint64_t inside = frame->flags & PRF_FRAME_EXACT ? address : address - 1;
	const struct mapping *m = mappings_find(&owner->layout->mappings, inside);
	const struct prf_object *object = m ? &m->object->definition : &unknown;

	if (m)
		examine(r, owner->pid, m);
	else
		r->unmapped += owner->layout->made_code;
	if (object->kind == PRF_OBJECT_ANONYMOUS)
		return jit_object(r->sources.jit, owner->pid, inside, &frame->object);
	if (object->kind == PRF_OBJECT_FILE) {
		frame->offset = address - m->start + m->offset;
		code_hits_add(&m->object->hits, inside - m->start + m->offset);
	} else if (object->kind == PRF_OBJECT_VDSO) {
		frame->offset = address - m->start;
	}
	return prf_writer_object(r->trace->writer, object, &frame->object);
}

static struct error *define_frame(struct resolver *r, const struct owner *owner,
				  struct prf_frame *frame, uint32_t *id)
{
	struct prf_writer *w = r->trace->writer;
	struct error *error;

	if (owner->layout)
		error = user_place(r, owner, frame);
	else
		error = kernel_symbols_frame(r->sources.kernel, w, frame->offset, frame);
	return error ? error : prf_writer_frame(w, frame, id);
}

/*
 * Whether what was resolved just now belongs to the generation that it began with. It does not
 * where a frame was the first one to ask about its process's made code.
 */
static bool is_of_generation(const struct resolver *r, const struct owner *owner)
{
	return !owner->made_pid || jit_generation(r->sources.jit) == owner->generation;
}

static struct known_frame *frame_slot(struct resolver *r, uint64_t layout, uint64_t address)
{
	_Static_assert(FRAME_SLOTS == 1 << 15, "the slot number is the hash's upper 15 bits");
	return &r->frames[((address ^ layout << 40) * UINT64_C(0x9e3779b97f4a7c15)) >> 49];
}

/* Defines a frame that is not known, and remembers it. */
static __attribute__((noinline)) struct error *
new_frame(struct resolver *r, const struct owner *owner, uint64_t address, uint32_t *id)
{
	struct prf_frame frame = { .offset = address };
	size_t unmapped = r->unmapped;
	struct error *error;

	if (owner->layout) {
		frame.offset = address & FRAME_ADDRESS;
		frame.flags = (address & FRAME_EXACT ? PRF_FRAME_EXACT : 0) |
			      (address & FRAME_GUESSED ? PRF_FRAME_GUESSED : 0);
	} else {
		frame.flags = PRF_FRAME_KERNEL;
	}
	error = define_frame(r, owner, &frame, id);
	if (!error && r->unmapped == unmapped && is_of_generation(r, owner))
		*frame_slot(r, owner->layout_id, address) = (struct known_frame){
			.layout = owner->layout_id,
			.address = address,
			.made_pid = owner->made_pid,
			.generation = owner->generation,
			.number = *id + 1,
		};
	r->knows = true;
	return error;
}

/*
 * The frame of an address, a user's with its marks. Nearly all are known, so this part has to be
 * short; a kernel's exact address has no room for a mark and does not come here.
 */
static inline struct error *resolve_frame(struct resolver *r, const struct owner *owner,
					  uint64_t address, uint32_t *id)
{
	const struct known_frame *known = frame_slot(r, owner->layout_id, address);

	if (known->address == address && known->layout == owner->layout_id &&
	    known->made_pid == owner->made_pid && known->generation == owner->generation &&
	    known->number) {
		*id = known->number - 1;
		return NULL;
	}
	return new_frame(r, owner, address, id);
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

static struct error *end_marker(struct resolver *r, enum walk_end end, uint32_t *id)
{
	struct prf_frame frame = {
		.object = PRF_NONE,
		.flags = PRF_FRAME_END,
		.offset = end,
	};

	return prf_writer_frame(r->trace->writer, &frame, id);
}

/* -------- stacks -------- */

/* A stack, as far as it is resolved. */
struct frames {
	uint32_t ids[FRAMES_MAX]; /* leaf first */
	size_t n;
};

/*
 * Whether the sample was taken at a context switch: its kernel stack begins with frames of our
 * program.
 */
static bool is_wait(const struct resolver *r, const struct sample *s)
{
	return r->sources.events->events[s->event].source == EVENT_SCHEDULER;
}

/* Number of leaf frames that only belong to running our BPF program. */
static size_t plumbing(struct resolver *r, const __u64 *addresses, size_t n)
{
	size_t i = 0;

	while (i < n && kernel_symbols_is_plumbing(r->sources.kernel, addresses[i]))
		i++;
	return i;
}

/* The leaf. It is not remembered, as its address would need a mark to tell it from a caller's. */
static struct error *exact_kernel_frame(struct resolver *r, uint64_t address, uint32_t *id)
{
	const struct owner kernel = { .layout = NULL };
	struct prf_frame frame = { .flags = PRF_FRAME_KERNEL | PRF_FRAME_EXACT, .offset = address };

	return define_frame(r, &kernel, &frame, id);
}

static struct error *kernel_frames(struct resolver *r, const __u64 *addresses, size_t n,
				   struct frames *to)
{
	const struct owner owner = { .generation = kernel_symbols_generation(r->sources.kernel) };
	struct error *error = NULL;

	for (size_t i = 0; i < n && !error; i++)
		error = i ? resolve_frame(r, &owner, addresses[i], &to->ids[to->n++])
			  : exact_kernel_frame(r, addresses[i], &to->ids[to->n++]);
	return error;
}

/* A sample's stack that is not known, on its way. */
struct new_stack {
	const struct owner *owner;
	const struct sample *sample;
	struct frames frames;
	bool settled; /* all frames have the names that they will have */
	enum script_match match;
};

/*
 * By the runtime, which knows best: names of a perf map may be of other code at the same place.
 * PRF_NONE: it has no name for the frame.
 */
static struct error *runtime_frame(struct resolver *r, struct new_stack *new, uint64_t address,
				   const struct script_frame *script, uint32_t *id)
{
	const struct java_question question = { .pid = new->sample->pid,
						.time_ns = new->sample->time_ns,
						.frame = script,
						.exact = address &FRAME_EXACT };

	*id = PRF_NONE;
	if (new->sample->script_runtime == SCRIPT_HOTSPOT && r->sources.java)
		return java_frame(r->sources.java, &question, id);
	if (new->sample->script_runtime == SCRIPT_V8 && r->sources.javascript)
		return javascript_frame(
			r->sources.javascript,
			&(struct javascript_question){ .pid = new->sample->pid,
						       .frame = script,
						       .address = address &FRAME_ADDRESS,
						       .exact = address &FRAME_EXACT },
			id, &new->settled);
	return NULL;
}

/* Resolves a user frame; a runtime's has details, `script`. */
static struct error *user_frame(struct resolver *r, struct new_stack *new, uint64_t address,
				const struct script_frame *script)
{
	uint32_t *id = &new->frames.ids[new->frames.n++];

	if (script) {
		struct error *error = runtime_frame(r, new, address, script, id);

		if (error || *id != PRF_NONE)
			return error;
	}
	return resolve_frame(r, new->owner,
			     address & ~(FRAME_SCRIPT | FRAME_EVALUATES | FRAME_LOOP_PART), id);
}

/*
 * With -X perf, CPython calls each function through a trampoline made for it, so that perf sees a
 * name. Where the function itself is shown, the trampoline is left out.
 */
static bool is_trampoline(const struct new_stack *new, uint64_t address)
{
	const struct owner *owner = new->owner;
	bool may_be = new->sample->script_runtime == SCRIPT_PYTHON && owner->layout->made_code;
	const struct mapping *m = may_be ? mappings_find(&owner->layout->mappings,
							 (address & FRAME_ADDRESS) - 1)
					 : NULL;

	return m && m->object->definition.kind == PRF_OBJECT_ANONYMOUS;
}

/* Merges user frames with the runtime's list of frames. */
static struct error *merged_frames(struct resolver *r, struct new_stack *new)
{
	size_t n = script_merge(new->sample, r->sources.keep_interpreter, r->merged, &new->match);
	struct frames *to = &new->frames;
	struct error *error = NULL;
	bool known;

	for (size_t i = 0; i < n && !error; i++) {
		const struct script_merged *m = &r->merged[i];

		if (m->script) {
			error = script_names_frame(scripts_names(r->sources.scripts), m->script,
						   &to->ids[to->n++], &known);
			new->settled &= known;
		} else if (!i || !r->merged[i - 1].replaces || !is_trampoline(new, m->native)) {
			error = user_frame(r, new, m->native, NULL);
		}
	}
	return error;
}

/* Resolves user frames of which some belong to a runtime. */
static struct error *inline_frames(struct resolver *r, struct new_stack *new)
{
	const struct sample *s = new->sample;
	const struct script_frame *script =
		(const void *)(s->frames + s->user_frames + s->kernel_frames);
	const struct script_frame *end = script + s->script_frames;
	struct error *error = NULL;

	for (size_t i = 0; i < s->user_frames && !error; i++) {
		bool is_script = script < end && s->frames[i] & FRAME_SCRIPT;

		error = user_frame(r, new, s->frames[i], is_script ? script++ : NULL);
	}
	return error;
}

static struct error *user_frames(struct resolver *r, struct new_stack *new)
{
	const struct sample *s = new->sample;
	bool merge = script_has_list(s->script_runtime) && r->sources.scripts;
	struct error *error;

	if (s->script_frames && r->sources.names.ring)
		name_ring_read(&r->sources.names);
	error = merge ? merged_frames(r, new) : inline_frames(r, new);
	if (!error && s->walk_end != WALK_ROOT && s->walk_end != WALK_NO_USER_STACK)
		error = end_marker(r, s->walk_end, &new->frames.ids[new->frames.n++]);
	return error;
}

static struct error *define_stack(struct resolver *r, const struct frames *frames, uint32_t *stack)
{
	return prf_writer_frames(r->trace->writer, frames->ids, frames->n, stack);
}

static bool waits_for_lock(const struct resolver *r, const struct sample *s)
{
	return is_wait(r, s) && s->state && s->script_flags & SCRIPT_WAITS && r->sources.scripts;
}

/* What it waits for, kernel frames, user frames, and why the user stack ends there. */
static struct error *resolve_stack(struct resolver *r, struct new_stack *new, uint32_t *stack)
{
	const struct sample *s = new->sample;
	const __u64 *kernel = s->frames + s->user_frames;
	size_t skip = is_wait(r, s) ? plumbing(r, kernel, s->kernel_frames) : 0;
	struct error *error = NULL;

	if (waits_for_lock(r, s))
		error = script_names_waiting(scripts_names(r->sources.scripts),
					     &new->frames.ids[new->frames.n++]);
	if (!error)
		error = kernel_frames(r, kernel + skip, s->kernel_frames - skip, &new->frames);
	if (!error)
		error = user_frames(r, new);
	return error ? error : define_stack(r, &new->frames, stack);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

/*
 * Of all that a resolved stack depends on: the addresses of its frames; and as the seed, mixed so
 * that no two parts can make up for each other, what the same addresses stand for. And of a secret:
 * who could make a stack of the same hash would put its names into others' stacks.
 */
static XXH128_hash_t stack_hash(const struct resolver *r, const struct owner *owner,
				const struct sample *s)
{
	uint64_t counts = s->user_frames | (uint64_t)s->kernel_frames << 16 |
			  (uint64_t)s->script_frames << 32;
	uint64_t seed = mix(r->seed ^ owner->layout->id, counts);

	seed = mix(seed, (uint64_t)kernel_symbols_generation(r->sources.kernel) << 32 |
				 owner->generation);
	seed = mix(seed, (uint64_t)owner->made_pid << 32 | (uint64_t)s->walk_end << 2 |
				 (uint64_t)waits_for_lock(r, s) << 1 | is_wait(r, s));
	return XXH3_128bits_withSeed(
		s->frames, (sample_words(s) - s->waker_frames) * sizeof(s->frames[0]), seed);
}

static struct error *find_stack(struct resolver *r, const struct sample *s, uint32_t *stack)
{
	struct owner owner = owner_of(r, s);
	XXH128_hash_t hash = stack_hash(r, &owner, s);
	struct known_stack *known = &r->stacks[hash.low64 % STACK_SLOTS];
	struct new_stack new;
	struct error *error;

	if (XXH128_isEqual(known->hash, hash)) {
		*stack = known->stack;
		r->matches[s->script_runtime][known->match]++;
		return NULL;
	}
	/* Not by an initializer, which would clear the room for all frames. */
	new.owner = &owner;
	new.sample = s;
	new.frames.n = 0;
	new.settled = true;
	new.match = SCRIPT_NO_LIST;
	r->unmapped = 0;
	error = resolve_stack(r, &new, stack);
	if (!error && new.settled && !r->unmapped && is_of_generation(r, &owner))
		*known = (struct known_stack){ hash, *stack, new.match };
	r->knows = true;
	r->matches[s->script_runtime][new.match]++;
	return error;
}

/* -------- wakers -------- */

/* Number of leaf frames that belong to an interrupt; 0: none. */
static size_t interrupted(struct resolver *r, const __u64 *addresses, size_t n)
{
	size_t i = 0;

	while (i < n && !kernel_symbols_is_interrupt(r->sources.kernel, addresses[i]))
		i++;
	if (i == n)
		return 0;
	while (i < n && kernel_symbols_is_interrupt(r->sources.kernel, addresses[i]))
		i++;
	return i;
}

/*
 * Finds what ended the wait: a task, or an interrupt, in which case the interrupted task had no
 * part in it.
 */
static struct error *find_waker(struct resolver *r, const struct sample *s,
				struct prf_sample *sample)
{
	const __u64 *waker = s->frames + sample_words(s) - s->waker_frames;
	size_t skip = plumbing(r, waker, s->waker_frames), n = s->waker_frames - skip, by_interrupt;
	const struct sample *giver = (const void *)(s->frames + sample_words(s));
	struct owner owner;
	struct new_stack new;
	struct error *error;
	bool by_thread;

	if (!n)
		return NULL;
	by_interrupt = interrupted(r, waker + skip, n);
	if (by_interrupt)
		n = by_interrupt;
	/* If the waker's stack was truncated, an interrupt may be below the cut. */
	by_thread = !by_interrupt && s->waker_frames < WAKER_FRAMES;
	new.frames.n = 0;
	new.settled = true;
	error = kernel_frames(r, waker + skip, n, &new.frames);
	if (!error && by_thread && s->giver_bytes) {
		owner = owner_of(r, giver);
		new.owner = &owner;
		new.sample = giver;
		/* The child of a vfork() ends its parent's wait by an exec, for one. */
		if (owner.layout->changed_ns <= giver->time_ns)
			error = user_frames(r, &new);
	}
	if (!error)
		error = define_stack(r, &new.frames, &sample->waker);
	if (!error && by_thread && s->waker_tid)
		error = tasks_define(r->sources.tasks, r->trace->writer, s->waker_pid, s->waker_tid,
				     &sample->waker_task);
	return error;
}

/* -------- samples -------- */

/* The sample at the beginning of the bytes. */
static const struct sample *check_first(const struct resolver *r, const void *data, size_t size)
{
	const struct sample *s = data;

	if (size < sizeof(*s))
		return NULL;
	if (s->user_frames > MAX_USER_FRAMES || s->kernel_frames > MAX_KERNEL_FRAMES ||
	    s->script_frames > MAX_SCRIPT_FRAMES || s->waker_frames > WAKER_FRAMES)
		return NULL;
	if (s->event >= r->sources.events->n || s->script_runtime >= SCRIPT_RUNTIMES)
		return NULL;
	/* The record must hold all frames that its counts announce. */
	return size == sample_bytes(s) ? s : NULL;
}

const struct sample *resolver_check(const struct resolver *r, const void *data, size_t size)
{
	const struct sample *s = check_first(r, data, size), *giver;

	if (!s || !s->giver_bytes)
		return s;
	giver = check_first(r, s->frames + sample_words(s), s->giver_bytes);
	return giver && !giver->giver_bytes && !giver->kernel_frames ? s : NULL;
}

const uint64_t *resolver_matches(const struct resolver *r, enum script_runtime runtime)
{
	return r->matches[runtime];
}

struct error *resolver_resolve(struct resolver *r, const struct sample *s,
			       struct prf_sample *sample)
{
	struct error *error;

	*sample = (struct prf_sample){
		.time_ns = s->time_ns,
		.event = r->trace->events[s->event],
		.stack = PRF_NONE,
		.waker = PRF_NONE,
		.waker_task = PRF_NONE,
		.cpu = s->cpu,
		.weight = s->weight,
	};
	if (r->late && r->late_answers != opener_answers())
		forget_known(r);
	error = tasks_define(r->sources.tasks, r->trace->writer, s->pid, s->tid, &sample->task);
	if (!error)
		error = find_stack(r, s, &sample->stack);
	if (!error && s->waker_frames)
		error = find_waker(r, s, sample);
	return error;
}
