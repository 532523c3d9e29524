// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Conditions for appending logs: those of a mount for writing, and that nothing has to
 * be recovered or repaired first.
 */
#include "vol/writable.h"

#include <errno.h>

#include "vol/rollforward.h"

int writable_check(struct context *cx, struct volume *vol)
{
	const struct nilfs_super_block *sb = volume_super(vol);
	enum rule rule = super_check_features(sb);
	struct rollforward *rf = NULL;
	struct nilfs_geometry g;
	bool pending;
	int ret;

	/* Conditions under which a mount for writing fails. */
	if (!rule)
		rule = super_geometry(sb, vol->dev->size, &g);
	if (rule)
		return fail(cx, -EUCLEAN, "%s: %s; nothing was written",
			    vol->dev->name, rule_info(rule)->text);
	if (vol->choice.verdict[0] == RULE_SB_MAGIC)
		return fail(cx, -EUCLEAN, "%s: the first superblock was wiped "
			    "or overwritten; run fsck.nilfs2 -y to restore "
			    "it", vol->dev->name);
	/*
	 * A mount would recover data from logs after the latest one, or fail
	 * because of them.  Most often a cleaner was interrupted, and there is
	 * nothing to recover.
	 */
	ret = rollforward_collect(vol, cx, &vol->latest, &rf);
	pending = ret == -EUCLEAN || (!ret && rf->count);
	rollforward_free(rf);
	if (pending)
		return fail(cx, -EUCLEAN, "synchronized data has to be "
					  "recovered first; run fsck.nilfs2, "
					  "or mount the volume");
	if (ret < 0)
		return ret;
	if (le16_get(sb->s_state) & NILFS_ERROR_FS)
		return fail(cx, -EUCLEAN, "the volume is marked as having "
					  "errors; run fsck.nilfs2");
	return 0;
}
