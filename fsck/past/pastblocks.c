// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks of the past: a list by virtual block, with the content that each is
 * to have.
 *
 * For the repair of a snapshot its blocks can be changed.  How that is done is
 * up to pastwrite.c: many checkpoints may lead to a block, each by other
 * blocks.
 *
 * A block that lives now is left alone.  What is wrong with it is wrong with
 * the newest checkpoint, which is repaired first, by new blocks of its own;
 * then it has ended.
 *
 * Where an undo file has what was there a block is changed where it is instead:
 * the exception to the rule that every change is one more log.
 */
#include "fsck/past/pastblocks.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/logs/lifelogs.h"
#include "disk/segsum.h"
#include "vol/logcheck.h"

static bool is_below(const void *item, const void *key)
{
	const struct pastblocks_block *b = item;
	const uint64_t *vblocknr = key;

	return b->vblocknr < *vblocknr;
}

/* Where in the list VBLOCKNR is, or would be. */
static size_t find_place(const struct pastblocks *p, uint64_t vblocknr)
{
	return search_first(p->list, p->n, sizeof(*p->list), is_below,
			    &vblocknr);
}

struct pastblocks_block *pastblocks_find(const struct pastblocks *p,
					 uint64_t vblocknr)
{
	size_t at = find_place(p, vblocknr);

	return at < p->n && p->list[at].vblocknr == vblocknr ? &p->list[at] :
							       NULL;
}

void pastblocks_drop(struct pastblocks *p, uint64_t vblocknr)
{
	struct pastblocks_block *b = pastblocks_find(p, vblocknr);
	size_t behind;

	if (!b)
		return;
	free(b->content);
	behind = (size_t)(p->list + p->n - b) - 1;
	memmove(b, b + 1, behind * sizeof(*b));
	p->n--;
}

/*
 * Fills in B, with its content in BUF: 1, 0 where it cannot be changed, or, but
 * with CREATE, cannot be read.
 */
static int read_block(struct pastblocks *p, struct context *cx,
		      struct pastblocks_block *b, bool create, void *buf)
{
	struct vblock vb;
	int ret;

	if (!p->vblocks.vol)
		vblocks_init(&p->vblocks, p->job->vol, NULL);
	ret = vblocks_find(&p->vblocks, cx, b->vblocknr, &vb);
	if (ret < 0)
		return ret;
	if (ret != VBLOCKS_USED || vb.start >= vb.end ||
	    vb.end == NILFS_CNO_MAX ||
	    !geometry_has_block(&p->job->vol->geo, vb.blocknr))
		return 0;
	b->blocknr = vb.blocknr;
	b->life = (struct lifetime){ vb.start, vb.end };
	ret = volume_read_blocks(p->job->vol, cx, b->blocknr, 1, buf);
	if (!ret)
		return 1;
	if (ret != -EIO)
		return ret;
	fail_clear(cx);
	memset(buf, 0, p->job->vol->geo.block_size);
	return create;
}

int pastblocks_change(struct pastblocks *p, struct context *cx,
		      const struct pastblocks_block *what, bool create,
		      struct pastblocks_block **b)
{
	struct pastblocks_block new = {
		.ino = what->ino, .vblocknr = what->vblocknr,
		.key = what->key, .level = what->level,
	};
	size_t at = find_place(p, what->vblocknr);
	int ret;

	*b = pastblocks_find(p, what->vblocknr);
	if (*b)
		return 1;
	new.content = malloc(p->job->vol->geo.block_size);
	if (!new.content)
		return fail(cx, -ENOMEM, "block of a snapshot");
	ret = read_block(p, cx, &new, create, new.content);
	if (ret > 0 && array_reserve(cx, &p->list, &p->room, p->n + 1))
		ret = -ENOMEM;
	if (ret <= 0) {
		free(new.content);
		return ret;
	}
	memmove(p->list + at + 1, p->list + at, (p->n - at) * sizeof(new));
	p->list[at] = new;
	p->n++;
	*b = p->list + at;
	return 1;
}

