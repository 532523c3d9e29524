// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The pass over trees: all blocks that checkpoints refer to.
 *
 * It walks the maps of cpfile and sufile, and of the ifile and all files of
 * every valid checkpoint, and checks each node, pointer and inode.  Parts
 * shared with a checkpoint before are skipped, so the cost follows the number
 * of blocks, not the number of checkpoints.
 *
 * The latest checkpoint is first, then the snapshots, then the others, each
 * from the newest to the oldest, so that damage of shared parts is reported for
 * the most important checkpoint.
 *
 * It needs the checked DAT and the segments in use.  It produces the set of
 * virtual blocks that are referred to.  Later passes check names and links; the
 * pass over checkpoints has checked all other fields of their entries.
 */
#include <errno.h>

#include "base/array.h"
#include "base/checked.h"
#include "check/damage.h"
#include "check/inodes/ifilewalk.h"
#include "check/logs/mapsums.h"
#include "check/pass/passes.h"
#include "disk/checkpoint.h"
#include "disk/inode.h"
#include "vol/cptable.h"

#define SECTOR 512

struct tree {
	struct check *check;
	struct ifilewalk ifiles;
	uint64_t met;		/* blocks of a metadata file, including nodes */
};

/* In blocks of the cpfile, also collects the numbers of valid checkpoints. */
static int tree_visit_pointer(void *arg, struct context *cx,
			      const struct mapcheck_pointer *p,
			      uint64_t *blocknr, struct lifetime *life)
{
	struct tree *t = arg;
	struct check *c = t->check;
	struct pointers *pointers = &t->ifiles.pointers;
	const struct nilfs_geometry *g = &c->vol->geo;
	uint64_t cno, end, latest = c->vol->latest.cno;
	const struct nilfs_checkpoint *cp;
	struct vblock target;
	const void *data;
	int ret = pointers_check(pointers, cx, p, &target);

	t->met++;
	if (ret <= 0)
		return ret;
	*blocknr = target.blocknr;
	*life = target.life;
	if (p->level || pointers->ino != NILFS_CPFILE_INO)
		return 1;
	ret = cache_get(c->vol->cache, cx, target.blocknr, &data);
	if (ret == -EIO) {
		fail_clear(cx);
		pointers->partial |= POINTERS_LOST;
		return 0;
	}
	if (ret)
		return ret;
	cno = checkpoint_first(g, p->key);
	end = cno + checkpoint_count(g, p->key);
	for (; cno < end && !ret; cno++) {
		cp = checkpoint_at(g, data, cno);
		if (!cno || cno > latest || checkpoint_is_invalid(cp))
			continue;
		ret = array_push(cx, &c->cps, &c->ncps, &c->cps_room,
				 (struct check_checkpoint){
			.cno = cno,
			.kept = cno == latest || checkpoint_is_snapshot(cp),
		});
	}
	cache_put(c->vol->cache, data);
	return ret;
}

/*
 * Compares i_blocks.  The kernel counts in sectors, by changes only, and does
 * not use the number.  It starts with the value of mkfs.nilfs2 of nilfs-utils,
 * which counted each of its few blocks as 1: descriptors, a bitmap, and entries
 * up to the first one for users.  So such a file has a block less one sector
 * too few for each of these.
 */
void pass_tree_count(const struct check *c, uint64_t cno, uint64_t ino,
		     const struct nilfs_inode *inode, uint64_t nblocks)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	uint64_t made = 2 + div_round_up((NILFS_USER_INO + 1ull) *
					 geo->inode_size, geo->block_size);
	uint64_t unit = geo->block_size / SECTOR;
	uint64_t want = nblocks * unit, got = le64_get(inode->i_blocks);
	uint64_t less = want - got;

	if (findings_have(c->findings, RULE_HIDES_GROUPS | RULE_HIDES_BLOCKS))
		return;
	if (got <= want && less % (unit - 1) == 0 && less / (unit - 1) <= made)
		return;
	findings_differ(c->findings, RULE_INODE_BLOCKS, place_inode(cno, ino),
			want, got);
}

/* Walks the cpfile or the sufile, which all checkpoints share. */
static int walk_metadata(struct tree *t, struct context *cx,
			 const struct file *file)
{
	struct mapcheck m = {
		.vol = t->check->vol,
		.findings = t->check->findings,
		.ino = file->ino,
		.within = {t->check->vol->latest.cno, NILFS_CNO_MAX},
		.visit = tree_visit_pointer,
		.arg = t,
	};
	int ret;

	t->ifiles.pointers.ino = file->ino;
	t->met = 0;
	ret = mapcheck_run(&m, cx, &file->inode);
	if (ret > 0)
		t->ifiles.pointers.partial |= POINTERS_LOST;
	if (!ret && !t->ifiles.pointers.partial)
		pass_tree_count(t->check, 0, file->ino, &file->inode, t->met);
	return ret < 0 ? ret : 0;
}

/*
 * Walks checkpoint CNO and compares its counts with those of the walk.  Blocks
 * are counted only in the newest checkpoint and in those equal to it: shared
 * parts are skipped, and their size would need a count for each block of each
 * ifile.
 *
 * mkfs.nilfs2 before nilfs-utils 2.0.22 counted one inode too many, and the
 * kernel only adds and subtracts: such a volume keeps the error, which is
 * harmless.
 */
