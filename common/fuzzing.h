/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_FUZZING_H
#define COMMON_FUZZING_H

/*
 * A constant: 1 where this is built with a fuzzer (tests/fuzz/run). Its inputs are small and wrong:
 * checksums, which it cannot guess, are not looked at, and rooms and limits are those that such
 * inputs come up to. Replays of what it has found are built without.
 */
#ifdef PRF_FUZZING
#define FUZZING 1
#else
#define FUZZING 0
#endif

#endif
