// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Unreadable blocks.
 *
 * Only blocks in use are reported, because a disk may have bad blocks in free
 * space too.  The log of a block lists its file and position, the map of that
 * file shows whether the block is current, and the DAT gives its checkpoints.
 *
 * If no pass reported a failed read, the device has a record of failed
 * requests.  Their blocks are read again one by one, because a request is long
 * and may contain only one bad block.
 */
#include "check/pass/passes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/search.h"
#include "check/damage.h"
#include "check/logs/listings.h"
#include "vol/cptable.h"
#include "vol/datscan.h"
#include "vol/root.h"

#define BLOCKS_MAX 64
#define DETAIL_MAX 120

int badreads_name(struct findings *f, struct context *cx, struct volume *vol,
		  uint64_t blocknr, const struct vblock *vb,
		  const struct segsum_block *b)
{
	int ret = vb->life.end == NILFS_CNO_MAX, n, kind;
	char text[DETAIL_MAX];
	bool history = false;
	uint64_t *cnos, cno = 0, at;
	size_t ncnos;
	struct root root;
	struct file file;

	if (b && (b->is_node || b->ino < NILFS_USER_INO))
		return 0;
	if (b) {
		/* Whether the latest state has the block at the place in B. */
		ret = root_open(&root, cx, vol, 0) ?:
		      root_file(&root, cx, b->ino, &file) ?:
		      file_lookup(&file, cx, b->blkoff, &at);
		if (ret > 0)
			ret = at == blocknr;
		if (ret == -ENOENT)
			ret = damage_forgive(cx, ret);
	}
	if (ret > 0)
		cno = vol->latest.cno;
	/* Otherwise look in other checkpoints, snapshots first. */
	for (kind = 0; kind < 2 && !ret; kind++) {
		ret = cptable_list(vol, cx, !kind, &cnos, &ncnos);
		if (ret)
			break;
		cno = search_within(cnos, ncnos, vb->life.start, vb->life.end);
		history = cno && kind;
		ret = cno > 0;
		free(cnos);
	}
	/* Other damage is reported elsewhere. */
	if (!damage_is(ret) && ret <= 0)
		return ret;
	fail_clear(cx);
	if (b)
		n = snprintf(text, DETAIL_MAX, "block %" PRIu64 " of inode %"
			     PRIu64, b->blkoff, b->ino);
	else
		n = snprintf(text, DETAIL_MAX, "a block that no log lists");
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

struct badreads {
	struct vblock blocks[BLOCKS_MAX];	/* start 0: no entry refers to it */
	size_t n;
	bool unsure;		/* some of the DAT could not be read */
};

static int find_bad_block(const struct badreads *r, uint64_t blocknr)
{
	int i;

	for (i = 0; i < (int)r->n; i++)
		if (r->blocks[i].blocknr == blocknr)
			return i;
	return -1;
}

/* Handles an entry of the DAT that refers to one of the blocks. */
static int badreads_take_entry(void *arg, struct context *cx,
			       unsigned int worker, uint64_t vblocknr,
			       const struct nilfs_dat_entry *de)
{
	struct badreads *r = arg;
	int at = find_bad_block(r, le64_get(de->de_blocknr));

	(void)cx;
	(void)worker;
	(void)vblocknr;
	if (at < 0)
		return 0;
	/* Written by one worker, unless two entries refer to the block. */
	r->blocks[at].life = (struct lifetime){ le64_get(de->de_start),
						le64_get(de->de_end) };
	return 0;
}

static int skip_block(void *arg, struct context *cx, uint64_t blkoff)
{
	struct badreads *r = arg;

	(void)blkoff;
	fail_clear(cx);
	__atomic_store_n(&r->unsure, true, __ATOMIC_RELAXED);
	return 0;
}

int badreads_report(struct check *c, struct context *cx)
{
	uint64_t failed = c->dev->stats.failed_reads - c->failed_reads;
	struct badreads r = { .n = 0 };
	const struct datscan_visitor visitor = {
		.used = badreads_take_entry,
		.unreadable = skip_block,
		.arg = &r,
	};
	/* A copy, because reading changes the counters. */
	struct dev_stats stats = c->dev->stats;
	struct dev *dev = c->dev;
	uint32_t bits = c->vol ? c->vol->geo.block_bits : 0;
	struct context quiet;
	struct segsum_block b;
	char *buf = NULL;
	uint64_t at, len;
	unsigned int i;
	size_t k;
	int ret = 0;

	if (!failed || findings_count(c->findings, RULE_DEV_UNREADABLE) ||
	    findings_count(c->findings, RULE_DIR_UNREADABLE) ||
	    (!c->vol && findings_count_severity(c->findings, RULE_ERROR)))
		return 0;
	if (c->vol) {
		buf = malloc(c->vol->geo.block_size);
		ret = buf ? 0 : fail(cx, -ENOMEM, "block");
	}
	/* Reads the blocks of failed requests one by one. */
	for (i = 0; c->vol && i < stats.nfailed && !ret; i++)
		for (at = stats.failed[i].off >> bits;
		     at << bits < stats.failed[i].end && !ret; at++) {
			ret = context_cancelled(cx);
			len = dev->size - (at << bits);
			if (len > c->vol->geo.block_size)
				len = c->vol->geo.block_size;
			context_child(cx, &quiet);
			if (!ret && r.n < BLOCKS_MAX &&
			    find_bad_block(&r, at) < 0 &&
			    dev_read(dev, &quiet, at << bits, buf, (size_t)len))
				r.blocks[r.n++] = (struct vblock){
					.blocknr = at };
		}
	if (!ret && r.n)
		ret = datscan_run(c->vol, cx, &visitor);
	for (k = 0; k < r.n && ret >= 0; k++) {
		const struct vblock *vb = &r.blocks[k];

		ret = 0;
		if (vb->life.start)
			ret = listings_find_block(cx, c, vb->blocknr, &b);
		if (vb->life.start && ret >= 0)
			ret = badreads_name(c->findings, cx, c->vol,
					    vb->blocknr, vb, ret ? &b : NULL);
		if (!vb->life.start && r.unsure)
			findings_broken(c->findings, RULE_DEV_UNREADABLE,
					place_number(PLACE_BLOCK, vb->blocknr));
		else if (!ret)
			check_note(c, "block %llu cannot be read, but is not "
				   "in use", (unsigned long long)vb->blocknr);
	}
	free(buf);
	ret = ret < 0 ? ret : 0;
	if (ret != -EIO && ret != -EUCLEAN && (ret || r.n))
		return ret;
	/* Data that was read only after a retry may be wrong. */
	fail_clear(cx);
	findings_got(c->findings, RULE_DEV_UNREADABLE,
		     place_number(PLACE_VOLUME, 0), failed);
	return 0;
}
