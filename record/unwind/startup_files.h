/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_STARTUP_FILES_H
#define RECORD_UNWIND_STARTUP_FILES_H

/*
 * Predicts which files a program will map when it is started: itself, its interpreter, and the
 * libraries that these name (DT_NEEDED), searched for much as ld.so(8) does: DT_RPATH, DT_RUNPATH,
 * LD_LIBRARY_PATH, the usual folders and those of /etc/ld.so.conf. A wrong prediction costs only
 * time; libraries are searched for for half a second at most.
 */

typedef void startup_file_function(void *context, const char *path);

/*
 * Calls `found` once for each file, at most STARTUP_FILES_MAX times. `program` is searched in PATH
 * if it has no slash. For a script, its interpreter is used.
 */
#define STARTUP_FILES_MAX 256
void startup_files_each(const char *program, startup_file_function *found, void *context);

#endif
