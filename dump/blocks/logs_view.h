/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One log as a section of the report: header, files, blocks. */
#ifndef NILFS2_DUMP_LOGS_VIEW_H
#define NILFS2_DUMP_LOGS_VIEW_H

#include <stdbool.h>

#include "cli/tool.h"
#include "out/table.h"
#include "vol/logscan.h"
#include "vol/summary.h"

/* Which part of a segment a log is in. */
enum logs_state {
	LOGS_CURRENT,	/* the blocks that the SUFILE counts */
	LOGS_NEWER,	/* after them, younger than the latest super root */
	LOGS_STALE,	/* left from an earlier use of the segment */
};

struct logs_view {
	struct tool *tool;
	struct volume *vol;
	bool brief;		/* one row a log */
	bool blocks;		/* every block */
	bool verify;		/* sum up the payload too */
	struct table table;	/* of the brief form */
	struct summary summary;	/* its buffer is used for log after log */
	uint64_t logs;		/* seen so far */
	uint64_t broken;	/* of them */
};

void logs_view_begin(struct logs_view *view);

/*
 * Prints one log.  One that is broken is counted, reported on standard error
 * and shown as far as possible; failures are those of reading, -EIO and
 * -ENOMEM.
 */
int logs_view_log(struct logs_view *view, uint64_t segnum,
		  enum logs_state state, const struct log *log);

void logs_view_end(struct logs_view *view);

#endif
