// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The remaining blocks of the checkpoint file.
 *
 * Blocks to which the map leads are the right ones, whatever their content.
 * The logs list others: those that are live although nothing leads to them, and
 * older copies.  A block that is a hole in a sound map was deleted with the
 * last of its checkpoints, and is not searched; but the blocks with the header
 * and with the latest checkpoint always exist.
 */
#include "fsck/checkpoints/cpblocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/vblocks.h"
#include "disk/checkpoint.h"

static int add_block(struct cpblocks *s, struct context *cx, uint64_t blkoff)
{
	if (array_reserve(cx, &s->blkoffs, &s->room, s->n + 1))
		return -ENOMEM;
	s->blkoffs[s->n++] = blkoff;
	return 0;
}

/* Whether logs may be missing in what was listed. */
static bool has_hidden_logs(const struct check *c)
{
	return findings_have_area(c->findings, RULE_AREA_LOG, RULE_ERROR);
}

/*
 * Adds the blocks that only logs know.  One whose newest copy has ended was
 * deleted, when the last of its checkpoints was.
 */
static int add_copies(struct cpblocks *s, struct context *cx)
{
	bool hidden = has_hidden_logs(s->check);
	struct vblocks vblocks;
	struct vblock vb;
	size_t i;
	int ret = 0;

	vblocks_init(&vblocks, s->check->vol, NULL);
	for (i = 0; i < s->copies.n && ret >= 0; i++) {
		const struct listing *b = &s->copies.list[i];

		if (i && b[-1].blkoff == b->blkoff)
			continue;
		ret = vblocks_find(&vblocks, cx, b->number, &vb);
		if (hidden || (ret == VBLOCKS_USED &&
			       vb.end == NILFS_CNO_MAX &&
			       vb.blocknr == b->blocknr))
			ret = add_block(s, cx, b->blkoff);
	}
	vblocks_fini(&vblocks);
	return ret < 0 ? ret : 0;
}

static int list_blocks(struct cpblocks *s, struct context *cx)
{
	const struct volume *vol = s->check->vol;
	const struct liveblocks *l = &s->live;
	int err = add_block(s, cx, 0);
	size_t i;

	if (!err)
		err = add_block(s, cx,
				checkpoint_blkoff(&vol->geo, vol->latest.cno));
	for (i = 0; i < l->n && !err; i++)
		err = add_block(s, cx, l->list[i].blkoff);
	for (i = 0; i < l->nlost && !err; i++)
		err = add_block(s, cx, l->lost[i].blkoff);
	if (l->partial && !err)
		err = add_copies(s, cx);
	s->n = sort_unique(s->blkoffs, s->n);
	return err;
}

int cpblocks_init(struct cpblocks *s, struct context *cx,
		  const struct check *c)
{
	const struct liveblocks_question q = {
		.ino = NILFS_CPFILE_INO,
		.inode = &c->vol->cpfile.inode,
		.cno = c->vol->latest.cno,
		.read = true,
		.logs = true,
	};
	int err;

	s->check = c;
	err = cpcopies_load(&s->copies, cx, c);
	if (!err)
		err = liveblocks_gather(&s->live, cx, c, &q);
	return err ? err : list_blocks(s, cx);
}

void cpblocks_fini(struct cpblocks *s)
{
	cpcopies_fini(&s->copies);
	liveblocks_fini(&s->live);
	free(s->blkoffs);
	*s = (struct cpblocks){ 0 };
}

/* A block in which nothing is valid: nilfs_cpfile_block_init(). */
static void make_empty(const struct nilfs_geometry *geo, uint64_t blkoff,
		       void *data)
{
	uint64_t first = checkpoint_first(geo, blkoff), cno;
	uint32_t count = checkpoint_count(geo, blkoff);

	memset(data, 0, geo->block_size);
	for (cno = first; cno < first + count; cno++) {
		struct nilfs_checkpoint *cp =
			(void *)((char *)data + checkpoint_offset(geo, cno));

		cp->cp_flags = le32_make(1u << NILFS_CHECKPOINT_INVALID);
	}
}

int cpblocks_read(const struct cpblocks *s, struct context *cx,
		  struct cpblock *b)
{
	const struct liveblock *live = liveblocks_find(&s->live, b->blkoff);
	struct volume *vol = s->check->vol;
	const void *block;
	int ret;

	b->origin = CPBLOCKS_OLD;
	b->vblocknr = b->blocknr = b->written = 0;
	if (!live) {
		ret = cpcopies_read(&s->copies, cx, b->blkoff, b->data);
		if (!ret)
			make_empty(&vol->geo, b->blkoff, b->data);
		return ret < 0 ? ret : 0;
	}
	ret = cache_get(vol->cache, cx, live->blocknr, &block);
	if (ret)
		return ret;
	memcpy(b->data, block, vol->geo.block_size);
	cache_put(vol->cache, block);
	/* Blocks named by the map are the right ones. */
	b->origin = live->seq && live->vblocknr ? CPBLOCKS_FOUND :
						  CPBLOCKS_MAPPED;
	b->vblocknr = live->vblocknr;
	b->blocknr = live->blocknr;
	b->written = cpcopies_written(&s->copies, b->blkoff, live->blocknr);
	return 0;
}
