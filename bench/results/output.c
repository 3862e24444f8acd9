/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/results/output.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"

static FILE *destination;
static bool quiet;
static const char *bmf; /* where --bmf wants the results; NULL: nowhere */

void output_setup(const char *bmf_path, bool be_quiet)
{
	bmf = bmf_path;
	destination = bmf && !strcmp(bmf, "-") ? stderr : stdout;
	quiet = be_quiet;
}

void output_line(const char *format, ...)
{
	va_list args;
	char *text;
	int length;

	if (quiet || !destination)
		return;
	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0)
		return;
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c < 0x20 || *c == 0x7f)
			fprintf(destination, "\\x%02x", *c);
		else
			fputc(*c, destination);
	}
	fputc('\n', destination);
	fflush(destination);
	free(text);
}

static char *next_text(void)
{
	static char texts[8][48];
	static unsigned int turn;

	return texts[turn++ % 8];
}

/* Five significant digits, as far as there are that many behind the point. */
static const char *five_digits(double value, const char *unit)
{
	char *text = next_text();
	double size = fabs(value);
	int decimals = size < 10 ? 4 : size < 100 ? 3 : size < 1000 ? 2 : size < 10000 ? 1 : 0;

	if (isnan(value))
		snprintf(text, 48, "not available");
	else
		snprintf(text, 48, "%.*f %s", decimals, value, unit);
	return text;
}

const char *output_time(double ns)
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

const char *output_rate(double per_second, const char *what)
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

const char *output_percent(double share)
{
	char *text = next_text();

	snprintf(text, 48, "%+.4f%%", share * 100);
	return text;
}

const char *output_count(double count)
{
	char *text = next_text(), plain[32];
	size_t length, used = 0;

	if (!isfinite(count) || fabs(count) >= 1e18)
		return five_digits(count, "");
	length = (size_t)snprintf(plain, sizeof(plain), "%.0f", count);
	for (size_t i = 0; i < length; i++) {
		text[used++] = plain[i];
		if (isdigit((unsigned char)plain[i]) && i + 1 < length && (length - i - 1) % 3 == 0)
			text[used++] = ',';
	}
	text[used] = 0;
	return text;
}

enum verdict output_bmf(const struct results *results)
{
	if (!bmf)
		return VERDICT_FINE;
	if (!results->count) {
		message_error("nothing was measured, so %s is not written", bmf);
		return VERDICT_ERROR;
	}
	if (results_write_bmf(results, bmf)) {
		message_error("cannot write %s: %s", bmf, strerror(errno));
		return VERDICT_ERROR;
	}
	return VERDICT_FINE;
}
