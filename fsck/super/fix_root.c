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

/* The active superblock: 1, 0 where there is none; or a failure. */
static int find_super(struct fixer_job *job, struct context *cx,
		      struct nilfs_super_block *sb)
{
	const uint64_t offset[2] = {
		NILFS_SB_OFFSET_BYTES, super_offset2(job->dev->size)
	};
	struct nilfs_super_block copy[2];
	struct super_choice choice;
	struct nilfs_geometry geo;
	bool read[2] = { false };
	enum rule rule;
	int i, err;

	for (i = 0; i < 2 && offset[i]; i++) {
		err = dev_read(job->dev, cx, offset[i], &copy[i],
			       sizeof(copy[i]));
		read[i] = !err;
		if (damage_forgive(cx, err))
			return err;
	}
	super_choose(read[0] ? &copy[0] : NULL, read[1] ? &copy[1] : NULL,
		     job->dev->size, &choice);
	if (choice.index < 0)
		return 0;
	*sb = copy[choice.index];
	/* Whether segments can be found, and are all there. */
	rule = super_geometry(sb, job->dev->size, &geo);
	return (rule == RULE_OK || (rule_has(rule, RULE_READABLE) &&
				    rule != RULE_SB_DEVICE_SIZE)) &&
	       super_check_features(sb) != RULE_SB_FEATURE_INCOMPAT;
}

int fix_root(struct fixer_job *job, struct context *cx,
	     const struct fix *fixes, size_t n)
{
	struct nilfs_super_block sb;
	int ret;

	(void)fixes;
	(void)n;
	ret = find_super(job, cx, &sb);
	if (ret > 0)
		ret = fix_root_restore(job, cx, &sb);
	return ret < 0 ? ret : 0;
}

struct statediff {
	struct root root[2];
	const struct palloc *palloc;
	char *block;		/* a copy of the first one's */
	uint64_t n;
};

/* Counts in two blocks of entries; OTHER is NULL for a hole. */
static void compare_entries(struct statediff *d, const char *block,
			    const char *other)
{
	static const struct nilfs_inode none;
	uint32_t size = d->root[0].vol->geo.inode_size, at;

	for (at = 0; at + size <= d->root[0].vol->geo.block_size; at += size) {
		const struct nilfs_inode *a = (const void *)(block + at);
		const struct nilfs_inode *b =
			other ? (const void *)(other + at) : &none;

		d->n += (le16_get(a->i_links_count) ||
			 le16_get(b->i_links_count)) &&
			memcmp(a, b, sizeof(*a)) != 0;
	}
}

/* Block BLKOFF of ifile FROM, which the other one does not have so. */
static int compare_block(struct statediff *d, struct context *cx, int from,
			 uint64_t blkoff)
{
	struct file *file = &d->root[from].ifile;
	struct file *other = &d->root[!from].ifile;
	const void *block;
	int ret = file_block(file, cx, blkoff, &block);

	if (ret <= 0)
		return ret;
	memcpy(d->block, block, d->root[0].vol->geo.block_size);
	file_put(file, block);
	ret = file_block(other, cx, blkoff, &block);
	if (ret < 0)
		return ret;
	/* What both have was compared from the first one's side. */
	if (!ret || !from)
		compare_entries(d, d->block, ret ? block : NULL);
	if (ret)
		file_put(other, block);
	return 0;
}

static int compare_from(struct statediff *d, struct context *cx, int from)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct palloc_block where;
	uint64_t ptr;
	int ret = blockmap_cursor_open(&cur, cx, &d->root[from].ifile.map, 0,
				       false);

	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = context_cancelled(cx);
		palloc_locate(d->palloc, item.key, &where);
		if (ret || where.kind != PALLOC_ENTRIES)
			continue;
		/* Most blocks are those that the other one has, too. */
		ret = blockmap_lookup(&d->root[!from].ifile.map, cx, item.key,
				      &ptr);
		if (ret < 0)
			break;
		ret = ret && ptr == item.ptr ? 0 :
		      compare_block(d, cx, from, item.key);
	}
	blockmap_cursor_close(&cur);
	return ret;
}

/* Counts the inodes of the latest checkpoints of A and B that are in only one of
   them, or are not the same there. */
