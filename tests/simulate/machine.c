/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/simulate/machine.h"

#include "common/array.h"
#include "tests/simulate/compiler.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES 192
#define PAGE 4096u
#define BASE UINT64_C(0x400000)
#define FILES 12
#define FILE_PAGES 64
#define MADE (FILES + 1) /* executable memory without a file */
#define COMMS 32
#define PROGRAMS 8	 /* places for BPF programs */
#define PROGRAM_NAMES 24 /* and their names, from 1 */
#define PROGRAM_BASE UINT64_C(0xffffffffc0100000)
#define PROGRAM_BYTES 0x800u
#define CODE_PAGES 32		     /* of what a compiler maps for its functions */
#define FUNCTION_PAGES 4	     /* of the largest one */
#define AWAY_NS UINT64_C(1000000000) /* a CPU at the longest */
#define LATE_NS 2000		     /* a sample after one that is younger */

struct task {
	bool alive, name_lost;
	uint8_t comm;
	uint32_t process; /* slot of its process */
};

struct process {
	unsigned int threads;  /* that live; 0: there is no such process */
	bool space_lost;       /* what it maps may not be known */
	bool follow_lost;      /* nor that it is there, so that what is sent of it is ignored */
	bool thread_lost;      /* so it is of a thread, without which it may seem to have ended */
	uint32_t pages[PAGES]; /* places of their first bytes; 0: nothing */
	uint32_t functions[PAGES]; /* the numbers of those that were made there last; 0: none */
	uint32_t known_function;   /* the last one of all when nothing was lost that matters */
	struct compiler *compiler; /* NULL: it has none */
	uint32_t code;		   /* first page of its functions */
};

/* A function that was made, by its number less 1. */
struct function {
	uint32_t process, first, pages;
};

/* One bit for each place that was ever on a page of a process, by its number. */
typedef uint8_t places_seen[PAGES][((MADE + 1) * FILE_PAGES + 7) / 8];

struct machine {
	struct kernel *kernel;
	uint64_t state, now_ns;
	bool broken, cpus_go;
	uint64_t back_ns[KERNEL_CPUS];	  /* when a CPU comes back */
	struct task tasks[MACHINE_TASKS]; /* tid - MACHINE_FIRST_PID */
	struct process processes[MACHINE_TASKS];
	uint8_t programs[PROGRAMS]; /* their names' numbers; 0: none */
	bool programs_lost[PROGRAMS];
	places_seen *seen; /* of each process */
	uint32_t comms_seen[MACHINE_TASKS], programs_seen[PROGRAMS];
	struct function *functions;
	size_t n_functions, functions_capacity;
	struct expected *expected;
	size_t n, capacity, sorted;
};

static struct machine *the_machine; /* for what asks /proc */