static int walk_checkpoint(struct tree *t, struct context *cx, uint64_t cno)
{
	struct check *c = t->check;
	const struct ifilewalk_sums *sums = &t->ifiles.sums;
	const struct nilfs_super_block *sb = volume_super(c->vol);
	bool newest = cno == c->vol->latest.cno;
	struct lifetime within = { cno, newest ? NILFS_CNO_MAX : cno + 1 };
	struct place place = place_number(PLACE_CHECKPOINT, cno);
	struct nilfs_checkpoint cp;
	uint64_t blocks, inodes;
	enum rule rule;
	int err = cptable_read(c->vol, cx, cno, &cp);

	if (err) {
		t->ifiles.pointers.partial |= POINTERS_LOST;
		return damage_forgive(cx, err);
	}
	rule = inode_check(&c->vol->geo, &cp.cp_ifile_inode, NILFS_IFILE_INO);
	if (rule != RULE_OK)
		findings_broken(c->findings, rule,
				place_inode(cno, NILFS_IFILE_INO));
	err = ifilewalk_run(&t->ifiles, cx, cno, &cp.cp_ifile_inode, &within);
	if (err)
		return err;
	if (newest) {
		c->files = sums->inodes;
		c->files_known = sums->inodes_known && !t->ifiles.hidden &&
				 rule == RULE_OK;
	}
	blocks = le64_get(cp.cp_blocks_count);
	inodes = le64_get(cp.cp_inodes_count);
	if (sums->inodes_known && sums->inodes != inodes)
		findings_add(c->findings, &(struct finding){
			.rule = RULE_INODE_COUNT,
			.place = place,
			.has_want = true,
			.has_got = true,
			.want = sums->inodes,
			.got = inodes,
			.detail = inodes == sums->inodes + 1 ?
				"one too many is harmless: mkfs.nilfs2 before "
				"nilfs-utils 2.0.22 wrote it" : NULL,
		});
	if (sums->blocks_known)
		pass_tree_count(c, cno, NILFS_IFILE_INO, &cp.cp_ifile_inode,
				sums->own);
	if ((le64_get(sb->s_feature_compat_ro) &
	     NILFS_FEATURE_COMPAT_RO_BLOCK_COUNT) &&
	    sums->blocks_known && sums->blocks != blocks)
		findings_differ(c->findings, RULE_INODE_COUNT_BLOCKS, place,
				sums->blocks, blocks);
	return 0;
}

int pass_tree(struct check *c, struct context *cx)
{
	uint64_t end = vblocks_end(c->vol, cx), latest = c->vol->latest.cno;
	struct tree t = { .check = c };
	struct nilfs_checkpoint cp;
	bool there;
	int err, kept;
	size_t i;

	/* The unit of progress is an inode. */
	if (!cptable_read(c->vol, cx, latest, &cp))
		c->work = le64_get(cp.cp_inodes_count);
	fail_clear(cx);
	err = sparse_init_ends(&c->lingering, cx, end) ?:
	      ifilewalk_init(&t.ifiles, cx, c, end) ?:
	      walk_metadata(&t, cx, &c->vol->sufile) ?:
	      walk_metadata(&t, cx, &c->vol->cpfile);
	if (err)
		goto out;
	/* Live blocks are those of the newest checkpoint, cpfile and SUFILE:
	   damage in other checkpoints does not matter for them. */
	there = c->ncps && c->cps[c->ncps - 1].cno == latest;
	if (there) {
		err = walk_checkpoint(&t, cx, latest);
		c->live_referenced = sparse_count(&c->referenced);
	}
	c->tree_broken = !there || ifilewalk_partial(&t.ifiles);
	/* Then the snapshots, then the rest. */
	for (kept = 1; kept >= 0; kept--) {
		c->findings->mark = kept ? FINDINGS_SNAPSHOTS :
					    FINDINGS_HISTORY;
		for (i = c->ncps; i-- && !err;)
			if (c->cps[i].kept == kept && c->cps[i].cno != latest)
				err = walk_checkpoint(&t, cx, c->cps[i].cno);
		if (kept && !(ifilewalk_partial(&t.ifiles) & POINTERS_LOST))
			c->kept_referenced = sparse_count(&c->referenced);
		if (c->sums)
			c->sums->closed = true;
	}
	c->findings->mark = FINDINGS_NEWEST;
	/*
	 * The kernel refuses inodes below s_first_ino that are not reserved
	 * (NILFS_VALID_INODE()).  Every mkfs.nilfs2 writes NILFS_USER_INO, and
	 * nothing changes it.
	 */
	if (!err && t.ifiles.least < c->vol->geo.first_ino)
		findings_differ(c->findings, RULE_SB_FIRST_INO_USED,
				place_number(PLACE_SUPER,
					     (uint64_t)c->vol->super_used),
				NILFS_USER_INO, c->vol->geo.first_ino);
	if (!err && !c->tree_broken)
		err = chain_check_synced(c, cx);
out:
	ifilewalk_fini(&t.ifiles);
	return err;
}
