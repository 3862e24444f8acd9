/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_TABLES_SAMPLE_TIME_H
#define REPORT_TABLES_SAMPLE_TIME_H

#include "report/profile/profile.h"

/*
 * The CPU time that a sample of the profile stands for, in ns: the mean of its traces, which have
 * lost different parts; 0 where samples are not taken at the same rate, or not of CPU time. Groups
 * must distinguish events.
 */
uint64_t sample_time(const struct profile *p);

#endif
