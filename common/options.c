/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/options.h"

#include "common/buffer.h"
#include "common/message.h"
#include "common/completion.h"
#include "common/nearest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char option_no_memory[] = "out of memory";

static bool is_heading(const struct option_entry *e)
{
	return !e->letter && !e->name;
}

/*
 * Where options are wrong, nothing is known yet of how messages are to be shown: the two that
 * report it set the name of the program.
 */
static enum options_result no_memory(const struct options *o)
{
	message_setup(o->program, MESSAGE_INFO);
	message_error("%s", option_no_memory);
	return OPTIONS_FAILED;
}

static enum options_result wrong(const struct options *o, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static enum options_result wrong(const struct options *o, const char *format, ...)
{
	struct buffer text = { 0 };
	va_list args;

	va_start(args, format);
	buffer_vprintf(&text, format, args);
	va_end(args);
	if (!buffer_ok(&text)) {
		buffer_release(&text);
		return no_memory(o);
	}
	message_setup(o->program, MESSAGE_INFO);
	message_error("%s; see %s --help", buffer_string(&text), o->program);
	buffer_release(&text);
	return OPTIONS_WRONG;
}

/* -------- what is printed -------- */

static void print_help(const struct options *o)
{
	const struct option_entry *e;

	printf("usage: %s %s\n%s\n", o->program, o->synopsis, o->summary);
	for (size_t i = 0; (e = options_entry(o, i)); i++) {
		char left[64];
		int length;

		if (is_heading(e)) {
			printf("\n%s:\n", e->help);
			continue;
		}
		length = e->letter ? snprintf(left, sizeof(left), "  -%c%s", e->letter,
					      e->name ? ", " : "")
				   : snprintf(left, sizeof(left), "      ");
		if (e->name)
			length += snprintf(left + length, sizeof(left) - (size_t)length, "--%s",
					   e->name);
		if (e->argument)
			snprintf(left + length, sizeof(left) - (size_t)length, "%s%s",
				 option_is_optional(e) ? ""
				 : e->name	       ? "="
						       : " ",
				 e->argument);
		if (strlen(left) < 30)
			printf("%-30s  %s\n", left, e->help);
		else
			printf("%s\n%-32s%s\n", left, "", e->help);
	}
}

static enum options_result print_common(const struct options *o, const struct option_entry *e,
					const char *argument)
{
	if (e->letter == 'h')
		print_help(o);
	else if (!strcmp(e->name, "version"))
		printf("%s " PROF_VERSION "\n", o->program);
	else if (!completion_print(o, argument ? argument : "bash"))
		return wrong(o, "--completion is for bash, zsh or fish");
	return fflush(stdout) ? OPTIONS_WRONG : OPTIONS_DONE;
}

/* -------- parsing -------- */

/* NULL, or what is wrong with the argument. */
static const char *apply(const struct options *o, const struct option_entry *e,
			 const char *argument)
{
	void *field = (char *)o->context + e->field;

	switch (e->effect) {
	case OPTION_SETS: *(bool *)field = true; return NULL;
	case OPTION_CLEARS: *(bool *)field = false; return NULL;
	case OPTION_KEEPS: *(const char **)field = argument; return NULL;
	default: return e->take(o->context, argument);
	}
}

static enum options_result take(const struct options *o, const struct option_entry *e,
				const char *shown, const char *argument)
{
	const char *why;

	if (option_is_common(e))
		return print_common(o, e, argument);
	why = apply(o, e, argument);
	if (!why)
		return OPTIONS_OK;
	if (why == option_no_memory)
		return no_memory(o);
	return argument ? wrong(o, "%s %s: %s", shown, argument, why)
			: wrong(o, "%s: %s", shown, why);
}

/* A long name in full, or cut short where only one begins like it. */
static const struct option_entry *find_long(const struct options *o, const char *name,
					    size_t length, bool *unclear)
{
	const struct option_entry *e, *found = NULL;

	*unclear = false;
	for (size_t i = 0; (e = options_entry(o, i)); i++) {
		if (!e->name || strncmp(e->name, name, length))
			continue;
		if (!e->name[length]) {
			*unclear = false;
			return e;
		}
		*unclear = found != NULL;
		found = e;
	}
	return *unclear ? NULL : found;
}

/* An unknown option that has `dashes`, with what is typed here instead where that is known. */
static enum options_result unknown(const struct options *o, const char *dashes, const char *typed,
				   const char *meant)
{
	const struct option_habit *habit = o->habits;
	char text[256];

	while (habit && habit->typed && strcmp(habit->typed, typed))
		habit++;
	if (habit && habit->typed)
		snprintf(text, sizeof(text), "unknown option %s%s; %s", dashes, typed,
			 habit->instead);
	else
		snprintf(text, sizeof(text), "unknown option %s%s%s%s%s", dashes, typed,
			 meant ? "; did you mean --" : "", meant ? meant : "", meant ? "?" : "");
	return wrong(o, "%s", text);
}

static enum options_result unknown_long(const struct options *o, const char *name, size_t length,
					bool unclear)
{
	const struct option_entry *e;
	const char *words[128];
	char typed[64], text[256];
	size_t n = 0;

	snprintf(typed, sizeof(typed), "%.*s", (int)(length < 60 ? length : 60), name);
	if (unclear) {
		snprintf(text, sizeof(text), "--%s is the beginning of several options", typed);
		return wrong(o, "%s", text);
	}
	for (size_t i = 0; (e = options_entry(o, i)) && n < 128; i++)
		if (e->name)
			words[n++] = e->name;
	return unknown(o, "--", typed, nearest_word(typed, words, n));
}

static enum options_result parse_long(const struct options *o, char **argv, int argc, int *at)
{
	const char *name = argv[*at] + 2;
	const char *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	const char *argument = equals ? equals + 1 : NULL;
	const struct option_entry *e;
	char shown[64], text[128];
	bool unclear;

	e = find_long(o, name, length, &unclear);
	if (!e)
		return unknown_long(o, name, length, unclear);
	snprintf(shown, sizeof(shown), "--%s", e->name);
	if (!e->argument && argument) {
		snprintf(text, sizeof(text), "%s takes no argument", shown);
		return wrong(o, "%s", text);
	}
	if (e->argument && !option_is_optional(e) && !argument) {
		if (*at + 1 >= argc) {
			snprintf(text, sizeof(text), "%s needs %s", shown, e->argument);
			return wrong(o, "%s", text);
		}
		argument = argv[++*at];
	}
	return take(o, e, shown, argument);
}

static const struct option_entry *find_letter(const struct options *o, char letter)
{
	const struct option_entry *e;

	for (size_t i = 0; (e = options_entry(o, i)); i++)
		if (e->letter && e->letter == letter)
			return e;
	return NULL;
}

/* "-qvF99" or "-F" "99". */
static enum options_result parse_short(const struct options *o, char **argv, int argc, int *at)
{
	enum options_result result = OPTIONS_OK;

	for (const char *letter = argv[*at] + 1; *letter && result == OPTIONS_OK; letter++) {
		const struct option_entry *e = find_letter(o, *letter);
		const char *argument = NULL;
		char shown[3] = { '-', *letter, 0 }, text[128];

		if (!e)
			return unknown(o, "-", shown + 1, NULL);
		if (e->argument && option_is_optional(e)) {
			if (letter[1] == '=')
				return take(o, e, shown, letter + 2);
		} else if (e->argument) {
			argument = letter[1] ? letter + 1 : *at + 1 < argc ? argv[++*at] : NULL;
			if (!argument) {
				snprintf(text, sizeof(text), "%s needs %s", shown, e->argument);
				return wrong(o, "%s", text);
			}
			return take(o, e, shown, argument);
		}
		result = take(o, e, shown, NULL);
	}
	return result;
}

enum options_result options_parse(const struct options *o, int argc, char **argv, char **rest,
				  int *rest_count, char ***command)
{
	enum options_result result = OPTIONS_OK;

	*rest_count = 0;
	*command = NULL;
	for (int i = 1; i < argc && result == OPTIONS_OK; i++) {
		if (!strcmp(argv[i], "--")) {
			if (argv[i + 1])
				*command = argv + i + 1;
			return OPTIONS_OK;
		}
		if (o->command_follows && argv[i][0] != '-') {
			*command = argv + i;
			return OPTIONS_OK;
		}
		if (argv[i][0] != '-' || !argv[i][1])
			rest[(*rest_count)++] = argv[i];
		else if (argv[i][1] == '-')
			result = parse_long(o, argv, argc, &i);
		else
			result = parse_short(o, argv, argc, &i);
	}
	return result;
}

/* -------- numbers -------- */

bool option_number(const char *text, unsigned long long low, unsigned long long high,
		   unsigned long long *value)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !errno && !*end && *value >= low && *value <= high;
}

