/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/target_memory.h"

#include <string.h>
#include <sys/uio.h>

static bool read_process(void *context, uint64_t address, void *bytes, size_t size)
{
	struct iovec here = { bytes, size }, there = { (void *)(uintptr_t)address, size };

	return process_vm_readv((pid_t)(uintptr_t)context, &here, 1, &there, 1, 0) == (ssize_t)size;
}

struct target_memory target_memory_of(uint32_t pid)
{
	return (struct target_memory){ read_process, (void *)(uintptr_t)pid };
}

static bool read_pieces(pid_t pid, const struct target_piece *pieces, size_t n)
{
	struct iovec here[TARGET_PIECES_MAX], there[TARGET_PIECES_MAX];
	size_t size = 0;

	for (size_t i = 0; i < n; i++) {
		here[i] = (struct iovec){ pieces[i].to, pieces[i].size };
		there[i] = (struct iovec){ (void *)(uintptr_t)pieces[i].address, pieces[i].size };
		size += pieces[i].size;
	}
	return process_vm_readv(pid, here, n, there, n, 0) == (ssize_t)size;
}

bool target_read_all(const struct target_memory *m, const struct target_piece *pieces, size_t n)
{
	if (m->read == read_process && n <= TARGET_PIECES_MAX)
		return read_pieces((pid_t)(uintptr_t)m->context, pieces, n);
	for (size_t i = 0; i < n; i++)
		if (!target_read(m, pieces[i].address, pieces[i].to, pieces[i].size))
			return false;
	return true;
}

static bool read_number(const struct target_memory *m, uint64_t address, void *value, size_t size)
{
	if (target_read(m, address, value, size))
		return true;
	memset(value, 0, size);
	return false;
}

bool target_u8(const struct target_memory *m, uint64_t address, uint8_t *value)
{
	return read_number(m, address, value, sizeof(*value));
}

bool target_u16(const struct target_memory *m, uint64_t address, uint16_t *value)
{
	return read_number(m, address, value, sizeof(*value));
}

bool target_u32(const struct target_memory *m, uint64_t address, uint32_t *value)
{
	return read_number(m, address, value, sizeof(*value));
}

bool target_u64(const struct target_memory *m, uint64_t address, uint64_t *value)
{
	return read_number(m, address, value, sizeof(*value));
}

bool target_text(const struct target_memory *m, uint64_t address, char *text, size_t size)
{
	size_t n = 0;

	/* By pieces that end with a page: the next page may not be there. */
	while (n < size) {
		size_t piece = 4096 - ((address + n) & 4095);

		if (piece > size - n)
			piece = size - n;
		if (!target_read(m, address + n, text + n, piece))
			break;
		if (memchr(text + n, 0, piece))
			return true;
		n += piece;
	}
	text[0] = 0;
	return false;
}
