/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_REFUSED_H
#define TESTS_UNIT_REFUSED_H

/*
 * For tests of payloads that are written field by field: refused(), which the test has, is called
 * with its struct fields, of which one is changed, as in "n = 9".
 */
#define REFUSED(fields_of, change, text)                                                           \
	do {                                                                                       \
		struct fields changed = fields_of;                                                 \
                                                                                                   \
		changed.change;                                                                    \
		refused(&changed, text);                                                           \
	} while (0)

#endif
