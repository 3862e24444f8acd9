/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/suite/library_files.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/measure/child.h"
#include "bench/suite/corpus.h"
#include "common/elf_file.h"

#define REPORT_RUNS 7
#define ENDLESS_SECTIONS 5000
#define ENDLESS_BYTES (4 << 20)

static const char *const file_names[LIBRARY_FILES] = {
	"plain", "zlib",     "zstd",	  "sections.o",	 "endless",
	"link",	 "stripped", "split/dwo", "package/dwp", "dwz",
};

/* $1: the folder. What cannot be made here is left out; the units of a split program differ. */
static const char script[] =
	"cd \"$1\" && cp /proc/$PPID/exe plain || exit 1\n"
	"objcopy --compress-debug-sections=zlib plain zlib\n"
	"objcopy --compress-debug-sections=zstd plain zstd\n"
	"awk 'BEGIN { for (i = 0; i < 70000; i++) printf \".section "
	".text.f%d,\\\"ax\\\"\\nret\\n\", i }'"
	" > sections.s && as sections.s -o sections.o\n"
	"mkdir .debug && objcopy --only-keep-debug plain .debug/link.debug &&"
	" objcopy --strip-all --remove-section=.note.gnu.build-id plain link &&"
	" objcopy --remove-section=.note.gnu.build-id .debug/link.debug &&"
	" objcopy --add-gnu-debuglink=.debug/link.debug link\n"
	"id=$(readelf -n plain | sed -n 's/.*Build ID: //p')\n"
	"rest=${id#??}\n"
	"mkdir -p \"debug/.build-id/${id%\"$rest\"}\" && objcopy --only-keep-debug plain"
	" \"debug/.build-id/${id%\"$rest\"}/$rest.debug\" && strip -o stripped plain\n"
	"mkdir split && cd split\n"
	"for i in $(seq 20); do echo \"int f$i(int x) { return x * $i; }\" > f$i.c; done\n"
	"echo 'int main(void) { return 0; }' > main.c\n"
	"cc -g -O1 -gdwarf-5 -gsplit-dwarf *.c -o dwo\n"
	"mkdir ../package && cp *.c ../package && cd ../package &&"
	" cc -g -O1 -gdwarf-5 -gsplit-dwarf *.c -o dwp &&"
	" { llvm-dwp -e dwp -o dwp.dwp || dwp -e dwp -o dwp.dwp; } && rm *.dwo || rm -f dwp\n"
	"cd ..\n"
	"cp plain dwz && cp plain dwz2 && dwz -m common dwz dwz2 || rm dwz\n";

static int by_value(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static bool choose_addresses(struct library_files *f, uint64_t seed)
{
	const struct corpus_options shape = { .seed = seed,
					      .samples = 1,
					      .nodes = 1,
					      .depth = 1,
					      .places = LIBRARY_PLACES,
					      .threads = 1 };
	struct corpus corpus;
	struct elf_file e;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && !elf_file_open(&e, fd);

	if (fd >= 0)
		close(fd);
	if (!good)
		return false;
	if (corpus_init(&corpus, &shape)) {
		elf_file_release(&e);
		return false;
	}
	for (size_t i = 0; good && i < LIBRARY_PLACES; i++)
		good = elf_file_offset_to_address(&e, corpus.offsets[i], &f->addresses[i]);
	qsort(f->addresses, LIBRARY_PLACES, sizeof(*f->addresses), by_value);
	corpus_release(&corpus);
	elf_file_release(&e);
	return good;
}

static bool write_endless(const struct library_files *f)
{
	const Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
						 ELFDATA2LSB, EV_CURRENT },
				    .e_type = ET_DYN,
				    .e_machine = EM_X86_64,
				    .e_version = EV_CURRENT,
				    .e_shoff = sizeof(header),
				    .e_ehsize = sizeof(header),
				    .e_shentsize = sizeof(Elf64_Shdr),
				    .e_shnum = ENDLESS_SECTIONS,
				    .e_shstrndx = 1 };
	const Elf64_Shdr names = { .sh_name = 1,
				   .sh_type = SHT_STRTAB,
				   .sh_offset = sizeof(header) + ENDLESS_SECTIONS * sizeof(names),
				   .sh_size = ENDLESS_BYTES };
	size_t size = names.sh_offset + names.sh_size;
	uint8_t *bytes = malloc(size);
	bool good = false;
	int fd;

	fd = open(f->paths[FILE_ENDLESS], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (bytes && fd >= 0) {
		memset(bytes, 'a', size);
		memcpy(bytes, &header, sizeof(header));
		for (size_t i = 0; i < ENDLESS_SECTIONS; i++)
			memcpy(bytes + sizeof(header) + i * sizeof(names), &names, sizeof(names));
		good = write(fd, bytes, size) == (ssize_t)size;
	}
	if (fd >= 0)
		close(fd);
	free(bytes);
	return good;
}

