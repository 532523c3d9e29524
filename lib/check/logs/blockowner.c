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
#include "check/logs/lifelogs.h"
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

int blockowner_of(struct blockowner *o, struct context *cx, struct volume *vol,
		  uint64_t blocknr, const struct vblock *vb,
		  const struct segsum_block *b)
{
	int ret = vb->end == NILFS_CNO_MAX;

	*o = (struct blockowner){ .held = BLOCKOWNER_NONE };
	if (b && (b->is_node || b->ino < NILFS_USER_INO))
		return 0;
	if (b) {
		o->is_listed = true;
		o->block = *b;
		ret = is_in_latest(cx, vol, blocknr, b);
	}
	if (ret > 0) {
		o->held = BLOCKOWNER_LATEST;
		o->cno = vol->latest.cno;
		return 0;
	}
	/* Or another checkpoint needs it. */
	if (!ret)
		ret = find_checkpoint(vol, cx, true, vb, &o->cno);
	if (ret > 0)
		o->held = BLOCKOWNER_SNAPSHOT;
	if (!ret && (ret = find_checkpoint(vol, cx, false, vb, &o->cno)) > 0)
		o->held = BLOCKOWNER_HISTORY;
	/* What is in the way is reported elsewhere. */
	if (damage_is(ret)) {
		fail_clear(cx);
		o->held = BLOCKOWNER_LATEST;
		ret = 0;
	}
	return ret < 0 ? ret : 0;
}

int blockowner_find(struct blockowner *o, struct context *cx,
		    const struct check *c, uint64_t blocknr,
		    const struct vblock *vb)
{
	struct segsum_block b;
	int ret = lifelogs_find_block(cx, c, blocknr, &b, NULL);

	if (ret < 0)
		return ret;
	return blockowner_of(o, cx, c->vol, blocknr, vb, ret ? &b : NULL);
}

void blockowner_unreadable(const struct blockowner *o, struct findings *f,
			   uint64_t blocknr)
{
	const struct segsum_block *b = &o->block;
	char text[DETAIL_MAX];
	int n;

	if (o->held == BLOCKOWNER_NONE)
		return;
	if (o->is_listed)
		n = snprintf(text, DETAIL_MAX, "block %" PRIu64 " of inode %"
			     PRIu64, b->blkoff, b->ino);
	else
		n = snprintf(text, DETAIL_MAX, "something that no log lists");
	if (o->cno)
		snprintf(text + n, DETAIL_MAX - (size_t)n,
			 " in checkpoint %" PRIu64, o->cno);
	findings_add(f, &(struct finding){
		.rule = RULE_DEV_UNREADABLE,
		.place = place_number(PLACE_BLOCK, blocknr),
		.history = o->held == BLOCKOWNER_HISTORY,
		.detail = text,
	});
}
