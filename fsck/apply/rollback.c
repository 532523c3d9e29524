// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rolling back to an older checkpoint by a new one.
 *
 * The new checkpoint has the ifile of the old one, and with it all files. Only
 * the DAT must record which blocks the newest state has: the lifetime of blocks
 * of the old checkpoint is extended from its start, and other blocks are dead
 * from the new checkpoint on. A block may then seem live in checkpoints
 * between; that is harmless, because maps, not lifetimes, define the content of
 * a checkpoint. cpfile and SUFILE continue unchanged.
 */
#include "fsck/apply/repair.h"

#include <errno.h>
#include <inttypes.h>

#include "base/sparse.h"
#include "check/damage.h"
#include "check/inodes/ifilewalk.h"
#include "check/vblocks.h"
#include "disk/checkpoint.h"
#include "disk/dat.h"
#include "log/directwriter.h"
#include "vol/blockmap.h"
#include "vol/cptable.h"
#include "vol/datscan.h"

struct rollback {
	struct volume *vol;
	struct writer *w;	/* of the new checkpoint */
	struct sparse metadata;	/* virtual blocks of cpfile and SUFILE */
	struct sparse then;	/* blocks of the old checkpoint */
	bool partial;		/* maps are damaged: more blocks than in THEN */
	uint64_t cno;		/* the old checkpoint */
	uint64_t now;		/* the new one */
};

static int rollback_take_entry(void *arg, struct context *cx, unsigned int worker,
			       uint64_t vblocknr, const struct nilfs_dat_entry *de)
{
	struct rollback *r = arg;
	bool then = sparse_test(&r->then, vblocknr), now = dat_is_current(de);

	(void)worker;
	if (r->partial)
		then = dat_is_in(de, r->cno);
	if (dat_is_unwritten(de) || then == now ||
	    sparse_test(&r->metadata, vblocknr))
		return 0;
	return directwriter_set_end(r->w, cx, vblocknr,
				    then ? NILFS_CNO_MAX : r->now);
}

/*
 * Sets the ends of lifetimes so that the files of checkpoint JOB->back are the
 * latest ones. The checker walks that checkpoint for the set of blocks that its
 * maps name; its findings were reported before. One worker, because the DAT of
 * the new checkpoint is changed at the same time.
 */
static int change_lifetimes(struct fixer_job *job, struct context *cx)
{
	struct rollback r = {
		.vol = job->vol,
		.w = job->writer,
		.cno = le64_get(job->back->cp_cno),
		.now = writer_cno(job->writer),
	};
	const struct datscan_visitor visitor = {
		.used = rollback_take_entry,
		.arg = &r,
	};
	struct file *const files[2] = { &r.vol->cpfile, &r.vol->sufile };
	const struct lifetime within = { r.cno, r.cno + 1 };
	struct ifilewalk ifile = { .check = NULL };
	struct check alone = {
		.dev = job->check->dev,
		.vol = r.vol,
		.used_segments = job->check->used_segments,
		.logindex = job->check->logindex,
	};
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int i, ret = findings_open(&alone.findings, cx, NULL, NULL, false);

	if (!ret)
		ret = ifilewalk_init(&ifile, cx, &alone,
				     vblocks_end(r.vol, cx));
	if (!ret)
		ret = ifilewalk_run(&ifile, cx, r.cno,
				    &job->back->cp_ifile_inode, &within);
	/* If the old checkpoint is damaged, the new one is too, and lifetimes
	   suffice. */
	r.partial = ret || ifilewalk_partial(&ifile);
	ifilewalk_fini(&ifile);
	findings_close(alone.findings);
	r.then = alone.referenced;
	if (!ret)
		ret = sparse_init_ends(&r.metadata, cx, vblocks_end(r.vol, cx));
	for (i = 0; i < 2 && !ret; i++) {
		ret = blockmap_cursor_open(&cur, cx, &files[i]->map, 0, true);
		while (!ret &&
		       (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
			ret = damage_add(&r.metadata, cx, item.ptr);
			ret = ret < 0 ? ret : 0;
		}
		blockmap_cursor_close(&cur);
	}
	if (!ret)
		ret = datscan_run_alone(r.vol, cx, &visitor);
	sparse_fini(&r.metadata);
	sparse_fini(&r.then);
	if (!ret)
		fixers_note(job, "rolled back to checkpoint %" PRIu64
			    ", as checkpoint %" PRIu64, r.cno, r.now);
	return ret ? ret : directwriter_changed(job->writer, cx);
}

int rollback_run(struct repair *r, struct context *cx, uint64_t moment,
		 uint64_t *back)
{
	struct nilfs_checkpoint cp;
	struct round round = {
		.job = trial_job(r, cx),
		.stage = RULE_STAGE_TREE,
		.begin = change_lifetimes,
		.from = &cp,
		.recovered = true,
	};
	struct volume *vol = round.job.vol;
	struct cptable_cursor cur;
	uint64_t cno = moment;
	bool any = !cno;
	int ret = any ? cptable_cursor_open(&cur, cx, vol) :
		  moment & MOMENT_TIME ?
		  cptable_at(vol, cx, (int64_t)(moment & ~MOMENT_TIME), &cno) : 0;

	/* The last one before the latest that the cleaner did not write. */
	while (any && !ret && (ret = cptable_cursor_next(&cur, cx, &cp)) > 0) {
		if (le64_get(cp.cp_cno) < vol->latest.cno &&
		    !checkpoint_is_minor(&cp))
			cno = le64_get(cp.cp_cno);
		ret = 0;
	}
	if (any)
		cptable_cursor_close(&cur);
	if (ret)
		return ret;
	if (!cno)
		return fail_said(cx, -ENOENT, "no checkpoint before the latest "
				 "one");
	ret = cptable_read(vol, cx, cno, &cp);
	if (ret == -ENOENT || cno > vol->latest.cno)
		return fail_said(cx, -ENOENT, "checkpoint %" PRIu64
				 ": does not exist", cno);
	*back = cno;
	round.job.back = &cp;
	return ret ? ret : round_run(&round, cx);
}