bool option_size(const char *text, unsigned long long *bytes)
{
	static const char units[] = "KMGT";
	unsigned long long number;
	const char *unit;
	char *end;
	int shift = 0;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno)
		return false;
	if (*end) {
		unit = strchr(units, *end >= 'a' ? *end - 32 : *end);
		if (!unit || !*unit || (end[1] && strcmp(end + 1, "iB") && strcmp(end + 1, "B")))
			return false;
		shift = 10 * (int)(unit - units + 1);
	}
	if (number > (~0ULL >> shift))
		return false;
	*bytes = number << shift;
	return true;
}

bool option_duration(const char *text, unsigned long long unit_ns, unsigned long long *ns)
{
	static const struct {
		const char *name;
		unsigned long long ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
		{ "m", 60000000000ULL },
		{ "min", 60000000000ULL },
		{ "h", 3600000000000ULL },
	};
	double number;
	char *end;

	if (!text || *text < '0' || *text > '9' || text[1] == 'x' || text[1] == 'X')
		return false;
	number = strtod(text, &end);
	if (*end) {
		unit_ns = 0;
		for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
			if (!strcmp(end, units[i].name))
				unit_ns = units[i].ns;
	}
	if (!unit_ns || !isfinite(number) || number * (double)unit_ns >= 9e18)
		return false;
	*ns = (unsigned long long)(number * (double)unit_ns + 0.5);
	return true;
}
