/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The newest super root of a device whose whole state is still there.
 */
#ifndef NILFS2_FSCK_ROOTSEARCH_H
#define NILFS2_FSCK_ROOTSEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "disk/geometry.h"
#include "vol/recovery.h"

struct rootsearch {
	struct dev *dev;		/* borrowed */
	const struct nilfs_geometry *geo;
	/*
	 * The log that the superblock names.  It was whole when that was
	 * written, so if its checksum is wrong now it is damaged and not cut
	 * off, and its super root is not worth less for that.
	 */
	uint64_t named_pseg, named_seq;
	bool unhurt;		/* even so, only logs that are whole */
	/* Of both parts of the work, in segments; or NULL. */
	void (*progress)(void *arg, uint64_t done);
	void *arg;

	/* Found: */
	struct recovery best;
	uint64_t damage;	/* findings that speak against it */
	bool hurt;		/* the checksum of its log is wrong, or cannot
				   be told */
	uint64_t seq;		/* the greatest of any log on the device */
	uint64_t newer;		/* super roots that are newer, and no good */
};

/*
 * Looks for logs in all segments and at the state of each super root, from the
 * newest on, until one is sound.  Where none is, the one with the least damage
 * is taken, and the newest of these.  1, 0 where there is no super root from
 * which a volume can be opened, -ENOMEM, -EINTR.
 */
int rootsearch_run(struct rootsearch *rs, struct context *cx);

#endif
