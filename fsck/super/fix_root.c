// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes a super root found on the device the latest one.
 *
 * It is used even if its state is damaged: the next check finds the damage, and
 * the results of all states are compared (states.c). The whole device is
 * searched, even if a superblock leads to a super root, because the chain of
 * logs from there may not reach newer ones.
 *
 * Superblocks that name it are not enough. The kernel verifies the checksum of
 * the log that they name, which may be wrong, and would continue with newer
 * logs that are given up, whose sequence numbers the next logs would get. So
 * the first log of the repair is written to a fresh segment, with a number that
 * no log on the device has.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/timefmt.h"
#include "check/damage.h"
#include "disk/segsum.h"
#include "disk/super.h"
#include "fsck/plan/fixers.h"
#include "fsck/super/rootsearch.h"
#include "fsck/witness/witness.h"
#include "log/newsupers.h"
#include "vol/root.h"
#include "vol/salvage.h"
#include "vol/summary.h"

int fix_root(struct fixer_job *job, struct context *cx,
	     const struct finding *fixes, size_t n)
{
	struct witness_supers s;
	int ret;

	(void)fixes, (void)n;
	/* Whether the superblock gives the places of all segments. */
	witness_supers(&s, cx, job->dev);
	if (s.choice < 0 || super_check_features(&s.copy[s.choice]) ==
				    RULE_SB_FEATURE_INCOMPAT)
		return 0;
	ret = fix_root_restore(job, cx, &s.copy[s.choice]);
	return ret < 0 ? ret : 0;
}

/* Adds to *N the inodes of A's ifile that are not the same in B; FIRST: inodes
   in both are counted too. BLOCK has room for one block. */
static int count_inodes(struct context *cx, struct root *a, struct root *b,
			bool first, char *block, uint64_t *n)
{
	static const struct nilfs_inode none;
	const struct nilfs_geometry *geo = &a->vol->geo;
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct palloc_block where;
	const void *data, *other;
	uint64_t ptr;
	uint32_t at;
	int ret = blockmap_cursor_open(&cur, cx, &a->ifile.map, 0, false);

	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = context_cancelled(cx);
		palloc_locate(&a->vol->ifile_palloc, item.key, &where);
		if (ret || where.kind != PALLOC_ENTRIES)
			continue;
		/* Both ifiles share most blocks. */
		ret = blockmap_lookup(&b->ifile.map, cx, item.key, &ptr);
		if (ret > 0 && ptr == item.ptr) {
			ret = 0;
			continue;
		}
		if (ret >= 0)
			ret = file_block(&a->ifile, cx, item.key, &data);
		if (ret <= 0)
			continue;
		memcpy(block, data, geo->block_size);
		file_put(&a->ifile, data);
		ret = file_block(&b->ifile, cx, item.key, &other);
		for (at = 0; (!ret || (ret > 0 && first)) &&
		     at + geo->inode_size <= geo->block_size;
		     at += geo->inode_size) {
			const struct nilfs_inode *x =
				(const void *)(block + at);
			const struct nilfs_inode *y = ret ?
				(const void *)((const char *)other + at) :
				&none;

			*n += (le16_get(x->i_links_count) ||
			       le16_get(y->i_links_count)) &&
			      memcmp(x, y, sizeof(*x)) != 0;
		}
		if (ret > 0) {
			file_put(&b->ifile, other);
			ret = 0;
		}
	}
	blockmap_cursor_close(&cur);
	return ret;
}

#define NAMED_MAX 8	/* given-up states that are named one by one */

struct restore {
	struct fixer_job *job;
	const struct nilfs_super_block *sb;
	struct nilfs_geometry geo;
	struct rootsearch rs;
	size_t taken;		/* index of the chosen root */
	struct recovery at;
	bool hurt;
};

/*
 * Whether ROOT can be the log that superblocks named last, or a newer one: they
 * name no log before it is written. A number greater than that of the newest
 * log is invalid.
 */
static bool is_as_new_as_super(const struct restore *r,
			       const struct root_log *root)
{
	uint64_t seq = le64_get(r->sb->s_last_seq);

	return segsum_cno(&root->ss) >= le64_get(r->sb->s_last_cno) &&
	       (seq > le64_get(r->rs.roots[0].ss.ss_seq) ||
		le64_get(root->ss.ss_seq) >= seq);
}

/* The number of candidates whose files cannot be opened without a repair. */
#define DOUBTFUL_MAX 4

/* Whether the DAT and the checkpoint file of the state at R->at lead to its
   entry, so that its files can be opened. */
