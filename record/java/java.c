/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/java/java.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi/runtimes.h"
#include "common/buffer.h"
#include "common/clock.h"
#include "common/limits.h"
#include "common/map.h"
#include "record/java/hotspot_names.h"
#include "record/runtimes/runtime_frames.h"
#include "record/runtimes/runtime_map.h"
#include "record/system/opener.h"
#include "record/system/process_owner.h"

/* A virtual machine that is not ready after this time is stopped, or is none. */
#define SETUP_NS UINT64_C(10000000000)
/* It is asked again after this, and later less often: late by such a share of its time so far. */
#define SOON_NS UINT64_C(1000000)
#define LATE_SHARE 32
#define NAMES_MS 50
/* The same while more than one of MISSED_SHARE frames comes too late, in steps of COUNTED_NS. */
#define HURRY_MS 5
#define MISSED_SHARE 20
#define COUNTED_NS UINT64_C(500000000)
/* How long the names of a process that has ended may be asked for. */
#define GONE_NS UINT64_C(5000000000)
#define PAST_MAX 1024 /* ended processes whose totals are kept */

_Static_assert(sizeof(struct hotspot_process) <= sizeof(((struct script_process *)0)->parameters),
	       "the kernel half gets it as the runtime's parameters");

enum java_state { JAVA_WAITS, JAVA_READY, JAVA_REFUSED };

struct java_process {
	uint32_t pid;
	enum java_state state;
	uint64_t start, file_offset; /* of the mapping of libjvm.so that made it known */
	uint64_t began_ns;	     /* when that was mapped; 0: before the recording */
	uint64_t since_ns;	     /* when it was asked first; 0: not yet */
	bool opened;		     /* its file was looked into */
	uint64_t again_ns;	     /* when it is to be asked again */
	uint64_t ready_ns;	     /* since when the kernel half walks through its code */
	struct hotspot machine;
	struct hotspot_names *names; /* once it is ready */
	uint64_t frames, nameless; /* distinct ones that were looked up, and those without a name */
	uint64_t gone_ns;	   /* when it ended, or ran another program */
	struct java_process *next; /* of those that have ended */
	char path[];
};

/* The totals of a process that has ended. */
struct java_past {
	uint32_t pid, version;
	uint64_t frames, nameless;
};

/*
 * Which frame it is, in words. The machine, by its number: a process may run one after the other,
 * and pids are used again.
 */
struct frame_key {
	uint64_t machine_exact;
	struct script_frame frame;
};

/* The frames that were asked for last, by what identifies them: most come again at once. */
#define RECENT 8192

struct recent {
	struct frame_key key; /* machine_exact 0: none */
	uint32_t id;
};

struct java {
	struct java_options options;
	struct runtime_map processes;
	struct map by_pid; /* -> struct java_process * */
	struct java_process *gone;
	size_t waiting;
	uint64_t again_ns; /* when the first of those that wait is to be asked again */
	uint32_t ids;
	uint64_t now_ns;
	struct shares name_bytes;
	/* Frames that were looked up, and those without a name, since then. */
	uint64_t looked_up, missed, counted_ns;
	bool hurries;
	struct runtime_frames named;
	struct recent recent[RECENT];
	struct map frames;  /* struct frame_key -> number in the trace, PRF_NONE: nameless */
	struct buffer past; /* struct java_past of processes that are forgotten */
};

struct java *java_new(const struct java_options *options)
{
	struct java *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->options = *options;
	j->name_bytes.limit = LIMIT_JAVA_TOTAL_BYTES;
	j->processes = (struct runtime_map){ .fd = options->scripts_fd,
					     .refused = options->refused,
					     .context = options->context };
	return j;
}

static void process_free(void *process)
{
	hotspot_names_free(((struct java_process *)process)->names);
	free(process);
}

void java_free(struct java *j)
{
	if (!j)
		return;
	map_release_values(&j->by_pid, process_free);
	while (j->gone) {
		struct java_process *p = j->gone;

		j->gone = p->next;
		process_free(p);
	}
	map_release(&j->frames);
	shares_release(&j->name_bytes);
	runtime_frames_release(&j->named);
	buffer_release(&j->past);
	free(j);
}