static int count_differences(struct context *cx, struct volume *a,
			     struct volume *b, uint64_t *n)
{
	struct statediff d = { .palloc = &a->ifile_palloc };
	int err = root_open(&d.root[0], cx, a, 0);

	if (!err)
		err = root_open(&d.root[1], cx, b, 0);
	if (err)
		return err;
	d.block = malloc(a->geo.block_size);
	if (!d.block)
		return fail(cx, -ENOMEM, "block of inodes");
	err = compare_from(&d, cx, 0);
	if (!err)
		err = compare_from(&d, cx, 1);
	free(d.block);
	*n = d.n;
	return err;
}

#define NAMED_MAX 8	/* states given up that are named one by one */

struct restore {
	struct fixer_job *job;
	const struct nilfs_super_block *sb;
	struct nilfs_geometry geo;
	struct rootsearch rs;
	size_t first;		/* older roots that come before are nonsense */
	size_t taken;		/* index of the root that was chosen */
	struct recovery at;
	bool hurt;
};

static void progress(void *arg, uint64_t done)
{
	check_progress(arg, done);
}

/*
 * Whether the log of ROOT was complete once, so that it is damaged if its
 * checksum is wrong, not cut off: superblocks named it, or others were written
 * after it.
 */
static bool was_complete(const struct restore *r, const struct root_log *root)
{
	uint64_t seq = le64_get(root->ss.ss_seq);

	return (root->pseg == le64_get(r->sb->s_last_pseg) &&
		seq == le64_get(r->sb->s_last_seq)) ||
	       seq < r->rs.seq || root->pseg < r->rs.last_pseg;
}

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

/* How many files state A does not have as B: 1 and *N; 0: not known. */
static int count_changes(struct restore *r, struct context *cx,
			 const struct recovery *a, const struct recovery *b,
			 uint64_t *n)
{
	struct volume *first = NULL, *second = NULL;
	int err = rootsearch_open(&r->rs, cx, a, &first);

	if (!err)
		err = rootsearch_open(&r->rs, cx, b, &second);
	if (!err)
		err = count_differences(cx, first, second, n);
	volume_close(first);
	volume_close(second);
	if (damage_is(err)) {
		fail_clear(cx);
		return 0;
	}
	return err ? err : 1;
}

/* Tries those that are AS_NEW as superblocks or not: 1 for the one wanted. */
static int choose_among(struct restore *r, struct context *cx, bool as_new,
			unsigned int *number)
{
	char *block = malloc(r->geo.block_size);
	uint64_t blocknr;
	size_t i;
	int ret = block ? 0 : fail(cx, -ENOMEM, "super root");

	for (i = 0; i < r->rs.nroots && ret >= 0; i++) {
		const struct root_log *root = &r->rs.roots[i];

		if (r->job->state_cno &&
		    segsum_cno(&root->ss) != r->job->state_cno)
			continue;
		if (i < r->first || is_as_new_as_super(r, root) != as_new)
			continue;
		/* One that is lost and can be proved is put in its place. */
		ret = rootderive_run(&r->rs, cx, i, block);
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
		if (ret <= 0 || (r->hurt && !was_complete(r, root)))
			continue;
		r->taken = i;
		if (!(*number)--) {
			free(block);
			return 1;
		}
	}
	free(block);
	return ret < 0 ? ret : 0;
}

