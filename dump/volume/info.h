/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `info` says, for reports that contain it. */
#ifndef NILFS2_DUMP_INFO_H
#define NILFS2_DUMP_INFO_H

#include "cli/tool.h"
#include "dump/volume/info_super.h"
#include "vol/volume.h"

/*
 * Says both superblocks S of a device of DEV_SIZE bytes, which counts, and what
 * VOL (NULL: none could be opened) has.  Returns the exit status, or a failure.
 */
int info_report(struct tool *tool, const struct info_super *s,
		struct volume *vol, uint64_t dev_size);

#endif
