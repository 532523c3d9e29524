// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the next mount does with logs of fdatasync().
 *
 * After a crash it writes their blocks into the files that they name
 * (nilfs_recover_dsync_blocks()), and fails if it cannot: the volume is not
 * mounted then.  So each of these files has to be one of the latest checkpoint,
 * and a log of which only a part is of fdatasync() must not be among them.
 * Blocks are sorted by file; a file is asked for once.
 */
#include "check/damage.h"
#include "check/pass/passes.h"
#include "disk/inode.h"
#include "vol/rollforward.h"
#include "vol/root.h"
#include "vol/volume.h"

/* Whether nilfs_iget() finds inode INO: 1, 0, or a failure. */
static int is_found(struct root *root, struct context *cx, uint64_t ino)
{
	struct nilfs_inode inode;
	int err;

	if (inode_is_private(ino) || (ino >= NILFS_USER_INO &&
				      ino < root->vol->geo.first_ino))
		return 0;
	err = root_inode(root, cx, ino, &inode);
	if (err == -ENOENT) {
		fail_clear(cx);
		return 0;
	}
	return err ? err : inode_dirent_type(le16_get(inode.i_mode)) !=
				   NILFS_FT_UNKNOWN;
}

static int check_files(struct check *c, struct context *cx,
		       const struct rollforward *rf)
{
	struct root root;
	uint64_t i;
	int ret = root_open(&root, cx, c->vol, 0);

	for (i = 0; i < rf->count && !ret; i++) {
		const struct salvaged_block *b = &rf->blocks[i];

		if (i && b[-1].ino == b->ino)
			continue;
		ret = is_found(&root, cx, b->ino);
		if (!ret)
			findings_broken(c->findings, RULE_LOG_SYNCED,
					place_map(root.cno, b->ino, b->blkoff,
						  0));
		ret = ret < 0 ? ret : 0;
	}
	return ret;
}

int synced_check(struct check *c, struct context *cx)
{
	const struct recovery *latest = &c->vol->latest;
	struct rollforward *rf = NULL;
	int err;

	if (le16_get(volume_super(c->vol)->s_state) & NILFS_VALID_FS)
		return 0;
	err = rollforward_collect(c->vol, cx, latest, &rf);
	if (err == -EUCLEAN) {
		findings_failed(c->findings, cx, RULE_LOG_SYNCED,
				place_number(PLACE_LOG, latest->orphans_start));
		return 0;
	}
	if (!err)
		err = check_files(c, cx, rf);
	rollforward_free(rf);
	return damage_forgive(cx, err);
}
