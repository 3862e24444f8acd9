/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The walk in the kernel against libdw's unwinder, for the same registers and the same
 * stack. WALK_SAMPLES says how many stacks are compared (default 300).
 */

#include "bpf/walk_copy.skel.h"
#include "tests/unit/unit.h"

#include <bpf/libbpf.h>
#include <elfutils/libdwfl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bpf/abi/sample.h"
#include "bpf/abi/walk_copy.h"
#include "record/unwind/unwinder.h"

#if defined(__x86_64__)

/* -------- the target: sorting, with frames of several kinds -------- */

static volatile long sink;

static int __attribute__((noinline)) compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	sink++;
	return x < y ? -1 : x > y;
}

static void __attribute__((noinline)) sort(int n)
{
	int numbers[n];

	for (int i = 0; i < n; i++)
		numbers[i] = (int)((unsigned int)i * 2654435761u);
	qsort(numbers, (size_t)n, sizeof(*numbers), compare);
	sink += numbers[n / 2];
}

static void __attribute__((noinline)) print(int n)
{
	char text[200] __attribute__((aligned(64)));

	snprintf(text, sizeof(text), "%d %f %s %lx", n, n / 7.0, "text", (long)n * 77777);
	sink += text[n % 10];
}

static void __attribute__((noinline)) descend(int depth)
{
	volatile int here = depth;

	if (depth > 0) {
		descend(here - 1);
	} else {
		sort(500);
		for (int i = 0; i < 300; i++)
			print(i);
	}
	sink += here;
}

static void on_alarm(int number)
{
	sort(200);
	sink++;
}

static void __attribute__((noreturn)) run_target(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGUSR1, on_alarm);
	for (int i = 0;; i++) {
		descend(i % 30);
		if (i % 3 == 0)
			raise(SIGUSR1);
	}
}

/* -------- libdw, asked about a copy -------- */

struct oracle {
	Dwfl *dwfl;
	pid_t pid;
	const struct walk_copy *copy;
	uint64_t frame[512];
	uint32_t frames;
	size_t compared, equal;
};

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread)
{
	struct oracle *o = context;

	if (*thread)
		return 0;
	*thread = o;
	return o->pid;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *context)
{
	const struct walk_copy *copy = ((struct oracle *)context)->copy;
	uint64_t offset = address - copy->start;

	if (offset + sizeof(*word) > (uint64_t)copy->pages * 4096 ||
	    offset > offset + sizeof(*word))
		return false;
	memcpy(word, &copy->stack[0][0] + offset, sizeof(*word));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
	/* DWARF number -> place in struct pt_regs */
	static const int places[17] = { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16 };
	const struct walk_copy *copy = ((struct oracle *)context)->copy;
	Dwarf_Word words[17];

	for (int i = 0; i < 17; i++)
		words[i] = copy->registers[places[i]];
	return dwfl_thread_state_registers(thread, 0, 17, words);
}

static int take_frame(Dwfl_Frame *frame, void *context)
{
	struct oracle *o = context;
	bool activation;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, &activation) || o->frames == 512)
		return DWARF_CB_ABORT;
	o->frame[o->frames++] = pc;
	return DWARF_CB_OK;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static Dwfl *open_dwfl(struct oracle *o)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);

	assert_non_null(dwfl);
	assert_int_equal(dwfl_linux_proc_report(dwfl, o->pid), 0);
	assert_int_equal(dwfl_report_end(dwfl, NULL, NULL), 0);
	assert_true(dwfl_attach_state(dwfl, NULL, o->pid, &thread_callbacks, o));
	return dwfl;
}

static int take_copy(void *context, void *data, size_t size)
{
	struct oracle *o = context;
	bool same = true;

	o->copy = data;
	o->frames = 0;
	dwfl_getthread_frames(o->dwfl, o->pid, take_frame, o);
	for (uint32_t i = 0; i < o->frames && i < o->copy->frames; i++)
		same = same && o->frame[i] == (o->copy->frame[i] & FRAME_ADDRESS);
	same = same && o->copy->end == WALK_ROOT && o->frames == o->copy->frames;
	o->compared++;
	o->equal += same;
	if (!same && o->compared - o->equal <= 3) {
		print_message("differs: %u frames by libdw, %u by the walk (end %u)\n", o->frames,
			      o->copy->frames, o->copy->end);
		for (uint32_t i = 0; i < o->frames || i < o->copy->frames; i++)
			print_message("  %2u libdw %lx walk %lx\n", i,
				      i < o->frames ? (unsigned long)o->frame[i] : 0UL,
				      i < o->copy->frames ? (unsigned long)o->copy->frame[i] : 0UL);
	}
	return 0;
}

