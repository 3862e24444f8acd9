/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PRF_H
#define PRF_H

/*
 * libprf: writing and reading traces. man/prf.5 describes the bytes; this page describes
 * what they mean.
 *
 * A trace holds definitions (events, objects, tasks, frames, stacks), numbered from 0 in the
 * order they were written, each before its first use; samples that name them; and records of
 * what was lost, what symbols were known, and what the recorder had to say about itself.
 *
 * Times are CLOCK_MONOTONIC nanoseconds of the recording machine. All text is bytes: it came
 * from the recorded machine, need not be UTF-8, and must be escaped where it is shown.
 *
 * Functions that can fail return an error that the caller owns (common/error.h), or NULL. Its
 * kind is ERROR_MEMORY, ERROR_SYSTEM or another that the function names. Nothing here prints,
 * exits or is safe to call from two threads on one writer or reader.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define PRF_VERSION_MAJOR 1
#define PRF_VERSION_MINOR 0

#define PRF_NONE UINT32_MAX /* "no such thing", where an id is expected */
#define PRF_BUILD_ID_MAX 20

/* -------- definitions -------- */

enum prf_event_kind {
	PRF_EVENT_ON_CPU = 0,	 /* timer or hardware cycles: a sample is a moment on a CPU */
	PRF_EVENT_OFF_CPU = 1,	 /* a wait: weight is its ns, the sample's time is its end */
	PRF_EVENT_PREEMPTED = 2, /* runnable but not running: weight in ns, time is its end */
	PRF_EVENT_COUNT = 3,	 /* anything counted: faults, tracepoints, probes, cache misses */
};

struct prf_event {
	enum prf_event_kind kind;
	const char *name;   /* as the user would write it: "cpu-clock", "sched:sched_switch" */
	const char *unit;   /* of the weight: "samples", "ns", "events", "cycles" */
	uint64_t frequency; /* Hz, or 0 when by period */
	uint64_t period;    /* events per sample, or 0 when by frequency; ns for cpu-clock */
};

enum prf_object_kind {
	PRF_OBJECT_FILE = 0,	  /* an ELF file; frame offsets are file offsets */
	PRF_OBJECT_KERNEL = 1,	  /* offsets from `base`, the run-time address of _text */
	PRF_OBJECT_MODULE = 2,	  /* a kernel module; offsets from `base`, where it was loaded */
	PRF_OBJECT_BPF = 3,	  /* a BPF program in the kernel; offsets from its start */
	PRF_OBJECT_VDSO = 4,	  /* the vDSO; offsets from its start, which are file offsets */
	PRF_OBJECT_JIT = 5,	  /* code a process made; offsets are addresses in that process */
	PRF_OBJECT_ANONYMOUS = 6, /* executable memory without a file or symbols */
	PRF_OBJECT_UNKNOWN = 7,	  /* nothing was mapped there, as far as the recorder knew */
	PRF_OBJECT_SCRIPT =
		8, /* source that a runtime runs; offsets are any numbers that set places apart */
};

struct prf_object {
	enum prf_object_kind kind;
	const char *path; /* as the process saw it; "[kernel]", "[vdso]", "[jit]" for the others */
	const char *root; /* the process's root directory as the recorder saw it; "" for "/" */
	uint8_t build_id[PRF_BUILD_ID_MAX];
	uint8_t build_id_size; /* 0: none */
	bool deleted;	       /* the file had no name any more when it was recorded */
	uint64_t base;	       /* see enum prf_object_kind; 0 for files; for JIT any number that
				  sets one process's code apart from all other, in the low 32
				  bits 0 for code whose name was withheld because other code
				  took its place at about the time of the sample */
	uint64_t device, inode, size, mtime_ns; /* of the file; all 0 when not known */
};

/*
 * A thread under one name. A thread that is renamed, as by exec, gets a new definition.
 */
struct prf_task {
	uint32_t pid; /* process (tgid), as the recorder sees it */
	uint32_t tid;
	uint32_t inner_pid; /* in the process's own pid namespace; pid outside of containers */
	uint32_t inner_tid;
	uint32_t parent_pid; /* 0: not known */
	uint64_t start_ns;   /* when it began, or got this name; 0: before the recording */
	const char *comm;
	const char *cgroup;	  /* cgroup v2 path, "" when not known */
	const char *command_line; /* arguments joined by spaces, "" when not known */
};

