/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_READER_PROCESS_H
#define RECORD_SYSTEM_READER_PROCESS_H

/*
 * The process that reads the memory and the files in /proc of others for the recorder; see
 * process_reader.h. Messages of a socket that keeps their bounds: a request, then its answers.
 */

#include <stdbool.h>
#include <stdint.h>

#define READER_PIECES_MAX 1023	       /* of one request: with the size, the kernel's IOV_MAX */
#define READER_PIECE_BYTES (64u << 10) /* of one answer */

struct reader_piece {
	uint64_t address, size;
};

/*
 * One message: `count` pieces of memory, or without any, `most` bytes of the file `name` of
 * /proc/PID.
 */
struct reader_request {
	uint32_t pid, count;
	bool present; /* only if the pages are in memory now */
	uint64_t most;
	char name[24];
	struct reader_piece pieces[READER_PIECES_MAX];
};

/*
 * One message: how many bytes there are, or -errno, and the bytes. The memory that was asked for is
 * one answer; of a file there may be more. The first message of all says that the child is ready.
 */
struct reader_head {
	int32_t size;
	bool more;
};

struct reader_answer {
	struct reader_head head;
	uint8_t bytes[READER_PIECE_BYTES];
};

/* Whether the pages are in memory now: to read them waits for nobody's file. */
bool reader_process_is_present(uint32_t pid, uint64_t address, uint64_t size);

/* Says that it is ready, and answers requests until the other end of its socket is closed. */
_Noreturn void reader_process_run(void);

#endif
