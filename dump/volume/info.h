/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of `info`, for reports that contain it, and its parts. */
#ifndef NILFS2_DUMP_INFO_H
#define NILFS2_DUMP_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/tool.h"
#include "dev/dev.h"
#include "disk/super.h"
#include "vol/volume.h"

/*
 * Both superblocks: their fields, the one in use, and whether the other could
 * replace it.
 */
struct info_super {
	struct nilfs_super_block copy[2];
	uint64_t offset[2];		/* bytes; 0: the device is too small */
	bool shown[2];			/* has the magic number; may be invalid */
	struct super_choice choice;
};

/* Reads both copies from DEV; an unreadable one is not shown. */
void info_super_read(struct info_super *s, const struct context *cx,
		     struct dev *dev);

/* Reports every field of both copies. */
void info_super_report_fields(const struct info_super *s,
			      struct report *report);

/*
 * Reports the copy in use and the reason, and whether the other could be used.  VOL
 * is NULL if no copy leads to a super root.
 */
void info_super_report_choice(const struct info_super *s,
			      struct report *report,
			      const struct context *cx, struct volume *vol);

/* Reports the features of superblock SB, known and unknown. */
void info_super_report_features(const struct nilfs_super_block *sb,
				struct report *report);

/* Reports the state of superblock SB. */
void info_super_report_state(const struct nilfs_super_block *sb,
			     struct report *report);

/*
 * Whether the kernel would refuse to mount the volume of SB, a superblock that it
 * chose, on a device of DEV_SIZE bytes because of SB: sets TEXT to "refused: " and
 * the message of the kernel, or leaves it unchanged.
 */
bool refusal_find(const struct nilfs_super_block *sb, uint64_t dev_size,
		  char *text, size_t size);

/* The use of the space, in blocks, and the part of it that cleaning frees. */
struct occupancy {
	uint64_t latest, snapshot, old;	/* the last two: of nothing before */
	uint64_t recent, dead;		/* within the protection period, or not */
	uint64_t now, later;	/* that cleaning frees, and after that period */
	struct occupancy_dates {
		uint64_t count, oldest, newest;	/* seconds */
	} checkpoints, snapshots;
};

/*
 * Counts the blocks of U, all zero before, by one pass over the DAT; the checkpoints and
 * snapshots by one over the cpfile.  -EUCLEAN, -EIO, -ENOMEM.
 */
int occupancy_count(struct occupancy *u, struct tool *tool, struct volume *vol);
int occupancy_dates(struct occupancy *u, struct context *cx, struct volume *vol);

/* Reports lines of these in the open section, for people. */
void occupancy_summarize(const struct occupancy *u, struct tool *tool,
			 const struct volume *vol);
void occupancy_summarize_dates(const struct occupancy *u, struct report *r);

/* Reports all numbers as a section; without DATES or COUNTS these are unknown. */
void occupancy_report(const struct occupancy *u, struct report *r,
		      const struct volume *vol, bool dates, bool counts);

/*
 * Reports both superblocks S of a device of DEV_SIZE bytes, the choice between them,
 * and the state of VOL (NULL: it cannot be opened).  Returns the exit status, or a
 * failure.
 */
int info_report(struct tool *tool, const struct info_super *s,
		struct volume *vol, uint64_t dev_size);

#endif
