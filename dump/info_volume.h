/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The volume after the superblocks: its size, latest state and usage. */
#ifndef NILFS2_DUMP_INFO_VOLUME_H
#define NILFS2_DUMP_INFO_VOLUME_H

#include "cli/tool.h"
#include "vol/volume.h"

/* Says sizes: of blocks, segments, the device and what is kept in reserve. */
void info_volume_report_geometry(struct volume *vol, struct report *report);

/* Shows where the latest state is and how a mount would find it. */
int info_volume_report_latest(struct volume *vol, struct context *cx,
			      struct report *report);

/*
 * Says how many segments, bytes, checkpoints and inodes there are, and what
 * becomes of the counts of live blocks.  Reads the SUFILE.  -EUCLEAN, -EIO,
 * after what could be said was said.
 */
int info_volume_report_usage(struct volume *vol, struct context *cx,
			     struct report *report);

/* Says the zones of the device at PATH, where it has any. */
int info_volume_report_zones(struct context *cx, const char *path,
			     struct report *report);

#endif
