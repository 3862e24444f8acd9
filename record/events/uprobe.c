/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/events/uprobe.h"

#include "common/nearest.h"
#include "record/system/elf_symbols.h"
#include "record/system/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *nearest_name(const struct elf_symbols *symbols, const char *wanted)
{
	const char **names = malloc((symbols->n + 1) * sizeof(*names)), *nearest = NULL;

	if (!names)
		return NULL;
	for (size_t i = 0; i < symbols->n; i++)
		names[i] = symbols->symbols[i].name;
	nearest = nearest_word(wanted, names, symbols->n);
	free(names);
	return nearest;
}

static int add_place(struct event *event, uint64_t offset, char *why, size_t size)
{
	event->places = malloc(sizeof(*event->places));
	if (!event->places) {
		snprintf(why, size, "out of memory");
		return -1;
	}
	event->places[0] = (struct event_place){ .offset = offset };
	event->place_count = 1;
	return 0;
}

static int resolve_in(struct event *event, const struct elf_file *file, char *why, size_t size)
{
	struct elf_symbols symbols;
	const struct elf_symbol *symbol;
	const char *near;
	struct error *error = elf_symbols_read(&symbols, file);
	int result = -1;

	if (error) {
		snprintf(why, size, "event '%s': %s: %s", event->name, event->probe.file,
			 error->text);
		error_free(error);
		return -1;
	}
	symbol = elf_symbols_named(&symbols, event->probe.symbol);
	if (symbol && (!symbol->size || event->probe.symbol_offset < symbol->size)) {
		result = add_place(event, symbol->start + event->probe.symbol_offset, why, size);
	} else if (symbol) {
		snprintf(why, size, "event '%s': the function has only %llu bytes", event->name,
			 (unsigned long long)symbol->size);
	} else if ((near = nearest_name(&symbols, event->probe.symbol))) {
		snprintf(why, size, "event '%s': %s has no function '%s'; did you mean '%s'?",
			 event->name, event->probe.file, event->probe.symbol, near);
	} else {
		snprintf(why, size, "event '%s': %s has no function '%s' among its %zu",
			 event->name, event->probe.file, event->probe.symbol, symbols.n);
	}
	elf_symbols_release(&symbols);
	return result;
}

int uprobe_open(struct elf_file *file, const struct event *event, char *why, size_t size)
{
	int fd = open_regular(event->probe.file), result;

	if (fd < 0) {
		snprintf(why, size, "event '%s': %s: %s", event->name, event->probe.file,
			 fd == -EINVAL ? "not a file" : strerror(-fd));
		return -1;
	}
	result = elf_file_open(file, fd);
	close(fd);
	if (result)
		snprintf(why, size, "event '%s': %s: %s", event->name, event->probe.file,
			 elf_error_text(result));
	return result ? -1 : 0;
}

int uprobe_resolve(struct event *event, char *why, size_t size)
{
	struct elf_file file;
	int result;

	if (uprobe_open(&file, event, why, size))
		return -1;
	result = resolve_in(event, &file, why, size);
	elf_file_release(&file);
	return result;
}
