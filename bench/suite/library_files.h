/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_SUITE_LIBRARY_FILES_H
#define BENCH_SUITE_LIBRARY_FILES_H

/*
 * The files that our readers of ELF and DWARF are compared with libelf and libdw on: copies of
 * this program in many forms, and small programs made by the compiler.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIBRARY_PLACES 2000

enum library_file {
	FILE_PLAIN, /* this program, with its DWARF as it is */
	FILE_ZLIB,  /* the same with SHF_COMPRESSED sections */
	FILE_ZSTD,
	FILE_SECTIONS, /* an object file with 70,000 sections */
	FILE_ENDLESS,  /* 5,000 sections whose names are 4 MiB without a NUL */
	FILE_LINK,     /* this program without DWARF, which .gnu_debuglink names */
	FILE_STRIPPED, /* the same, whose DWARF is found by build-id below debug/ */
	FILE_DWO,      /* 20 units, each with a .dwo file */
	FILE_DWP,      /* the same as a package */
	FILE_DWZ,      /* its common parts are in another file */
	LIBRARY_FILES
};

struct library_files {
	char folder[32];
	char paths[LIBRARY_FILES][64];	    /* "" for those that no tool here can make */
	uint64_t addresses[LIBRARY_PLACES]; /* in FILE_PLAIN's .text, sorted */
};

/* False when a folder or the copies cannot be made; then nothing needs to be released. */
bool library_files_make(struct library_files *f, uint64_t seed);
void library_files_release(struct library_files *f);

/* Seconds of prof-report on a trace of 10,000 samples in that file, the least of a few; 0: unknown.
 */
double library_files_report(const struct library_files *f, enum library_file file, uint64_t seed);

#endif
