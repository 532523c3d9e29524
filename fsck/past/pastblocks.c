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

/* Whether blocks can be changed where they are: not without an undo file, and
   not on zones, below whose write pointers nothing is ever written. */
static bool is_in_place(const struct fixer_job *job)
{
	return job->undo && !job->dev->zones;
}

/* Gives the log at PSEG the checksum of its blocks as they are. */
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

/* The entry of B: 1 where it can be changed, 0. */
static int judge_block(struct pastblocks *p, struct context *cx,
		       struct pastblocks_block *b)
{
	struct vblock vb;
	int state;

	if (!p->vblocks.vol)
		vblocks_init(&p->vblocks, p->job->vol, NULL);
	state = vblocks_find(&p->vblocks, cx, b->vblocknr, &vb);
	if (state < 0)
		return state;
	b->blocknr = vb.blocknr;
	b->life = (struct lifetime){ vb.start, vb.end };
	return state == VBLOCKS_USED && vb.start < vb.end &&
	       vb.end != NILFS_CNO_MAX &&
	       geometry_has_block(&p->job->vol->geo, vb.blocknr);
}

/* Reads the content of B: 1, 0 where it cannot be read. */
static int read_content(struct pastblocks *p, struct context *cx,
			struct pastblocks_block *b, bool create)
{
	uint32_t size = p->job->vol->geo.block_size;
	int err;

	b->content = malloc(size);
	if (!b->content)
		return fail(cx, -ENOMEM, "block of a snapshot");
	err = volume_read_blocks(p->job->vol, cx, b->blocknr, 1, b->content);
	if (!err)
		return 1;
	if (err != -EIO)
		return err;
	fail_clear(cx);
	memset(b->content, 0, size);
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
	ret = judge_block(p, cx, &new);
	if (ret > 0)
		ret = read_content(p, cx, &new, create);
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

int pastblocks_change_in(struct pastblocks *p, struct context *cx,
			 struct file *file, uint64_t key, bool create,
			 struct pastblocks_block **b)
{
	struct pastblocks_block what = { .ino = file->ino, .key = key };
	int ret = blockmap_lookup(&file->map, cx, key, &what.vblocknr);

	return ret > 0 ? pastblocks_change(p, cx, &what, create, b) : ret;
}

/* Writes the content of B; *PSEG becomes the log that has it, 0: none. */
static int change_block(struct fixer_job *job, struct context *cx,
			const struct pastblocks_block *b, uint64_t *pseg)
{
	const struct nilfs_geometry *g = &job->vol->geo;
	struct segsum_block listed = { .index = 0 };
	int ret = dev_write(job->dev, cx, b->blocknr << g->block_bits,
			    b->content, g->block_size);

	if (!ret)
		ret = lifelogs_find_block(cx, job->check, b->blocknr, &listed,
					  NULL);
	*pseg = ret > 0 ? b->blocknr - listed.index : 0;
	return ret < 0 ? ret : 0;
}

/*
 * Gives the blocks their content where they are, and then each log that has some
 * of them the checksum for that, unless it has it already: damage that came
 * after the log was written has left it as it was.  Nothing is lost if that is
 * cut short, as the blocks were of no use.
 */
static int write_in_place(struct pastblocks *p, struct context *cx)
{
	uint64_t *logs = calloc(p->n, sizeof(*logs));
	size_t i, n;
	int err = logs ? 0 : fail(cx, -ENOMEM, "logs of blocks");

	for (i = 0; i < p->n && !err; i++)
		err = change_block(p->job, cx, &p->list[i], &logs[i]);
	n = err ? 0 : sort_unique(logs, p->n);
	/* A log that cannot be read as a whole has no right checksum anyway. */
	for (i = 0; i < n && !err; i++)
		if (logs[i])
			err = damage_forgive(cx, seal_log(p->job, cx, logs[i]));
	free(logs);
	return err;
}

int pastblocks_write(struct pastblocks *p, struct context *cx)
{
	if (!p->n)
		return 0;
	if (is_in_place(p->job))
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
