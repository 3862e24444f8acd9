/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Names link-time addresses of an ELF file with the report's symbolizer and prints them as
 * llvm-symbolizer does, to be compared with it:
 *
 *     symbolize [-c] [-k] [-n] [-r] [-j THREADS] [-s SYSROOT] [-d DIRECTORY] [-D] FILE < ADDRESSES
 *
 * -c use the cache, -k as if FILE were the running kernel, found by its build-id only, -n without
 * inlined functions, -r linkage names, -D ask debuginfod. The file's status goes to stderr.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/array.h"
#include "common/elf_file.h"
#include "report/symbols/symbol_table.h"
#include "report/symbols/symbolizer.h"

static int fail(const char *what)
{
	fprintf(stderr, "symbolize: %s\n", what);
	return 1;
}

/*
 * The addresses on stdin become queries; those outside of the file get PRF_NONE. `text`: where a
 * kernel begins, or 0.
 */
static size_t read_queries(struct symbolizer *s, uint32_t object, const struct elf_file *e,
			   uint64_t text, uint32_t **queries)
{
	size_t n = 0, capacity = 0;
	unsigned long long address;

	while (scanf("%llx", &address) == 1) {
		uint64_t offset;

		if (!array_reserve(queries, &capacity, n + 1))
			abort();
		offset = address - text;
		if ((!text && !elf_file_address_to_offset(e, address, &offset)) ||
		    error_ignore(symbolizer_add_query(s, object, offset, true, &(*queries)[n])))
			(*queries)[n] = PRF_NONE;
		n++;
	}
	return n;
}

static void print_places(const struct symbolizer *s, uint32_t query)
{
	size_t n;
	const struct symbolizer_place *places = symbolizer_places(s, query, &n);

	if (!n)
		puts("??\n??:0");
	for (size_t i = 0; i < n; i++)
		printf("%s\n%s:%u\n", *places[i].name ? places[i].name : "??",
		       *places[i].file ? places[i].file : "??", places[i].line);
	putchar('\n');
}

int main(int argc, char **argv)
{
	const char *directories[2] = { NULL, NULL };
	struct symbolizer_options options = {
		.inlines = true,
		.lines = true,
		.demangle = true,
		.full_names = true,
	};
	struct prf_object object = { .kind = PRF_OBJECT_FILE, .root = "" };
	struct symbols_found found;
	struct symbolizer *s;
	struct elf_file e;
	uint32_t id, *queries = NULL;
	uint64_t text = 0;
	size_t n;
	int option, fd;

	while ((option = getopt(argc, argv, "cknrDj:s:d:")) != -1) {
		switch (option) {
		case 'c': options.cache = true; break;
		case 'k': object.kind = PRF_OBJECT_KERNEL; break;
		case 'n': options.inlines = false; break;
		case 'r': options.demangle = false; break;
		case 'D': options.debuginfod = true; break;
		case 'j': options.jobs = (unsigned int)atoi(optarg); break;
		case 's': options.sysroot = optarg; break;
		case 'd': directories[0] = optarg; break;
		default: return fail("unknown option");
		}
	}
	if (optind + 1 != argc)
		return fail("one file, please");
	options.debug_directories = directories;
	object.path = realpath(argv[optind], NULL);
	fd = object.path ? open(object.path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return fail(strerror(errno));
	if (elf_file_open(&e, fd))
		return fail("not an ELF file that can be read");
	close(fd);
	memcpy(object.build_id, e.build_id, e.build_id_size);
	object.build_id_size = e.build_id_size;
	if (object.kind == PRF_OBJECT_KERNEL && !symbol_table_value(&e, "_text", &text))
		return fail("no _text in it");
	if (error_ignore(symbolizer_new(&s, &options)) ||
	    error_ignore(symbolizer_add_object(s, &object, &id)))
		return fail("no memory");
	n = read_queries(s, id, &e, text, &queries);
	if (error_ignore(symbolizer_run(s)))
		return fail("no memory");
	for (size_t i = 0; i < n; i++)
		print_places(s, queries[i]);
	symbolizer_found(s, id, &found);
	fprintf(stderr, "status: %s\ndebug file: %s\nnamed: %zu of %zu\n",
		symbols_status_text(found.status), found.debug_path, found.named, found.queries);
	symbolizer_free(s);
	elf_file_release(&e);
	free(queries);
	free((char *)object.path);
	return 0;
}
