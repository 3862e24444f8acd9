/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/commands.h"

const struct command commands[] = {
	{ "run", "[NAME...]", "time benchmarks, and compare with the run before",
	  "list filter time warm-up measurements resamples baseline", run_command },
	{ "mock", "", "make up results, to try out a pipeline", "count power spread", mock_command },
};

const size_t commands_count = sizeof(commands) / sizeof(*commands);
