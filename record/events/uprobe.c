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

static int resolve_in(struct event *event, const struct elf_file *file, char *why, size_t size)
{
	struct elf_symbols symbols;
	const struct elf_symbol *symbol;
	const char *near;
	struct error *error = elf_symbols_read(&symbols, file);
	int result = -1;

	if (error) {
		snprintf(why, size, "event '%s': %s: %s", event->name, event->file, error->text);
		error_free(error);
		return -1;
	}
	symbol = elf_symbols_named(&symbols, event->symbol);
	if (symbol && (!symbol->size || event->symbol_offset < symbol->size)) {
		event->file_offset = symbol->start + event->symbol_offset;
		result = 0;
	} else if (symbol) {
		snprintf(why, size, "event '%s': the function has only %llu bytes", event->name,
			 (unsigned long long)symbol->size);
	} else if ((near = nearest_name(&symbols, event->symbol))) {
		snprintf(why, size, "event '%s': %s has no function '%s'; did you mean '%s'?",
			 event->name, event->file, event->symbol, near);
	} else {
		snprintf(why, size, "event '%s': %s has no function '%s' among its %zu",
			 event->name, event->file, event->symbol, symbols.n);
	}
	elf_symbols_release(&symbols);
	return result;
}

int uprobe_resolve(struct event *event, char *why, size_t size)
{
	int fd = open_regular(event->file);
	struct elf_file file;
	int result;

	if (fd < 0) {
		snprintf(why, size, "event '%s': %s: %s", event->name, event->file,
			 fd == -EINVAL ? "not a file" : strerror(-fd));
		return -1;
	}
	result = elf_file_open(&file, fd);
	close(fd);
	if (result) {
		snprintf(why, size, "event '%s': %s: %s", event->name, event->file,
			 elf_error_text(result));
		return -1;
	}
	result = resolve_in(event, &file, why, size);
	elf_file_release(&file);
	return result;
}