#define PRF_TASK_OTHER "[other]" /* the comm of tasks that a trace has no room for */

/* What a frame of a stack is, beside its place. */
enum prf_frame_flags {
	PRF_FRAME_KERNEL = 1 << 0,
	PRF_FRAME_EXACT = 1 << 1,   /* the pc itself (leaf, signal frame), not a return address */
	PRF_FRAME_GUESSED = 1 << 2, /* found by frame pointer where there was no table */
	PRF_FRAME_END = 1 << 3,	    /* no place: why the user stack ends above here */
};

/*
 * A place in code: a file offset within an object (see enum prf_object_kind for the others).
 * With PRF_FRAME_END there is no object (PRF_NONE), `offset` is an enum prf_stack_end (never
 * above PRF_END_COUNT, which stands for one that a newer version wrote), and the frame stands as
 * the outermost one of a stack that does not reach the thread's root.
 */
struct prf_frame {
	uint32_t object;
	uint32_t flags;
	uint64_t offset;
};

/* Why a user stack ends where it does. Stacks without a PRF_FRAME_END reached the root. */
enum prf_stack_end {
	PRF_END_ROOT = 0,
	PRF_END_NO_TABLE = 1,	   /* no unwind table for the code, and no frame pointer either */
	PRF_END_BAD_READ = 2,	   /* the stack could not be read there */
	PRF_END_TOO_DEEP = 3,	   /* more frames than the limit */
	PRF_END_UNSUPPORTED = 4,   /* the table asks for what the kernel half cannot do */
	PRF_END_NO_REGISTERS = 5,  /* the user registers could not be read */
	PRF_END_NO_MAPPING = 6,	   /* the pc lies in no known mapping */
	PRF_END_FRAME_POINTER = 7, /* the frame-pointer chain ended, perhaps at the root */
	PRF_END_RUNTIME_CODE = 8,  /* a runtime's code, but it does not say which */
	PRF_END_RUNTIME_FRAME = 9, /* a frame of a runtime's code that does not make sense */
	PRF_END_COUNT
};

/* "root", "no-table", ...; "unknown" above the known ones. */
const char *prf_stack_end_name(enum prf_stack_end end);

/*
 * A stack is the frame `frame`, called from the stack `parent` (PRF_NONE: the root).
 * A parent has a lower number than its children, so no stack can be a cycle. User frames
 * are nearer to the root than kernel frames.
 */
struct prf_stack {
	uint32_t parent;
	uint32_t frame;
};

/* -------- what is recorded -------- */

struct prf_sample {
	uint64_t time_ns;
	uint32_t task;
	uint32_t event;
	uint32_t stack;	     /* PRF_NONE: no frames at all */
	uint32_t waker;	     /* off-CPU: the stack that woke it, or PRF_NONE */
	uint32_t waker_task; /* whose stack that is; PRF_NONE: none, or not known; not read
				without `waker` */
	uint32_t cpu;
	uint64_t weight; /* in the event's unit; 1 for plain samples */
};

enum prf_loss_reason {
	PRF_LOSS_RING_FULL = 0, /* the ring buffer had no room: a larger -m helps */
	PRF_LOSS_RING_BUSY = 1, /* the ring's lock was held by what was interrupted */
	PRF_LOSS_SIDE_BAND = 2, /* mapping records lost; count is of records, not of samples */
	PRF_LOSS_LATE = 3,	/* arrived after its task or mappings were gone */
	PRF_LOSS_NESTED = 4,	/* the program was running on this CPU already */
	PRF_LOSS_OTHER = 5,	/* a reason that a newer version wrote, and this one cannot name */
	PRF_LOSS_SKIPPED = 6,	/* ticks of a timer that the kernel skipped: a lower rate helps */
	PRF_LOSS_COUNT
};

const char *prf_loss_reason_name(enum prf_loss_reason reason);

struct prf_loss {
	uint64_t from_ns, to_ns;
	uint32_t cpu; /* PRF_NONE: not known */
	enum prf_loss_reason reason;
	uint64_t count; /* samples */
};

/* A named stretch of an object's code, in the object's own offsets. */
struct prf_symbol {
	uint64_t start;
	uint64_t size; /* 0: up to the next one */
	const char *name;
};

