/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/kernel_modules.h"

#include "common/array.h"
#include "common/buffer.h"
#include "common/elf_file.h"
#include "record/system/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kernel_modules_release(struct kernel_modules *m)
{
	free(m->modules);
	arena_release(&m->names);
	*m = (struct kernel_modules){ 0 };
}

size_t kernel_modules_index(const struct kernel_modules *m, const char *name)
{
	for (size_t i = m->n; i--;)
		if (!strcmp(m->modules[i].name, name))
			return i;
	return m->n;
}

bool kernel_modules_holds(const struct kernel_modules *m, const char *name, uint64_t address)
{
	size_t i = kernel_modules_index(m, name);

	return i < m->n && address - m->modules[i].base < m->modules[i].size;
}

bool kernel_modules_add(struct kernel_modules *m, const char *name, uint64_t base, bool listed)
{
	struct kernel_module new = { .base = base, .listed = listed };

	if (m->n >= KERNEL_MODULES_MAX)
		return true;
	new.name = arena_text(&m->names, name, strlen(name));
	if (!new.name || !array_reserve(&m->modules, &m->capacity, m->n + 1))
		return false;
	m->modules[m->n++] = new;
	return true;
}

/* One that was loaded again is elsewhere, mostly. 0: the kernel hides its addresses by now. */
static bool is_new(const struct kernel_modules *m, const char *name, uint64_t base)
{
	size_t i = kernel_modules_index(m, name);

	return base && (i == m->n || m->modules[i].base != base);
}

/* "name size users dependants state address": the name, the size and the address are of use. */
bool kernel_modules_parse(struct kernel_modules *m, char *text)
{
	bool first = !m->n, ok = true;
	char *line, *rest = text;

	while (ok && (line = strsep(&rest, "\n"))) {
		char *address = strstr(line, " 0x"), *space = strchr(line, ' ');
		size_t n = m->n;
		uint64_t base;

		if (!address || !space)
			continue;
		*space = 0;
		base = strtoull(address + 1, NULL, 16);
		if (first || is_new(m, line, base))
			ok = kernel_modules_add(m, line, base, true);
		if (m->n > n)
			m->modules[n].size = strtoull(space + 1, NULL, 10);
	}
	return ok;
}

bool kernel_modules_read(struct kernel_modules *m)
{
	struct buffer text = { 0 };
	bool ok = true;

	/* A kernel without modules has no such file. */
	if (!read_file("/proc/modules", &text))
		ok = buffer_string(&text) && kernel_modules_parse(m, (char *)text.data);
	buffer_release(&text);
	return ok;
}

uint8_t kernel_build_id(const char *path, uint8_t build_id[PRF_BUILD_ID_MAX])
{
	struct buffer notes = { 0 };
	size_t size = 0;

	if (!read_file(path, &notes))
		size = elf_note_build_id(cursor_over(notes.data, notes.size), 4, build_id);
	buffer_release(&notes);
	return (uint8_t)size;
}

void kernel_module_read_build_id(struct kernel_module *module)
{
	char path[256];

	if (module->looked)
		return;
	module->looked = true;
	if (!module->listed)
		return;
	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", module->name);
	module->build_id_size = kernel_build_id(path, module->build_id);
}
