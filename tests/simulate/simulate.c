/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simulate [--break] SEED [SEEDS [EVENTS]]: the recorder's path of a sample (rings, timeline,
 * drain, world, resolver, names of made code, writer) on a machine that is made from a seed, with
 * no kernel. Then the trace is read, and each of its samples compared with what the machine knows
 * of it. A seed always does the same, so that one that fails can be looked at. Exit status 1 for a
 * seed that fails. In each fourth seed CPUs come and go. In the second half of each eight the
 * recorder never pauses, so that hardly anything of the side band is lost.
 *
 * The recorder does not believe times in a dump that have not come yet by the real clock, so
 * that must be ahead of the machine's.
 */

#include "common/array.h"
#include "common/clock.h"
#include "common/message.h"
#include "record/drain.h"
#include "record/spaces/made_code.h"
#include "record/trace/vanished.h"
#include "tests/simulate/compiler.h"
#include "tests/simulate/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_NS UINT64_C(10000000000)
#define SETTLE_NS UINT64_C(500000000)
#define MISSED_NS UINT64_C(4000000000) /* a CPU that is back, at the longest */

/* The name of a part of an object of made code, as the trace says. */
struct made {
	uint32_t object, function;
	uint64_t start, end;
};

struct simulation {
	struct kernel *kernel;
	struct machine *machine;
	char kallsyms[128], modules[1];
	struct event_list events;
	struct world world;
	struct sources sources;
	struct unwinding unwinding;
	struct losses losses;
	struct trace_file trace;
	struct drain drain;
	uint64_t recorded_ns[KERNEL_CPUS]; /* when each CPU last had events, or was offline */
	struct made *made;
	size_t n_made, made_capacity;
	uint64_t seed, wrong, strict, functions, named;
};

static void must(struct error *error)
{
	if (!error)
		return;
	fprintf(stderr, "%s\n", error->text);
	abort();
}

static void begin_trace(struct simulation *s)
{
	struct prf_event event = { .name = "cpu-clock", .unit = "samples", .frequency = 99 };

	trace_file_init(&s->trace);
	/* Of each second seed, the trace is so long that definitions are forgotten. */
	must(prf_writer_new(&s->trace.writer, &(struct prf_writer_options){
						      .fd = -1, .recent = s->seed % 2 ? 0 : 8 }));
	must(prf_writer_event(s->trace.writer, &event, &s->trace.events[0]));
}

static void begin_world(struct simulation *s)
{
	struct kernel_symbols *symbols;

	strcpy(s->kallsyms, "ffffffff81000000 T _text\nffffffff81001000 T end\n");
	must(kernel_symbols_parse(&symbols, s->kallsyms, s->modules));
	must(world_init(&s->world, false, symbols));
	for (uint32_t i = 0; i < MACHINE_FIRST_PROCESSES; i++)
		must(world_add_command(&s->world, MACHINE_FIRST_PID + i));
}

static void follow_made_code(struct simulation *s)
{
	must(jit_new(&s->drain.jit, &(struct jit_options){ .writer = s->trace.writer }));
	must(made_code_follow(s->world.spaces, s->drain.jit));
	must(made_code_foresee(lookahead_spaces(s->unwinding.lookahead), s->drain.jit));
}

static void begin(struct simulation *s, bool broken)
{
	const struct machine_options options = { s->seed, START_NS, broken, s->seed % 4 == 0 };
	struct resolver_sources sources;

	s->kernel = kernel_new();
	if (event_list_add(&s->events, "cpu-clock"))
		abort();
	begin_trace(s);
	begin_world(s);
	must(cpus_online(&s->sources.cpus));
	s->sources.hotplug.cpus = &s->sources.cpus;
	s->sources.sideband = kernel_sideband(s->kernel);
	s->sources.sampler = kernel_sampler(s->kernel);
	s->unwinding.lookahead = lookahead_new(s->sources.sideband, s->world.objects, false);
	for (uint32_t i = 0; i < MACHINE_FIRST_PROCESSES; i++)
		must(unwinding_add(&s->unwinding, MACHINE_FIRST_PID + i, s->world.spaces));
	must(losses_init(&s->losses, KERNEL_CPUS, START_NS));
	follow_made_code(s);
	sources = (struct resolver_sources){ .spaces = s->world.spaces,
					     .tasks = s->world.tasks,
					     .kernel = s->world.kernel,
					     .jit = s->drain.jit,
					     .events = &s->events };
	s->drain.sources = &s->sources;
	s->drain.world = &s->world;
	s->drain.unwinding = &s->unwinding;
	s->drain.resolver = resolver_new(&sources);
	s->drain.trace = &s->trace;
	s->drain.losses = &s->losses;
	s->drain.events = &s->events;
	must(drain_init(&s->drain));
	resolver_begin(s->drain.resolver, &s->trace);
	s->machine = machine_new(s->kernel, &options);
	for (uint32_t cpu = 0; cpu < KERNEL_CPUS; cpu++)
		s->recorded_ns[cpu] = START_NS;
}

