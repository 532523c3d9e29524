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

/*
 * Reports what holds the space of VOL, what cleaning would free, and the dates of
 * checkpoints.  Reads the DAT twice; what damage leaves unknown is named.  Returns the
 * exit status, or a failure.
 */
int occupancy_report(struct tool *tool, struct volume *vol);

/*
 * Reports both superblocks S of a device of DEV_SIZE bytes, the choice between them,
 * and the state of VOL (NULL: it cannot be opened).  Returns the exit status, or a
 * failure.
 */
int info_report(struct tool *tool, const struct info_super *s,
		struct volume *vol, uint64_t dev_size);

#endif
