/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_LIMITS_H
#define COMMON_LIMITS_H

/*
 * How much of a file is read at most, whatever its headers claim. An ELF file of a few
 * kilobytes on disk can claim terabytes, as the holes of a sparse file cost nothing; without
 * these limits it would cost the reader hours and all memory. Each is far above what
 * compilers and linkers are known to write; the comment says what a file beyond it loses.
 *
 * What a format or a way to read it needs besides, such as the length of a name, stands beside its
 * reader; what the kernel half holds in bpf/abi/, and what a trace holds in format/wire.h.
 */

/* The file is refused: ELF_ERROR_LIMIT. Linkers write about 10 and about 40. */
#define LIMIT_SEGMENTS 4096
#define LIMIT_SECTIONS (1 << 17)

/* Of all notes of a file together. A build-id after them is not found. */
#define LIMIT_NOTE_BYTES (64 << 10)
/* Of the notes that name probes: a virtual machine for Java has 500 of 100 bytes. */
#define LIMIT_PROBE_NOTE_BYTES (4 << 20)

/*
 * Files that have unwind tables, and those of them that stay open in case their table is made
 * again, both shared by users (record/system/shares.h). Further ones have no table, or lose a
 * dropped one.
 */
#define LIMIT_CODE_FILES 65536
#define LIMIT_OPEN_CODE_FILES 4096

/*
 * The frame descriptions of a file. The largest programs have a million functions, and compilers
 * write a few CIEs for each object. Of a file with more, those before are used.
 */
#define LIMIT_FDES (4u << 20)
#define LIMIT_CIES (256u << 10)
/* Pages of 64 KiB from the first to the last code of a file: 4 GiB. Beyond it there is no table. */
#define LIMIT_TABLE_PAGES 65536
/*
 * Beginnings of functions that are known of a file. Code after them is as that of an unknown one,
 * and a table of Go's functions with more is not used.
 */
#define LIMIT_FUNCTION_STARTS (4 << 20)

/*
 * Code of a file that has no unwind information. More than that is not analysed: its callers are
 * guessed, as those of code that the analysis does not understand. Nor is a table of Go's functions
 * looked for after as much data.
 */
#define LIMIT_ANALYSED_BYTES (UINT64_C(256) << 20)

/*
 * Code of a file that is searched for calls of such code. Functions that only later code calls
 * begin where a symbol says so, or after padding.
 */
#define LIMIT_SEARCHED_BYTES (UINT64_C(1) << 30)

/*
 * Places of a file where its rows and instructions say that a frame may be left for that of an
 * exception's handler: around each, the way to it is looked for, on arm64 in up to 8 KiB of code. A
 * file with more gets no unwind table. libgcc has 4 of them.
 */
#define LIMIT_HANDLER_SEARCHES 256

/*
 * Different unwind rules of a file, which all files share. Code that needs further ones has none.
 * Chromium has 2415, libLLVM 1027.
 */
#define LIMIT_FILE_RULES 4096
/*
 * Of all rules that the kernel half can hold, so many are for root alone. Users share the others
 * (record/system/shares.h); rules stay for as long as the recording lasts.
 */
#define LIMIT_ROOT_RULES 8192

/* Entries of a symbol table or of relocations. A larger table is not read: no names from it. */
#define LIMIT_SYMBOLS (8 << 20)
/*
 * What the recorder reads of the names of a file's functions: 128 bytes for each of so many, but
 * all names may be parts of one long text. Nothing is read of a file with more: no names.
 */
#define LIMIT_SYMBOL_NAME_BYTES (1 << 30)
/*
 * Deleted files are read between samples. After so many symbols of them in one look, with 128 bytes
 * of their names as much as one more, and a file and its headers as what they cost, those of
 * further files wait for the next look, or, when a trace ends, are not read: 0.7 s of work, or that
 * of one larger file. The files' owners share them (record/system/shares.h): a file with more than
 * half is read only if it is root's or the recorder's own.
 */
#define LIMIT_LOOK_SYMBOLS (4 << 20)

/*
 * Each file that a target maps is asked for a few names, to know an interpreter by. So many symbols
 * of a bucket of .gnu.hash are looked at; the most that 3,000 files had in one are 12. Of a file
 * without .gnu.hash it is so many dynamic symbols: node has 75,000. An interpreter whose names come
 * later is not known as one.
 */
#define LIMIT_HASH_CHAIN 256
#define LIMIT_UNHASHED_SYMBOLS (1 << 17)

/*
 * Names that a trace gets of a file that the report will not find: so much for the file, and for
 * each 64 bytes of its code that samples hit. Compilers put one to four functions there. What does
 * not fit has no name. Each file has its own room: no other one's names are lost for it.
 */
#define LIMIT_HIT_FILE_BYTES (64u << 10)
#define LIMIT_HIT_BYTES 2048u

/*
 * So many files are mapped at once. More than that are copied, so much of all copies that there
 * are at once: EFBIG for what does not fit.
 */
#define LIMIT_MAPPED_FILES 4096
#define LIMIT_COPIED_BYTES (UINT64_C(256) << 20)

/*
 * A file of a target on a file system that may stop answering is copied before it is read. A larger
 * one is not read. So much of all copies that wait for their unwind tables.
 */
#define LIMIT_FOREIGN_BYTES (UINT64_C(256) << 20)
#define LIMIT_FOREIGN_TOTAL_BYTES (UINT64_C(512) << 20)
/* Of all such copies that are being made. What does not fit is not read. */
#define LIMIT_COPYING_BYTES (UINT64_C(256) << 20)
/* ... and of all that were made after nobody waited any longer, until they are asked for again. */
#define LIMIT_LATE_COPIES_BYTES (UINT64_C(128) << 20)

