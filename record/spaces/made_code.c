/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/made_code.h"

static bool is_made(const struct mapping *m)
{
	return m->object->definition.kind == PRF_OBJECT_ANONYMOUS;
}

/* Compilers map their jitdump file executable for one purpose: to have the side band report it. */
static bool is_dump(const struct mapping *m)
{
	return m->object->definition.kind == PRF_OBJECT_FILE &&
	       jit_is_dump(m->object->definition.path);
}

static void mapped(void *context, uint32_t pid, uint64_t time_ns, const struct mapping *m)
{
	struct jit *jit = context;

	if (is_made(m) || is_dump(m))
		jit_begin(jit, pid, time_ns);
	if (is_dump(m))
		jit_dump(jit, pid, m->object->definition.path);
}

static void cleared(void *context, uint32_t pid, uint64_t time_ns, bool by_exec)
{
	if (by_exec)
		jit_exit(context, pid, time_ns);
}

static void ended(void *context, uint32_t pid, uint64_t time_ns)
{
	jit_exit(context, pid, time_ns);
}

struct error *made_code_follow(struct spaces *spaces, struct jit *jit)
{
	return spaces_listen(spaces, &(struct space_listener){ .mapped = mapped,
							       .cleared = cleared,
							       .ended = ended,
							       .context = jit });
}

static void mapped_now(void *context, uint32_t pid, uint64_t time_ns, const struct mapping *m)
{
	/* Code made before the recording began is looked at when a sample hits it. */
	if (!time_ns)
		return;
	if (is_dump(m))
		jit_foresee(context, pid, time_ns, m->object->definition.path);
	else if (is_made(m))
		jit_foresee(context, pid, time_ns, NULL);
}

static void cleared_now(void *context, uint32_t pid, uint64_t time_ns, bool by_exec)
{
	if (by_exec)
		jit_foresee_exec(context, pid);
}

static void ended_now(void *context, uint32_t pid, uint64_t time_ns)
{
	jit_foresee_exit(context, pid);
}

struct error *made_code_foresee(struct spaces *newest, struct jit *jit)
{
	return spaces_listen(newest, &(struct space_listener){ .mapped = mapped_now,
							       .cleared = cleared_now,
							       .ended = ended_now,
							       .context = jit });
}
