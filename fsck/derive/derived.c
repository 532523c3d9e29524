// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The set of derived blocks.
 *
 * The patches hold the content. The list describes each block, so that it can
 * be written to the next log as a block of its file.
 */
#include "fsck/derive/derived.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "base/text.h"
#include "check/damage.h"
#include "check/logs/listings.h"
#include "dev/patched.h"
#include "dev/zone.h"
#include "disk/segsum.h"
#include "vol/logcheck.h"

/*
 * Sets the LEN bytes at OFF to BUF. Blocks that the repair wrote hide patches,
 * so they are overwritten: *WRITTEN. 1, 0 if a patch existed already, or a
 * failure.
 */
static int set_bytes(struct derived *d, struct context *cx, uint64_t off,
		     const void *buf, size_t len, bool *written)
{
	int ret = patched_set(d->patched, cx, off, buf, len), err = 0;
	void *is = ret < 0 ? NULL : malloc(len);

	*written = false;
	if (ret >= 0)
		err = is ? dev_read(d->dev, cx, off, is, len) :
			   fail(cx, -ENOMEM, "a block");
	if (is && !err && memcmp(is, buf, len) &&
	    zone_is_in_place(d->dev->zones, off)) {
		err = dev_write(d->dev, cx, off, buf, len);
		*written = true;
	}
	free(is);
	return err ? err : ret;
}

/* Adds the change of BLOCK to CONTENT to the digest. */
static int add_to_digest(struct derived *d, struct context *cx,
			 const struct derived_block *block, const void *content,
			 uint32_t block_size)
{
	const uint64_t *new = content;
	uint64_t words[5] = { block->ino, block->blkoff, block->level };
	uint64_t *old = calloc(1, block_size);
	size_t i;

	if (!old)
		return fail(cx, -ENOMEM, "a block");
	if (dev_read(d->dev, cx, block->blocknr * block_size, old, block_size))
		fail_clear(cx);
	for (i = 0; i < block_size / sizeof(*new); i++) {
		if (new[i] == old[i])
			continue;
		words[3] = i;
		words[4] = new[i];
		d->digest += text_hash(words, sizeof(words));
	}
	free(old);
	return 0;
}

int derived_set(struct derived *d, struct context *cx,
		const struct derived_block *block, const void *content,
		uint32_t block_size)
{
	bool written;
	int ret = add_to_digest(d, cx, block, content, block_size);

	if (ret)
		return ret;
	ret = set_bytes(d, cx, block->blocknr * block_size, content,
			    block_size, &written);

	if (ret <= 0)
		return ret;
	ret = array_push(cx, &d->blocks, &d->n, &d->room, *block);
	if (!ret)
		d->blocks[d->n - 1].written = written;
	return ret;
}

/* Whether the checksum of the log at PSEG was valid before the repair. */
static bool was_right(struct derived *d, struct context *cx,
		      const struct nilfs_geometry *g, uint64_t pseg)
{
	struct nilfs_segment_summary ss;
	bool was = !dev_read(d->under, cx, pseg << g->block_bits, &ss,
			     sizeof(ss)) &&
		   logcheck_is_right(d->under, cx, g, pseg, &ss) > 0;

	fail_clear(cx);
	return was;
}

/*
 * Sets the checksum of the log at PSEG for the present content of its blocks. 2
 * if it equals the former one; 1 if it is needed, because a mount verifies it
 * or it was valid; 0 if the mismatch shows further damage; or a failure.
 */