int pastblocks_read(struct pastblocks *p, struct context *cx,
		    uint64_t vblocknr, void *buf, struct lifetime *life)
{
	const struct pastblocks_block *b = pastblocks_find(p, vblocknr);
	struct pastblocks_block new = { .vblocknr = vblocknr };
	int ret;

	if (b) {
		memcpy(buf, b->content, p->job->vol->geo.block_size);
		*life = b->life;
		return 1;
	}
	ret = read_block(p, cx, &new, false, buf);
	*life = new.life;
	return ret;
}

int pastblocks_change_in(struct pastblocks *p, struct context *cx,
			 struct file *file, uint64_t key, bool create,
			 struct pastblocks_block **b)
{
	struct pastblocks_block what = { .ino = file->ino, .key = key };
	int ret = blockmap_lookup(&file->map, cx, key, &what.vblocknr);

	return ret > 0 ? pastblocks_change(p, cx, &what, create, b) : ret;
}

/*
 * Gives the log at PSEG the checksum of its blocks as they are, unless it has it
 * already: damage that came after the log was written has left it as it was.
 */
static int seal_log(struct fixer_job *job, struct context *cx, uint64_t pseg)
{
	uint64_t at = pseg << job->vol->geo.block_bits;
	struct nilfs_segment_summary ss;
	struct segsum_crc crc;
	le32 sum;
	int err = dev_read(job->dev, cx, at, &ss, sizeof(ss));

	if (err)
		return err;
	err = logcheck_sum(job->dev, cx, &job->vol->geo, pseg, &ss, &crc);
	if (err || segsum_crc_check_datasum(&crc, &ss) == RULE_OK)
		return err;
	sum = le32_make(crc.sum);
	at += offsetof(struct nilfs_segment_summary, ss_datasum);
	return dev_write(job->dev, cx, at, &sum, sizeof(sum));
}

/*
 * Gives the blocks their content where they are, and then each log that has some
 * of them the checksum for that.  Nothing is lost if that is cut short, as the
 * blocks were of no use.
 */
static int write_in_place(struct pastblocks *p, struct context *cx)
{
	const struct nilfs_geometry *g = &p->job->vol->geo;
	uint64_t *logs = calloc(p->n, sizeof(*logs));
	size_t i, n = 0;
	int ret = logs ? 0 : fail(cx, -ENOMEM, "logs of blocks");

	for (i = 0; i < p->n && ret >= 0; i++) {
		const struct pastblocks_block *b = &p->list[i];
		struct segsum_block listed = { .index = 0 };

		ret = dev_write(p->job->dev, cx, b->blocknr << g->block_bits,
				b->content, g->block_size);
		if (!ret)
			ret = lifelogs_find_block(cx, p->job->check,
						  b->blocknr, &listed, NULL);
		if (ret > 0)
			logs[n++] = b->blocknr - listed.index;
	}
	n = ret < 0 ? 0 : sort_unique(logs, n);
	/* A log that cannot be read as a whole has no right checksum anyway. */
	for (i = 0; i < n && ret >= 0; i++)
		ret = damage_forgive(cx, seal_log(p->job, cx, logs[i]));
	free(logs);
	return ret < 0 ? ret : 0;
}

int pastblocks_write(struct pastblocks *p, struct context *cx)
{
	if (!p->n)
		return 0;
	/* Not without an undo file, and not on zones, below whose write pointers
	   nothing is ever written. */
	if (p->job->undo && !p->job->dev->zones)
		return write_in_place(p, cx);
	return pastwrite_run(p, cx);
}

void pastblocks_fini(struct pastblocks *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		free(p->list[i].content);
	free(p->list);
	vblocks_fini(&p->vblocks);
	*p = (struct pastblocks){ .job = p->job };
}
