/* SPDX-License-Identifier: GPL-2.0-or-later */

/* map_files SECONDS FILE...: maps the files as code, says so, and stays for so long. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);
		struct stat status;

		if (fd < 0 || fstat(fd, &status) ||
		    mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) ==
			    MAP_FAILED) {
			perror(argv[i]);
			return 1;
		}
		close(fd);
	}
	puts("mapped");
	fflush(stdout);
	sleep((unsigned int)atoi(argc > 1 ? argv[1] : "1"));
	return 0;
}