/* One function of an embedded name: the innermost inlined one first, the real one last. */
struct prf_place {
	const char *function; /* as in the symbol table: mangled; "" when not known */
	const char *file;     /* "" when not known */
	uint32_t line;	      /* 0: not known */
	uint32_t start_line;  /* where the function is declared; 0: not known */
};

/*
 * The code of a function, so that it can be shown as instructions where the object's file is not.
 * Of names and files there is what a report of it needs, and no more.
 */

/* From an address on, up to the next one's: the innermost function there, and its line. */
struct prf_code_line {
	uint64_t address;
	const char
		*function; /* that was inlined there, as in the symbol table; "": the code's own */
	const char *file;  /* "" when not known */
	uint32_t line;	   /* 0: not known */
};

/* What the code refers to. */
struct prf_code_symbol {
	uint64_t address;
	uint64_t into; /* bytes from the symbol's start on */
	const char *name;
};

struct prf_code {
	uint32_t object;
	uint64_t offset;  /* of the first byte, in the object's own offsets */
	uint64_t address; /* of the first byte, where the file says that it is loaded */
	uint32_t machine; /* EM_* of <elf.h> */
	const char *name; /* as in the symbol table */
	const uint8_t *bytes;
	size_t size;
	const struct prf_code_line *lines; /* sorted by address */
	size_t line_count;
	const struct prf_code_symbol *symbols; /* sorted by address */
	size_t symbol_count;
};

/* Lines of a source file, as they were when they were put in. */
struct prf_source {
	const char *path;    /* as in names and code */
	uint32_t first_line; /* the number of lines[0], from 1 on */
	const char *const *lines;
	size_t n;
};

/* -------- writer -------- */

struct prf_writer;

struct prf_writer_options {
	int fd;		      /* to write to, or -1 to collect in memory */
	int level;	      /* zstd level 1..19; 0 stores */
	bool compress_thread; /* compress and write in a thread of its own */
	uint64_t block_bytes; /* raw bytes after which a block is sealed; 0: 1 MiB */
	/* How many stacks, frames and objects are known again; 0: 393,216, 196,608 and 24,576. */
	uint32_t recent;
	/* What that thread does first, such as giving up privileges; NULL: nothing. */
	void (*thread_began)(void);
	/*
	 * While a pipe or socket takes nothing, this is called in the thread that writes, about
	 * every 100 ms and after signals, with how long that has lasted. False gives up: the error
	 * is ERROR_SYSTEM with ECANCELED. NULL: the writer waits as long as it lasts.
	 */
	bool (*keep_waiting)(void *context, uint64_t stalled_ns);
	void *context;
};

/* Writes the header. The writer does not close the fd. ERROR_ARGUMENT for an unknown level. */
struct error *prf_writer_new(struct prf_writer **writer,
			     const struct prf_writer_options *options) ERROR_CHECKED;

/* Frees without an end block; a trace that shall be complete gets prf_writer_finish() first. */
void prf_writer_free(struct prf_writer *w);

/*
 * A call that breaks a rule of this page fails with ERROR_ARGUMENT, one that asks for more than
 * the format can hold with ERROR_LIMIT; the writer is as it was before, and can go on. After any
 * other error the trace cannot be written any further, and each call fails with that error again.
 */

/*
 * Definitions. Equal ones get the same id, so callers need no tables of their own, except for
 * tasks. Memory is bounded, however long a trace is: of each kind, the `recent` ones that were used
 * last are known again, or seven of eight of them, and what was not used for longer gets a new id.
 * An id stays valid to the end of the trace. Text is copied. Ids count from 0 in order of
 * definition.
 */
struct error *prf_writer_event(struct prf_writer *w, const struct prf_event *event,
			       uint32_t *id) ERROR_CHECKED;
struct error *prf_writer_object(struct prf_writer *w, const struct prf_object *object,
				uint32_t *id) ERROR_CHECKED;
/*
 * A new task with each call: the caller keeps the id for as long as the thread has this name. So
 * no memory is needed for threads that have ended. A trace has room for some four million; those
 * beyond are known by name and cgroup only (process and thread 0, no command line), and if even
 * these are too many, as PRF_TASK_OTHER.
 */
struct error *prf_writer_task(struct prf_writer *w, const struct prf_task *task,
			      uint32_t *id) ERROR_CHECKED;
struct error *prf_writer_frame(struct prf_writer *w, const struct prf_frame *frame,
			       uint32_t *id) ERROR_CHECKED;