static void end(struct simulation *s)
{
	struct jit *jit = s->drain.jit;

	unwinding_release(&s->unwinding);
	sources_release(&s->sources);
	prf_writer_free(s->trace.writer);
	drain_release(&s->drain);
	losses_release(&s->losses);
	world_release(&s->world);
	jit_free(jit);
	event_list_release(&s->events);
	machine_free(s->machine);
	kernel_free(s->kernel);
	free(s->made);
}

static void publish_all(struct simulation *s, uint64_t until_ns)
{
	for (size_t ring = 0; ring < KERNEL_ALL_RINGS; ring++)
		kernel_publish(s->kernel, ring, until_ns);
}

/* Records are visible within 5 ms, in each ring after another time. */
static void publish_some(struct simulation *s, uint64_t now)
{
	for (size_t ring = 0; ring < KERNEL_ALL_RINGS; ring++)
		kernel_publish(s->kernel, ring, now - machine_random(s->machine, 5000000));
}

/*
 * One round, as the session makes them. Under load nothing is held back, so nothing may be late
 * either: what the recorder says then is not certain.
 */
static void drain(struct simulation *s, uint64_t now, int *wait_ms)
{
	publish_some(s, now);
	if (sources_measure_rings(&s->sources) > 20)
		publish_all(s, now);
	must(drain_round(&s->drain, now, wait_ms));
}

/* A CPU that has come back has events again, soon. */
static void check_cpus(struct simulation *s, uint64_t now)
{
	for (uint32_t cpu = 0; cpu < KERNEL_CPUS; cpu++) {
		if (kernel_records_on(s->kernel, cpu) || !kernel_is_online(s->kernel, cpu)) {
			s->recorded_ns[cpu] = now;
		} else if (now - s->recorded_ns[cpu] > MISSED_NS) {
			s->wrong++;
			s->recorded_ns[cpu] = now;
			printf("seed %" PRIu64 ": nothing is recorded on CPU %" PRIu32
			       ", which is online\n",
			       s->seed, cpu);
		}
	}
}

static void run(struct simulation *s, uint64_t events)
{
	uint64_t now = START_NS, round_ns = now, settle_ns = now + SETTLE_NS;
	struct vanished_names names = { .writer = s->trace.writer };
	int wait_ms = 10;

	for (uint64_t i = 0; i < events; i++) {
		now = machine_step(s->machine);
		if (machine_random(s->machine, 16) == 0)
			publish_some(s, now);
		if (now < round_ns)
			continue;
		drain(s, now, &wait_ms);
		round_ns = now + (uint64_t)wait_ms * 1000000;
		/* The recorder does not run for a while, and rings become full. */
		if (s->seed % 8 < 4 && machine_random(s->machine, 50) == 0)
			round_ns += machine_random(s->machine, 2000) * UINT64_C(1000000);
		if (now >= settle_ns) {
			must(drain_settle(&s->drain, now));
			must(vanished_let_go(s->world.objects, s->unwinding.unwinder,
					     lookahead_spaces(s->unwinding.lookahead), &names));
			settle_ns = now + SETTLE_NS;
		}
		check_cpus(s, now);
	}
	if (now > clock_now()) {
		fprintf(stderr, "simulate: so many events take longer than this machine has run\n");
		exit(2);
	}
	machine_end(s->machine);
	publish_all(s, UINT64_MAX);
	must(drain_until(&s->drain, UINT64_MAX));
	must(drain_settle(&s->drain, now));
	must(jit_finish(s->drain.jit, NULL, NULL));
	must(prf_writer_finish(s->trace.writer));
}

/* -------- what the trace must say -------- */

static void wrong(struct simulation *s, const struct expected *e, const char *what, const char *got,
		  const char *wanted)
{
	if (s->wrong++ < 5)
		printf("seed %" PRIu64 ": %s of the sample of task %u at %" PRIu64
		       ": %s instead of %s\n",
		       s->seed, what, e->tid, e->time_ns, got, wanted);
}

static void check_user_frame(struct simulation *s, const struct expected *e, uint8_t i,
			     const char *got)
{
	char wanted[64];

	machine_place(wanted, sizeof(wanted), e->places[i], e->addresses[i]);
	if (!strcmp(got, wanted))
		return;
	if (e->space_lost && machine_had_place(s->machine, e->pid, e->addresses[i], got))
		return;
	wrong(s, e, "a frame", got, wanted);
}