static int seal_log(struct derived *d, struct context *cx,
		    const struct nilfs_geometry *g, uint64_t pseg)
{
	struct nilfs_segment_summary *ss;
	struct segsum_crc crc;
	bool written;
	size_t i = 0;
	char *block = malloc(g->block_size);
	int seal = 0, ret = block ? dev_read(d->dev, cx, pseg << g->block_bits, block,
				   g->block_size) :
			  fail(cx, -ENOMEM, "summary of a log");

	ss = (struct nilfs_segment_summary *)block;
	if (!ret)
		ret = array_reserve(cx, &d->logs, &d->logs_room, d->nlogs + 1);
	/* Keep the checksum from before all patches. */
	while (i < d->nlogs && d->logs[i].pseg != pseg)
		i++;
	if (!ret && i == d->nlogs)
		d->logs[d->nlogs++] = (struct derived_log){
			.pseg = pseg, .datasum = ss->ss_datasum,
		};
	if (!ret)
		ret = logcheck_sum(d->dev, cx, g, pseg, ss, &crc);
	if (ret)
		goto out;
	if (crc.sum == le32_get(d->logs[i].datasum))
		seal = 2;
	else
		seal = segsum_has_super_root(ss) || was_right(d, cx, g, pseg);
	if (segsum_crc_check(&crc, ss) != RULE_OK) {
		ss->ss_datasum = le32_make(crc.sum);
		ret = set_bytes(d, cx, pseg << g->block_bits, block,
				g->block_size, &written);
	}
out:
	free(block);
	return ret < 0 ? ret : seal;
}

int derived_seal(struct derived *d, struct context *cx, const struct check *c)
{
	const struct nilfs_geometry *g = &c->vol->geo;
	struct segsum_block b;
	uint64_t sealed = 0;
	size_t i;
	int ret = 0, seal = 0;

	sort_in_place(d->blocks, d->n, sizeof(*d->blocks),
		      sort_compare_number);
	for (i = 0; i < d->n && ret >= 0; i++) {
		struct derived_block *block = &d->blocks[i];

		ret = listings_find_block(cx, c, block->blocknr, &b);
		if (ret <= 0)
			continue;
		block->pseg = block->blocknr - b.index;
		if (block->pseg != sealed)
			seal = ret = damage_forgive(cx,
					seal_log(d, cx, g, block->pseg));
		block->seals = seal == 1;
		block->proven = seal == 2 &&
			zone_is_in_place(d->dev->zones,
					 block->blocknr << g->block_bits);
		sealed = block->pseg;
	}
	return ret < 0 ? ret : 0;
}

int derived_write(struct derived *d, struct context *cx,
		  const struct nilfs_geometry *g, bool any)
{
	void *data = malloc(g->block_size);
	size_t i, j, kept = 0;
	int err = data ? 0 : fail(cx, -ENOMEM, "a block");

	for (i = 0; i < d->n && !err; i++) {
		const struct derived_block *b = &d->blocks[i];
		/* The block and the checksum of its log, unless the checksum
		   shows further damage. */
		uint64_t places[] = { b->blocknr, b->seals ? b->pseg : 0 };
		/* A block of a file in a log that no longer exists cannot be
		   moved with its log, and changes no log. */
		bool stray = !b->pseg && b->ino != NILFS_DAT_INO &&
			     b->ino != NILFS_CPFILE_INO &&
			     b->ino != NILFS_SUFILE_INO &&
			     zone_is_in_place(d->dev->zones,
					      b->blocknr << g->block_bits);

		if (b->written)
			continue;
		if (!b->proven && !(any && b->pseg) && !stray) {
			d->blocks[kept++] = *b;
			continue;
		}
		for (j = 0; j < 2 && places[j] && !err; j++)
			err = dev_read(d->dev, cx, places[j] << g->block_bits,
				       data, g->block_size) ?:
			      dev_write(d->dev, cx,
					places[j] << g->block_bits,
					data, g->block_size);
	}
	free(data);
	d->n = kept;
	return err;
}

void derived_drop(struct derived *d)
{
	patched_remove(d->patched, 0, UINT64_MAX);
	d->n = d->nlogs = 0;
	d->entries = d->lost = d->ended = d->digest = 0;
}

void derived_fini(struct derived *d)
{
	free(d->blocks);
	free(d->logs);
	memset(d, 0, sizeof(*d));
}
