/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/results/output.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "common/buffer.h"
#include "common/message.h"
#include "common/utf8.h"

/* Set once, before anything is printed: standard output belongs to the process as a whole. */
static struct {
	FILE *destination;
	bool quiet;
	const char *bmf; /* where --bmf wants the results; NULL: nowhere */
} output;

void output_setup(const char *bmf, bool quiet)
{
	output.bmf = bmf;
	output.destination = bmf && !strcmp(bmf, "-") ? stderr : stdout;
	output.quiet = quiet;
}

static void print_line(const char *format, va_list args)
{
	struct buffer text = { 0 }, line = { 0 };

	if (!output.destination)
		return;
	buffer_vprintf(&text, format, args);
	utf8_escape(&line, buffer_string(&text));
	fprintf(output.destination, "%s\n", buffer_string(&line));
	fflush(output.destination);
	buffer_release(&text);
	buffer_release(&line);
}

void output_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!output.quiet)
		print_line(format, args);
	va_end(args);
}

void output_failure(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(format, args);
	va_end(args);
}

/* Five significant digits, of which at most four after the decimal point. */
static struct output_text five_digits(double value, const char *unit)
{
	struct output_text t;
	double size = fabs(value);
	int decimals = size < 10 ? 4 : size < 100 ? 3 : size < 1000 ? 2 : size < 10000 ? 1 : 0;

	if (isnan(value))
		snprintf(t.text, sizeof(t.text), "not available");
	else
		snprintf(t.text, sizeof(t.text), "%.*f %s", decimals, value, unit);
	return t;
}

struct output_text output_time(double ns)
{
	double size = fabs(ns);

	if (size < 1 && size > 0)
		return five_digits(ns * 1e3, "ps");
	if (size < 1e3)
		return five_digits(ns, "ns");
	if (size < 1e6)
		return five_digits(ns / 1e3, "us");
	if (size < 1e9)
		return five_digits(ns / 1e6, "ms");
	return five_digits(ns / 1e9, "s");
}

struct output_text output_rate(double per_second, const char *what)
{
	static const char prefixes[][2] = { "", "K", "M", "G", "T" };
	char unit[24];
	size_t i = 0;

	while (fabs(per_second) >= 1000 && i < 4) {
		per_second /= 1000;
		i++;
	}
	snprintf(unit, sizeof(unit), "%s%s", prefixes[i], what);
	return five_digits(per_second, unit);
}

struct output_text output_percent(double share)
{
	struct output_text t;

	snprintf(t.text, sizeof(t.text), "%+.4f%%", share * 100);
	return t;
}

struct output_text output_count(double count)
{
	struct output_text t;
	char plain[32];
	size_t length, used = 0;

	if (!isfinite(count) || fabs(count) >= 1e18)
		return five_digits(count, "");
	length = (size_t)snprintf(plain, sizeof(plain), "%.0f", count);
	for (size_t i = 0; i < length; i++) {
		t.text[used++] = plain[i];
		if (isdigit((unsigned char)plain[i]) && i + 1 < length && (length - i - 1) % 3 == 0)
			t.text[used++] = ',';
	}
	t.text[used] = 0;
	return t;
}

bool output_error(struct error *error)
{
	if (error)
		message_error("%s%s", error->kind == ERROR_UNAVAILABLE ? "not available: " : "",
			      error->text);
	return error_ignore(error);
}

bool output_unavailable(const char *what, struct error *error)
{
	if (!error || error->kind != ERROR_UNAVAILABLE)
		return false;
	output_line("%-23s not available: %s", what, error->text);
	return error_ignore(error);
}

enum verdict output_bmf(const struct results *results)
{
	if (!output.bmf)
		return VERDICT_FINE;
	if (!results->count) {
		message_error("nothing was measured, so %s is not written", output.bmf);
		return VERDICT_ERROR;
	}
	return output_error(results_write_bmf(results, output.bmf)) ? VERDICT_ERROR : VERDICT_FINE;
}
