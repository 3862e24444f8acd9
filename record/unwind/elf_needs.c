/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/elf_needs.h"

#include <elf.h>
#include <limits.h>

/* That many bytes of a dynamic section are read: millions of entries may name nothing that is. */
#define DYNAMIC_MAX ((size_t)1 << 20)

struct needs {
	const struct elf_file *file;
	bool (*found)(void *context, enum elf_need need, const char *text);
	void *context;
	bool enough;
};

static void tell(struct needs *n, enum elf_need need, uint64_t address)
{
	struct cursor c = elf_file_at(n->file, address);
	const char *text = cursor_short_string(&c, PATH_MAX);

	if (text && !n->enough)
		n->enough = !n->found(n->context, need, text);
}

/* The value of the next entry of a dynamic section with that tag. */
static bool next_value(struct cursor *dynamic, int64_t tag, uint64_t *value)
{
	while (cursor_left(dynamic) >= 16) {
		int64_t found = (int64_t)cursor_u64(dynamic);

		*value = cursor_u64(dynamic);
		if (found == DT_NULL)
			return false;
		if (found == tag)
			return true;
	}
	return false;
}

static void read_dynamic(struct needs *n, uint64_t address)
{
	static const struct {
		int64_t tag;
		enum elf_need need;
	} tags[] = { { DT_RPATH, ELF_NEED_FOLDERS },
		     { DT_RUNPATH, ELF_NEED_FOLDERS },
		     { DT_NEEDED, ELF_NEED_LIBRARY } };
	const struct cursor whole = elf_file_at(n->file, address);
	const size_t left = cursor_left(&whole);
	const struct cursor dynamic = cursor_over(whole.at,
						  left < DYNAMIC_MAX ? left : DYNAMIC_MAX);
	struct cursor c = dynamic;
	uint64_t strings, value;

	if (!next_value(&c, DT_STRTAB, &strings))
		return;
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		c = dynamic;
		while (!n->enough && next_value(&c, tags[i].tag, &value))
			tell(n, tags[i].need, strings + value);
	}
}

void elf_needs_each(const struct elf_file *file,
		    bool (*found)(void *context, enum elf_need need, const char *text),
		    void *context)
{
	struct needs n = { .file = file, .found = found, .context = context };

	for (size_t i = 0; i < file->segment_count && !n.enough; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (segment->type == PT_INTERP)
			tell(&n, ELF_NEED_INTERPRETER, segment->address);
		if (segment->type != PT_DYNAMIC)
			continue;
		/* There is one of them. */
		read_dynamic(&n, segment->address);
		break;
	}
}
