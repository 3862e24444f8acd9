/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/proc.h"

#include "tests/simulate/machine.h"

bool proc_of_this_machine_runs(uint32_t pid, uint32_t *parent);
bool proc_of_this_machine_has_thread(uint32_t pid, uint32_t tid);

/* Whether a task lives is asked of the simulated machine. */
#define proc_runs proc_of_this_machine_runs
#define proc_has_thread proc_of_this_machine_has_thread
#include "record/system/proc.c"
#undef proc_runs
#undef proc_has_thread

bool proc_runs(uint32_t pid, uint32_t *parent)
{
	return machine_has_process(pid);
}

bool proc_has_thread(uint32_t pid, uint32_t tid)
{
	return machine_has_task(pid, tid);
}