bool library_files_make(struct library_files *f, uint64_t seed)
{
	const char *arguments[] = { "sh", "-c", script, "sh", f->folder, NULL };
	char folder[sizeof(f->folder)];
	struct child_cost cost;
	bool good;

	strcpy(folder, "/tmp/prof-bench.XXXXXX");
	if (!mkdtemp(folder))
		return false;
	strcpy(f->folder, folder);
	for (int i = 0; i < LIBRARY_FILES; i++)
		snprintf(f->paths[i], sizeof(f->paths[i]), "%s/%s", folder, file_names[i]);
	good = !child_run(&(struct child_options){ .arguments = arguments }, &cost) &&
	       !access(f->paths[FILE_PLAIN], R_OK) && write_endless(f) && choose_addresses(f, seed);
	for (int i = 0; i < LIBRARY_FILES; i++)
		if (access(f->paths[i], R_OK))
			*f->paths[i] = 0;
	if (!good)
		library_files_release(f);
	return good;
}

void library_files_release(struct library_files *f)
{
	const char *arguments[] = { "rm", "-rf", f->folder, NULL };
	struct child_cost cost;

	child_run(&(struct child_options){ .arguments = arguments }, &cost);
}

/* -------- the whole report -------- */

static bool write_trace(const char *object, const char *trace, uint64_t seed)
{
	const struct corpus_options shape = { .seed = seed,
					      .samples = 10000,
					      .nodes = 5000,
					      .depth = 40,
					      .places = LIBRARY_PLACES,
					      .threads = 4,
					      .object = object };
	struct corpus corpus;
	uint8_t *bytes = NULL;
	size_t size = 0;
	bool good = false;
	int fd;

	if (corpus_init(&corpus, &shape))
		return false;
	fd = open(trace, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd >= 0 && !corpus_trace(&corpus, 3, &bytes, &size))
		good = write(fd, bytes, size) == (ssize_t)size;
	if (fd >= 0)
		close(fd);
	free(bytes);
	corpus_release(&corpus);
	return good;
}

double library_files_report(const struct library_files *f, enum library_file file, uint64_t seed)
{
	char program[PATH_MAX], trace[128], debug[160];
	const char *arguments[] = { program, "-q", "--no-cache", debug, trace, NULL };
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 32);
	double least = 0;

	snprintf(trace, sizeof(trace), "%s/trace.prf", f->folder);
	snprintf(debug, sizeof(debug), "--debug-dir=%s/debug", f->folder);
	if (length < 0 || !write_trace(f->paths[file], trace, seed))
		return 0;
	program[length] = 0;
	strcpy(strrchr(program, '/') + 1, "prof-report");
	for (int i = 0; i < REPORT_RUNS; i++) {
		struct child_cost cost;

		if (child_run(&(struct child_options){ .arguments = arguments }, &cost) ||
		    cost.status)
			return 0;
		if (!i || cost.elapsed_ns < least * 1e9)
			least = cost.elapsed_ns / 1e9;
	}
	return least;
}
