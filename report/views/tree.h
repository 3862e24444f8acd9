/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_VIEWS_TREE_H
#define REPORT_VIEWS_TREE_H

/*
 * -f tree: the stacks as a tree of calls, from commands and roots down to the leaves, the
 * heaviest first; as text or, with --json, as nested objects. With --diff those calls that changed,
 * each with what it calls.
 */

#include "report/tables/view.h"

struct error *tree_render(const struct profile *p, const struct view_options *o,
			  struct sink *s) ERROR_CHECKED;

#endif
