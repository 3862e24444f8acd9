/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/drain.h"

#include "common/clock.h"
#include "record/system/process_reader.h"

#define LONGEST_MS 200
#define ROUND_MS 50   /* that a round and its writing may take */
#define REFRESH_MS 20 /* that processes are read again for in a round */
/*
 * Threads and processes are forgotten this long after their end: samples of them may still be in a
 * ring.
 */
#define FORGET_NS UINT64_C(3000000000)
#define SILENT_PAUSE_NS UINT64_C(2000000000) /* the first one */
#define SILENT_PAUSE_MAX_NS UINT64_C(64000000000)
/*
 * A record appears in its ring a moment after its time was taken, so the newest records wait for
 * others that may be older.
 */
#define HOLD_BACK_NS UINT64_C(10000000)
/*
 * Samples of code that was just mapped wait for its table, at most so long: if the recorder is
 * killed, they are lost.
 */
#define HOLD_TABLES_NS UINT64_C(300000000)

/* -------- records, each at its time -------- */

static uint64_t peek_side(void *context, size_t number)
{
	return sideband_peek(((struct drain *)context)->sources->sideband, number);
}

static struct error *take_side(void *context, size_t number)
{
	struct drain *d = context;
	struct side_record record;

	if (!sideband_take(d->sources->sideband, number, &record)) {
		d->malformed++;
		return NULL;
	}
	if (record.type != SIDE_RECORD_LOST)
		return world_apply(d->world, &record);
	d->refresh = true;
	return trace_file_error(
		d->trace, losses_side_band(d->losses, d->trace->writer,
					   sideband_cpu(d->sources->sideband, number), &record));
}

static uint64_t peek_sample(void *context, size_t number)
{
	uint32_t size;
	const struct sample *sample =
		ring_peek(sampler_ring(((struct drain *)context)->sources->sampler, number), &size);

	return sample && size >= sizeof(*sample) ? sample->time_ns : sample ? 0 : UINT64_MAX;
}

/* Whether the kernel half walked through code that a Java machine has made. */
static bool walked_made_code(const struct drain *d, const struct sample *raw)
{
	return sampler_walked_runtimes(d->sources->sampler, raw->time_ns) &&
	       unwinding_knows_made_code(d->unwinding, raw->pid, raw->time_ns);
}

static struct error *take_sample(void *context, size_t number)
{
	struct drain *d = context;
	struct ring *ring = sampler_ring(d->sources->sampler, number);
	uint32_t size;
	const struct sample *raw = ring_peek(ring, &size);
	struct prf_sample sample;
	struct error *error = NULL;

	if (size >= sizeof(*raw) && late_walk_is_wanted(raw, size)) {
		d->late.guesses = !walked_made_code(d, raw);
		raw = late_walk_finish(&d->late, spaces_layout(d->world->spaces, raw->pid), raw,
				       &size);
	}
	raw = resolver_check(d->resolver, raw, size);
	if (raw)
		error = trace_file_error(d->trace, resolver_resolve(d->resolver, raw, &sample));
	else
		d->malformed++;
	if (raw && !error)
		error = trace_file_sample(d->trace, &sample);
	ring_next(ring);
	return error;
}

static bool rule_at(void *context, const struct layout *layout, uint64_t address,
		    struct unwind_rule *rule)
{
	return unwinder_rule(((struct drain *)context)->unwinding->unwinder, layout, address, rule);
}

static bool read_code(void *context, uint32_t pid, const struct mapping *mapping, uint64_t address,
		      uint64_t *bytes)
{
	if (mapping->object->definition.kind == PRF_OBJECT_FILE &&
	    unwinder_read_code(((struct drain *)context)->unwinding->unwinder, mapping, address,
			       bytes, sizeof(*bytes)))
		return true;
	return process_reader_present(pid, bytes, address, sizeof(*bytes));
}

static uint64_t mark_at(void *context, const struct layout *layout, enum script_runtime runtime,
			uint64_t address)
{
	return scripts_mark(((struct drain *)context)->unwinding->scripts, layout, runtime,
			    address);
}

struct error *drain_init(struct drain *d)
{
	struct error *error = NULL;

	if (d->unwinding->unwinder)
		d->late.rule = rule_at;
	d->late.code = read_code;
	d->late.mark = mark_at;
	d->late.context = d;
	/* Mappings before samples of the same time. */
	for (size_t i = 0; i < sideband_rings(d->sources->sideband) && !error; i++)
		error = timeline_add(&d->timeline,
				     &(struct timeline_source){ peek_side, take_side, d, i });
	for (size_t i = 0; i < sampler_rings(d->sources->sampler) && !error; i++)
		error = timeline_add(&d->timeline,
				     &(struct timeline_source){ peek_sample, take_sample, d, i });
	return error;
}