/* 1 and R->at for the state that the job asks for, 0 where there is none. */
static int choose_root(struct restore *r, struct context *cx)
{
	unsigned int number = r->job->state_number;
	int ret;

	while (r->first < r->rs.nroots &&
	       !is_as_new_as_super(r, &r->rs.roots[r->first]))
		r->first++;
	if (r->first == r->rs.nroots)
		r->first = 0;
	ret = choose_among(r, cx, true, &number);
	return ret ? ret : choose_among(r, cx, false, &number);
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

/* The state of ROOT is newer than the one that was chosen. */
static int note_given_up(struct restore *r, struct context *cx,
			 const struct root_log *root)
{
	char text[TIMEFMT_ISO_MAX];
	struct recovery at;
	uint64_t n = 0;
	bool hurt;
	int ret = rootsearch_state(&r->rs, cx, root, &at, &hurt);

	if (ret > 0)
		ret = count_changes(r, cx, &at, &r->at, &n);
	if (ret < 0)
		return ret;
	timefmt_iso((int64_t)le64_get(root->ss.ss_create), text);
	if (ret)
		fixers_note(r->job, "checkpoint %" PRIu64 " of %s: given up, %"
			    PRIu64 " files differ", at.cno, text, n);
	else
		fixers_note(r->job, "checkpoint %" PRIu64 " of %s: given up, "
			    "its files cannot be read", at.cno, text);
	return 0;
}

static int note_newer(struct restore *r, struct context *cx)
{
	uint64_t last = le64_get(r->sb->s_last_cno);
	bool vanished = last > r->at.cno;
	size_t i;
	int err = 0;

	for (i = 0; i < r->rs.nroots; i++)
		vanished &= segsum_cno(&r->rs.roots[i].ss) != last;
	/* Superblocks named it, and its log is no log any more. */
	if (vanished)
		fixers_note(r->job, "checkpoint %" PRIu64 ": given up, there is "
			    "no log at block %" PRIu64, last,
			    le64_get(r->sb->s_last_pseg));
	for (i = 0; i < r->taken && i < NAMED_MAX && !err; i++)
		if (segsum_cno(&r->rs.roots[i].ss) > r->at.cno)
			err = note_given_up(r, cx, &r->rs.roots[i]);
	if (r->taken > NAMED_MAX)
		fixers_note(r->job, "%zu more checkpoints: given up",
			    r->taken - NAMED_MAX);
	return err;
}

/* Whether logs of fdatasync() after it are to be rolled forward. */
static int has_synced(struct restore *r, struct context *cx)
{
	struct rollforward *rf = NULL;
	struct volume *vol;
	int ret = rootsearch_open(&r->rs, cx, &r->at, &vol);

	if (!ret)
		ret = salvage_collect(vol, cx, &r->at, NULL, &rf);
	if (!ret)
		ret = rf->count != 0;
	rollforward_free(rf);
	volume_close(vol);
	return ret;
}

/* Superblocks that name it; a mount looks after it for logs of fdatasync(). */
static int name_root(struct restore *r, struct context *cx)
{
	struct nilfs_super_block sb = *r->sb;
	uint64_t offset2 = super_offset2(r->job->dev->size);
	unsigned int state = le16_get(sb.s_state) & ~NILFS_VALID_FS;
	int synced = has_synced(r, cx);

	if (synced < 0)
		return synced;
	if (super_bad_offset2(&sb, offset2))
		offset2 = 0;
	sb.s_last_cno = le64_make(r->at.cno);
	sb.s_last_pseg = le64_make(r->at.pseg_start);
	sb.s_last_seq = le64_make(r->at.seq);
	if (!synced)
		state |= NILFS_VALID_FS;
	sb.s_state = le16_make((uint16_t)state);
	sb.s_wtime = le64_make(r->job->time);
	sb.s_sum = le32_make(super_checksum(&sb));
	return newsupers_write(cx, r->job->dev, &sb, offset2);
}

static int use_root(struct restore *r, struct context *cx)
{
	int err = name_root(r, cx);

	if (!err && r->hurt)
		err = note_hurt(r, cx);
	if (!err)
		err = note_newer(r, cx);
	if (err)
		return err;
	*r->job->state = (struct root_state){
		.chosen = true,
		.hurt = r->hurt,
		.newest = r->at.seq == r->rs.seq &&
			  r->at.pseg_start == r->rs.last_pseg,
		.at = r->at,
		.seq = r->rs.seq + 1,
	};
	fixers_note(r->job, "superblocks: lead to checkpoint %" PRIu64
		    " again", r->at.cno);
	return 1;
}

int fix_root_restore(struct fixer_job *job, struct context *cx,
		     const struct nilfs_super_block *sb)
{
	struct restore r = {
		.job = job,
		.sb = sb,
		.rs = { .dev = job->dev, .progress = progress,
			.arg = job->check },
	};
	int ret;

	r.rs.geo = &r.geo;
	super_geometry(sb, job->dev->size, &r.geo);
	ret = rootsearch_run(&r.rs, cx);
	if (!ret)
		ret = rootsearch_add_named(&r.rs, cx, sb);
	if (!ret)
		ret = choose_root(&r, cx);
	if (ret > 0)
		ret = use_root(&r, cx);
	rootsearch_fini(&r.rs);
	return ret;
}
