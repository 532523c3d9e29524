/* SPDX-License-Identifier: GPL-2.0-or-later */
/* States after the one that the repair started from. */
#ifndef NILFS2_FSCK_NEWLOGS_H
#define NILFS2_FSCK_NEWLOGS_H

#include "base/context.h"
#include "fsck/account/sides.h"
#include "fsck/account/suspects.h"

/*
 * If superblocks name a checkpoint after the latest one of the side before,
 * NEWEST, or logs do unless IS_WHOLE says that none is damaged, these are lost,
 * with the content of their logs: adds both to the losses, the latter as of the
 * latest state.  0, -ENOMEM, -EINTR.
 */
int newlogs_run(struct sides *s, struct context *cx, const struct bitmap *used,
		uint64_t newest, bool is_whole);

/*
 * The state before has logs past checkpoint MOUNTED that a mount does not
 * accept: adds the blocks of files in those whose checksum does not match, if
 * the files have them after the repair, and the inodes in those of the ifile.
 * The logs are in *SUSPECTS then: snapshots may have blocks that were moved
 * there.  0, -ENOMEM, -EINTR.
 */
int newlogs_suspect(struct sides *s, struct context *cx,
		    const struct bitmap *used, uint64_t mounted,
		    struct suspects *suspects);

#endif
