/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_STARTUP_FILES_H
#define RECORD_UNWIND_STARTUP_FILES_H

/*
 * Which files a program will map when it is started: itself, its interpreter, and the
 * libraries that these name (DT_NEEDED), looked for much as ld.so(8) does: DT_RUNPATH,
 * LD_LIBRARY_PATH, the usual folders and those of /etc/ld.so.conf. What is missed or found
 * in vain costs nothing but time.
 */

typedef void startup_file_function(void *context, const char *path);

/*
 * Calls `found` once for each file, at most STARTUP_FILES_MAX. `program` is found by PATH
 * when it has no slash. Scripts count as their interpreter.
 */
#define STARTUP_FILES_MAX 256
void startup_files_each(const char *program, startup_file_function *found, void *context);

#endif
