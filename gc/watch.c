// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is told of a collector: warnings of segments that are left alone, and
 * how far it is.
 */
#include "gc/watch.h"

#include <inttypes.h>

static void tell_left(void *arg, uint64_t segnum, const char *why)
{
	struct watch *w = arg;

	tool_warn(w->tool, "segment %" PRIu64 ": left alone: %s", segnum, why);
}

static void show_progress(void *arg, uint64_t moved, uint64_t to_move)
{
	struct watch *w = arg;
	struct progress *p = &w->tool->progress;

	if (!w->moving)
		progress_begin(p, "moving", to_move, false);
	w->moving = true;
	progress_update(p, moved);
}

void watch_begin(struct watch *w, struct tool *tool,
		 struct collector_options *options)
{
	*w = (struct watch){ .tool = tool };
	options->left = tell_left;
	options->moving = show_progress;
	options->arg = w;
}

void watch_end(struct watch *w)
{
	progress_end(&w->tool->progress);
}