static bool has_files(struct restore *r, struct context *cx)
{
	struct volume *vol = NULL;
	struct context quiet;
	struct root root;
	int err;

	context_child(cx, &quiet);
	err = volume_open_at(&vol, &quiet, r->job->dev, &r->geo, &r->at);
	if (!err)
		err = root_open(&root, &quiet, vol, 0);
	volume_close(vol);
	return !err;
}

/* Finds the state that the job requests: 1 and R->at, 0 if it does not exist.
   States as new as the superblocks come first. */
static int choose_root(struct restore *r, struct context *cx)
{
	unsigned int number = r->job->state_number;
	char *block = malloc(r->geo.block_size);
	size_t n = r->rs.nroots, first = 0, i, k, doubtful = 0;
	uint64_t blocknr, seq, wanted = r->job->state_cno;
	int ret = block ? 0 : fail(cx, -ENOMEM, "super root");

	/* Older roots at the start of the list are invalid. */
	while (first < n && !is_as_new_as_super(r, &r->rs.roots[first]))
		first++;
	if (first == n)
		first = 0;
	for (k = 0; k < 2 * n && ret >= 0; k++) {
		const struct root_log *root;

		i = k % n;
		root = &r->rs.roots[i];
		if (wanted & MOMENT_TIME ?
		    le64_get(root->ss.ss_create) > (wanted & ~MOMENT_TIME) :
		    wanted && segsum_cno(&root->ss) != wanted)
			continue;
		if (i < first || is_as_new_as_super(r, root) != (k < n))
			continue;
		/* A lost super root that can be proven is restored in place. */
		ret = rootsearch_derive(&r->rs, cx, i, block);
		if (ret > 0) {
			blocknr = root->pseg + le32_get(root->ss.ss_nblocks) - 1;
			fixers_note(r->job, "super root at block %" PRIu64
				    ": restored from the one before it",
				    blocknr);
			ret = dev_write(r->job->dev, cx,
					blocknr << r->geo.block_bits, block,
					r->geo.block_size);
		}
		if (!ret)
			ret = rootsearch_state(&r->rs, cx, root, &r->at,
					       &r->hurt);
		if (ret <= 0)
			continue;
		/* A log with a wrong checksum was once complete if superblocks
		   named it or other logs were written after it. */
		seq = le64_get(root->ss.ss_seq);
		if (r->hurt && seq >= r->rs.seq &&
		    root->pseg >= r->rs.last_pseg &&
		    (root->pseg != le64_get(r->sb->s_last_pseg) ||
		     seq != le64_get(r->sb->s_last_seq)))
			continue;
		if (!wanted && !has_files(r, cx) && doubtful++ >= DOUBTFUL_MAX)
			continue;
		r->taken = i;
		if (!number--)
			break;
	}
	free(block);
	return k < 2 * n || ret < 0 ? ret : 0;
}

/* Reports the states that are newer than the chosen one. */
static int note_newer(struct restore *r, struct context *cx)
{
	uint64_t last = le64_get(r->sb->s_last_cno), changes = 0;
	bool vanished = last > r->at.cno, hurt;
	struct volume *vol[2] = { NULL, NULL };
	char *block = malloc(r->geo.block_size);
	char text[VALUE_TEXT_MAX];
	struct root roots[2];
	struct recovery at;
	int64_t created;
	unsigned int side;
	size_t i;
	int ret = block ? 0 : fail(cx, -ENOMEM, "block of inodes");

	for (i = 0; i < r->rs.nroots; i++)
		vanished &= segsum_cno(&r->rs.roots[i].ss) != last;
	/* Superblocks name the state, but its log no longer exists. */
	if (vanished && !ret)
		fixers_note(r->job, "checkpoint %" PRIu64 ": given up, there is "
			    "no log at block %" PRIu64, last,
			    le64_get(r->sb->s_last_pseg));
	for (i = 0; i < r->taken && i < NAMED_MAX && ret >= 0; i++) {
		const struct root_log *root = &r->rs.roots[i];

		if (segsum_cno(&root->ss) <= r->at.cno)
			continue;
		ret = rootsearch_state(&r->rs, cx, root, &at, &hurt);
		/* The number of inodes that only one state
		   has or that differ. */
		changes = 0;
		for (side = 0; side < 2 && ret > 0; side++) {
			memset(&roots[side], 0, sizeof(roots[side]));
			ret = volume_open_at(&vol[side], cx, r->job->dev,
					     &r->geo, side ? &r->at : &at) ?:
			      root_open(&roots[side], cx, vol[side], 0) ?: 1;
		}
		for (side = 0; side < 2 && ret > 0; side++)
			ret = count_inodes(cx, &roots[side], &roots[!side],
					   !side, block, &changes) ?: 1;
		volume_close(vol[0]);
		volume_close(vol[1]);
		vol[0] = vol[1] = NULL;
		ret = damage_forgive(cx, ret);
		if (ret < 0)
			break;
		created = (int64_t)le64_get(root->ss.ss_create);
		if (r->job->style)
			value_time_text(r->job->style, created, text);
		else
			timefmt_iso(created, text);
		if (ret)
			fixers_note(r->job, "checkpoint %" PRIu64 " of %s: "
				    "given up, %" PRIu64 " files differ",
				    at.cno, text, changes);
		else
			fixers_note(r->job, "checkpoint %" PRIu64 " of %s: "
				    "given up, its files cannot be read",
				    at.cno, text);
	}
	if (r->taken > NAMED_MAX && ret >= 0)
		fixers_note(r->job, "%zu more checkpoints: given up",
			    r->taken - NAMED_MAX);
	free(block);
	return ret < 0 ? ret : 0;
}

