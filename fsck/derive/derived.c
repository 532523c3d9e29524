// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The set of derived blocks.
 *
 * The patches hold the content; the list says what each block is, so that it
 * can be written to the next log as a block of its file.
 */
#include "fsck/derive/derived.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/lifelogs.h"
#include "dev/patched.h"
#include "disk/segsum.h"

#define PIECE_BLOCKS 64u

int derived_set(struct derived *d, struct context *cx,
		const struct derived_block *block, const void *content,
		uint32_t block_size)
{
	struct derived_block *grown;
	int ret = patched_set(d->patched, cx, block->blocknr * block_size,
			      content, block_size);

	if (ret <= 0)
		return ret;
	grown = array_grow(cx, d->blocks, &d->room, d->n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	d->blocks = grown;
	grown[d->n++] = *block;
	return 0;
}

static int sum_up(struct derived *d, struct context *cx,
		  const struct nilfs_geometry *g, uint64_t pseg,
		  uint32_t nblocks, struct segsum_crc *crc)
{
	char *buf = malloc((size_t)PIECE_BLOCKS << g->block_bits);
	uint32_t done, n;
	int err = buf ? 0 : fail(cx, -ENOMEM, "blocks of a log");

	for (done = 0; done < nblocks && !err; done += n) {
		n = nblocks - done < PIECE_BLOCKS ? nblocks - done :
						    PIECE_BLOCKS;
		err = dev_read(d->dev, cx, (pseg + done) << g->block_bits, buf,
			       (size_t)n << g->block_bits);
		if (!err)
			segsum_crc_update(crc, buf, (size_t)n << g->block_bits);
	}
	free(buf);
	return err ? err : context_cancelled(cx);
}

/* Gives the log at PSEG the checksum of its blocks as they are now. */
static int seal_log(struct derived *d, struct context *cx,
		    const struct nilfs_geometry *g, uint64_t pseg)
{
	struct nilfs_segment_summary *ss;
	struct segsum_crc crc;
	char *block = malloc(g->block_size);
	int ret = block ? dev_read(d->dev, cx, pseg << g->block_bits, block,
				   g->block_size) :
			  fail(cx, -ENOMEM, "summary of a log");

	ss = (struct nilfs_segment_summary *)block;
	if (!ret) {
		segsum_crc_init_datasum(&crc, g, ss);
		ret = sum_up(d, cx, g, pseg, le32_get(ss->ss_nblocks), &crc);
	}
	if (!ret && segsum_crc_check_datasum(&crc, ss) != RULE_OK) {
		ss->ss_datasum = le32_make(crc.sum);
		ret = patched_set(d->patched, cx, pseg << g->block_bits, block,
				  g->block_size);
	}
	free(block);
	return ret < 0 ? ret : 0;
}

static int compare(const void *a, const void *b)
{
	const struct derived_block *x = a, *y = b;

	return (x->blocknr > y->blocknr) - (x->blocknr < y->blocknr);
}

int derived_seal(struct derived *d, struct context *cx, const struct check *c)
{
	const struct nilfs_geometry *g = &c->vol->geo;
	struct segsum_block b;
	uint64_t pseg, sealed = 0;
	size_t i;
	int ret = 0;

	sort_in_place(d->blocks, d->n, sizeof(*d->blocks), compare);
	for (i = 0; i < d->n && ret >= 0; i++) {
		ret = lifelogs_find_block(cx, c, d->blocks[i].blocknr, &b,
					  NULL);
		if (ret <= 0)
			continue;
		pseg = d->blocks[i].blocknr - b.index;
		if (pseg != sealed)
			ret = damage_forgive(cx, seal_log(d, cx, g, pseg));
		sealed = pseg;
	}
	return ret < 0 ? ret : 0;
}

void derived_drop(struct derived *d)
{
	patched_drop(d->patched);
	d->n = 0;
	d->entries = d->lost = 0;
}

void derived_fini(struct derived *d)
{
	free(d->blocks);
	memset(d, 0, sizeof(*d));
}
