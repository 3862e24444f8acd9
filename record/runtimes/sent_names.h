/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_RUNTIMES_SENT_NAMES_H
#define RECORD_RUNTIMES_SENT_NAMES_H

/*
 * The kernel half's map `script_sent`: the code whose names it has sent. What is forgotten there is
 * sent again when it is seen next.
 */

#include <stdint.h>

void sent_names_forget_one(int sent_fd, uint64_t identity);
void sent_names_forget(int sent_fd);

#endif
