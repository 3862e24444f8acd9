/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/events/uprobe.h"

#include "common/nearest.h"
#include "record/system/elf_symbols.h"
#include "record/system/proc.h"

#include <errno.h>
#include <stdlib.h>
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

static struct error *add_place(struct event *event, uint64_t offset)
{
	event->places = malloc(sizeof(*event->places));
	if (!event->places)
		return error_memory();
	event->places[0] = (struct event_place){ .offset = offset };
	event->place_count = 1;
	return NULL;
}

static struct error *no_function(const struct event *event, const struct elf_symbols *symbols)
{
	const struct probe *p = &event->probe;
	const char *near = nearest_name(symbols, p->symbol);

	if (near)
		return error_new(ERROR_ARGUMENT,
				 "event '%s': %s has no function '%s'; did you mean '%s'?",
				 event->name, p->file, p->symbol, near);
	return error_new(ERROR_ARGUMENT, "event '%s': %s has no function '%s' among its %zu",
			 event->name, p->file, p->symbol, symbols->n);
}

static struct error *resolve_in(struct event *event, const struct elf_file *file)
{
	struct elf_symbols symbols;
	const struct elf_symbol *symbol;
	struct error *error = elf_symbols_read(&symbols, file);

	if (error)
		return error_prefix(error, "event '%s': %s", event->name, event->probe.file);
	symbol = elf_symbols_named(&symbols, event->probe.symbol);
	if (!symbol)
		error = no_function(event, &symbols);
	else if (symbol->size && event->probe.symbol_offset >= symbol->size)
		error = error_new(ERROR_ARGUMENT, "event '%s': the function has only %llu bytes",
				  event->name, (unsigned long long)symbol->size);
	else
		error = add_place(event, symbol->start + event->probe.symbol_offset);
	elf_symbols_release(&symbols);
	return error;
}

static struct error *open_file(struct elf_file *file, const struct event *event)
{
	int fd = open_regular(event->probe.file), status;

	if (fd < 0 && fd != -EINVAL)
		return error_system(fd, "event '%s': %s", event->name, event->probe.file);
	status = fd < 0 ? 0 : elf_file_open(file, fd);
	if (fd >= 0)
		close(fd);
	if (fd < 0 || status)
		return error_new(ERROR_ARGUMENT, "event '%s': %s: %s", event->name,
				 event->probe.file, fd < 0 ? "not a file" : elf_error_text(status));
	return NULL;
}

struct error *uprobe_in_file(struct event *event,
			     struct error *(*resolve)(struct event *event,
						      const struct elf_file *file))
{
	struct elf_file file;
	struct error *error = open_file(&file, event);

	if (error)
		return error;
	error = resolve(event, &file);
	elf_file_release(&file);
	return error;
}

struct error *uprobe_resolve(struct event *event)
{
	return uprobe_in_file(event, resolve_in);
}
