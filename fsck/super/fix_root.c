// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A super root found on the device becomes the latest.
 *
 * It is taken whether or not its state is whole: what is wrong with it is
 * found by the next check and repaired like any other damage, and the results
 * of all states are compared (states.c).
 *
 * To name it in the superblocks is not enough.  The kernel asks for the
 * checksum of the log that they name, which may be wrong, and would go on after
 * that log, where newer ones may lie that are given up: they have the sequence
 * number that the next logs would get, so after a crash the next search could
 * walk into one of them.  Therefore the first log of the repair goes into a
 * fresh segment, with a number that no log on the device has; what follows
 * it on the device can never be taken for its successor.
 *
 * The way to the super root is lost, or the super root itself.
 *
 * All of the device is searched, also where the other superblock still leads to
 * some super root: what the chain of logs from there does not reach may be
 * newer.
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
#include "log/newsupers.h"
#include "vol/root.h"
#include "vol/salvage.h"
#include "vol/summary.h"

int fix_root(struct fixer_job *job, struct context *cx,
	     const struct fix *fixes, size_t n)
{
	const uint64_t offset[2] = {
		NILFS_SB_OFFSET_BYTES, super_offset2(job->dev->size)
	};
	const struct nilfs_super_block *sb;
	struct nilfs_super_block copy[2];
	struct super_choice choice;
	struct nilfs_geometry geo;
	bool read[2] = { false };
	enum rule rule;
	int i, ret;

	(void)fixes, (void)n;
	for (i = 0; i < 2 && offset[i]; i++) {
		ret = dev_read(job->dev, cx, offset[i], &copy[i],
			       sizeof(copy[i]));
		read[i] = !ret;
		if (damage_forgive(cx, ret))
			return ret;
	}
	super_choose(read[0] ? &copy[0] : NULL, read[1] ? &copy[1] : NULL,
		     job->dev->size, &choice);
	if (choice.index < 0)
		return 0;
	sb = &copy[choice.index];
	/* Whether segments can be found, and are all there. */
	rule = super_geometry(sb, job->dev->size, &geo);
	if ((rule != RULE_OK && (!rule_has(rule, RULE_READABLE) ||
				 rule == RULE_SB_DEVICE_SIZE)) ||
	    super_check_features(sb) == RULE_SB_FEATURE_INCOMPAT)
		return 0;
	ret = fix_root_restore(job, cx, sb);
	return ret < 0 ? ret : 0;
}

/*
 * Counts in *N the inodes in blocks of the ifile of A that B does not have so;
 * FIRST: also in those that both have.  BLOCK is room for a copy of one.
 */
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
		/* Most blocks are those that the other one has, too. */
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

#define NAMED_MAX 8	/* states given up that are named one by one */

struct restore {
	struct fixer_job *job;
	const struct nilfs_super_block *sb;
	struct nilfs_geometry geo;
	struct rootsearch rs;
	size_t taken;		/* index of the root that was chosen */
	struct recovery at;
	bool hurt;
};

/*
 * Whether ROOT can be what superblocks named last, or newer: they name no log
 * before it is written.  A number greater than that of the newest is nonsense.
 */
static bool is_as_new_as_super(const struct restore *r,
			       const struct root_log *root)
{
	uint64_t seq = le64_get(r->sb->s_last_seq);

	return segsum_cno(&root->ss) >= le64_get(r->sb->s_last_cno) &&
	       (seq > le64_get(r->rs.roots[0].ss.ss_seq) ||
		le64_get(root->ss.ss_seq) >= seq);
}

/* How many inodes are only in one of the states A and B, or are not the same
   there: 1 and *N; 0: not known. */
static int count_changes(struct restore *r, struct context *cx,
			 const struct recovery *a, const struct recovery *b,
			 uint64_t *n)
{
	struct volume *vol[2] = { NULL, NULL };
	char *block = malloc(r->geo.block_size);
	struct root root[2] = { { 0 } };
	int err = block ? 0 : fail(cx, -ENOMEM, "block of inodes");

	*n = 0;
	if (!err)
		err = volume_open_at(&vol[0], cx, r->job->dev, &r->geo, a);
	if (!err)
		err = volume_open_at(&vol[1], cx, r->job->dev, &r->geo, b);
	if (!err)
		err = root_open(&root[0], cx, vol[0], 0);
	if (!err)
		err = root_open(&root[1], cx, vol[1], 0);
	if (!err)
		err = count_inodes(cx, &root[0], &root[1], true, block, n);
	if (!err)
		err = count_inodes(cx, &root[1], &root[0], false, block, n);
	free(block);
	volume_close(vol[0]);
	volume_close(vol[1]);
	return err ? damage_forgive(cx, err) : 1;
}

/*
 * 1 and R->at for the state that the job asks for, 0 where there is none.
 * Those as new as superblocks come first.
 */
