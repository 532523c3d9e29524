/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of one inode, made right. */
#ifndef NILFS2_FSCK_INODEREPAIR_H
#define NILFS2_FSCK_INODEREPAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "disk/rule.h"
#include "vol/volume.h"

/*
 * Sets *RULE to the first rule that INODE, of number INO, breaks by itself, links
 * left out, or by the target that it leads to, or to RULE_OK.  -ENOMEM, -EINTR.
 */
int inoderepair_check(struct volume *vol, struct context *cx, uint64_t ino,
		      const struct nilfs_inode *inode, enum rule *rule);

/* Whether all of the map of INODE can be read: 1, 0, -ENOMEM, -EINTR. */
int inoderepair_map_is_whole(struct volume *vol, struct context *cx,
			     uint64_t ino, const struct nilfs_inode *inode);

/*
 * Sets i_blocks to what the map of INODE, of number INO, has as far as it can
 * be read, and its size where that does not end in the last block: then it is
 * the end of that.  -ENOMEM, -EINTR.
 */
int inoderepair_fit(struct volume *vol, struct context *cx, uint64_t ino,
		    struct nilfs_inode *inode);

/*
 * Repairs what can be derived from INODE, the latest checkpoint's INO, and its
 * blocks: times, sizes, and what the type (NILFS_FT_..., as its names say, or
 * NILFS_FT_UNKNOWN) has to be.  Links, and what is wrong with the map, are left
 * alone.  1 where the rest is right now; 0 where nothing can be made of it;
 * -ENOMEM, -EINTR.
 */
int inoderepair_fields(struct volume *vol, struct context *cx, uint64_t ino,
		       uint8_t type, struct nilfs_inode *inode);

/* Makes INODE one of TYPE (NILFS_FT_..., not unknown), and nothing else. */
void inoderepair_set_type(uint8_t type, struct nilfs_inode *inode);

#endif
