/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_PRIVILEGES_H
#define RECORD_SYSTEM_PRIVILEGES_H

/*
 * The capabilities of the recorder, and dropping them. Attaching needs cap_bpf and cap_perfmon;
 * recording other users' processes also cap_sys_ptrace, to read their maps and open their binaries.
 * Once everything is attached, only those that are still needed are kept. The kernel gives
 * them to threads, not to processes: each thread drops its own.
 */

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>

/* All capabilities that a recorder without root uses, in the syntax of setcap(8). */
#define PRIVILEGES_WANTED "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog"

/*
 * kernel.perf_event_paranoid. Above 2, a value that Debian's and Ubuntu's kernels know, perf events
 * are refused to everyone without cap_sys_admin. -1 where it cannot be read.
 */
int privileges_paranoid(void);

/*
 * True when all required capabilities are there; otherwise `missing` gets the names of the others,
 * joined by commas.
 */
bool privileges_suffice(char *missing, size_t size);

/* Whether cap_sys_ptrace is there, with which any process may be read. */
bool privileges_can_trace(void);

/*
 * For the thread that records. Drops every capability but those for reading other processes and
 * for publishing unwind tables, and makes that final (no_new_privs, empty inheritable and ambient
 * sets). With `creates_files`, also those are kept that let root write where the user of sudo may.
 */
struct error *privileges_drop(bool creates_files);

/* What a thread or process beside that one does with capabilities. */
enum privileges_use {
	PRIVILEGES_FOR_NOTHING,
	PRIVILEGES_FOR_TABLES,	 /* makes BPF maps */
	PRIVILEGES_FOR_PROGRAMS, /* loads BPF programs */
	PRIVILEGES_FOR_FILES,	 /* reads files of any user */
	PRIVILEGES_FOR_OPENING,	 /* opens files that other users' processes have mapped */
	PRIVILEGES_FOR_READING,	 /* reads other users' processes */
};

/*
 * The first thing that such a thread does: keeps the capabilities that it uses, and no others after
 * an exec either, if it is root's; another user's has none then. Fails only where privileges_drop()
 * fails, too, which reports it.
 */
void privileges_drop_in_thread(enum privileges_use use);

/*
 * Called in the child before the user's command is run: drops what file capabilities gave to the
 * recorder, which the command must not have. Root's command has all that root has. False if the
 * kernel refuses; errno says why.
 */
bool privileges_drop_for_command(void);

#endif