static int choose_root(struct restore *r, struct context *cx)
{
	unsigned int number = r->job->state_number;
	char *block = malloc(r->geo.block_size);
	size_t n = r->rs.nroots, first = 0, i, k;
	uint64_t blocknr, seq;
	int ret = block ? 0 : fail(cx, -ENOMEM, "super root");

	/* Older roots that come before are nonsense. */
	while (first < n && !is_as_new_as_super(r, &r->rs.roots[first]))
		first++;
	if (first == n)
		first = 0;
	for (k = 0; k < 2 * n && ret >= 0; k++) {
		const struct root_log *root;

		i = k % n;
		root = &r->rs.roots[i];
		if (r->job->state_cno &&
		    segsum_cno(&root->ss) != r->job->state_cno)
			continue;
		if (i < first || is_as_new_as_super(r, root) != (k < n))
			continue;
		/* One that is lost and can be proved is put in its place. */
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
		/* One with a wrong checksum was complete once, not cut off, if
		   superblocks named it, or others were written after it. */
		seq = le64_get(root->ss.ss_seq);
		if (r->hurt && seq >= r->rs.seq &&
		    root->pseg >= r->rs.last_pseg &&
		    (root->pseg != le64_get(r->sb->s_last_pseg) ||
		     seq != le64_get(r->sb->s_last_seq)))
			continue;
		r->taken = i;
		if (!number--)
			break;
	}
	free(block);
	return k < 2 * n || ret < 0 ? ret : 0;
}

/* What in the log is not what was written cannot be known. */
static int note_hurt(struct restore *r, struct context *cx)
{
	const struct root_log *root = &r->rs.roots[r->taken];
	struct summary summary = { 0 };
	char files[SUMMARY_FILES_MAX];
	int err;

	if (root->headless) {
		fixers_note(r->job, "log at block %" PRIu64 ": has no header, "
			    "its super root is at block %" PRIu64, root->pseg,
			    r->at.super_root);
		return 0;
	}
	err = summary_read(&summary, cx, r->rs.vol, root->pseg, &root->ss);
	if (!err) {
		summary_files(&summary, files);
		fixers_note(r->job, "log at block %" PRIu64 ": its blocks are "
			    "not what was written: look at %s", root->pseg,
			    files);
	}
	summary_free(&summary);
	return err;
}

/* States that are newer than the one that was chosen. */
static int note_newer(struct restore *r, struct context *cx)
{
	uint64_t last = le64_get(r->sb->s_last_cno), changes = 0;
	bool vanished = last > r->at.cno, hurt;
	char text[TIMEFMT_ISO_MAX];
	struct recovery at;
	size_t i;
	int ret;

	for (i = 0; i < r->rs.nroots; i++)
		vanished &= segsum_cno(&r->rs.roots[i].ss) != last;
	/* Superblocks named it, and its log is no log any more. */
	if (vanished)
		fixers_note(r->job, "checkpoint %" PRIu64 ": given up, there is "
			    "no log at block %" PRIu64, last,
			    le64_get(r->sb->s_last_pseg));
	for (i = 0; i < r->taken && i < NAMED_MAX; i++) {
		const struct root_log *root = &r->rs.roots[i];

		if (segsum_cno(&root->ss) <= r->at.cno)
			continue;
		ret = rootsearch_state(&r->rs, cx, root, &at, &hurt);
		if (ret > 0)
			ret = count_changes(r, cx, &at, &r->at, &changes);
		if (ret < 0)
			return ret;
		timefmt_iso((int64_t)le64_get(root->ss.ss_create), text);
		if (ret)
			fixers_note(r->job, "checkpoint %" PRIu64 " of %s: "
				    "given up, %" PRIu64 " files differ",
				    at.cno, text, changes);
		else
			fixers_note(r->job, "checkpoint %" PRIu64 " of %s: "
				    "given up, its files cannot be read",
				    at.cno, text);
	}
	if (r->taken > NAMED_MAX)
		fixers_note(r->job, "%zu more checkpoints: given up",
			    r->taken - NAMED_MAX);
	return 0;
}

/* Superblocks that name it; a mount looks after it for logs of fdatasync(), if
   there are some to be rolled forward. */
static int name_root(struct restore *r, struct context *cx)
{
	struct nilfs_super_block sb = *r->sb;
	uint64_t offset2 = super_offset2(r->job->dev->size);
	unsigned int state = le16_get(sb.s_state) & ~NILFS_VALID_FS;
	struct rollforward *rf = NULL;
	struct volume *vol;
	int err = volume_open_at(&vol, cx, r->job->dev, &r->geo, &r->at);

	if (!err)
		err = salvage_collect(vol, cx, &r->at, NULL, &rf);
	if (!err && !rf->count)
		state |= NILFS_VALID_FS;
	rollforward_free(rf);
	volume_close(vol);
	if (err)
		return err;
	if (super_bad_offset2(&sb, offset2))
		offset2 = 0;
	sb.s_last_cno = le64_make(r->at.cno);
	sb.s_last_pseg = le64_make(r->at.pseg_start);
	sb.s_last_seq = le64_make(r->at.seq);
	sb.s_state = le16_make((uint16_t)state);
	sb.s_wtime = le64_make(r->job->time);
	sb.s_sum = le32_make(super_checksum(&sb));
	return newsupers_write(cx, r->job->dev, &sb, offset2);
}

int fix_root_restore(struct fixer_job *job, struct context *cx,
		     const struct nilfs_super_block *sb)
{
	struct restore r = {
		.job = job,
		.sb = sb,
		.rs = { .dev = job->dev, .check = job->check },
	};
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
	ret = name_root(&r, cx);
	if (!ret && r.hurt)
		ret = note_hurt(&r, cx);
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
