// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Unreadable blocks.
 *
 * Only blocks in use are reported: a disk may have bad blocks in free space as
 * well.  The log of a block lists what it was written as, the map of that file
 * shows whether it is still current, and the DAT for which checkpoints.
 *
 * Of what no pass has reported the device records which requests have failed.
 * Their blocks are read again one by one: a request is long, and only one block of
 * it may be bad.
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

int badreads_name(struct findings *f, struct context *cx, struct volume *vol,
		  uint64_t blocknr, const struct vblock *vb,
		  const struct segsum_block *b)
{
	int ret = vb->end == NILFS_CNO_MAX, n;
	char text[DETAIL_MAX];
	bool history = false;
	uint64_t cno = 0, at;
	struct root root;
	struct file file;

	if (b && (b->is_node || b->ino < NILFS_USER_INO))
		return 0;
	if (b) {
		/* Whether the latest state has it where B says. */
		ret = root_open(&root, cx, vol, 0);
		if (!ret)
			ret = root_file(&root, cx, b->ino, &file);
		if (!ret)
			ret = file_lookup(&file, cx, b->blkoff, &at);
		if (ret > 0)
			ret = at == blocknr;
		if (ret == -ENOENT)
			ret = damage_forgive(cx, ret);
	}
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

struct badreads {
	struct check *c;
	char *buf;
	struct vblock blocks[BLOCKS_MAX];	/* start 0: no entry names it */
	size_t n;
	bool unsure;		/* not all of the DAT could be read */
};

static int find_block(const struct badreads *r, uint64_t blocknr)
{
	int i;

	for (i = 0; i < (int)r->n; i++)
		if (r->blocks[i].blocknr == blocknr)
			return i;
	return -1;
}

/* Reads the blocks of a request that has failed one by one. */
static int read_range(struct badreads *r, struct context *cx,
		      const struct dev_failed *failed)
{
	struct dev *dev = r->c->dev;
	uint32_t bits = r->c->vol->geo.block_bits;
	struct context quiet;
	uint64_t b, off;
	size_t len;
	int err = 0;

	for (b = failed->off >> bits; b << bits < failed->end && !err; b++) {
		err = context_cancelled(cx);
		off = b << bits;
		len = r->c->vol->geo.block_size;
		if (len > dev->size - off)
			len = (size_t)(dev->size - off);
		context_child(cx, &quiet);
		if (!err && r->n < BLOCKS_MAX && find_block(r, b) < 0 &&
		    dev_read(dev, &quiet, off, r->buf, len))
			r->blocks[r->n++] = (struct vblock){ .blocknr = b };
	}
	return err;
}

/* The entries of the DAT that name one of the blocks. */
static int take_entry(void *arg, struct context *cx, unsigned int worker,
		      uint64_t vblocknr, const struct nilfs_dat_entry *de)
{
	struct badreads *r = arg;
	int at = find_block(r, le64_get(de->de_blocknr));

	(void)cx;
	(void)worker;
	(void)vblocknr;
	if (at < 0)
		return 0;
	/* Written by one worker, unless the DAT has it twice. */
	r->blocks[at].start = le64_get(de->de_start);
	r->blocks[at].end = le64_get(de->de_end);
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

static int report_blocks(struct badreads *r, struct context *cx)
{
	struct check *c = r->c;
	const struct datscan_visitor visitor = {
		.used = take_entry,
		.unreadable = skip_block,
		.arg = r,
	};
	/* A copy: looking makes more of them. */
	struct dev_stats stats = c->dev->stats;
	unsigned int i;
	size_t k;
	int err = 0;

	r->buf = malloc(c->vol->geo.block_size);
	if (!r->buf)
		return fail(cx, -ENOMEM, "block");
	for (i = 0; i < stats.nfailed && !err; i++)
		err = read_range(r, cx, &stats.failed[i]);
	if (!err && r->n)
		err = datscan_run(c->vol, cx, &visitor);
	for (k = 0; k < r->n && !err; k++) {
		const struct vblock *vb = &r->blocks[k];
		struct segsum_block b;
		int ret = 0;

		if (vb->start) {
			ret = listings_find_block(cx, c, vb->blocknr, &b, NULL);
			if (ret >= 0)
				ret = badreads_name(c->findings, cx, c->vol,
						    vb->blocknr, vb,
						    ret ? &b : NULL);
		}
		if (ret < 0)
			err = ret;
		else if (!vb->start && r->unsure)
			findings_broken(c->findings, RULE_DEV_UNREADABLE,
					place_number(PLACE_BLOCK, vb->blocknr));
		else if (!ret)
			check_note(c, "block %llu cannot be read, but is not "
				   "in use", (unsigned long long)vb->blocknr);
	}
	free(r->buf);
	return err;
}

int badreads_report(struct check *c, struct context *cx)
{
	uint64_t failed = c->dev->stats.failed_reads - c->failed_reads;
	struct badreads r = { .c = c };
	int err = 0;

	if (!failed || findings_count(c->findings, RULE_DEV_UNREADABLE) ||
	    findings_count(c->findings, RULE_DIR_UNREADABLE))
		return 0;
	if (!c->vol && findings_count_severity(c->findings, RULE_ERROR))
		return 0;
	if (c->vol)
		err = report_blocks(&r, cx);
	if (err != -EIO && err != -EUCLEAN && (err || r.n))
		return err;
	/* Data read only after a retry may be wrong. */
	fail_clear(cx);
	findings_add(c->findings, &(struct finding){
		.rule = RULE_DEV_UNREADABLE,
		.place = place_number(PLACE_VOLUME, 0),
		.has_got = true, .got = failed,
	});
	return 0;
}
