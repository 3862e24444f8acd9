/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_SYMBOLS_DEMANGLE_H
#define REPORT_SYMBOLS_DEMANGLE_H

/*
 * Linkage names as people write them: C++ (Itanium), Rust (legacy and v0) and D, by
 * libiberty. A short name leaves out what makes folded stacks unreadable:
 *
 *     std::vector<int, std::allocator<int> >::push_back(int const&)   whole
 *     std::vector<...>::push_back                                     short
 *
 * Arguments, return types and the contents of template argument lists go; namespaces,
 * operators, lambdas, closures, the `impl` a Rust method belongs to, and what the compiler
 * split off (".cold", ".part.0") stay.
 */

#include <stdbool.h>
#include <stddef.h>

#include "common/arena.h"

/* The name to show: in `arena`, or `name` itself when it is not mangled. */
const char *demangle(const char *name, bool full, struct arena *arena);

/*
 * A demangled name made short, into `to`, which has room for strlen(name) + 1 bytes.
 * `path_style`: as Rust writes them, where parentheses are types and not arguments.
 */
void shorten_name(char *to, const char *name, bool path_style);

#endif
