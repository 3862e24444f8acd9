/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_THREAD_H
#define RECORD_SYSTEM_THREAD_H

/* A thread beside the one that records, to which signals are left. */

#include <pthread.h>

/* As pthread_create(), with all signals blocked in the new thread. 0 or an errno. */
int thread_start(pthread_t *thread, void *(*run)(void *), void *context);

#endif
