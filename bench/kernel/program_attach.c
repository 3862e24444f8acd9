/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/kernel/program_attach.h"

#include <arpa/inet.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/perf_event.h>
#include <net/if.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CLOCK_HZ 999
#define SIGNALS 4

struct program_attachment {
	struct bpf_link **links;
	size_t link_count;
	int socket;	       /* that the program filters, or -1 */
	struct bpf_tc_hook tc; /* .ifindex 0: not attached there */
	struct bpf_tc_opts tc_options;
	bool own_hook; /* the queueing discipline was made by us */
	struct sigaction before[SIGNALS];
};

static const int signals[SIGNALS] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };

/* Signals come to the process as a whole. */
static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = true;
}

bool program_interrupted(void)
{
	return interrupted;
}

/* A tc attachment outlives the process. So signals do not end us while it exists. */
static void delay_signals(struct program_attachment *a, bool delay)
{
	const struct sigaction ours = { .sa_handler = interrupt };

	for (size_t i = 0; i < SIGNALS; i++) {
		struct sigaction *before = &a->before[i];

		sigaction(signals[i], delay ? &ours : before, delay ? before : NULL);
		if (delay && before->sa_handler == SIG_IGN) /* as by nohup */
			sigaction(signals[i], before, NULL);
	}
}

void program_detach(struct program_attachment *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->link_count; i++)
		bpf_link__destroy(a->links[i]);
	if (a->socket >= 0)
		close(a->socket);
	if (a->tc.ifindex) {
		struct bpf_tc_opts which = { .sz = sizeof(which),
					     .handle = a->tc_options.handle,
					     .priority = a->tc_options.priority };

		bpf_tc_detach(&a->tc, &which);
		if (a->own_hook) {
			a->tc.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS;
			bpf_tc_hook_destroy(&a->tc);
		}
		delay_signals(a, false);
	}
	free(a->links);
	free(a);
}

static struct error *refused(const struct program *program, int error)
{
	/* Their numbers are in files there. */
	bool traced = program_type(program) == BPF_PROG_TYPE_TRACEPOINT ||
		      program_type(program) == BPF_PROG_TYPE_KPROBE;

	if (program_of(program) && abs(error) == EOPNOTSUPP)
		return error_new(
			ERROR_FAILED,
			"cannot attach %s, of type %s: its section \"%s\" does not say where; "
			"let its own program attach it, and measure it by --id or --name",
			program_name(program), program_type_name(program),
			bpf_program__section_name(program_of(program)));
	return error_new(ERROR_FAILED, "cannot attach %s, of type %s: %s%s", program_name(program),
			 program_type_name(program), strerror(abs(error)),
			 traced && abs(error) == ENOENT &&
					 access("/sys/kernel/tracing/events", F_OK)
				 ? "; mount tracefs on /sys/kernel/tracing"
				 : "");
}

static struct error *keep(struct program_attachment *a, const struct program *program,
			  struct bpf_link *link)
{
	struct bpf_link **links;

	if (!link)
		return refused(program, errno);
	links = realloc(a->links, (a->link_count + 1) * sizeof(*links));
	if (!links) {
		bpf_link__destroy(link);
		return error_memory();
	}
	a->links = links;
	links[a->link_count++] = link;
	return NULL;
}

/* A software clock on each CPU that is online. */
static struct error *to_clocks(struct program_attachment *a, const struct program *program)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.freq = 1,
					.sample_freq = CLOCK_HZ };
	struct error *error = NULL;

	for (int cpu = 0; cpu < libbpf_num_possible_cpus() && !error; cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
				      PERF_FLAG_FD_CLOEXEC);

		if (fd < 0 && errno == ENODEV)
			continue;
		if (fd < 0)
			return refused(program, errno);
		error = keep(a, program, bpf_program__attach_perf_event(program_of(program), fd));
		if (error)
			close(fd);
	}
	return error;
}

/* To what comes in, unless the section is "tc/egress" or "tcx/egress", which libbpf has since 1.3.
 */
static enum bpf_tc_attach_point tc_point(const struct program *program)
{
	const char *section = bpf_program__section_name(program_of(program));
	const char *slash = strrchr(section, '/');

	return slash && !strcmp(slash, "/egress") ? BPF_TC_EGRESS : BPF_TC_INGRESS;
}