int fix_root_restore(struct fixer_job *job, struct context *cx,
		     const struct nilfs_super_block *sb)
{
	struct restore r = {
		.job = job,
		.sb = sb,
		.rs = { .dev = job->dev, .check = job->check },
	};
	uint64_t offset2 = super_offset2(job->dev->size);
	unsigned int state = le16_get(sb->s_state) & ~NILFS_VALID_FS;
	struct nilfs_super_block named = *sb;
	struct summary summary = { 0 };
	struct rollforward *rf = NULL;
	char files[SUMMARY_FILES_MAX];
	const struct root_log *root;
	struct volume *vol = NULL;
	int ret;

	r.rs.geo = &r.geo;
	super_geometry(sb, job->dev->size, &r.geo);
	ret = rootsearch_run(&r.rs, cx);
	if (!ret)
		ret = rootsearch_add_named(&r.rs, cx, sb);
	if (!ret)
		ret = choose_root(&r, cx);
	if (ret <= 0)
		goto out;
	/* Writes superblocks that name the log. A mount searches for logs of
	   fdatasync() after it, if there is data to replay. */
	ret = volume_open_at(&vol, cx, job->dev, &r.geo, &r.at);
	if (!ret)
		ret = salvage_collect(vol, cx, &r.at, NULL, &rf);
	if (!ret && !rf->count)
		state |= NILFS_VALID_FS;
	rollforward_free(rf);
	volume_close(vol);
	if (ret)
		goto out;
	named.s_last_cno = le64_make(r.at.cno);
	named.s_last_pseg = le64_make(r.at.pseg_start);
	named.s_last_seq = le64_make(r.at.seq);
	named.s_state = le16_make((uint16_t)state);
	named.s_wtime = le64_make(job->time);
	named.s_sum = le32_make(super_checksum(&named));
	ret = newsupers_write(cx, job->dev, &named,
			      super_bad_offset2(&named, offset2) ? 0 : offset2);
	root = &r.rs.roots[r.taken];
	if (!ret && r.hurt && root->headless)
		fixers_note(job, "log at block %" PRIu64 ": has no header, "
			    "its super root is at block %" PRIu64, root->pseg,
			    r.at.super_root);
	if (!ret && r.hurt && !root->headless) {
		/* It is not known which blocks of the log
		   have wrong content. */
		ret = summary_read(&summary, cx, r.rs.vol, root->pseg,
				   &root->ss);
		if (!ret)
			summary_files(&summary, files);
		if (!ret)
			fixers_note(job, "log at block %" PRIu64 ": some blocks "
				    "have wrong content: check %s",
				    root->pseg, files);
		summary_free(&summary);
	}
	if (!ret)
		ret = note_newer(&r, cx);
	if (ret)
		goto out;
	*job->state = (struct root_state){
		.chosen = true,
		.hurt = r.hurt,
		.newest = r.at.seq == r.rs.seq &&
			  r.at.pseg_start == r.rs.last_pseg,
		.at = r.at,
		.seq = r.rs.seq + 1,
	};
	fixers_note(job, "superblocks: lead to checkpoint %" PRIu64 " again",
		    r.at.cno);
	ret = 1;
out:
	rootsearch_fini(&r.rs);
	return ret;
}
