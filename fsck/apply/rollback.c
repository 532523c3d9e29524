// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Going back to an older checkpoint, forwards.
 *
 * The new checkpoint has the ifile of the old one, and with it all files: what
 * each block of them is has not changed.  Only the DAT has to learn which
 * blocks are of the newest state now: what the old checkpoint has lives on from
 * its birth, and what it does not have is dead from the new checkpoint on.
 * That a revived block seems to have lived in between does no harm, as nothing
 * refers to it there; but therefore the content of a checkpoint is given by its
 * maps, not by lifetimes.
 *
 * The blocks of cpfile and SUFILE are of no checkpoint.  They stay as they are
 * and go on: it is a new checkpoint in the same history.
 */

#include <errno.h>
#include <inttypes.h>

#include "base/context.h"
#include "base/sparse.h"
#include "check/check.h"
#include "check/damage.h"
#include "check/inodes/ifilewalk.h"
#include "check/vblocks.h"
#include "disk/checkpoint.h"
#include "disk/dat.h"
#include "disk/ondisk.h"
#include "fsck/apply/round.h"
#include "log/repairwriter.h"
#include "vol/blockmap.h"
#include "vol/cptable.h"
#include "vol/datscan.h"
#include "vol/volume.h"

static void ignore(void *arg, const struct finding *f)
{
	(void)arg;
	(void)f;
}

/*
 * Makes SET that of all that the maps of checkpoint CP name: its ifile's and
 * those of its files, nodes too.  1, or 0 where not all of it could be
 * followed. The checker walks CP as if there were no other, for the set that it
 * leaves; what it finds on the way was reported before.
 */
static int gather_blocks(struct sparse *set, struct context *cx,
			 const struct check *c,
			 const struct nilfs_checkpoint *cp)
{
	struct check alone = {
		.dev = c->dev,
		.vol = c->vol,
		.used_segments = c->used_segments,
		.logindex = c->logindex,
	};
	uint64_t cno = le64_get(cp->cp_cno);
	const struct lifetime within = { cno, cno + 1 };
	struct ifilewalk ifile = { .check = NULL };
	int ret = findings_open(&alone.findings, cx, ignore, NULL, false);

	if (!ret)
		ret = ifilewalk_init(&ifile, cx, &alone,
				     vblocks_end(c->vol, cx));
	if (!ret)
		ret = ifilewalk_run(&ifile, cx, cno, &cp->cp_ifile_inode,
				    &within);
	if (!ret)
		ret = !ifilewalk_partial(&ifile);
	ifilewalk_fini(&ifile);
	findings_close(alone.findings);
	*set = alone.referenced;
	return ret;
}

struct rollback {
	struct volume *vol;
	struct writer *w;	/* of the new checkpoint */
	struct sparse metadata;	/* virtual blocks of cpfile and SUFILE */
	struct sparse then;	/* of the old checkpoint */
	bool partial;		/* and some that its maps do not lead to */
	uint64_t cno;		/* to go back to */
	uint64_t now;		/* the new one */
};

/* Adds the virtual blocks of FILE. */
static int add_file(struct rollback *r, struct context *cx, struct file *file)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret = blockmap_cursor_open(&cur, cx, &file->map, 0, true);

	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = damage_add(&r->metadata, cx, item.ptr);
		if (ret > 0)
			ret = 0;
	}
	blockmap_cursor_close(&cur);
	return ret;
}

static int take_entry(void *arg, struct context *cx, unsigned int worker,
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
	return repairwriter_set_end(r->w, cx, vblocknr,
				    then ? NILFS_CNO_MAX : r->now);
}

/* One worker: the DAT of the new checkpoint is changed meanwhile. */
static int change_lives(struct rollback *r, struct context *cx,
			struct writer *w)
{
	const struct datscan_visitor visitor = {
		.used = take_entry,
		.arg = r,
	};
	int ret = sparse_init(&r->metadata, cx, vblocks_end(r->vol, cx));

	r->w = w;
	r->now = writer_cno(w);
	if (!ret)
		ret = add_file(r, cx, &r->vol->cpfile);
	if (!ret)
		ret = add_file(r, cx, &r->vol->sufile);
	if (!ret)
		ret = datscan_run_alone(r->vol, cx, &visitor);
	sparse_fini(&r->metadata);
	return ret ? ret : repairwriter_changed(w, cx);
}

/*
 * The last checkpoint before the latest one that is not the cleaner's; 0: there
 * is none.
 */
static int find_previous(struct context *cx, struct volume *vol,
			 uint64_t *cno)
{
	struct cptable_cursor cur;
	struct nilfs_checkpoint cp;
	int ret = cptable_cursor_open(&cur, cx, vol);

	*cno = 0;
	while (!ret && (ret = cptable_cursor_next(&cur, cx, &cp)) > 0) {
		if (le64_get(cp.cp_cno) < vol->latest.cno &&
		    !checkpoint_is_minor(&cp))
			*cno = le64_get(cp.cp_cno);
		ret = 0;
	}
	cptable_cursor_close(&cur);
	return ret;
}

static int find_checkpoint(struct context *cx, struct volume *vol,
			   uint64_t cno, struct nilfs_checkpoint *cp)
{
	int ret = cno ? 0 : find_previous(cx, vol, &cno);

	if (ret)
		return ret;
	if (!cno)
		return fail_said(cx, -ENOENT, "no checkpoint before the latest one");
	ret = cptable_read(vol, cx, cno, cp);
	if (ret == -ENOENT || cno > vol->latest.cno)
		return fail_said(cx, -ENOENT, "checkpoint %" PRIu64
				 ": does not exist", cno);
	return ret;
}

int rollback_run(struct fixer_job *job, struct context *cx, uint64_t cno)
{
	static const bool none[RULE_FIX_COUNT];
	const struct writer_options options =
		writer_options_on(job->vol, job->time);
	struct rollback r = { .vol = job->vol };
	struct nilfs_checkpoint cp;
	struct writer *w = NULL;
	struct repairwriter_known known;
	struct writer_end end;
	int ret = find_checkpoint(cx, job->vol, cno, &cp);

	if (ret)
		return ret;
	r.cno = le64_get(cp.cp_cno);
	writerhints_fill(&known, job->check, job->plan, none);
	known.from = &cp;
	/* If it is damaged, so is the new one: then the lifetimes are enough. */
	ret = gather_blocks(&r.then, cx, job->check, &cp);
	r.partial = !ret;
	if (ret >= 0)
		ret = repairwriter_open(&w, cx, job->vol, &options, &known);
	if (!ret)
		ret = change_lives(&r, cx, w);
	if (!ret)
		ret = writer_commit(w, cx, &end);
	if (!ret)
		ret = round_name(job, cx, &end, true);
	writer_close(w);
	sparse_fini(&r.then);
	if (!ret)
		fixers_note(job, "checkpoint %" PRIu64 ": has the files of "
			    "checkpoint %" PRIu64, end.cno, r.cno);
	return ret;
}