void drain_release(struct drain *d)
{
	timeline_release(&d->timeline);
	resolver_free(d->resolver);
}

/* -------- rounds -------- */

struct error *drain_until(struct drain *d, uint64_t horizon_ns)
{
	struct error *error = unwinding_run(d->unwinding);

	if (!error)
		error = trace_file_error(d->trace, jit_tick(d->jit, clock_now()));
	return error ? error : timeline_run(&d->timeline, horizon_ns);
}

uint64_t drain_holds_since(const struct drain *d, uint64_t now_ns)
{
	uint64_t after_ns = now_ns > HOLD_TABLES_NS ? now_ns - HOLD_TABLES_NS : 0;
	uint64_t tables_ns = unwinding_waits_since(d->unwinding, after_ns);

	return tables_ns < now_ns ? tables_ns : UINT64_MAX;
}

/* Up to when records are taken, with rings that are so full. */
static uint64_t horizon(const struct drain *d, uint64_t now_ns, unsigned int percent)
{
	uint64_t held_ns = drain_holds_since(d, now_ns), settled_ns = now_ns - HOLD_BACK_NS;

	if (held_ns != UINT64_MAX && sources_set_aside(d->sources))
		return held_ns < settled_ns ? held_ns : settled_ns;
	/*
	 * Under load, losing samples is worse than now and then a frame in the wrong file: nothing
	 * is held back.
	 */
	return percent > 25 ? now_ns : settled_ns;
}

static void add_to_unwinding(uint32_t pid, void *context)
{
	struct drain *d = context;

	/* The world also has processes that are only wakers; their user stacks are not walked. */
	if (unwinding_follows(d->unwinding, pid))
		error_free(unwinding_add(d->unwinding, pid, d->world->spaces));
}

/* Meanwhile samples come, and perhaps a signal. */
static struct error *refresh_some(struct drain *d, uint64_t now_ns)
{
	struct error *error = world_refresh_some(d->world, now_ns,
						 clock_now() + REFRESH_MS * UINT64_C(1000000),
						 add_to_unwinding, d);

	if (!world_is_stale(d->world))
		unwinding_refresh(d->unwinding);
	return error;
}

struct error *drain_round(struct drain *d, uint64_t now_ns, int *wait_ms)
{
	unsigned int percent = sources_measure_rings(d->sources);
	struct error *error;

	if (percent > 25)
		*wait_ms = *wait_ms > 1 ? *wait_ms / 2 : 1;
	else if (percent < 10)
		*wait_ms = *wait_ms * 2 < LONGEST_MS ? *wait_ms * 2 : LONGEST_MS;
	if (world_is_stale(d->world) && *wait_ms > REFRESH_MS)
		*wait_ms = REFRESH_MS;
	*wait_ms = unwinding_wait_ms(d->unwinding, *wait_ms);
	error = drain_until(d, horizon(d, now_ns, percent));
	if (!error && world_is_stale(d->world))
		error = refresh_some(d, now_ns);
	return error ? error
		     : trace_file_tick(d->trace, now_ns, (LONGEST_MS + ROUND_MS) * 1000000u);
}

/*
 * A process that did not answer when its mappings were to be read may answer later: it has forked,
 * say, which takes long with much memory.
 */
static void look_at_silent(struct drain *d, uint64_t now_ns)
{
	uint64_t silent = spaces_silent(d->world->spaces);

	if (d->again_ns && now_ns >= d->again_ns) {
		d->again_ns = 0;
		d->refresh = true;
	} else if (silent != d->silent && !d->again_ns) {
		d->pause_ns = d->pause_ns ? 2 * d->pause_ns : SILENT_PAUSE_NS;
		if (d->pause_ns > SILENT_PAUSE_MAX_NS)
			d->pause_ns = SILENT_PAUSE_MAX_NS;
		d->again_ns = now_ns + d->pause_ns;
	}
	d->silent = silent;
}

struct error *drain_settle(struct drain *d, uint64_t now_ns)
{
	struct prf_writer *w = d->trace->writer;
	struct error *error = losses_read(d->losses, d->sources->sampler);

	if (!error)
		error = trace_file_error(d->trace, losses_write(d->losses, w, now_ns));
	if (!error)
		error = sources_look_at_cpus(d->sources, d->events, &d->refresh);
	if (!error)
		error = trace_file_error(d->trace, kernel_symbols_write(d->world->kernel, w));
	look_at_silent(d, now_ns);
	if (!error && d->refresh && !world_is_stale(d->world)) {
		d->refresh = false;
		error = world_refresh(d->world);
	}
	world_forget(d->world, now_ns - FORGET_NS);
	return error;
}
