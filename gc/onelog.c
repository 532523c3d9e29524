// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What all changes have in common.
 *
 * The volume was unmounted cleanly or is from now on, since its latest log is
 * the one that the superblocks name.  That it has errors is not for a cleaner
 * to deny.
 */
#include "gc/onelog.h"

#include "log/newsupers.h"

int onelog_commit(struct writer *w, struct context *cx, struct volume *vol,
		  uint64_t time, struct writer_end *end)
{
	unsigned int state = le16_get(volume_super(vol)->s_state);
	int ret = writer_commit(w, cx, end);

	return ret ? ret : newsupers_name(cx, vol->dev, vol, end, time,
					  state | NILFS_VALID_FS);
}
