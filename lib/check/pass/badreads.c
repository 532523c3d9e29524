// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Unreadable blocks that no pass has reported.
 *
 * The device records which requests have failed.  Their blocks are read again
 * one by one: a request is long, and only one block of it may be bad.
 */
#include "check/pass/passes.h"

#include <errno.h>
#include <stdlib.h>

#include "check/logs/blockowner.h"
#include "check/logs/lifelogs.h"
#include "vol/datscan.h"

#define BLOCKS_MAX 64

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
			ret = lifelogs_find_block(cx, c, vb->blocknr, &b, NULL);
			if (ret >= 0)
				ret = blockowner_report(c->findings, cx, c->vol,
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
