/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/events/usdt.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/elf_fixture.h"
#include "tests/unit/error_check.h"

/* A file with one segment, 64 KiB at TEXT, and one section of notes; `BASE` moved by prelink. */
#define TEXT 0x400000
#define NOTES_AT 0x1000
#define BASE_AT 0x8000
#define SIZE 0x10000

static uint8_t image[SIZE];
static size_t notes_size;

static void add_note(uint32_t type, const char *owner, const void *content, uint32_t size)
{
	Elf64_Nhdr header = { (uint32_t)strlen(owner) + 1, size, type };
	uint8_t *at = image + NOTES_AT + notes_size;

	memcpy(at, &header, sizeof(header));
	memcpy(at + sizeof(header), owner, header.n_namesz);
	memcpy(at + sizeof(header) + ((header.n_namesz + 3) & ~3u), content, size);
	notes_size += sizeof(header) + ((header.n_namesz + 3) & ~3u) + ((size + 3) & ~3u);
}

static void add_probe(uint64_t address, uint64_t base, uint64_t semaphore, const char *provider,
		      const char *name)
{
	uint8_t content[256] = { 0 };
	uint64_t addresses[3] = { address, base, semaphore };
	size_t size = sizeof(addresses);

	memcpy(content, addresses, size);
	strcpy((char *)content + size, provider);
	size += strlen(provider) + 1;
	strcpy((char *)content + size, name);
	size += strlen(name) + 2;
	add_note(3, "stapsdt", content, (uint32_t)size);
}

static void make(uint64_t section_size)
{
	static const char names[] = "\0.note.stapsdt\0.stapsdt.base\0.names";
	Elf64_Ehdr header = fixture_elf_header(ET_EXEC);
	Elf64_Phdr segment = { .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_X,
			       .p_vaddr = TEXT,
			       .p_filesz = SIZE,
			       .p_memsz = SIZE };
	Elf64_Shdr sections[4] = {
		{ 0 },
		{ .sh_name = 1,
		  .sh_type = SHT_NOTE,
		  .sh_offset = NOTES_AT,
		  .sh_size = section_size },
		{ .sh_name = 15,
		  .sh_type = SHT_PROGBITS,
		  .sh_addr = TEXT + BASE_AT,
		  .sh_offset = BASE_AT,
		  .sh_size = 1 },
		{ .sh_name = 29,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = 0x400,
		  .sh_size = sizeof(names) },
	};

	header.e_phoff = 0x40;
	header.e_phnum = 1;
	header.e_shoff = 0x200;
	header.e_shnum = 4;
	header.e_shstrndx = 3;
	memcpy(image, &header, sizeof(header));
	memcpy(image + 0x40, &segment, sizeof(segment));
	memcpy(image + 0x200, sections, sizeof(sections));
	memcpy(image + 0x400, names, sizeof(names));
}

static int setup(void **state)
{
	memset(image, 0, sizeof(image));
	notes_size = 0;
	return 0;
}

struct seen {
	struct event_place places[8];
	char names[8][64];
	size_t n, end_after;
};

static struct error *see(const char *provider, const char *name, struct event_place place,
			 void *context)
{
	struct seen *seen = context;

	snprintf(seen->names[seen->n], 64, "%s:%s", provider, name);
	seen->places[seen->n++] = place;
	return seen->n == seen->end_after ? error_new(ERROR_LIMIT, "enough") : NULL;
}

static struct error *walk(struct seen *seen)
{
	struct elf_file file;
	struct error *error;

	assert_int_equal(elf_file_open_memory(&file, image, sizeof(image)), 0);
	error = usdt_each(&file, see, seen);
	elf_file_release(&file);
	return error;
}

static void finds_places(void **state)
{
	struct seen seen = { 0 };

	add_probe(TEXT + 0x500, TEXT + BASE_AT, TEXT + 0x600, "shop", "sale");
	add_note(1, "GNU", "0123", 4);
	/* The section was linked 0x1000 lower, and all addresses with it. */
	add_probe(TEXT + 0x500, TEXT + BASE_AT - 0x1000, 0, "shop", "sale");
	add_probe(TEXT + SIZE + 0x500, TEXT + BASE_AT, 0, "shop", "outside");
	add_probe(TEXT + 0x500, TEXT + BASE_AT, TEXT + SIZE, "shop", "semaphore outside");
	make(notes_size);
	assert_no_error(walk(&seen));
	assert_int_equal(seen.n, 2);
	assert_string_equal(seen.names[0], "shop:sale");
	assert_int_equal(seen.places[0].offset, 0x500);
	assert_int_equal(seen.places[0].semaphore, 0x600);
	assert_int_equal(seen.places[1].offset, 0x1500);
	assert_int_equal(seen.places[1].semaphore, 0);
	seen = (struct seen){ .end_after = 1 };
	assert_error(walk(&seen), ERROR_LIMIT, "enough");
}

/* Whatever its sizes say, a note is read inside its section only. */
static void damaged_notes(void **state)
{
	static const uint8_t short_content[20] = { 0 };

	add_note(3, "stapsdt", short_content, sizeof(short_content));
	/* Names of which nothing is padding. */
	add_probe(TEXT + 0x500, 0, 0, "shops", "sale");
	for (size_t size = 0; size <= notes_size; size++) {
		struct seen seen = { 0 };

		make(size);
		assert_no_error(walk(&seen));
		assert_int_equal(seen.n, size == notes_size);
	}
	for (size_t at = 0; at < notes_size; at++) {
		struct seen seen = { 0 };

		image[NOTES_AT + at] ^= 0xff;
		assert_no_error(walk(&seen));
		assert_true(seen.n <= 1);
		image[NOTES_AT + at] ^= 0xff;
	}
}

static void says_what_is_wrong(void **state)
{
	struct event event = { .name = "p", .probe.file = "/proc/self/exe" };

	event.probe.provider = "shop";
	event.probe.symbol = "sale";
	assert_error(usdt_resolve(&event), ERROR_ARGUMENT,
		     "event 'p': /proc/self/exe has no probe 'shop:sale' among its 0");
	event.probe.file = "/proc/self/status";
	assert_error_kind(usdt_resolve(&event), ERROR_ARGUMENT);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test_setup(finds_places, setup),
					   cmocka_unit_test_setup(damaged_notes, setup),
					   cmocka_unit_test(says_what_is_wrong) };

UNIT_TESTS(tests);
