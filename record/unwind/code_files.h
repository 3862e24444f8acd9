/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_CODE_FILES_H
#define RECORD_UNWIND_CODE_FILES_H

/*
 * The files that have unwind tables, or wait for them, each known once: by build-id and owner, or
 * by device, inode, size and time where one of them is not known. Objects of several names or
 * containers may be one file. Anybody can make a file with any build-id: its table and its names
 * are only for files of the same owner.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/map.h"
#include "record/spaces/object.h"
#include "record/system/shares.h"
#include "record/unwind/table_store.h"

enum code_file_state {
	CODE_FILE_WAITING, /* for the worker */
	CODE_FILE_READY,   /* has a table in the kernel */
	CODE_FILE_BARE,	   /* has no unwind information: frame pointers are used */
	CODE_FILE_REFUSED, /* no table: no memory for it, or the file could not be opened */
};

/*
 * Of what could not be opened, and of copies: a file system that may stop answering may also say
 * anything.
 */
#define CODE_FILE_NO_OWNER UINT32_MAX

#define CODE_FILE_USERS_MAX 4

/* What a file is known by. */
struct code_file_key {
	char kind; /* 'b' build-id and owner, 'i' inode, 'v' vDSO */
	uint8_t bytes[39];
};

struct code_file {
	struct code_file_key key;
	char *path;
	int fd;		       /* while waiting; -1: could not be opened, or the vDSO */
	bool replaced;	       /* with fd -1: another file has the name now */
	int kept;	       /* another fd, for use when the file's name is gone; -1: none */
	uint32_t owner;	       /* uid; CODE_FILE_NO_OWNER */
	uint32_t user;	       /* whose process needed it first: it is of his share of files */
	uint64_t copied_bytes; /* that the fd holds, if it is of a copy */
	bool vdso;
	enum code_file_state state;
	uint8_t build_id[ELF_BUILD_ID_MAX]; /* as the kernel or /proc named it; verified later */
	uint8_t build_id_size;
	struct stored_table stored;
	uint64_t base; /* of the table's first page, link-time */
	struct table_segment segments[TABLE_SEGMENTS_MAX];
	uint32_t segment_count;
	struct unwind_file_key kernel_key; /* inode 0: not known */
	uint64_t refused_ns; /* when it was refused; 0: it may be tried again at once */
	uint32_t refused_to; /* the user whose share its table did not fit into; 0: not that */
	uint64_t later_ns;   /* while waiting: not before that, as others' memory rests; 0: now */
	uint32_t tries;	     /* how often it was put off like this */
	uint64_t last_mapped_ns;
	uint64_t needed_ns; /* while waiting: since when a process maps it; 0: none does */
	/* ... and whose processes do; of more users, those whose turn comes first. */
	uint32_t users[CODE_FILE_USERS_MAX];
	uint32_t user_count;
	uint64_t build_ns;
	uint64_t mapped_by;   /* processes, as counted last; see publication.h */
	uint32_t counted_pid; /* the last of them */
	bool changed;	      /* its table was added or dropped, and users have to be published */
	bool wanted;	      /* some object is of this file: see unwinder_forget_unused() */
	const char *problem;
	bool over_limit; /* of what is read of one file, at one try at least: it has no table */
	struct code_file *next; /* in the unwinder's list of files that nothing refers to */
};

#define CODE_PAGES 32

struct code_page {
	const struct code_file *file; /* NULL: none */
	uint64_t number;
	size_t size;
	uint8_t bytes[4096];
};

struct code_files {
	struct code_file **all;
	size_t count, capacity;
	struct map keys;	 /* -> index in `all` + 1 */
	struct shares known;	 /* of files, by their users */
	struct shares kept;	 /* of those that stay open */
	uint64_t copied_bytes;	 /* of all files */
	struct shares work_ns;	 /* that the tables of users' files took lately */
	struct code_page *pages; /* that were read lately, CODE_PAGES of them; NULL: none yet */
};

/*
 * Of whose share its table is if a process of that user needs it: its owner's, as he alone can make
 * such files. Root of a container can make files of any owner, and who owns a copy is not known:
 * then the user's.
 */
uint32_t code_file_payer(const struct code_file *file, uint32_t user);

void code_files_init(struct code_files *files);
void code_files_release(struct code_files *files);

/* Reads from a file that is kept open. False if there are not so many bytes. */
bool code_files_read(struct code_files *files, const struct code_file *file, uint64_t offset,
		     void *bytes, size_t size);

/* Closes the file's fd. */
void code_files_close(struct code_files *files, struct code_file *file);

/* The file is not known any more, and not open; the caller frees it. */
void code_files_take(struct code_files *files, struct code_file *file);
void code_file_free(struct code_file *file);

/*
 * The file that a process of the user maps; also stored in the mapping's object. A new one has the
 * state CODE_FILE_WAITING, and an open fd if it could be opened. NULL for mappings that are no
 * file, if the user has his share of files, and without memory.
 */
struct code_file *code_files_get(struct code_files *files, uint32_t pid, uint32_t user,
				 const struct mapping *mapping);

/* The vDSO, which all processes share. */
struct code_file *code_files_get_vdso(struct code_files *files);

/* A process of that user maps a file that waits, or, if `time_ns` is 0, will. */
void code_files_need(const struct code_files *files, struct code_file *file, uint32_t user,
		     uint64_t time_ns);

/*
 * Of those who need a waiting file, only those stay for whom not this user pays. False: nobody
 * does.
 */
bool code_file_is_for_others(struct code_file *file, uint32_t payer);

/*
 * The one whose table is to be made next. Files of root that root's processes map come first, then
 * those that processes of the user need whose files took the least time lately. So a user's files
 * are not kept waiting by many of another's. Sets for whom it is. NULL: none waits, up to that
 * time.
 */
struct code_file *code_files_next_waiting(const struct code_files *files, uint64_t now_ns,
					  uint32_t *user);

/* From when on one can be made, which may have been long ago; UINT64_MAX: no file waits. */
uint64_t code_files_next_ns(const struct code_files *files);

/* The file at a path in the recorder's own root. */
struct code_file *code_files_get_path(struct code_files *files, const char *path);

/* What the kernel half knows a file by. */
struct unwind_file_key code_file_kernel_key(const struct stat *status);

#endif