/* The function's number as the trace names it; 0: it does not. */
static uint32_t named_function(const struct simulation *s, const struct prf_frame *frame)
{
	/* A return address belongs to the byte before it. */
	uint64_t at = frame->offset - !(frame->flags & PRF_FRAME_EXACT);
	size_t low = 0, high = s->n_made;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct made *m = &s->made[middle];

		if (m->object < frame->object || (m->object == frame->object && m->end <= at))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == s->n_made || s->made[low].object != frame->object || s->made[low].start > at)
		return 0;
	return s->made[low].function;
}

static void check_function(struct simulation *s, const struct expected *e, uint8_t i,
			   const struct prf_frame *frame)
{
	uint32_t got = named_function(s, frame), wanted = e->functions[i];
	char text[2][32];

	s->functions += wanted && !e->unwritten;
	s->named += wanted && !e->unwritten && got == wanted;
	if (!got || got == wanted)
		return;
	if ((e->space_lost || e->unwritten) &&
	    machine_had_function(s->machine, e, e->addresses[i], got))
		return;
	compiler_name(text[0], sizeof(text[0]), got);
	compiler_name(text[1], sizeof(text[1]), wanted);
	wrong(s, e, "the function", text[0], wanted ? text[1] : "none");
}

static void check_kernel_frame(struct simulation *s, const struct expected *e, const char *path)
{
	char wanted[32];

	machine_program(wanted, sizeof(wanted), e->program);
	if (!strcmp(path, wanted))
		return;
	if (e->kernel_lost && machine_had_program(s->machine, e->kernel_address, path))
		return;
	wrong(s, e, "the kernel's frame", path, wanted);
}

/* The kernel's frame, then those of the user, leaf first. */
static void check_stack(struct simulation *s, const struct expected *e, struct prf_reader *r,
			uint32_t stack)
{
	const struct prf_stack *stacks = prf_reader_all_stacks(r);
	const struct prf_frame *frames = prf_reader_all_frames(r);
	char text[128];
	uint8_t n = 0;

	for (; stack != PRF_NONE; stack = stacks[stack].parent) {
		const struct prf_frame *frame = &frames[stacks[stack].frame];

		if (frame->flags & PRF_FRAME_KERNEL) {
			check_kernel_frame(s, e, prf_reader_object(r, frame->object)->path);
			continue;
		}
		snprintf(text, sizeof(text), "%s+%" PRIx64,
			 prf_reader_object(r, frame->object)->path, (uint64_t)frame->offset);
		if (n < e->frames) {
			check_user_frame(s, e, n, text);
			check_function(s, e, n, frame);
		}
		n++;
	}
	snprintf(text, sizeof(text), "%u", n);
	if (n != e->frames)
		wrong(s, e, "the number of frames", text, "another one");
}

static struct expected *find(struct expected *list, size_t n, uint64_t time_ns)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (list[middle].time_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && list[low].time_ns == time_ns ? &list[low] : NULL;
}

static void check_sample(struct simulation *s, struct prf_reader *r,
			 const struct prf_samples *samples, size_t i)
{
	size_t n;
	struct expected *list = machine_expected(s->machine, &n), unknown = { 0 };
	struct expected *e = find(list, n, samples->time_ns[i]);
	const struct prf_task *task = prf_reader_task(r, samples->task[i]);
	char name[32];

	if (!e || e->found) {
		unknown.time_ns = samples->time_ns[i];
		wrong(s, &unknown, "all", e ? "a second one" : "a sample", "none");
		return;
	}
	e->found = true;
	s->strict += !e->name_lost && !e->space_lost && !e->kernel_lost && !e->unwritten;
	machine_name(name, sizeof(name), e->comm);
	if (task->pid != e->pid || task->tid != e->tid || samples->cpu[i] != e->cpu)
		wrong(s, e, "task or CPU", task->comm, name);
	if (strcmp(task->comm, name) &&
	    !(e->name_lost && machine_had_name(s->machine, e->tid, task->comm)))
		wrong(s, e, "the name", task->comm, name);
	check_stack(s, e, r, samples->stack[i]);
}

struct sums {
	uint64_t samples, strict, lost_samples, lost_records, functions, named, last_ns;
};

static void check_samples(struct simulation *s, struct prf_reader *r,
			  const struct prf_samples *samples, struct sums *sums)
{
	size_t n;
	struct expected *list = machine_expected(s->machine, &n);

	for (size_t i = 0; i < samples->n; i++) {
		const struct expected *e = find(list, n, samples->time_ns[i]);

		check_sample(s, r, samples, i);
		if (e && !e->late && samples->time_ns[i] < sums->last_ns)
			wrong(s, e, "the order", "before", "after the one before it");
		if (samples->time_ns[i] > sums->last_ns)
			sums->last_ns = samples->time_ns[i];
		sums->samples++;
	}
}

static void check_sum(struct simulation *s, const char *what, uint64_t got, uint64_t wanted)
{
	if (got == wanted)
		return;
	s->wrong++;
	printf("seed %" PRIu64 ": %" PRIu64 " %s instead of %" PRIu64 "\n", s->seed, got, what,
	       wanted);
}

