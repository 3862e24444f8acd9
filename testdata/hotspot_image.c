/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * hotspot_image PID LIBJVM START OFFSET OUT: writes an image (memory_image.h) of a Java process
 * that has mapped LIBJVM from OFFSET on at START: of some of its compiled methods and stubs, and
 * of the methods that these were made of.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "common/limits.h"
#include "testdata/memory_image.h"

#define BLOBS 120 /* of which it is made */

struct logged {
	struct target_memory memory;
	struct map granules; /* number -> its bytes, allocated */
};

static bool read_logged(void *context, uint64_t address, void *to, size_t size)
{
	struct logged *l = context;
	uint64_t first = address / GRANULE, last = (address + size - 1) / GRANULE;

	if (!target_read(&l->memory, address, to, size))
		return false;
	for (uint64_t number = first; number <= last; number++) {
		uint64_t *value = map_put(&l->granules, &number, sizeof(number), NULL);

		if (value && !*value) {
			uint8_t *bytes = calloc(1, GRANULE);

			target_read(&l->memory, number * GRANULE, bytes, GRANULE);
			*value = (uintptr_t)bytes;
		}
	}
	return true;
}

static void add_frame(struct buffer *out, uint64_t *count, struct hotspot_names *names,
		      struct script_frame frame, bool exact)
{
	struct prf_place places[HOTSPOT_INLINED_MAX];
	size_t n = hotspot_names_find(names, &frame, exact, places);

	buffer_u64(out, frame.code);
	buffer_u64(out, frame.position);
	buffer_u8(out, exact);
	memory_image_describe(out, places, n);
	buffer_u8(out, 0);
	++*count;
}

/* The method of an nmethod, as if it were interpreted: its cookie is worked out here. */
static void add_method(struct buffer *out, uint64_t *count, struct hotspot_names *names,
		       const struct hotspot *h, uint64_t method)
{
	const struct target_memory *m = &h->memory;
	const struct hotspot_process *p = &h->process;
	struct hotspot_identity id = { 0 };
	uint64_t const_method, constants, holder, symbols[2];
	uint16_t name;

	if (!target_u64(m, method + p->const_method, &const_method) ||
	    !target_u64(m, const_method + p->constants, &constants) ||
	    !target_u16(m, const_method + p->name_index, &name) ||
	    !target_u64(m, constants + p->holder, &holder) ||
	    !target_u64(m, holder + p->klass_name, &symbols[0]) ||
	    !target_u64(m, constants + p->pool_size + 8 * (uint64_t)name, &symbols[1]) ||
	    !target_read(m, symbols[0], id.class_name, sizeof(id.class_name)) ||
	    !target_read(m, symbols[1], id.method_name, sizeof(id.method_name)))
		return;
	id.const_method = const_method;
	id.class_symbol = symbols[0];
	id.method_symbol = symbols[1];
	hotspot_symbol_settle(id.class_name, p);
	hotspot_symbol_settle(id.method_name, p);
	for (uint64_t bci = 0; bci < 20; bci += 7)
		add_frame(out, count, names,
			  (struct script_frame){ method | HOTSPOT_METHOD,
						 (uint64_t)hotspot_cookie(&id) << 32 | bci },
			  false);
	/* The same with another identity has no name. */
	add_frame(out, count, names,
		  (struct script_frame){ method | HOTSPOT_METHOD,
					 (uint64_t)(hotspot_cookie(&id) ^ 1) << 32 },
		  false);
}

/* Whether it is a compiled method. */
static bool add_blob(struct buffer *out, uint64_t *count, struct hotspot_names *names,
		     const struct hotspot *h, uint64_t blob)
{
	uint64_t name, method;
	uint32_t compile_id;
	char text[32];

	if (!target_u64(&h->memory, blob + h->process.name, &name) ||
	    !target_text(&h->memory, name, text, sizeof(text)))
		return false;
	if (strcmp(text, "nmethod")) {
		add_frame(out, count, names, (struct script_frame){ blob | HOTSPOT_STUB, 0 },
			  false);
		return false;
	}
	if (!target_u32(&h->memory, blob + h->process.compile_id, &compile_id) ||
	    !target_u64(&h->memory, blob + h->tables.fields[NMETHOD_METHOD], &method))
		return true;
	for (uint32_t offset = 0; offset < 600; offset += 37)
		add_frame(out, count, names,
			  (struct script_frame){ blob, (uint64_t)compile_id << 32 | offset },
			  offset % 2);
	add_frame(out, count, names,
		  (struct script_frame){ blob, (uint64_t)(compile_id + 100000) << 32 }, false);
	add_method(out, count, names, h, method);
	return true;
}

