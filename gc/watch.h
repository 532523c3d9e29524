/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is told of what a collector does, while it does it. */
#ifndef NILFS2_GC_WATCH_H
#define NILFS2_GC_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/tool.h"
#include "gc/collector.h"

struct watch {
	struct tool *tool;
	bool moving;		/* the progress of that has begun */
};

/* Has W told of what is done by OPTIONS. */
void watch_begin(struct watch *w, struct tool *tool,
		 struct collector_options *options);
void watch_end(struct watch *w);

#endif