/* -------- the test -------- */

static void map_target(struct unwinder *u, struct spaces *spaces, pid_t pid)
{
	assert_null(unwinder_follow(u, spaces));
	assert_null(spaces_read(spaces, (uint32_t)pid, 0));
	unwinder_flush(u);
	assert_true(unwinder_settle(u, UINT64_C(60000000000)));
}

static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

static struct walk_copy_bpf *load(pid_t pid)
{
	struct walk_copy_bpf *skeleton;

	libbpf_set_print(say_nothing);
	skeleton = walk_copy_bpf__open();
	if (!skeleton)
		return NULL;
	skeleton->rodata->target = (uint32_t)pid;
	bpf_map__set_max_entries(skeleton->maps.unwind_walks,
				 (uint32_t)libbpf_num_possible_cpus() * CLASS_COUNT);
	if (!walk_copy_bpf__load(skeleton))
		return skeleton;
	walk_copy_bpf__destroy(skeleton);
	return NULL;
}

static int open_clock(pid_t pid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = 997,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void compare_walks(struct walk_copy_bpf *skeleton, struct oracle *o, size_t wanted)
{
	struct ring_buffer *ring;
	struct bpf_link *link;
	time_t limit = time(NULL) + 120;
	int fd = open_clock(o->pid);

	assert_true(fd >= 0);
	link = bpf_program__attach_perf_event(skeleton->progs.copy_walk, fd);
	assert_non_null(link);
	o->dwfl = open_dwfl(o);
	ring = ring_buffer__new(bpf_map__fd(skeleton->maps.copies), take_copy, o, NULL);
	assert_non_null(ring);
	while (o->compared < wanted && time(NULL) < limit)
		ring_buffer__poll(ring, 100);
	bpf_link__destroy(link);
	ring_buffer__free(ring);
	dwfl_end(o->dwfl);
}

static void test_same_frames_as_libdw(void **state)
{
	const char *text = getenv("WALK_SAMPLES");
	size_t wanted = text ? strtoul(text, NULL, 10) : 300;
	struct unwinder_options options = { 0 };
	struct oracle o = { .pid = fork() };
	struct walk_copy_bpf *skeleton;
	struct objects *objects;
	struct spaces *spaces;
	struct unwinder *u;

	if (o.pid == 0)
		run_target();
	assert_true(o.pid > 0);
	skeleton = load(o.pid);
	if (!skeleton) {
		kill(o.pid, SIGKILL);
		waitpid(o.pid, NULL, 0);
		skip();
	}
	options.maps = (struct unwinder_maps){
		.segments = bpf_map__fd(skeleton->maps.unwind_segments),
		.pages = bpf_map__fd(skeleton->maps.unwind_pages),
		.rules = bpf_map__fd(skeleton->maps.unwind_rules),
		.first_slab = bpf_map__fd(skeleton->maps.unwind_first_slab),
		.slabs = bpf_map__fd(skeleton->maps.unwind_slabs),
		.processes = bpf_map__fd(skeleton->maps.unwind_processes),
		.files = bpf_map__fd(skeleton->maps.unwind_files),
	};
	objects = objects_new();
	spaces = spaces_new(objects, false);
	assert_null(unwinder_new(&u, &options));
	map_target(u, spaces, o.pid);
	compare_walks(skeleton, &o, wanted);
	unwinder_free(u);
	spaces_free(spaces);
	objects_free(objects);
	walk_copy_bpf__destroy(skeleton);
	kill(o.pid, SIGKILL);
	waitpid(o.pid, NULL, 0);
	print_message("%zu stacks compared, %zu equal\n", o.compared, o.equal);
	if (!o.compared)
		skip(); /* the target never ran */
	assert_true(o.equal * 100 >= o.compared * 98);
}

#else

/* The other processors' registers stand elsewhere. */
static void test_same_frames_as_libdw(void **state)
{
	skip();
}

#endif

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_same_frames_as_libdw),
};

UNIT_TESTS(tests);