struct error *prf_writer_stack(struct prf_writer *w, const struct prf_stack *stack,
			       uint32_t *id) ERROR_CHECKED;
/* A whole stack at once, `frames` leaf first; PRF_NONE for `n` 0. */
struct error *prf_writer_frames(struct prf_writer *w, const uint32_t *frames, size_t n,
				uint32_t *stack) ERROR_CHECKED;

struct error *prf_writer_sample(struct prf_writer *w,
				const struct prf_sample *sample) ERROR_CHECKED;
struct error *prf_writer_loss(struct prf_writer *w, const struct prf_loss *loss) ERROR_CHECKED;
/* Symbols of one object, sorted by start; a later call for the same object adds to them. */
struct error *prf_writer_symbols(struct prf_writer *w, uint32_t object,
				 const struct prf_symbol *symbols, size_t n) ERROR_CHECKED;
/* All names of one frame; places[n - 1] is the function that the code belongs to. */
struct error *prf_writer_names(struct prf_writer *w, uint32_t frame, const struct prf_place *places,
			       size_t n) ERROR_CHECKED;
/* Both sorted by address, else ERROR_ARGUMENT. */
struct error *prf_writer_code(struct prf_writer *w, const struct prf_code *code) ERROR_CHECKED;
/* Some lines of a file; a later call for the same file adds to them. */
struct error *prf_writer_source(struct prf_writer *w,
				const struct prf_source *source) ERROR_CHECKED;
/* "host", "kernel", "arch", "command_line", ... A key may be given again; the last counts. */
struct error *prf_writer_metadata(struct prf_writer *w, const char *key,
				  const char *value) ERROR_CHECKED;
/* A number at the end of the recording: "fired", "recorder_cpu_ns", ... The last counts. */
struct error *prf_writer_statistic(struct prf_writer *w, const char *key,
				   uint64_t value) ERROR_CHECKED;

/*
 * Writes out what would have waited for more than half a second by the next call: `now_ns`
 * (CLOCK_MONOTONIC) and `pause_ns`, the longest time until then. That is what a kill loses.
 */
struct error *prf_writer_tick(struct prf_writer *w, uint64_t now_ns,
			      uint64_t pause_ns) ERROR_CHECKED;

/* Writes out all that waits, but no end: for a copy of a trace that lacks its end. */
struct error *prf_writer_flush(struct prf_writer *w) ERROR_CHECKED;

/* Writes everything, the time index and the end block. Nothing may follow. */
struct error *prf_writer_finish(struct prf_writer *w) ERROR_CHECKED;

/* Whether there are nearly as many definitions as the format can hold: it should be finished. */
bool prf_writer_nearly_full(const struct prf_writer *w);

/* How much there is so far, for status lines; `file_bytes` lags behind a compress thread. */
struct prf_writer_totals {
	uint64_t samples, stacks, frames, objects, tasks;
	uint64_t file_bytes, raw_bytes;
};
void prf_writer_totals(const struct prf_writer *w, struct prf_writer_totals *totals);

/* With fd -1: the bytes so far; they stay until the next call on the writer. */
const void *prf_writer_memory(const struct prf_writer *w, size_t *size);

/* -------- reader -------- */

struct prf_reader;

/* From a file or a pipe; the same code reads both. The reader does not close the fd. */
struct error *prf_reader_new_fd(struct prf_reader **reader, int fd) ERROR_CHECKED;
/* From memory, which must stay until prf_reader_free(). */
struct error *prf_reader_new_memory(struct prf_reader **reader, const void *data,
				    size_t size) ERROR_CHECKED;
void prf_reader_free(struct prf_reader *r);

/*
 * Samples between these times only (from <= time < to). On a seekable file with an index,
 * blocks that hold none of them are not read. Before the first prf_reader_next().
 */
void prf_reader_set_time(struct prf_reader *r, uint64_t from_ns, uint64_t to_ns);

/*
 * For a file or a pipe that is still written: PRF_RECORD_END is then the end of what is there by
 * now, and a later call may find more, until prf_reader_ended(). A block that is not whole yet
 * is no damage, and a pipe is not waited for. Before the first prf_reader_next().
 */
void prf_reader_follow(struct prf_reader *r);

