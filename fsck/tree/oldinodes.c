// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Inodes from the past, and their files.
 *
 * Checkpoints are asked from the newest on, until one has the inode whole.
 * Those that share the block with the damaged one are no help and cost a look
 * at the cache.  Where the number was free those before had another file.
 *
 * The map of an inode can be right, as it was derived from the logs, where its
 * other fields are not.  Else it is the old one: most files are what they were,
 * and what has ended since is for the repair of maps.
 */
#include "fsck/tree/oldinodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/damage.h"
#include "check/logs/lifelogs.h"
#include "check/vblocks.h"
#include "disk/inode.h"
#include "fsck/tree/inoderepair.h"
#include "vol/blockmap.h"
#include "vol/cptable.h"
#include "vol/root.h"

static int list_checkpoints(struct oldinodes *o, struct context *cx)
{
	if (o->listed)
		return 0;
	o->listed = true;
	return damage_forgive(cx,
			      cptable_list(o->vol, cx, false, &o->cnos, &o->n));
}

enum answer { UNKNOWN, SOUND, FREE };

/* What checkpoint CNO says of INO: an answer, or a failure. */
static int ask_checkpoint(struct oldinodes *o, struct context *cx, uint64_t cno,
			  uint64_t ino, struct nilfs_inode *inode)
{
	struct root root;
	enum rule rule;
	bool used = true;
	int ret = root_open(&root, cx, o->vol, cno);

	if (!ret)
		ret = damage_forgive(cx, file_bit(&root.ifile, cx,
						  &o->vol->ifile_palloc, ino,
						  &used));
	else
		return damage_forgive(cx, ret);
	if (ret < 0 || !used)
		return ret < 0 ? ret : FREE;
	ret = root_inode(&root, cx, ino, inode);
	if (ret)
		return damage_forgive(cx, ret);
	if (o->now && !memcmp(o->now, inode, sizeof(*inode)))
		return UNKNOWN;
	ret = inoderepair_judge(o->vol, cx, ino, inode, &rule);
	return ret ? ret : rule == RULE_OK ? SOUND : UNKNOWN;
}

int oldinodes_find(struct oldinodes *o, struct context *cx, uint64_t ino,
		   struct nilfs_inode *inode, uint64_t *cno)
{
	int ret = list_checkpoints(o, cx);
	size_t i;

	for (i = o->n; i-- && !ret;) {
		*cno = o->cnos[i];
		if (*cno < o->vol->latest.cno)
			ret = ask_checkpoint(o, cx, *cno, ino, inode);
		if (!ret)
			ret = context_cancelled(cx);
	}
	return ret < 0 ? ret : ret == SOUND;
}

void oldinodes_fini(struct oldinodes *o)
{
	free(o->cnos);
	*o = (struct oldinodes){ .vol = o->vol };
}

struct revival {
	struct fixer_job *job;
	struct blockmap map;
	struct vblocks vblocks;
};

/* Whether the newest checkpoint can have it: 1, 0, or a failure. */
static int is_alive(struct revival *r, struct context *cx, uint64_t vblocknr)
{
	struct vblock vb;
	int state = vblocks_find(&r->vblocks, cx, vblocknr, &vb);

	if (state < 0)
		return state;
	return state == VBLOCKS_USED && vb.end == NILFS_CNO_MAX;
}

/* Whether all of the map is alive, its nodes too. */
static int is_whole(struct revival *r, struct context *cx)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int alive = 1, ret;

	ret = blockmap_cursor_open(&cur, cx, &r->map, 0, true);
	while (!ret && alive > 0 &&
	       (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		alive = is_alive(r, cx, item.ptr);
		ret = 0;
	}
	blockmap_cursor_close(&cur);
	if (alive < 0 || (ret < 0 && !damage_is(ret)))
		return alive < 0 ? alive : ret;
	if (ret < 0)
		fail_clear(cx);
	return alive && !ret;
}

/* Whether the first block of the map is one that its log has for INO: 1, 0. */
static int is_listed(struct revival *r, struct context *cx, uint64_t ino)
{
	struct blockmap_cursor cur;
	struct blockmap_item item = { .ptr = 0 };
	struct segsum_block b = { .ino = 0 };
	uint64_t blocknr;
	int ret = blockmap_cursor_open(&cur, cx, &r->map, 0, false);

	if (!ret)
		ret = blockmap_cursor_next(&cur, cx, &item);
	blockmap_cursor_close(&cur);
	if (ret > 0) {
		ret = blockmap_resolve(&r->map, cx, item.ptr, &blocknr);
		if (!ret)
			ret = lifelogs_find_block(cx, r->job->check, blocknr,
						  &b, NULL);
	}
	return ret > 0 ? b.ino == ino : damage_forgive(cx, ret);
}

/* Whether INODE has a map that the newest checkpoint can have: 1, 0. */
static int has_map(struct revival *r, struct context *cx, uint64_t ino,
		   const struct nilfs_inode *inode)
{
	int ret = blockmap_init(&r->map, cx, r->job->vol, ino, inode);

	if (ret)
		return damage_forgive(cx, ret);
	ret = is_listed(r, cx, ino);
	return ret > 0 ? is_whole(r, cx) : ret;
}

int oldinodes_take_map(struct fixer_job *job, struct context *cx, uint64_t ino,
		       const struct nilfs_inode *now,
		       struct nilfs_inode *inode)
{
	struct revival r = { .job = job };
	int ret;

	if (!inode_has_bmap(inode))
		return 1;
	vblocks_init(&r.vblocks, job->vol, NULL);
	ret = has_map(&r, cx, ino, now);
	vblocks_fini(&r.vblocks);
	if (ret <= 0)
		return ret;
	memcpy(inode->i_bmap, now->i_bmap, sizeof(inode->i_bmap));
	ret = inoderepair_fit(job->vol, cx, ino, inode);
	return ret ? ret : 1;
}