static int by_place(const void *a, const void *b)
{
	const struct made *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static void add_made(struct simulation *s, uint32_t object, const struct prf_symbol *symbol)
{
	struct made made = { .object = object,
			     .start = symbol->start,
			     .end = symbol->start + symbol->size };

	if (sscanf(symbol->name, "made_%" SCNu32, &made.function) != 1 ||
	    !array_reserve(&s->made, &s->made_capacity, s->n_made + 1))
		abort();
	s->made[s->n_made++] = made;
}

/* Names come later than the samples that they are for. */
static void read_names(struct simulation *s, const void *data, size_t size)
{
	struct prf_record record;
	struct prf_reader *r;

	must(prf_reader_new_memory(&r, data, size));
	for (must(prf_reader_next(r, &record)); record.type != PRF_RECORD_END;
	     must(prf_reader_next(r, &record)))
		if (record.type == PRF_RECORD_SYMBOLS &&
		    prf_reader_object(r, record.symbols.object)->kind == PRF_OBJECT_JIT)
			for (size_t i = 0; i < record.symbols.n; i++)
				add_made(s, record.symbols.object, &record.symbols.symbols[i]);
	prf_reader_free(r);
	if (s->n_made)
		qsort(s->made, s->n_made, sizeof(*s->made), by_place);
	for (size_t i = 1; i < s->n_made; i++)
		if (s->made[i].object == s->made[i - 1].object &&
		    s->made[i].start < s->made[i - 1].end) {
			s->wrong++;
			printf("seed %" PRIu64 ": made_%" PRIu32 " and made_%" PRIu32
			       " at one place\n",
			       s->seed, s->made[i - 1].function, s->made[i].function);
		}
}

static void check(struct simulation *s, struct sums *sums)
{
	struct prf_record record;
	struct prf_reader *r;
	const void *data;
	size_t size;

	data = prf_writer_memory(s->trace.writer, &size);
	read_names(s, data, size);
	must(prf_reader_new_memory(&r, data, size));
	for (must(prf_reader_next(r, &record)); record.type != PRF_RECORD_END;
	     must(prf_reader_next(r, &record))) {
		if (record.type == PRF_RECORD_SAMPLES)
			check_samples(s, r, &record.samples, sums);
		if (record.type == PRF_RECORD_LOSS && record.loss.reason == PRF_LOSS_SIDE_BAND)
			sums->lost_records += record.loss.count;
		else if (record.type == PRF_RECORD_LOSS)
			sums->lost_samples += record.loss.count;
	}
	prf_reader_free(r);
	check_sum(s, "samples", sums->samples, kernel_sent(s->kernel));
	check_sum(s, "samples and losses", sums->samples + sums->lost_samples,
		  kernel_fired(s->kernel));
	check_sum(s, "lost records of the side band", sums->lost_records,
		  kernel_side_lost(s->kernel));
	check_sum(s, "malformed records", s->drain.malformed, 0);
}

int main(int argc, char **argv)
{
	bool broken = argc > 1 && !strcmp(argv[1], "--break");
	char **numbers = argv + broken;
	uint64_t first, seeds = 1, events = 100000, failed = 0;
	struct sums all = { 0 };

	message_setup("simulate", MESSAGE_ERROR); /* CPUs that go are warned of */
	if (argc - broken < 2) {
		fprintf(stderr, "usage: simulate [--break] SEED [SEEDS [EVENTS]]\n");
		return 2;
	}
	first = strtoull(numbers[1], NULL, 0);
	if (argc - broken > 2)
		seeds = strtoull(numbers[2], NULL, 0);
	if (argc - broken > 3)
		events = strtoull(numbers[3], NULL, 0);
	for (uint64_t seed = first; seed < first + seeds; seed++) {
		struct simulation s = { .seed = seed };
		struct sums sums = { 0 };

		begin(&s, broken);
		run(&s, events);
		check(&s, &sums);
		failed += s.wrong > 0;
		all.samples += sums.samples;
		all.lost_samples += sums.lost_samples;
		all.lost_records += sums.lost_records;
		all.strict += s.strict;
		all.functions += s.functions;
		all.named += s.named;
		end(&s);
	}
	printf("%" PRIu64 " events: %" PRIu64 " samples, %" PRIu64
	       " of them with nothing lost before, %" PRIu64 " lost, %" PRIu64
	       " records of the side band lost; %" PRIu64 " frames of made functions, %" PRIu64
	       " named; %" PRIu64 " of %" PRIu64 " seeds failed\n",
	       seeds * events, all.samples, all.strict, all.lost_samples, all.lost_records,
	       all.functions, all.named, failed, seeds);
	return failed > 0;
}
