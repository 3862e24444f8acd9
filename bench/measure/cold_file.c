/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/measure/cold_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Looking at a mapping does not read its pages. */
static bool is_cold(int fd, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (size + page - 1) / page;
	unsigned char *resident = malloc(n);
	void *mapping = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	bool cold = resident && mapping != MAP_FAILED && !mincore(mapping, size, resident);

	for (size_t i = 0; cold && i < n; i++)
		cold = !(resident[i] & 1);
	if (mapping != MAP_FAILED)
		munmap(mapping, size);
	free(resident);
	return cold;
}

bool cold_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info;
	bool cold;

	if (fd < 0)
		return false;
	cold = !fsync(fd) && !posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) && !fstat(fd, &info) &&
	       info.st_size > 0 && is_cold(fd, (size_t)info.st_size);
	close(fd);
	return cold;
}
