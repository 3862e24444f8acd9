/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz target without a fuzzer, over the files and folders that are named: the
 * regression run of `make check`.
 */

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t runs;

/* From memory of just this size, so that a sanitizer sees a read beyond it. */
static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long size = -1;
	int status = 1;

	if (file && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size >= 0) {
		rewind(file);
		data = malloc(size ? (size_t)size : 1);
	}
	if (data && fread(data, 1, (size_t)size, file) == (size_t)size) {
		LLVMFuzzerTestOneInput(data, (size_t)size);
		runs++;
		status = 0;
	} else {
		fprintf(stderr, "%s: cannot be read\n", path);
	}
	free(data);
	if (file)
		fclose(file);
	return status;
}

static int replay(const char *path)
{
	struct dirent **names;
	struct stat status;
	int count, failed = 0;

	if (stat(path, &status) != 0) {
		fprintf(stderr, "%s: is not there\n", path);
		return 1;
	}
	if (!S_ISDIR(status.st_mode))
		return replay_file(path);
	count = scandir(path, &names, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		char *inner;

		if (names[i]->d_name[0] != '.' &&
		    asprintf(&inner, "%s/%s", path, names[i]->d_name) >= 0) {
			failed |= replay(inner);
			free(inner);
		}
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	return failed || count < 0;
}

int main(int argc, char **argv)
{
	int failed = argc < 2;

	for (int i = 1; i < argc; i++)
		failed |= replay(argv[i]);
	printf("# %zu inputs\n", runs);
	return failed || runs == 0;
}