/* A debug file that only a checksum could tell to be the right one is not used. */
#define LIMIT_CHECKED_BYTES (UINT64_C(4) << 30)

/* One section of DWARF as it is in the file. A larger one counts as absent. */
#define LIMIT_DEBUG_BYTES (UINT64_C(4) << 30)

/*
 * Compressed sections. What does not fit counts as absent: all of DWARF's of a file together,
 * .debug_frame, and .gnu_debugdata, with the memory that its decoder may ask for.
 */
#define LIMIT_UNPACKED_BYTES (UINT64_C(768) << 20)
#define LIMIT_UNPACKED_FRAME_BYTES (256u << 20)
#define LIMIT_MINI_BYTES (256u << 20)
#define LIMIT_MINI_MEMORY (128u << 20)

/* A source file, of which lines are shown. A larger one is not read. */
#define LIMIT_SOURCE_BYTES (64 << 20)
/* Lines of a source that a trace holds some of. With higher numbers they are not shown. */
#define LIMIT_SOURCE_LINES (4 << 20)

/* The code of one function that is shown as instructions. Of a longer one there are none. */
#define LIMIT_FUNCTION_BYTES (1 << 20)
/* ... and of all that are shown or put into a trace of one object together. */
#define LIMIT_CODE_BYTES (8 << 20)

/* Of one file below /proc. What comes after it is not seen. */
#define LIMIT_PROC_BYTES (64u << 20)
/*
 * Executable mappings that are kept for one process, which the kernel's own limit is about. At this
 * number they are read anew, and forgotten if there are still more than half as many.
 */
#define LIMIT_MAPPINGS 65536

/*
 * Memory for the mappings of all processes and the names of what they map, which users share
 * (record/system/shares.h). A machine with 1,000 processes needs about 1 MiB. Of a process whose
 * next mapping does not fit all are forgotten, and a file whose name does not fit has none.
 */
#define LIMIT_SPACES_BYTES (UINT64_C(256) << 20)

/*
 * Of an interpreter or virtual machine: symbols of one table, and bytes of code in which functions
 * are looked for. One that is known by what comes later is not known.
 */
#define LIMIT_RUNTIME_SYMBOLS 1000000
#define LIMIT_RUNTIME_CODE_BYTES (64u << 20)

/*
 * Functions of scripts that are known of all processes, and bytes of their names: of JavaScript,
 * and of all others together. Each process has functions of its own, although most are equal: so
 * many of them are known as well, 22 MiB. At these numbers all are forgotten, and read again when
 * they are next sampled.
 */
#define LIMIT_SCRIPT_FUNCTIONS 200000
#define LIMIT_SCRIPT_NAME_BYTES (64u << 20)
/* The source of one script. Beyond it functions have no line. */
#define LIMIT_SCRIPT_SOURCE_BYTES (32 << 20)

/* The debug information of one compiled method of Java: more is not read, and has no names. */
#define LIMIT_NMETHOD_PC_BYTES (4 << 20)
#define LIMIT_NMETHOD_SCOPE_BYTES (16 << 20)

/*
 * What is read of names from the memory of one Java process, and of all of them together, which
 * users share (record/system/shares.h). What comes after it has no name. A large server takes some
 * tens of MiB.
 */
#define LIMIT_JAVA_BYTES (UINT64_C(256) << 20)
#define LIMIT_JAVA_TOTAL_BYTES (UINT64_C(1) << 30)

/*
 * What is kept of the names in perf maps and jitdumps, for all processes together, which users
 * share; no process gets more than it leaves for others, either. What comes after it has no name. A
 * large program has some tens of MiB.
 */
#define LIMIT_JIT_BYTES (UINT64_C(512) << 20)
/* Of one process: functions, bytes of their names, and places in them that samples hit. */
#define LIMIT_JIT_FUNCTIONS (1 << 20)
#define LIMIT_JIT_NAME_BYTES (64 << 20)
#define LIMIT_JIT_HITS (1 << 20)
/*
 * What is read of these files in one round over all processes; and at the end, or of processes that
 * end between two rounds. Each process may have half of what is left. The rest waits for the next
 * round, or, at an end, has no names.
 */
#define LIMIT_JIT_ROUND_BYTES (UINT64_C(16) << 20)
#define LIMIT_JIT_END_BYTES (UINT64_C(128) << 20)

/*
 * Names of frames that a runtime has made, kept so that equal ones are one frame of the trace.
 * Beyond it they are forgotten, and a frame that comes again is defined again.
 */
#define LIMIT_RUNTIME_FRAMES (1 << 20)
#define LIMIT_RUNTIME_FRAMES_BYTES (64 << 20)

/*
 * Files of holes (tests/fuzz/fuzz_sparse.c) and sources with large numbers of lines reach these in
 * nearly each run of a fuzzer, and to read as much as they allow takes up to a tenth of a second.
 * `make check` reads what was found with the limits above.
 */
#ifdef PRF_FUZZING
#undef LIMIT_SECTIONS
#define LIMIT_SECTIONS 512
#undef LIMIT_ANALYSED_BYTES
#define LIMIT_ANALYSED_BYTES (UINT64_C(8) << 10)
#undef LIMIT_SEARCHED_BYTES
#define LIMIT_SEARCHED_BYTES (UINT64_C(8) << 10)
#undef LIMIT_SYMBOLS
#define LIMIT_SYMBOLS (4 << 10)
#undef LIMIT_SOURCE_LINES
#define LIMIT_SOURCE_LINES (4 << 10)
#endif

#endif
