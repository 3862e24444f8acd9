/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/gate/trend.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"

#define COLUMNS 3
#define WIDTH 320
#define HEIGHT 140
#define LEFT 12
#define TOP 40
#define PLOT_WIDTH (WIDTH - 2 * LEFT)
#define PLOT_HEIGHT (HEIGHT - TOP - 24)

struct point {
	struct estimate estimate;
	bool has_bounds, regressed;
	const char *hash;
};

struct trend {
	const struct history *history;
	const char *branch, *testbed;
	struct buffer svg;
	struct results seen; /* the measures that have a chart */
	struct point *points;
	size_t count;
};

static void escaped(struct buffer *b, const char *text)
{
	for (; *text; text++) {
		if (strchr("<>&\"'", *text))
			buffer_printf(b, "&#%d;", *text);
		else if ((unsigned char)*text < 0x20)
			buffer_text(b, " ");
		else
			buffer_append(b, text, 1);
	}
}

static bool counts(const struct trend *t, const struct history_entry *e)
{
	return (!t->branch || !strcmp(t->branch, e->branch)) &&
	       (!t->testbed || !strcmp(t->testbed, e->testbed));
}

static void collect(struct trend *t, const char *benchmark, const char *measure)
{
	t->count = 0;
	for (size_t i = 0; i < t->history->count; i++) {
		const struct history_entry *e = &t->history->all[i];
		const struct result *r = counts(t, e)
						 ? results_find(&e->results, benchmark, measure)
						 : NULL;

		if (r)
			t->points[t->count++] = (struct point){ r->estimate, r->has_bounds,
								e->regressed, e->hash };
	}
}

static double x_of(const struct trend *t, size_t i)
{
	return t->count < 2 ? LEFT + PLOT_WIDTH / 2.0
			    : LEFT + PLOT_WIDTH * (double)i / (double)(t->count - 1);
}

/* Charts begin at 0, so that a small change looks small. */
static double y_of(double value, double top)
{
	return TOP + PLOT_HEIGHT * (1 - (top > 0 ? fmax(value, 0) / top : 0));
}

static void chart(struct trend *t, const char *benchmark, const char *measure, size_t number)
{
	struct buffer *b = &t->svg;
	double top = 0;

	collect(t, benchmark, measure);
	for (size_t i = 0; i < t->count; i++) {
		const struct point *p = &t->points[i];

		top = fmax(top, p->has_bounds ? fmax(p->estimate.value, p->estimate.high)
					      : p->estimate.value);
	}
	buffer_printf(b,
		      "<g transform=\"translate(%zu %zu)\"><text x=\"%d\" y=\"16\" class=\"name\">",
		      number % COLUMNS * WIDTH, number / COLUMNS * HEIGHT, LEFT);
	escaped(b, benchmark);
	buffer_printf(b, "</text><text x=\"%d\" y=\"31\">", LEFT);
	escaped(b, measure);
	buffer_printf(b, ": last %.6g of %zu, scale 0 to %.4g</text>\n",
		      t->points[t->count - 1].estimate.value, t->count, top);
	buffer_printf(b, "<path class=\"axis\" d=\"M%d %dh%d\"/><polyline points=\"", LEFT,
		      TOP + PLOT_HEIGHT, PLOT_WIDTH);
	for (size_t i = 0; i < t->count; i++)
		buffer_printf(b, "%.1f,%.1f ", x_of(t, i), y_of(t->points[i].estimate.value, top));
	buffer_text(b, "\"/>\n");
	for (size_t i = 0; i < t->count; i++) {
		const struct point *p = &t->points[i];
		double x = x_of(t, i);

		if (p->has_bounds)
			buffer_printf(b, "<path class=\"range\" d=\"M%.1f %.1fV%.1f\"/>", x,
				      y_of(p->estimate.low, top), y_of(p->estimate.high, top));
		buffer_printf(b, "<circle%s cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"><title>",
			      p->regressed ? " class=\"regressed\"" : "", x,
			      y_of(p->estimate.value, top), p->regressed ? 4 : 2);
		escaped(b, p->hash);
		buffer_printf(b, " %.8g%s</title></circle>\n", p->estimate.value,
			      p->regressed ? " (regressed)" : "");
	}
	buffer_text(b, "</g>\n");
}

static int charts(struct trend *t)
{
	for (size_t i = 0; i < t->history->count; i++) {
		const struct history_entry *e = &t->history->all[i];

		for (size_t j = 0; counts(t, e) && j < e->results.count; j++) {
			const struct result *r = &e->results.all[j];

			if (results_find(&t->seen, r->benchmark, r->measure))
				continue;
			chart(t, r->benchmark, r->measure, t->seen.count);
			if (results_value(&t->seen, r->benchmark, r->measure, 0))
				return -1;
		}
	}
	return 0;
}

static struct error *write_page(const struct trend *t, FILE *f, const char *path)
{
	size_t rows = (t->seen.count + COLUMNS - 1) / COLUMNS;

	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" "
		"font-family=\"sans-serif\" font-size=\"11\">\n"
		"<style>.name{font-weight:bold;font-size:12px}polyline{fill:none;stroke:#0072b2}"
		".axis{stroke:#999}.range{stroke:#0072b2;opacity:.4}circle{fill:#0072b2}"
		".regressed{fill:#d55e00}</style>\n<rect width=\"100%%\" height=\"100%%\" "
		"fill=\"#fff\"/>\n",
		COLUMNS * WIDTH, rows * HEIGHT);
	if (fwrite(t->svg.data, 1, t->svg.size, f) != t->svg.size || fputs("</svg>\n", f) < 0 ||
	    fflush(f))
		return error_system(errno, "%s", path);
	return NULL;
}

static struct error *write_file(const struct trend *t, const char *path)
{
	struct error *error;
	FILE *f;

	if (!strcmp(path, "-"))
		return write_page(t, stdout, "standard output");
	f = fopen(path, "we");
	if (!f)
		return error_system(errno, "%s", path);
	error = write_page(t, f, path);
	if (fclose(f) && !error)
		error = error_system(errno, "%s", path);
	return error;
}

struct error *trend_write(const struct history *h, const char *branch, const char *testbed,
			  const char *path)
{
	struct trend t = { .history = h, .branch = branch, .testbed = testbed };
	struct error *error;

	t.points = calloc(h->count + 1, sizeof(*t.points));
	if (!t.points || charts(&t) || !buffer_ok(&t.svg))
		error = error_memory();
	else if (!t.seen.count)
		error = error_new(ERROR_ARGUMENT,
				  "the history holds no results of this branch and testbed");
	else
		error = write_file(&t, path);
	results_release(&t.seen);
	buffer_release(&t.svg);
	free(t.points);
	return error;
}