/* splitmix64 */
static uint64_t next_random(struct machine *m)
{
	uint64_t z = m->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint32_t machine_random(struct machine *m, uint32_t n)
{
	return (uint32_t)(next_random(m) % n);
}

/* -------- what there is and was -------- */

static uint32_t place_of(uint32_t file, uint32_t page)
{
	return file * FILE_PAGES + page;
}

static void set_page(struct machine *m, uint32_t process, uint32_t page, uint32_t place)
{
	m->processes[process].pages[page] = place;
	m->seen[process][page][place / 8] |= (uint8_t)(1u << (place & 7));
}

static void set_comm(struct machine *m, uint32_t task, uint8_t comm)
{
	m->tasks[task].comm = comm;
	m->comms_seen[task] |= 1u << comm;
}

void machine_place(char *text, size_t size, uint32_t place, uint64_t address)
{
	uint32_t file = place / FILE_PAGES;

	if (!place)
		snprintf(text, size, "[unknown]+%llx", (unsigned long long)address);
	else if (file == MADE)
		snprintf(text, size, "[jit]+%llx", (unsigned long long)address);
	else
		snprintf(text, size, "/sim/lib%02u.so+%llx", file,
			 (unsigned long long)(place % FILE_PAGES) * PAGE + address % PAGE);
}

void machine_name(char *text, size_t size, uint8_t comm)
{
	snprintf(text, size, "name-%02u", comm);
}

void machine_program(char *text, size_t size, uint8_t program)
{
	if (program)
		snprintf(text, size, "bpf_prog_%02u", program);
	else
		snprintf(text, size, "[kernel]");
}

/* The page of a user address; a return address belongs to the byte before it. */
static uint32_t page_of(uint64_t address)
{
	return (uint32_t)((address - BASE) / PAGE);
}

bool machine_had_place(const struct machine *m, uint32_t pid, uint64_t address, const char *place)
{
	uint32_t page = page_of(address);
	char text[64];

	for (uint32_t p = 0; p < (MADE + 1) * FILE_PAGES; p++) {
		if (p && !(m->seen[pid - MACHINE_FIRST_PID][page][p / 8] & 1u << (p & 7)))
			continue;
		machine_place(text, sizeof(text), p, address);
		if (!strcmp(text, place))
			return true;
	}
	return false;
}

bool machine_had_function(const struct machine *m, const struct expected *e, uint64_t address,
			  uint32_t function)
{
	const struct function *f;

	if (function <= e->known_function || function > e->newest_function)
		return false;
	f = &m->functions[function - 1];
	return f->process == e->pid - MACHINE_FIRST_PID && page_of(address) - f->first < f->pages;
}

bool machine_had_name(const struct machine *m, uint32_t tid, const char *name)
{
	char text[32];

	for (uint8_t comm = 0; comm < COMMS; comm++) {
		machine_name(text, sizeof(text), comm);
		if (m->comms_seen[tid - MACHINE_FIRST_PID] & 1u << comm && !strcmp(text, name))
			return true;
	}
	return !*name;
}

bool machine_had_program(const struct machine *m, uint64_t address, const char *name)
{
	uint32_t slot = (uint32_t)((address - PROGRAM_BASE) / PAGE);
	char text[32];

	for (uint8_t program = 0; program <= PROGRAM_NAMES; program++) {
		machine_program(text, sizeof(text), program);
		if ((!program || m->programs_seen[slot] & 1u << program) && !strcmp(text, name))
			return true;
	}
	return false;
}

bool machine_has_process(uint32_t pid)
{
	uint32_t process = pid - MACHINE_FIRST_PID;

	return process < MACHINE_TASKS && the_machine->processes[process].threads;
}

bool machine_has_task(uint32_t pid, uint32_t tid)
{
	uint32_t task = tid - MACHINE_FIRST_PID;

	return task < MACHINE_TASKS && the_machine->tasks[task].alive &&
	       the_machine->tasks[task].process == pid - MACHINE_FIRST_PID;
}

/* -------- records of the side band -------- */

struct body {
	uint8_t bytes[256];
	size_t size;
};

static void put(struct body *b, const void *data, size_t size)
{
	memcpy(b->bytes + b->size, data, size);
	b->size += size;
}

static void put_u32(struct body *b, uint32_t value)
{
	put(b, &value, sizeof(value));
}

static void put_u64(struct body *b, uint64_t value)
{
	put(b, &value, sizeof(value));
}

static void put_name(struct body *b, const char *name)
{
	size_t size = strlen(name) + 1;

	put(b, name, size);
	while (b->size & 7)
		b->bytes[b->size++] = 0;
}

/* One that is online. */
static uint32_t some_cpu(struct machine *m)
{
	uint32_t cpu = machine_random(m, KERNEL_CPUS);

	return kernel_is_online(m->kernel, cpu) ? cpu : 0;
}

/* False when it was lost. */
static bool send(struct machine *m, uint32_t type, uint16_t misc, const struct body *b)
{
	if (m->broken && machine_random(m, 2000) == 0)
		return true;
	return kernel_side(m->kernel, some_cpu(m), type, misc, b->bytes, b->size, m->now_ns);
}

static bool send_family(struct machine *m, uint32_t type, uint32_t task, uint32_t parent)
{
	struct body b = { .size = 0 };

	put_u32(&b, MACHINE_FIRST_PID + m->tasks[task].process);
	put_u32(&b, MACHINE_FIRST_PID + m->tasks[parent].process);
	put_u32(&b, MACHINE_FIRST_PID + task);
	put_u32(&b, MACHINE_FIRST_PID + parent);
	put_u64(&b, m->now_ns);
	return send(m, type, 0, &b);
}

/* -------- what happens -------- */

/* A task that lives; of a few tries, so that it may be none: MACHINE_TASKS. */
static uint32_t some_task(struct machine *m)
{
	for (int i = 0; i < 8; i++) {
		uint32_t task = machine_random(m, MACHINE_TASKS);

		if (m->tasks[task].alive)
			return task;
	}
	return MACHINE_TASKS;
}

static uint32_t free_slot(struct machine *m)
{
	for (int i = 0; i < 4; i++) {
		uint32_t task = machine_random(m, MACHINE_TASKS);

		/* A number is in use as long as a thread of its process lives. */
		if (!m->tasks[task].alive && !m->processes[task].threads)
			return task;
	}
	return MACHINE_TASKS;
}

/* It is executable, as the side band tells of nothing else. */
static void send_map(struct machine *m, uint32_t task, uint32_t page, uint32_t length,
		     uint32_t from, uint32_t inode, const char *path)
{
	uint32_t process = m->tasks[task].process;
	struct body b = { .size = 0 };

	put_u32(&b, MACHINE_FIRST_PID + process);
	put_u32(&b, MACHINE_FIRST_PID + task);
	put_u64(&b, BASE + (uint64_t)page * PAGE);
	put_u64(&b, (uint64_t)length * PAGE);
	put_u64(&b, (uint64_t)from * PAGE);
	put_u32(&b, 8);
	put_u32(&b, 1);
	put_u64(&b, inode);
	put_u64(&b, 0);
	put_u32(&b, 5); /* PROT_READ | PROT_EXEC */
	put_u32(&b, 2); /* MAP_PRIVATE */
	put_name(&b, path);
	if (!send(m, PERF_RECORD_MMAP2, 0, &b))
		m->processes[process].space_lost = true;
}

static void map_made(struct machine *m, uint32_t task, uint32_t first, uint32_t length)
{
	send_map(m, task, first, length, 0, 0, "//anon");
	for (uint32_t i = 0; i < length; i++)
		set_page(m, m->tasks[task].process, first + i, place_of(MADE, 0));
}

static void map_file(struct machine *m, uint32_t task)
{
	uint32_t file = 1 + machine_random(m, MADE), length = 1 + machine_random(m, 24);
	uint32_t first = machine_random(m, PAGES - length);
	uint32_t from = machine_random(m, FILE_PAGES - length);
	char path[32];

	if (file == MADE) {
		map_made(m, task, first, length);
		return;
	}
	snprintf(path, sizeof(path), "/sim/lib%02u.so", file);
	send_map(m, task, first, length, from, 100 + file, path);
	for (uint32_t i = 0; i < length; i++)
		set_page(m, m->tasks[task].process, first + i, place_of(file, from + i));
}

/* Compilers map their dump, for the side band to tell of it: here behind all other pages. */
static void start_compiler(struct machine *m, uint32_t task)
{
	uint32_t process = m->tasks[task].process, pid = MACHINE_FIRST_PID + process;
	struct process *p = &m->processes[process];
	char path[64];

	p->compiler = compiler_new(pid);
	p->code = machine_random(m, PAGES - CODE_PAGES);
	compiler_path(path, sizeof(path), pid);
	send_map(m, task, PAGES, 1, 0, 100 + MADE + pid, path);
	map_made(m, task, p->code, CODE_PAGES);
}

static void note_unwritten(struct machine *m, uint32_t process, uint64_t since_ns)
{
	for (size_t i = m->n; i-- && m->expected[i].time_ns + LATE_NS >= since_ns;)
		m->expected[i].unwritten |= m->expected[i].time_ns >= since_ns &&
					    m->expected[i].pid == MACHINE_FIRST_PID + process;
}

static void end_compiler(struct machine *m, uint32_t process, bool is_killed)
{
	struct process *p = &m->processes[process];

	if (p->compiler && is_killed)
		note_unwritten(m, process, compiler_unwritten_ns(p->compiler));
	compiler_end(p->compiler, is_killed);
	p->compiler = NULL;
	memset(p->functions, 0, sizeof(p->functions));
}

/* What the new function overlaps is gone, all of it. */
static void make_function(struct machine *m, uint32_t task)
{
	uint32_t process = m->tasks[task].process;
	struct function f = { process, 0, 1 + machine_random(m, FUNCTION_PAGES) };
	struct process *p = &m->processes[process];

	if (!p->compiler)
		start_compiler(m, task);
	f.first = p->code + machine_random(m, CODE_PAGES - f.pages);
	if (!array_reserve(&m->functions, &m->functions_capacity, m->n_functions + 1))
		abort();
	m->functions[m->n_functions++] = f;
	for (uint32_t i = f.first; i < f.first + f.pages; i++)
		for (uint32_t j = 0, old = p->functions[i]; old && j < PAGES; j++)
			if (p->functions[j] == old)
				p->functions[j] = 0;
	for (uint32_t i = 0; i < f.pages; i++)
		p->functions[f.first + i] = (uint32_t)m->n_functions;
	compiler_make(p->compiler, BASE + (uint64_t)f.first * PAGE, (uint64_t)f.pages * PAGE,
		      (uint32_t)m->n_functions, m->now_ns);
	if (machine_random(m, 8) == 0)
		compiler_flush(p->compiler);
}

static void start_task(struct machine *m, uint32_t task, uint32_t parent, uint32_t process)
{
	const struct task *from = &m->tasks[parent];
	const struct process *old = &m->processes[from->process];
	struct process *p = &m->processes[process];
	bool known, thread = process == from->process;

	m->tasks[task] = (struct task){ .alive = true, .process = process };
	set_comm(m, task, from->comm);
	/* What is wrongly known of the parent is so of the child. */
	m->comms_seen[task] |= m->comms_seen[parent];
	for (size_t i = 0; i < sizeof(places_seen); i++)
		(&m->seen[process][0][0])[i] |= (&m->seen[from->process][0][0])[i];
	known = send_family(m, PERF_RECORD_FORK, task, parent) && !old->follow_lost &&
		!old->thread_lost;
	m->tasks[task].name_lost = !known || from->name_lost;
	p->threads++;
	p->thread_lost = thread && (!known || p->thread_lost);
	if (thread)
		return;
	p->follow_lost = !known;
	p->space_lost = !known || old->space_lost;
	if (known)
		p->known_function = (uint32_t)m->n_functions;
	for (uint32_t i = 0; i < PAGES; i++)
		set_page(m, process, i, old->pages[i]);
}

static void send_comm(struct machine *m, uint32_t task, bool exec)
{
	struct process *p = &m->processes[m->tasks[task].process];
	struct body b = { .size = 0 };
	char name[16];
	bool lost;

	set_comm(m, task, (uint8_t)machine_random(m, COMMS));
	machine_name(name, sizeof(name), m->tasks[task].comm);
	put_u32(&b, MACHINE_FIRST_PID + m->tasks[task].process);
	put_u32(&b, MACHINE_FIRST_PID + task);
	put_name(&b, name);
	if (exec) {
		end_compiler(m, m->tasks[task].process, machine_random(m, 4) == 0);
		memset(p->pages, 0, sizeof(p->pages));
	}
	lost = !send(m, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, &b);
	m->tasks[task].name_lost = lost || p->follow_lost || (p->thread_lost && !exec);
	if (!exec)
		return;
	p->space_lost = lost || p->follow_lost;
	p->thread_lost &= lost;
	if (!p->space_lost)
		p->known_function = (uint32_t)m->n_functions;
}

static void end_task(struct machine *m, uint32_t task)
{
	uint32_t process = m->tasks[task].process;

	if (!--m->processes[process].threads)
		end_compiler(m, process, machine_random(m, 4) == 0);
	/* If this is not known, nothing becomes wrong: the number is given anew by a fork. */
	send_family(m, PERF_RECORD_EXIT, task, task);
	m->tasks[task].alive = false;
}

/* The main thread runs another program; the other threads end before. */
static void run_program(struct machine *m, uint32_t task)
{
	uint32_t process = m->tasks[task].process;

	if (task != process)
		return;
	for (uint32_t i = 0; i < MACHINE_TASKS; i++)
		if (i != task && m->tasks[i].alive && m->tasks[i].process == process)
			end_task(m, i);
	send_comm(m, task, true);
	for (uint32_t n = machine_random(m, 4); n; n--) {
		m->now_ns += 1 + machine_random(m, 1000);
		map_file(m, task);
	}
}

static void change_program(struct machine *m)
{
	uint32_t slot = machine_random(m, PROGRAMS);
	bool gone = m->programs[slot];
	struct body b = { .size = 0 };
	char name[32];

	if (!gone)
		m->programs[slot] = (uint8_t)(1 + machine_random(m, PROGRAM_NAMES));
	m->programs_seen[slot] |= 1u << m->programs[slot];
	machine_program(name, sizeof(name), m->programs[slot]);
	put_u64(&b, PROGRAM_BASE + (uint64_t)slot * PAGE);
	put_u32(&b, PROGRAM_BYTES);
	put_u32(&b, PERF_RECORD_KSYMBOL_TYPE_BPF |
			    (gone ? (uint32_t)PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER << 16 : 0));
	put_name(&b, name);
	m->programs_lost[slot] = !send(m, PERF_RECORD_KSYMBOL, 0, &b);
	if (gone)
		m->programs[slot] = 0;
}

/* Some are back before anybody has looked. */
static void lose_cpu(struct machine *m)
{
	uint32_t cpu = 1 + machine_random(m, KERNEL_CPUS - 1);

	if (!kernel_is_online(m->kernel, cpu))
		return;
	kernel_set_online(m->kernel, cpu, false);
	m->back_ns[cpu] = m->now_ns + machine_random(m, machine_random(m, 2) ? 1000 : AWAY_NS);
}

static void look_at_cpus(struct machine *m)
{
	if (machine_random(m, 40000) == 0)
		lose_cpu(m);
	for (uint32_t cpu = 1; cpu < KERNEL_CPUS; cpu++)
		if (!kernel_is_online(m->kernel, cpu) && m->now_ns >= m->back_ns[cpu])
			kernel_set_online(m->kernel, cpu, true);
}

/* -------- samples -------- */

static void describe(struct machine *m, uint32_t task, struct expected *e)
{
	const struct process *p = &m->processes[m->tasks[task].process];
	uint32_t slot = machine_random(m, PROGRAMS);

	*e = (struct expected){
		.time_ns = m->now_ns,
		.pid = MACHINE_FIRST_PID + m->tasks[task].process,
		.tid = MACHINE_FIRST_PID + task,
		.cpu = some_cpu(m),
		.comm = m->tasks[task].comm,
		.frames = (uint8_t)(1 + machine_random(m, MACHINE_FRAMES)),
		.name_lost = m->tasks[task].name_lost || p->thread_lost,
		.space_lost = p->space_lost || p->thread_lost,
		.kernel_lost = m->programs_lost[slot],
		.known_function = p->known_function,
		.newest_function = (uint32_t)m->n_functions,
		.program = m->programs[slot],
		.kernel_address = PROGRAM_BASE + (uint64_t)slot * PAGE + 16 +
				  PROGRAM_BYTES / 2 * machine_random(m, 2),
	};
	for (uint8_t i = 0; i < e->frames; i++) {
		uint32_t page = p->compiler && machine_random(m, 3) == 0
					? p->code + machine_random(m, CODE_PAGES)
					: machine_random(m, PAGES);

		/* Few addresses, so that stacks repeat, which the resolver remembers. */
		e->addresses[i] = BASE + (uint64_t)page * PAGE + 16 + 512 * machine_random(m, 2);
		e->places[i] = p->pages[page];
		if (e->places[i] == place_of(MADE, 0))
			e->functions[i] = p->functions[page];
	}
}

static void fire(struct machine *m, const struct expected *e, size_t ring)
{
	__u64 room[sizeof(struct sample) / sizeof(__u64) + MACHINE_FRAMES + 1] = { 0 };
	struct sample *sample = (struct sample *)room;
	__u64 *words = sample->frames;

	if (!kernel_records_on(m->kernel, e->cpu))
		return;
	*sample = (struct sample){ .time_ns = e->time_ns,
				   .weight = 1,
				   .pid = e->pid,
				   .tid = e->tid,
				   .cpu = e->cpu,
				   .kernel_frames = 1,
				   .user_frames = e->frames };
	for (uint8_t i = 0; i < e->frames; i++)
		words[i] = e->addresses[i] | (i ? 0 : FRAME_EXACT);
	words[e->frames] = e->kernel_address;
	if (!kernel_sample(m->kernel, ring, sample))
		return;
	if (!array_reserve(&m->expected, &m->capacity, m->n + 1))
		abort();
	m->expected[m->n++] = *e;
}

/* Now and then another CPU was faster: its sample is younger, and was written before. */
static void take_sample(struct machine *m, uint32_t task)
{
	size_t ring = machine_random(m, KERNEL_RINGS);
	struct expected older, younger;

	describe(m, task, &older);
	if (machine_random(m, 8)) {
		fire(m, &older, ring);
		return;
	}
	m->now_ns += 1 + machine_random(m, LATE_NS);
	describe(m, task, &younger);
	older.late = true;
	fire(m, &younger, ring);
	fire(m, &older, ring);
}

/* -------- all together -------- */

struct machine *machine_new(struct kernel *kernel, const struct machine_options *options)
{
	struct machine *m = calloc(1, sizeof(*m));

	if (!m || !(m->seen = calloc(MACHINE_TASKS, sizeof(*m->seen))))
		abort();
	the_machine = m;
	m->kernel = kernel;
	m->state = options->seed;
	m->now_ns = options->start_ns;
	m->broken = options->broken;
	m->cpus_go = options->cpus_go;
	for (uint32_t i = 0; i < MACHINE_FIRST_PROCESSES; i++) {
		m->tasks[i] = (struct task){ .alive = true, .process = i };
		m->processes[i].threads = 1;
		send_comm(m, i, true);
	}
	return m;
}

void machine_free(struct machine *m)
{
	for (uint32_t i = 0; i < MACHINE_TASKS; i++)
		end_compiler(m, i, false);
	compiler_remove_files();
	free(m->functions);
	free(m->seen);
	free(m->expected);
	free(m);
	the_machine = NULL;
}

uint64_t machine_step(struct machine *m)
{
	uint32_t task = some_task(m), what = machine_random(m, 100), slot;

	m->now_ns += 1 + machine_random(m, 50000);
	if (m->cpus_go)
		look_at_cpus(m);
	if (task == MACHINE_TASKS)
		return m->now_ns;
	if (what < 76) {
		take_sample(m, task);
	} else if (what < 80) {
		make_function(m, task);
	} else if (what < 88) {
		map_file(m, task);
	} else if (what < 92) {
		slot = free_slot(m);
		if (slot != MACHINE_TASKS)
			start_task(m, slot, task,
				   machine_random(m, 2) ? slot : m->tasks[task].process);
	} else if (what < 94) {
		run_program(m, task);
	} else if (what < 96) {
		send_comm(m, task, false);
	} else if (what < 97) {
		change_program(m);
	} else if (what < 98) {
		kernel_discard(m->kernel, machine_random(m, KERNEL_RINGS), m->now_ns);
	} else if (task >= MACHINE_FIRST_PROCESSES) {
		end_task(m, task); /* those of the start live on, so that there is always one */
	}
	return m->now_ns;
}

void machine_end(struct machine *m)
{
	for (uint32_t i = 0; i < MACHINE_TASKS; i++)
		if (m->processes[i].compiler)
			compiler_flush(m->processes[i].compiler);
}

static int by_time(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

struct expected *machine_expected(struct machine *m, size_t *n)
{
	*n = m->n;
	if (m->sorted < m->n)
		qsort(m->expected, m->n, sizeof(*m->expected), by_time);
	m->sorted = m->n;
	return m->expected;
}