static struct java_process *find(const struct java *j, uint32_t pid)
{
	const uint64_t *value = map_get(&j->by_pid, &pid, sizeof(pid));

	return value ? (struct java_process *)(uintptr_t)*value : NULL;
}

static bool is_libjvm(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && !strcmp(name, "/libjvm.so");
}

static void mapped(void *context, uint32_t pid, uint64_t time_ns, const struct mapping *m)
{
	const char *path = m->object->definition.path;
	struct java *j = context;
	struct java_process *p;
	uint64_t *value;

	if (!is_libjvm(path) || find(j, pid))
		return;
	p = calloc(1, sizeof(*p) + strlen(path) + 1);
	value = p ? map_put(&j->by_pid, &pid, sizeof(pid), NULL) : NULL;
	if (!value) {
		free(p);
		return;
	}
	*p = (struct java_process){
		.pid = pid, .start = m->start, .file_offset = m->offset, .began_ns = time_ns
	};
	strcpy(p->path, path);
	*value = (uintptr_t)p;
	j->waiting++;
}

static void forget(struct java *j, uint32_t pid, uint64_t time_ns)
{
	struct java_process *p = find(j, pid);

	if (!p)
		return;
	j->waiting -= p->state == JAVA_WAITS;
	map_remove(&j->by_pid, &pid, sizeof(pid));
	if (p->state != JAVA_READY) {
		process_free(p);
		return;
	}
	runtime_map_remove(&j->processes, pid);
	p->gone_ns = time_ns;
	p->next = j->gone;
	j->gone = p;
}

static void cleared(void *context, uint32_t pid, uint64_t time_ns, bool by_exec)
{
	forget(context, pid, time_ns);
}

/* A forked child that has not exec'd has the parent's entry, and is not known here. */
static void ended(void *context, uint32_t pid, uint64_t time_ns)
{
	struct java *j = context;

	forget(j, pid, time_ns);
	if (runtime_map_runtime(&j->processes, pid) == SCRIPT_HOTSPOT)
		runtime_map_remove(&j->processes, pid);
}

struct error *java_follow(struct java *j, struct spaces *newest)
{
	return spaces_listen(newest, &(struct space_listener){ .mapped = mapped,
							       .cleared = cleared,
							       .ended = ended,
							       .context = j });
}

static void settle(struct java *j, struct java_process *p, enum java_state state)
{
	p->state = state;
	j->waiting--;
}

static void refuse(struct java *j, struct java_process *p, const char *why)
{
	const char *missing = p->machine.tables.missing;
	char text[512];

	settle(j, p, JAVA_REFUSED);
	if (!j->options.refused)
		return;
	snprintf(text, sizeof(text), "process %" PRIu32 ": Java code is not walked: %s: %s%s%s",
		 p->pid, p->path, why, missing ? ": " : "", missing ? missing : "");
	j->options.refused(text, j->options.context);
}

static void publish(struct java *j, struct java_process *p)
{
	struct script_process process = { .runtime = SCRIPT_HOTSPOT };

	p->machine.process.id = ++j->ids;
	memcpy(process.parameters, &p->machine.process, sizeof(p->machine.process));
	runtime_map_put(&j->processes, p->pid, &process);
	settle(j, p, JAVA_READY);
	p->ready_ns = clock_now();
	p->names = hotspot_names_new(&p->machine, &j->name_bytes, process_owner_user(p->pid));
}

/* Looks into the file, the first time. NULL, or why that cannot be. */
static const char *open_machine(struct java_process *p, int fd)
{
	struct target_memory memory = target_memory_of(p->pid);
	const char *why = NULL;
	struct elf_file file;
	uint64_t address;

	if (elf_file_open(&file, fd))
		why = "the file is no ELF file";
	if (why)
		return why;
	if (!elf_file_offset_to_address(&file, p->file_offset, &address))
		why = "the file is another one now";
	else if (!hotspot_init(&p->machine, &memory, &file, p->start - address))
		why = "it exports no tables about itself";
	elf_file_release(&file);
	return why;
}