/* Blobs from the beginning of each heap on. */
static void add_heaps(struct buffer *out, uint64_t *count, struct hotspot_names *names,
		      const struct hotspot *h, const struct target_memory *memory)
{
	const struct hotspot_process *p = &h->process;

	for (unsigned int heap = 0; heap < HOTSPOT_HEAPS && p->low[heap]; heap++) {
		unsigned int found = 0, compiled = 0;
		/* JDK 8 has all in one heap: a few hundred stubs come first. */
		unsigned int most = p->low[1] ? BLOBS / 3 : 30 * BLOBS;

		for (uint64_t segment = 0; segment < 400000 && found < most && compiled < BLOBS / 6;
		     segment++) {
			uint8_t back;

			if (!target_u8(memory, p->segmaps[heap] + segment, &back))
				break;
			if (back)
				continue;
			found++;
			/* Each third: not only what the machine begins with. */
			if (found % 3 == 0)
				compiled += add_blob(out, count, names, h,
						     p->low[heap] + (segment << p->segment_shift) +
							     p->block_header);
		}
	}
}

static void put_granule(const void *key, size_t size, uint64_t value, void *context)
{
	buffer_append(context, key, 8);
	buffer_append(context, (const void *)(uintptr_t)value, GRANULE);
	free((void *)(uintptr_t)value);
}

static int write_out(const struct buffer *raw, const char *path)
{
	size_t bound = ZSTD_compressBound(raw->size), n;
	uint8_t *packed = malloc(bound);
	FILE *file = fopen(path, "wb");

	if (!packed || !file)
		return 1;
	n = ZSTD_compress(packed, bound, raw->data, raw->size, 19);
	fwrite(packed, 1, n, file);
	free(packed);
	return fclose(file) ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct logged logged = { 0 };
	struct target_memory memory = { read_logged, &logged };
	struct buffer frames = { 0 }, raw = { 0 };
	struct shares bytes = { .limit = LIMIT_JAVA_TOTAL_BYTES };
	struct hotspot_names *names;
	const char *why = "usage: hotspot_image PID LIBJVM START OFFSET OUT";
	struct elf_file file;
	struct hotspot h;
	uint64_t count = 0, address;
	uint32_t pid;
	int fd;

	if (argc != 6)
		return fprintf(stderr, "%s\n", why), 2;
	pid = (uint32_t)strtoul(argv[1], NULL, 10);
	logged.memory = target_memory_of(pid);
	fd = open(argv[2], O_RDONLY);
	if (fd < 0 || elf_file_open(&file, fd) ||
	    !elf_file_offset_to_address(&file, strtoull(argv[4], NULL, 16), &address))
		return fprintf(stderr, "hotspot_image: cannot read %s\n", argv[2]), 1;
	kill((pid_t)pid, SIGSTOP);
	if (!hotspot_init(&h, &memory, &file, strtoull(argv[3], NULL, 16) - address) ||
	    hotspot_attach(&h, &why) != HOTSPOT_READY)
		return fprintf(stderr, "hotspot_image: %s\n", why), 1;
	names = hotspot_names_new(&h, &bytes, 0);
	add_heaps(&frames, &count, names, &h, &logged.memory);
	kill((pid_t)pid, SIGCONT);

	buffer_u64(&raw, h.bias);
	for (size_t i = 0; i < HOTSPOT_EXPORTS; i++)
		buffer_u64(&raw, h.exports.addresses[i]);
	buffer_u64(&raw, count);
	buffer_append(&raw, frames.data, frames.size);
	buffer_u64(&raw, logged.granules.count);
	map_each(&logged.granules, put_granule, &raw);
	printf("%zu frames, %zu granules\n", (size_t)count, logged.granules.count);
	hotspot_names_free(names);
	shares_release(&bytes);
	elf_file_release(&file);
	map_release(&logged.granules);
	fd = write_out(&raw, argv[5]);
	buffer_release(&raw);
	buffer_release(&frames);
	return fd;
}
