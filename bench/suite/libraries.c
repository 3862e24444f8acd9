/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our readers of ELF and DWARF beside libelf and libdw, as a table: what each takes, whether they
 * answer the same, and how long a whole report would take with the library in the place of ours.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/results/commands.h"
#include "bench/results/output.h"
#include "bench/suite/library_pairs.h"
#include "common/clock.h"
#include "common/message.h"

#define ROUNDS 7
#define ROUND_NS 50e6
#define ALIKE 0.97 /* of the places: crt code and padding are named in several ways */

struct side {
	library_function *function;
	struct library_answer answer;
	double ns[ROUNDS];
};

struct comparison {
	struct side ours, library;
	bool difference;
};

static double once(struct side *s, const struct library_files *f, const char *path)
{
	uint64_t start = clock_now();

	s->answer.value = 0;
	s->function(f, path, &s->answer);
	return (double)(clock_now() - start);
}

/* The mean of as many calls as fit into a round. */
static double round_of(struct side *s, const struct library_files *f, const char *path)
{
	double spent = 0;
	size_t n = 0;

	do {
		spent += once(s, f, path);
		n++;
	} while (spent < ROUND_NS);
	return spent / (double)n;
}

static bool answers_differ(const struct library_pair *p, const struct comparison *c)
{
	size_t same = 0;

	if (!p->by_place)
		return c->ours.answer.value != c->library.answer.value;
	for (size_t i = 0; i < LIBRARY_PLACES; i++)
		same += c->ours.answer.places[i] == c->library.answer.places[i];
	return (double)same < ALIKE * LIBRARY_PLACES;
}

static void measure(const struct library_pair *p, const struct library_files *f, const char *path,
		    struct comparison *c)
{
	c->ours.function = p->ours;
	c->library.function = p->library;
	once(&c->ours, f, path);
	once(&c->library, f, path);
	c->difference = answers_differ(p, c);
	for (int i = 0; i < ROUNDS && !c->difference; i++) {
		c->ours.ns[i] = round_of(&c->ours, f, path);
		c->library.ns[i] = round_of(&c->library, f, path);
	}
}

static void print_times(const struct library_pair *p, const struct comparison *c, double report_ns)
{
	double ours = statistics_median(c->ours.ns, ROUNDS);
	double library = statistics_median(c->library.ns, ROUNDS);
	char whole[32] = "-";

	if (report_ns > 0)
		snprintf(whole, sizeof(whole), "%.2f", (report_ns - ours + library) / report_ns);
	output_line("| %s | %s | %s | %.2f | %s | %s |", p->name, output_time(ours).text,
		    output_time(library).text, library / ours, whole, p->decision);
}

static bool compare_pair(const struct library_pair *p, const struct library_files *f, uint64_t seed)
{
	const char *path = f->paths[p->file];
	struct comparison *c = *path ? calloc(1, sizeof(*c)) : NULL;
	bool possible, good = true;

	if (!c) {
		output_line("| %s | not available | | | | |", p->name);
		return true;
	}
	measure(p, f, path, c);
	possible = c->library.answer.value != 0;
	if (!c->ours.answer.value || (possible && c->difference)) {
		message_error("%s: answers differ", p->name);
		good = false;
	} else if (!possible) {
		output_line("| %s | %s | not possible | | | %s |", p->name,
			    output_time(round_of(&c->ours, f, path)).text, p->decision);
	} else {
		print_times(p, c, p->in_report ? library_files_report(f, p->file, seed) * 1e9 : 0);
	}
	free(c);
	return good;
}

enum verdict libraries_command(const struct settings *s)
{
	struct library_files files;
	enum verdict verdict = VERDICT_FINE;

	if (s->rest_count) {
		message_error("usage: prof-bench libraries");
		return VERDICT_ERROR;
	}
	if (!library_files_make(&files, s->seed)) {
		message_error("the files to compare on cannot be made; are cc and binutils here?");
		return VERDICT_ERROR;
	}
	output_line("| function | ours | library | ratio | whole report | decision |");
	output_line("|---|---|---|---|---|---|");
	for (size_t i = 0; i < library_pairs_count; i++)
		if (!compare_pair(&library_pairs[i], &files, s->seed))
			verdict = VERDICT_REGRESSED;
	library_files_release(&files);
	return verdict;
}