/* NULL, or why it cannot be asked: HOTSPOT_NOT_YET if that may change. */
static const char *open_file(struct java_process *p, enum hotspot_state *state)
{
	const struct opening what = {
		.kind = OPENING_PATH, .pid = p->pid, .uid = OPENING_ANY_UID, .path = p->path
	};
	struct open_file file;
	const char *why;
	int error = opener_open(&what, &file);

	*state = error == -EAGAIN ? HOTSPOT_NOT_YET : HOTSPOT_REFUSED;
	if (error)
		return error == -EAGAIN ? "the file does not answer" : "the file cannot be opened";
	p->opened = true;
	why = open_machine(p, file.fd);
	close(file.fd);
	return why;
}

static void ask(struct java *j, struct java_process *p)
{
	enum hotspot_state state = HOTSPOT_NOT_YET;
	const char *why = NULL;

	if (!p->since_ns)
		p->since_ns = j->now_ns;
	if (!p->opened)
		why = open_file(p, &state);
	if (!why)
		state = hotspot_attach(&p->machine, &why);
	if (state == HOTSPOT_READY)
		publish(j, p);
	else if (state == HOTSPOT_REFUSED || j->now_ns - p->since_ns > SETUP_NS)
		refuse(j, p, why);
}

static void look(const void *key, size_t size, uint64_t value, void *context)
{
	struct java_process *p = (struct java_process *)(uintptr_t)value;
	struct java *j = context;
	uint64_t late;

	if (p->state == JAVA_WAITS && p->again_ns <= j->now_ns) {
		ask(j, p);
		late = (j->now_ns - p->since_ns) / LATE_SHARE;
		p->again_ns = j->now_ns + (late > SOON_NS ? late : SOON_NS);
	}
	if (p->state == JAVA_WAITS && p->again_ns < j->again_ns)
		j->again_ns = p->again_ns;
}

static struct java_past past_of(const struct java_process *p)
{
	return (struct java_past){ p->pid, p->machine.version, p->frames, p->nameless };
}

/* Those that ended long ago. */
static void forget_gone(struct java *j)
{
	struct java_process **at = &j->gone, *p;

	while ((p = *at)) {
		if (j->now_ns < p->gone_ns + GONE_NS) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		if (j->past.size < PAST_MAX * sizeof(struct java_past)) {
			const struct java_past past = past_of(p);

			buffer_append(&j->past, &past, sizeof(past));
		}
		process_free(p);
	}
}

static void count_missed(struct java *j)
{
	if (j->now_ns < j->counted_ns + COUNTED_NS)
		return;
	j->hurries = j->missed * MISSED_SHARE > j->looked_up;
	j->looked_up = j->missed = 0;
	j->counted_ns = j->now_ns;
}

void java_tick(struct java *j, uint64_t now_ns)
{
	j->now_ns = now_ns;
	count_missed(j);
	forget_gone(j);
	j->again_ns = UINT64_MAX;
	if (j->waiting)
		map_each(&j->by_pid, look, j);
}

int java_wait_ms(const struct java *j, int most_ms)
{
	int ms = most_ms;

	if (j->by_pid.count)
		ms = j->hurries ? HURRY_MS : NAMES_MS;
	if (j->waiting)
		ms = clock_wait_ms(j->now_ns, j->again_ns, ms);
	return ms < most_ms ? ms : most_ms;
}

/* -------- names -------- */

void java_set_writer(struct java *j, struct prf_writer *w)
{
	runtime_frames_begin(&j->named, w);
	if (j->ids)
		memset(j->recent, 0, sizeof(j->recent));
	map_release(&j->frames);
}

/* The one that the process ran at that time. The newest spaces are ahead of the samples. */
static struct java_process *process_at(const struct java *j, uint32_t pid, uint64_t time_ns)
{
	struct java_process *p = find(j, pid);

	if (p && p->names && time_ns >= p->began_ns)
		return p;
	/* Those that ended last come first. */
	for (p = j->gone; p; p = p->next)
		if (p->pid == pid && p->names && time_ns >= p->began_ns)
			return p;
	return NULL;
}