static struct error *to_tc(struct program_attachment *a, const struct program *program,
			   unsigned int ifindex)
{
	struct bpf_tc_hook hook = { .sz = sizeof(hook),
				    .ifindex = (int)ifindex,
				    .attach_point = tc_point(program) };
	int status = bpf_tc_hook_create(&hook);

	if (status && status != -EEXIST)
		return refused(program, status);
	a->own_hook = !status;
	a->tc_options = (struct bpf_tc_opts){ .sz = sizeof(a->tc_options),
					      .prog_fd = program_fd(program) };
	delay_signals(a, true);
	a->tc = hook;
	status = bpf_tc_attach(&hook, &a->tc_options);
	return status ? refused(program, status) : NULL;
}

/* To a socket for all packets, also when nobody reads them and it is full. */
static struct error *to_socket(struct program_attachment *a, const struct program *program,
			       unsigned int ifindex)
{
	const struct sockaddr_ll address = { .sll_family = AF_PACKET,
					     .sll_protocol = htons(ETH_P_ALL),
					     .sll_ifindex = (int)ifindex };
	int fd = program_fd(program);

	a->socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (a->socket < 0 || setsockopt(a->socket, SOL_SOCKET, SO_ATTACH_BPF, &fd, sizeof(fd)) ||
	    bind(a->socket, (const struct sockaddr *)&address, sizeof(address)))
		return refused(program, errno);
	return NULL;
}

static struct error *to_interface(struct program_attachment *a, const struct program *program,
				  const char *interface)
{
	unsigned int ifindex = interface ? if_nametoindex(interface) : 0;

	if (!interface)
		return error_new(ERROR_FAILED,
				 "%s is of type %s: name an interface with --interface, or "
				 "use --test-run",
				 program_name(program), program_type_name(program));
	if (!ifindex)
		return error_new(ERROR_FAILED, "there is no interface \"%s\"", interface);
	if (program_type(program) == BPF_PROG_TYPE_XDP)
		return keep(a, program, bpf_program__attach_xdp(program_of(program), (int)ifindex));
	if (program_type(program) == BPF_PROG_TYPE_SOCKET_FILTER)
		return to_socket(a, program, ifindex);
	return to_tc(a, program, ifindex);
}

static struct error *to_cgroup(struct program_attachment *a, const struct program *program,
			       const char *cgroup)
{
	struct error *error;
	int fd;

	if (!cgroup)
		return error_new(ERROR_FAILED, "%s is of type %s: name a cgroup with --cgroup",
				 program_name(program), program_type_name(program));
	fd = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_new(ERROR_FAILED, "%s: %s", cgroup, strerror(errno));
	error = keep(a, program, bpf_program__attach_cgroup(program_of(program), fd));
	close(fd);
	return error;
}

static struct error *attach(struct program_attachment *a, const struct program *program,
			    const struct program_place *place)
{
	switch (program_type(program)) {
	case BPF_PROG_TYPE_XDP:
	case BPF_PROG_TYPE_SOCKET_FILTER:
	case BPF_PROG_TYPE_SCHED_CLS: return to_interface(a, program, place->interface);
	case BPF_PROG_TYPE_CGROUP_SKB:
	case BPF_PROG_TYPE_CGROUP_SOCK:
	case BPF_PROG_TYPE_CGROUP_SOCK_ADDR:
	case BPF_PROG_TYPE_CGROUP_SOCKOPT:
	case BPF_PROG_TYPE_CGROUP_SYSCTL:
	case BPF_PROG_TYPE_CGROUP_DEVICE:
	case BPF_PROG_TYPE_SOCK_OPS: return to_cgroup(a, program, place->cgroup);
	case BPF_PROG_TYPE_PERF_EVENT: return to_clocks(a, program);
	default: return keep(a, program, bpf_program__attach(program_of(program)));
	}
}

struct error *program_attach(struct program_attachment **attachment, const struct program *program,
			     const struct program_place *place)
{
	struct program_attachment *a = calloc(1, sizeof(*a));
	struct error *error;

	if (!a)
		return error_memory();
	a->socket = -1;
	error = attach(a, program, place);
	if (error)
		program_detach(a);
	else
		*attachment = a;
	return error;
}
