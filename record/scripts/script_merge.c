/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/script_merge.h"

#include "bpf/abi/script.h"

struct merge {
	const struct script_frame *next, *end; /* of those that the native stack has run */
	struct script_merged *to;
	size_t n;
	size_t made; /* frames of made code that are not to be taken for the loop */
	bool matched;
	bool entered; /* the frames that were put last are all of their loop */
};

static size_t count_loops(const struct sample *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->user_frames; i++)
		n += (s->frames[i] & FRAME_EVALUATES) != 0;
	return n;
}

/*
 * Whether that frame has code without a table, through which the walk went by the frame pointer.
 * That which opcache's compiler makes runs in the loop's place, on its frame.
 */
static bool is_made(const struct sample *s, size_t i)
{
	return i + 1 < s->user_frames && s->frames[i + 1] & FRAME_GUESSED;
}

static size_t count_made(const struct sample *s)
{
	size_t n = 0;

	for (size_t i = 0; s->script_runtime == SCRIPT_PHP && i < s->user_frames; i++)
		n += is_made(s, i) && !(s->frames[i] & FRAME_EVALUATES);
	return n;
}

static size_t count_entries(const struct merge *m)
{
	size_t n = 0;

	for (const struct script_frame *f = m->next; f < m->end; f++)
		n += (f->code & SCRIPT_ENTRY) != 0;
	return n;
}

static void put_native(struct merge *m, __u64 frame)
{
	m->to[m->n++] = (struct script_merged){ .native = frame };
}

/* The frames up to the next entry; false: there are none, as the loop has no frame now. */
static bool put_entry(struct merge *m)
{
	bool any = false;

	m->entered = false;
	while (m->next < m->end && !m->entered) {
		const struct script_frame *f = m->next++;

		if (f->code & SCRIPT_CODE && (m->matched || !(f->code & SCRIPT_FRAMELESS))) {
			m->to[m->n++] = (struct script_merged){ .script = f };
			any = true;
		}
		m->entered = f->code & SCRIPT_ENTRY;
	}
	return any;
}

/* Ruby and PHP have a frame in the list before they call the loop, Ruby after that has returned. */
static bool lists_first(const struct sample *s)
{
	return s->script_runtime == SCRIPT_RUBY || s->script_runtime == SCRIPT_PHP;
}

/* Whether that frame stands for some of the list. */
static bool runs_list(struct merge *m, const struct sample *s, size_t i)
{
	if (s->frames[i] & FRAME_EVALUATES)
		return true;
	if (s->script_runtime != SCRIPT_PHP || !is_made(s, i))
		return false;
	return !m->made || !m->made--;
}

/* The first frame of the list that has run on another native stack, of those up to `end`. */
static const struct script_frame *find_base(const struct script_frame *list,
					    const struct script_frame *end)
{
	while (list < end && !(list->code & SCRIPT_BASE))
		list++;
	return list;
}

/* `based`: the list says where the native stack begins. */
static enum script_match judge(const struct sample *s, size_t loops, size_t entries, bool based)
{
	if (!loops && !entries)
		return SCRIPT_NO_LIST;
	if (based && loops == entries)
		return SCRIPT_MATCHED;
	if (!script_native_is_whole(s) || s->script_flags & SCRIPT_CUT)
		return SCRIPT_UNMATCHED;
	if (loops == entries)
		return SCRIPT_MATCHED;
	if (loops == entries + 1 || (lists_first(s) && loops + 1 == entries))
		return SCRIPT_LEAF_SKEW;
	return SCRIPT_UNMATCHED;
}

size_t script_merge(const struct sample *s, bool keep, struct script_merged *merged,
		    enum script_match *match)
{
	const struct script_frame *list =
		(const struct script_frame *)(s->frames + s->user_frames + s->kernel_frames);
	const struct script_frame *end = list + s->script_frames;
	struct merge m = { .next = list, .end = find_base(list, end), .to = merged };
	size_t loops = count_loops(s), entries, surplus = 0, missing = 0;

	m.made = count_made(s);
	if (script_is_anothers(s, s->script_runtime, loops + (s->pid == s->tid ? m.made : 0)))
		m.end = end = list;
	entries = count_entries(&m);
	/* Of a list that is cut off the outermost have no entries: the innermost do. */
	if (s->script_flags & SCRIPT_CUT) {
		loops += m.made;
		m.made = 0;
	}
	/* The outermost, as other code that is made at run time is called by it. */
	if (script_native_is_whole(s) || m.end < end)
		for (; m.made && loops < entries; loops++)
			m.made--;
	*match = judge(s, loops, entries, m.end < end);
	m.matched = *match == SCRIPT_MATCHED;
	if (script_native_is_whole(s) && !(s->script_flags & SCRIPT_CUT)) {
		surplus = loops > entries ? loops - entries : 0;
		missing = entries > loops && (loops || lists_first(s)) ? entries - loops : 0;
	}
	for (; missing && lists_first(s); missing--)
		put_entry(&m);
	for (size_t i = 0; i < s->user_frames; i++) {
		__u64 frame = s->frames[i];
		bool any = false, runs = runs_list(&m, s, i);

		if (frame & FRAME_LOOP_PART && !keep)
			continue;
		if (!runs || surplus) {
			surplus -= surplus && runs;
			put_native(&m, frame);
			continue;
		}
		/* Loops that the native stack does not have: their frames stay in their order. */
		for (; missing; missing--)
			any |= put_entry(&m);
		any |= put_entry(&m);
		if (any)
			m.to[m.n - 1].replaces = true;
		/* Of a list that is cut off it also stands for the frames that are missing. */
		if (!any || keep || (s->script_flags & SCRIPT_CUT && !m.entered))
			put_native(&m, frame);
	}
	m.end = end;
	while (m.next < m.end)
		put_entry(&m);
	return m.n;
}