bool java_was_walked(const struct java *j, uint32_t pid, uint64_t time_ns)
{
	const struct java_process *p = process_at(j, pid, time_ns);

	return p && time_ns >= p->ready_ns;
}

/* A frame that is asked for the first time. */
static struct error *name_frame(struct java *j, struct java_process *p,
				const struct java_question *q, uint32_t *id)
{
	struct prf_place places[HOTSPOT_INLINED_MAX];
	size_t n;

	hotspot_names_as_of(p->names, q->time_ns);
	n = hotspot_names_find(p->names, q->frame, q->exact, places);
	p->frames++;
	p->nameless += !n;
	j->looked_up++;
	j->missed += !n;
	*id = PRF_NONE;
	return n ? runtime_frames_find(&j->named,
				       q->frame->code & HOTSPOT_METHOD ? "[java interpreter]"
								       : "[java]",
				       &(struct runtime_places){ places, n }, id)
		 : NULL;
}

static struct error *find_frame(struct java *j, struct java_process *p,
				const struct java_question *q, const struct frame_key *key,
				uint32_t *id)
{
	struct error *error;
	bool added = false;
	uint64_t *value;

	if (j->frames.count >= LIMIT_RUNTIME_FRAMES)
		map_release(&j->frames);
	value = map_put(&j->frames, key, sizeof(*key), &added);
	if (!value)
		return error_memory();
	if (added) {
		error = name_frame(j, p, q, id);
		*value = *id;
		return error;
	}
	*id = (uint32_t)*value;
	return NULL;
}

static struct recent *recent_of(struct java *j, const struct frame_key *key)
{
	uint64_t hash = (key->frame.code ^ key->frame.position ^ key->machine_exact) *
			UINT64_C(0x9e3779b97f4a7c15);

	return &j->recent[hash >> 40 & (RECENT - 1)];
}

struct error *java_frame(struct java *j, const struct java_question *q, uint32_t *id)
{
	struct java_process *p = process_at(j, q->pid, q->time_ns);
	struct frame_key key = { .frame = *q->frame };
	struct error *error = NULL;
	struct recent *recent;

	*id = PRF_NONE;
	if (!p)
		return NULL;
	key.machine_exact = (uint64_t)p->machine.process.id << 1 | q->exact;
	recent = recent_of(j, &key);
	if (memcmp(&recent->key, &key, sizeof(key))) {
		error = find_frame(j, p, q, &key, &recent->id);
		recent->key = error ? (struct frame_key){ 0 } : key;
	}
	*id = error ? PRF_NONE : recent->id;
	return error;
}

/* -------- totals -------- */

static struct error *note_past(const struct java *j, const struct java_past *past)
{
	char key[32], text[160];

	snprintf(key, sizeof(key), "java.%" PRIu32, past->pid);
	snprintf(text, sizeof(text),
		 "HotSpot %" PRIu32 ": %" PRIu64 " of %" PRIu64
		 " frames named by the machine itself%s",
		 past->version, past->frames - past->nameless, past->frames,
		 past->nameless ? ", the others by a perf map if there is one" : "");
	return prf_writer_metadata(j->named.writer, key, text);
}

struct noting {
	const struct java *java;
	struct error *error;
};

static void note_process(const void *key, size_t size, uint64_t value, void *context)
{
	const struct java_process *p = (const struct java_process *)(uintptr_t)value;
	const struct java_past past = past_of(p);
	struct noting *noting = context;

	if (!noting->error && p->state == JAVA_READY)
		noting->error = note_past(noting->java, &past);
}

struct error *java_finish(const struct java *j)
{
	const struct java_past *past = (const void *)j->past.data;
	struct noting noting = { .java = j };

	for (size_t i = 0; i < j->past.size / sizeof(*past) && !noting.error; i++)
		noting.error = note_past(j, &past[i]);
	for (const struct java_process *p = j->gone; p && !noting.error; p = p->next)
		note_process(NULL, 0, (uintptr_t)p, &noting);
	if (!noting.error)
		map_each(&j->by_pid, note_process, &noting);
	return noting.error;
}