enum prf_record_type {
	PRF_RECORD_SAMPLES,
	PRF_RECORD_LOSS,
	PRF_RECORD_SYMBOLS,
	PRF_RECORD_NAMES,
	PRF_RECORD_CODE,
	PRF_RECORD_SOURCE,
	PRF_RECORD_METADATA,
	PRF_RECORD_STATISTIC,
	PRF_RECORD_DAMAGE, /* bytes were skipped; reading goes on after them */
	PRF_RECORD_END,	   /* there is nothing more */
};

/* `n` samples as columns: sample i is time_ns[i], task[i], ... */
struct prf_samples {
	size_t n;
	const uint64_t *time_ns;
	const uint32_t *task, *event, *stack, *waker, *waker_task, *cpu;
	const uint64_t *weight;
};

struct prf_damage {
	enum error_kind kind; /* ERROR_CORRUPT or ERROR_TRUNCATED */
	uint64_t offset;      /* where, in bytes from the start */
	uint64_t block;	      /* number of the block, counted from 0 */
	uint64_t skipped;     /* bytes not read */
	const char *reason;   /* "payload checksum mismatch"; stays until the next call */
};

/* What prf_reader_next() found. All pointers stay valid until the next call. */
struct prf_record {
	enum prf_record_type type;
	union {
		struct prf_samples samples;
		struct prf_loss loss;
		struct {
			uint32_t object;
			const struct prf_symbol *symbols;
			size_t n;
		} symbols;
		struct {
			uint32_t frame;
			const struct prf_place *places;
			size_t n;
		} names;
		struct prf_code code;
		struct prf_source source;
		struct {
			const char *key, *value;
		} metadata;
		struct {
			const char *key;
			uint64_t value;
		} statistic;
		struct prf_damage damage;
	};
};

/*
 * Fills `record`, with PRF_RECORD_END when no bytes are left. An error: the trace cannot be read
 * any further (ERROR_NOT_A_TRACE, ERROR_TRUNCATED within the file header, ERROR_UNSUPPORTED, or
 * reading itself failed), and each call fails with it again. Its text names block, offset and
 * rule. Damage is a record, not an error: what follows it is still read, and ids that were
 * defined in damaged blocks read as lost (see below).
 */
struct error *prf_reader_next(struct prf_reader *r, struct prf_record *record) ERROR_CHECKED;

/* True once the end block was read: the recording ended by itself and nothing is missing. */
bool prf_reader_complete(const struct prf_reader *r);

/* True once the end block was read, whatever was damaged before it. */
bool prf_reader_ended(const struct prf_reader *r);

/* Bytes read so far, and bytes after decompression. */
void prf_reader_bytes(const struct prf_reader *r, uint64_t *file_bytes, uint64_t *raw_bytes);

/* The trace's own version. */
void prf_reader_version(const struct prf_reader *r, unsigned int *major, unsigned int *minor);

/*
 * Definitions read so far. Ids in samples, stacks and frames are always below these counts
 * or PRF_NONE. Pointers and text stay valid until prf_reader_free(), arrays (`all_...`)
 * until the next prf_reader_next().
 *
 * A definition that was lost with a damaged block: events and tasks are named "[lost]",
 * objects are of kind PRF_OBJECT_UNKNOWN with path "[lost]", frames belong to such an
 * object, and stacks are such a frame without a parent.
 */
size_t prf_reader_events(const struct prf_reader *r);
size_t prf_reader_objects(const struct prf_reader *r);
size_t prf_reader_tasks(const struct prf_reader *r);
size_t prf_reader_frames(const struct prf_reader *r);
size_t prf_reader_stacks(const struct prf_reader *r);
const struct prf_event *prf_reader_event(const struct prf_reader *r, uint32_t id);
const struct prf_object *prf_reader_object(const struct prf_reader *r, uint32_t id);
const struct prf_task *prf_reader_task(const struct prf_reader *r, uint32_t id);
const struct prf_frame *prf_reader_all_frames(const struct prf_reader *r);
const struct prf_stack *prf_reader_all_stacks(const struct prf_reader *r);

/* -------- looking at the bytes themselves (prof-report --dump, --check) -------- */

struct prf_block_info {
	uint64_t offset, number, sequence;
	const char *type; /* "samples", "objects", ...; "unknown" */
	uint32_t type_code, flags;
	uint64_t header_bytes, stored_bytes, raw_bytes;
};

/* Called for each block before its records are handed out. */
void prf_reader_on_block(struct prf_reader *r,
			 void (*block)(const struct prf_block_info *info, void *context),
			 void *context);

#endif
