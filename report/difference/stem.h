/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_DIFFERENCE_STEM_H
#define REPORT_DIFFERENCE_STEM_H

/*
 * What the names of two versions of a function have in common: all but the version after "@", and
 * in names made of linkage names (C++, Rust, D) function arguments and template arguments, if they
 * have 8 KiB at most.
 */

#include <stdbool.h>

/* `mangled`: both names are made of linkage names. A guessed function is none that is sure. */
bool stems_agree(const char *was, const char *is, bool mangled);

#endif
