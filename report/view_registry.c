/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/view_registry.h"

#include "report/annotate/annotate.h"
#include "report/views/firefox.h"
#include "report/views/folded.h"
#include "report/page/html.h"
#include "report/views/parquet.h"
#include "report/views/pprof.h"
#include "report/views/script.h"
#include "report/views/speedscope.h"
#include "report/views/top.h"
#include "report/views/tree.h"

#include <string.h>

static const struct view views[] = {
	{ .name = "folded", .suffix = ".folded", .render = folded_render, .can_diff = true },
	/* What a sample of theirs stands for, in tables, depends on its event. */
	{ .name = "top",
	  .dimensions = PROFILE_BY_EVENT,
	  .detail = PROFILE_BY_GUESS | PROFILE_GUESS_IN_NAME,
	  .paged = true,
	  .can_diff = true,
	  .render = top_render },
	{ .name = "tree",
	  .dimensions = PROFILE_BY_EVENT,
	  .paged = true,
	  .can_diff = true,
	  .joins_runs = true,
	  .render = tree_render },
	{ .name = "annotate",
	  .dimensions = PROFILE_BY_EVENT,
	  .detail = PROFILE_BY_LINE | PROFILE_BY_ADDRESS | PROFILE_INSIDE_CALL,
	  .paged = true,
	  .can_diff = true,
	  .joins_runs = true,
	  .code = true,
	  .render = annotate_render },
	{ .name = "html",
	  .suffix = ".html",
	  .binary = true,
	  .dimensions = PROFILE_BY_THREAD | PROFILE_BY_TRACE | PROFILE_BY_EVENT | PROFILE_IN_PARTS,
	  .detail = PROFILE_BY_FILE | PROFILE_BY_GUESS | PROFILE_GUESS_IN_NAME,
	  .max_slices = 500,
	  .can_diff = true,
	  .led = true,
	  .render = html_render },
	{ .name = "pprof",
	  .suffix = ".pb.gz",
	  .dimensions = PROFILE_BY_THREAD | PROFILE_BY_TRACE | PROFILE_BY_EVENT,
	  .detail = PROFILE_BY_LINE | PROFILE_BY_ADDRESS | PROFILE_INSIDE_CALL |
		    PROFILE_GUESS_IN_NAME,
	  .binary = true,
	  .render = pprof_render },
	{ .name = "firefox",
	  .binary = true,
	  .dimensions = PROFILE_BY_THREAD | PROFILE_BY_TRACE | PROFILE_IN_PARTS,
	  .detail = PROFILE_BY_LINE | PROFILE_LOWEST_ADDRESS,
	  .max_slices = 1u << 16,
	  .led = true,
	  .render = firefox_render },
	{ .name = "speedscope",
	  .suffix = ".speedscope.json",
	  .binary = true,
	  .dimensions = PROFILE_BY_THREAD | PROFILE_BY_TRACE | PROFILE_IN_PARTS,
	  .detail = PROFILE_BY_FILE,
	  .max_slices = 1000,
	  .led = true,
	  .render = speedscope_render },
	{ .name = "script",
	  .detail = PROFILE_BY_ADDRESS,
	  .frame = script_frame,
	  .sample = script_sample },
	{ .name = "jsonl",
	  .suffix = ".jsonl",
	  .detail = PROFILE_BY_LINE | PROFILE_BY_ADDRESS,
	  .frame = jsonl_frame,
	  .begin = jsonl_begin,
	  .sample = jsonl_sample,
	  .end = jsonl_end },
	{ .name = "parquet",
	  .suffix = ".parquet",
	  .binary = true,
	  .table = true,
	  .begin = parquet_begin,
	  .sample = parquet_sample,
	  .end = parquet_end },
};

const struct view *view_at(size_t i)
{
	return i < sizeof(views) / sizeof(*views) ? &views[i] : NULL;
}

const struct view *view_find(const char *name)
{
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
		if (!strcmp(views[i].name, name))
			return &views[i];
	return NULL;
}

static bool ends_in(const char *path, const char *suffix)
{
	size_t length = strlen(path), end = strlen(suffix);

	return end < length && !strcmp(path + length - end, suffix);
}

const struct view *view_of_file(const char *path)
{
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
		if (views[i].suffix && ends_in(path, views[i].suffix))
			return &views[i];
	return NULL;
}

bool view_is_unclear(const char *path)
{
	static const char *const unclear[] = { ".json", ".csv", ".gz",	".pb",	".pprof",
					       ".htm",	".svg", ".zst", ".prf", ".data" };

	for (size_t i = 0; i < sizeof(unclear) / sizeof(*unclear); i++)
		if (ends_in(path, unclear[i]))
			return true;
	return false;
}
