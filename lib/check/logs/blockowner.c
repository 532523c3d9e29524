// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The owners of blocks of the device.
 *
 * The log of a block lists what it was written as, the map of that file shows
 * whether it is still current, and the DAT for which checkpoints.  Only blocks
 * in use are reported: a disk may have bad blocks in free space as well.
 */
#include "check/logs/blockowner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/search.h"
#include "check/damage.h"
#include "vol/cptable.h"
#include "vol/root.h"

#define DETAIL_MAX 120

/* The first checkpoint in the life of VB: 1 and *CNO, 0. */
static int find_checkpoint(struct volume *vol, struct context *cx,
			   bool snapshots, const struct vblock *vb,
			   uint64_t *cno)
{
	uint64_t *cnos = NULL;
	size_t n = 0, i;
	int ret = cptable_list(vol, cx, snapshots, &cnos, &n);

	if (!ret) {
		i = search_lower_bound(cnos, n, vb->start);
		if (i < n && cnos[i] < vb->end) {
			*cno = cnos[i];
			ret = 1;
		}
	}
	free(cnos);
	return ret;
}

/* Whether the latest state has BLOCKNR where B says: 1, 0. */
static int is_in_latest(struct context *cx, struct volume *vol,
			uint64_t blocknr, const struct segsum_block *b)
{
	struct root root;
	struct file file;
	uint64_t at = 0;
	int ret = root_open(&root, cx, vol, 0);

	if (!ret)
		ret = root_file(&root, cx, b->ino, &file);
	if (!ret)
		ret = file_lookup(&file, cx, b->blkoff, &at);
	if (ret == -ENOENT) {
		fail_clear(cx);
		return 0;
	}
	return ret < 0 ? ret : ret && at == blocknr;
}

int blockowner_report(struct findings *f, struct context *cx,
		      struct volume *vol, uint64_t blocknr,
		      const struct vblock *vb, const struct segsum_block *b)
{
	int ret = vb->end == NILFS_CNO_MAX, n;
	char text[DETAIL_MAX];
	bool history = false;
	uint64_t cno = 0;

	if (b && (b->is_node || b->ino < NILFS_USER_INO))
		return 0;
	if (b)
		ret = is_in_latest(cx, vol, blocknr, b);
	if (ret > 0)
		cno = vol->latest.cno;
	/* Or another checkpoint needs it. */
	if (!ret)
		ret = find_checkpoint(vol, cx, true, vb, &cno);
	if (!ret) {
		ret = find_checkpoint(vol, cx, false, vb, &cno);
		history = ret > 0;
	}
	/* What is in the way is reported elsewhere. */
	if (!damage_is(ret) && ret <= 0)
		return ret;
	fail_clear(cx);
	if (b)
		n = snprintf(text, DETAIL_MAX, "block %" PRIu64 " of inode %"
			     PRIu64, b->blkoff, b->ino);
	else
		n = snprintf(text, DETAIL_MAX, "something that no log lists");
	if (cno)
		snprintf(text + n, DETAIL_MAX - (size_t)n,
			 " in checkpoint %" PRIu64, cno);
	findings_add(f, &(struct finding){
		.rule = RULE_DEV_UNREADABLE,
		.place = place_number(PLACE_BLOCK, blocknr),
		.history = history,
		.detail = text,
	});
	return 1;
}
