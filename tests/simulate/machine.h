/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_SIMULATE_MACHINE_H
#define TESTS_SIMULATE_MACHINE_H

/*
 * A machine whose processes live at random, made from a seed: they map files over others, fork,
 * make threads, exec, change names and end, and their numbers are used again; their compilers make
 * functions where others were; BPF programs come and go, and so do CPUs, if that is asked for. All
 * of it is written to the kernel's rings, and samples are taken in between. What each sample must
 * say in the trace is noted when it is taken.
 *
 * When a record of the side band is lost, the recorder cannot know what it said. Then it may say
 * something that held earlier, or nothing: of a thread's name until it gets another one, of what a
 * process maps until that runs another program, of a place for BPF programs until something comes
 * or goes there. Of a function that was made the name may always be missing, where another one may
 * be at its place. After the first one whose name a killed process has not written, it may be that
 * of an older one of the same program.
 *
 * /proc says which tasks live, and nothing else of them.
 */

#include "tests/simulate/kernel.h"

/* Above any number that the kernel gives, so that /proc knows nothing of them. */
#define MACHINE_FIRST_PID 100000000u
#define MACHINE_TASKS 64
#define MACHINE_FRAMES 4

struct machine;

/* What a sample must say. A place: a file's number and an offset, as machine_place() shows it. */
struct expected {
	uint64_t time_ns;
	uint32_t pid, tid, cpu;
	uint8_t comm;		    /* the number of a name */
	uint8_t frames;		    /* user frames */
	bool name_lost, space_lost; /* records that matter here were lost */
	bool kernel_lost;	    /* the same, of the kernel frame */
	bool unwritten; /* a function had been made whose name the process never wrote */
	bool late;	/* a sample of another CPU was written before it, and is younger */
	bool found;
	uint32_t known_function, newest_function; /* only those in between may be taken for it */
	uint8_t program; /* of the kernel frame: the BPF program's number, 0 for the kernel */
	uint64_t addresses[MACHINE_FRAMES];
	uint64_t kernel_address;
	uint32_t places[MACHINE_FRAMES];    /* 0: nothing is mapped there */
	uint32_t functions[MACHINE_FRAMES]; /* 0: no compiler has made what is there */
};

struct machine_options {
	uint64_t seed, start_ns;
	/* Now and then a record is left out without a word, so that checks must fail. */
	bool broken;
	bool cpus_go;
};

struct machine *machine_new(struct kernel *kernel, const struct machine_options *options);
void machine_free(struct machine *m);

/* The processes that exist at the start: MACHINE_FIRST_PID and the next ones. */
#define MACHINE_FIRST_PROCESSES 4

/* Something happens, a little later than what happened before. Returns its time. */
uint64_t machine_step(struct machine *m);

/*
 * Nothing happens any more, and compilers write what they have: what is only in their buffers then
 * may make the last names wrong (see `ended` in record/symbols/jit_names.h).
 */
void machine_end(struct machine *m);

/* The samples in the order of their times; valid until the next step. */
struct expected *machine_expected(struct machine *m, size_t *n);

/* "/sim/lib03.so+1234", "[jit]+...", "[unknown]+..." of a place at an address. */
void machine_place(char *text, size_t size, uint32_t place, uint64_t address);
void machine_name(char *text, size_t size, uint8_t comm);
void machine_program(char *text, size_t size, uint8_t program);

/*
 * What a sample may say where records were lost: a function that was there before, and a place, a
 * name, or a program that ever was.
 */
bool machine_had_function(const struct machine *m, const struct expected *e, uint64_t address,
			  uint32_t function);
bool machine_had_place(const struct machine *m, uint32_t pid, uint64_t address, const char *place);
bool machine_had_name(const struct machine *m, uint32_t tid, const char *name);
bool machine_had_program(const struct machine *m, uint64_t address, const char *name);

/* What lives now. There is one machine at a time. */
bool machine_has_process(uint32_t pid);
bool machine_has_task(uint32_t pid, uint32_t tid);

/* A random number below `n`, from the machine's seed. */
uint32_t machine_random(struct machine *m, uint32_t n);

#endif
