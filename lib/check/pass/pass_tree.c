// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pass: what the checkpoints refer to.
 *
 * It walks the maps of cpfile and sufile, and of the ifile and all files of
 * every valid checkpoint, and checks each node, each pointer, each inode.  What
 * a checkpoint shares with one before was checked with that one, and is left
 * alone whole: the cost is that of what is there, whatever the number of
 * checkpoints.
 *
 * The newest comes first, then the snapshots, then plain checkpoints, each
 * from the newer to the older: what they share is reported for the one that
 * matters most, and what is reported for the last is history.
 *
 * It needs the DAT checked, and the segments in use known.  It leaves the set
 * of virtual blocks that are referred to, the names in directories and the
 * number of links to others; what the entries of checkpoints say besides
 * their inode was checked before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checked.h"
#include "check/check.h"
#include "check/inodes/ifilewalk.h"
#include "check/inodes/pointers.h"
#include "check/logs/mapsums.h"
#include "check/pass/passes.h"
#include "disk/checkpoint.h"
#include "disk/inode.h"
#include "vol/cptable.h"

/* Bytes of the directory of a set, at most, a share of the budget. */
#define DIRECTORY_SHARE 16
#define SECTOR 512

struct tree_checkpoint {
	uint64_t cno;
	bool kept;		/* the newest, or a snapshot */
};

struct tree {
	struct check *check;
	struct pointers pointers;
	struct ifilewalk ifiles;
	struct sparse walk;	/* what was met in the current checkpoint */
	struct sparse reported;	/* lifetimes that were reported */

	/* Valid checkpoints, ascending: those of blocks that can be read. */
	struct tree_checkpoint *cps;
	size_t ncps, room;

	/* The current metadata file. */
	uint64_t ino;
	uint64_t met;		/* its blocks, nodes too */

	/* The checkpoint before. */
	bool have_last;
	struct nilfs_inode last;
	struct ifilewalk_sums sums;
};

/* Takes the numbers of valid checkpoints from block BLKOFF of the cpfile. */
static int read_checkpoints(struct tree *t, struct context *cx,
			    uint64_t blkoff, uint64_t blocknr)
{
	const struct nilfs_geometry *g = &t->check->vol->geo;
	struct cache *cache = t->check->vol->cache;
	uint64_t latest = t->check->vol->latest.cno;
	uint64_t cno = checkpoint_first(g, blkoff);
	uint64_t end = cno + checkpoint_count(g, blkoff);
	const void *data;
	int err = cache_get(cache, cx, blocknr, &data);

	if (err == -EIO) {
		fail_clear(cx);
		t->pointers.partial |= POINTERS_LOST;
		return 0;
	}
	if (err)
		return err;
	for (; cno < end && !err; cno++) {
		const struct nilfs_checkpoint *cp = (const void *)
			((const char *)data + checkpoint_offset(g, cno));

		if (!cno || cno > latest || checkpoint_is_invalid(cp))
			continue;
		err = array_reserve(cx, &t->cps, &t->room, t->ncps + 1);
		if (!err)
			t->cps[t->ncps++] = (struct tree_checkpoint){
				.cno = cno,
				.kept = cno == latest ||
					checkpoint_is_snapshot(cp),
			};
	}
	cache_put(cache, data);
	return err;
}

static int visit_pointer(void *arg, struct context *cx,
			 const struct mapcheck_pointer *p, uint64_t *blocknr,
			 struct lifetime *life)
{
	struct tree *t = arg;
	struct target target;
	int ret = pointers_check(&t->pointers, cx, t->ino, p, &target);

	t->met++;
	if (ret <= 0)
		return ret;
	*blocknr = target.blocknr;
	*life = target.life;
	if (!p->level && t->ino == NILFS_CPFILE_INO)
		return read_checkpoints(t, cx, p->key, target.blocknr);
	return 1;
}

/*
 * The kernel counts in sectors, by what comes and goes, and reads the number for
 * nothing else.  It goes on from what mkfs.nilfs2 of nilfs-utils wrote, which
 * counted each of its few blocks as 1: descriptors, a bitmap, and entries up to
 * the first one for users.  Such a file stays after by a block less one sector
 * for each of these.
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

/* Walks the cpfile or the sufile, of which there is one for all time. */
static int walk_metadata(struct tree *t, struct context *cx,
			 const struct file *file)
{
	struct mapcheck m = {
		.vol = t->check->vol,
		.findings = t->check->findings,
		.ino = file->ino,
		.within = { t->check->vol->latest.cno, NILFS_CNO_MAX },
		.visit = visit_pointer,
		.arg = t,
	};
	int ret;

	t->ino = file->ino;
	t->met = 0;
	ret = mapcheck_run(&m, cx, &file->inode);
	if (ret > 0)
		t->pointers.partial |= POINTERS_LOST;
	if (!ret && !t->pointers.partial)
		pass_tree_count(t->check, 0, t->ino, &file->inode, t->met);
	return ret < 0 ? ret : 0;
}

/*
 * Compares the counts of checkpoint CNO with those of the walk.  Blocks are
 * counted in the newest one, and in those that equal it: shared parts are
 * skipped, and their size is not known without a count for each block of each
 * ifile.
 *
 * mkfs.nilfs2 counted one inode too many before nilfs-utils 2.0.22, and the
 * kernel only adds and subtracts: such a volume keeps the error, which is
 * harmless.
 */
static void check_counts(struct tree *t, uint64_t cno,
			 const struct nilfs_checkpoint *cp)
{
	const struct nilfs_super_block *sb = volume_super(t->check->vol);
	uint64_t blocks = le64_get(cp->cp_blocks_count);
	uint64_t inodes = le64_get(cp->cp_inodes_count);
	struct place place = place_number(PLACE_CHECKPOINT, cno);

	if (t->sums.inodes_known && t->sums.inodes != inodes)
		findings_add(t->check->findings, &(struct finding){
			.rule = RULE_INODE_COUNT,
			.place = place,
			.has_want = true,
			.has_got = true,
			.want = t->sums.inodes,
			.got = inodes,
			.detail = inodes == t->sums.inodes + 1 ?
				"one too many is harmless, mkfs.nilfs2 before "
				"nilfs-utils 2.0.22 made it" : NULL,
		});
	if (t->sums.blocks_known)
		pass_tree_count(t->check, cno, NILFS_IFILE_INO,
				&cp->cp_ifile_inode, t->sums.own);
	if (!(le64_get(sb->s_feature_compat_ro) &
	      NILFS_FEATURE_COMPAT_RO_BLOCK_COUNT))
		return;
	if (t->sums.blocks_known && t->sums.blocks != blocks)
		findings_differ(t->check->findings, RULE_INODE_COUNT_BLOCKS,
				place, t->sums.blocks, blocks);
}

static int walk_checkpoint(struct tree *t, struct context *cx, uint64_t cno)
{
	struct check *c = t->check;
	bool newest = cno == c->vol->latest.cno;
	struct lifetime within = { cno, newest ? NILFS_CNO_MAX : cno + 1 };
	const struct nilfs_inode *ifile;
	struct nilfs_checkpoint cp;
	enum rule rule;
	int err = cptable_read(c->vol, cx, cno, &cp);

	if (err == -EIO || err == -EUCLEAN || err == -ENOENT) {
		fail_clear(cx);
		t->pointers.partial |= POINTERS_LOST;
		return 0;
	}
	if (err)
		return err;
	ifile = &cp.cp_ifile_inode;
	rule = inode_check(&c->vol->geo, ifile, NILFS_IFILE_INO);
	if (rule != RULE_OK)
		findings_broken(c->findings, rule,
				place_inode(cno, NILFS_IFILE_INO));
	/* Not where its map is that of the last one. */
	if (!t->have_last || memcmp(t->last.i_bmap, ifile->i_bmap,
				    sizeof(ifile->i_bmap)))
		err = ifilewalk_run(&t->ifiles, cx, cno, ifile, &within,
				    &t->sums);
	t->last = *ifile;
	t->have_last = true;
	if (!err && newest) {
		c->files = t->sums.inodes;
		c->files_known = t->sums.inodes_known &&
				 !t->ifiles.hidden && rule == RULE_OK;
	}
	if (!err)
		check_counts(t, cno, &cp);
	/* From now on, blocks may have been met before. */
	sparse_clear(&t->walk);
	t->pointers.walk = &t->walk;
	return err;
}

/* Of the checkpoints but the newest, those that are KEPT or the others. */
static int walk_older(struct tree *t, struct context *cx, bool kept)
{
	size_t i;
	int err = 0;

	for (i = t->ncps; i-- && !err;) {
		const struct tree_checkpoint *cp = &t->cps[i];

		if (cp->kept == kept && cp->cno != t->check->vol->latest.cno)
			err = walk_checkpoint(t, cx, cp->cno);
	}
	return err;
}

/*
 * Live blocks are referred to by the newest checkpoint: damage in others does
 * not matter for that.
 */
static int walk_checkpoints(struct tree *t, struct context *cx)
{
	struct check *c = t->check;
	uint64_t latest = c->vol->latest.cno;
	bool there = t->ncps && t->cps[t->ncps - 1].cno == latest;
	int err = 0;

	if (there)
		err = walk_checkpoint(t, cx, latest);
	c->tree_broken = !there || t->pointers.partial ||
			 ifilewalk_partial(&t->ifiles);
	/* With cpfile and SUFILE before it, these are all live blocks. */
	if (there)
		c->live_referenced = sparse_count(&c->referenced);
	findings_snapshots(c->findings, true);
	if (!err)
		err = walk_older(t, cx, true);
	if (!((t->pointers.partial | ifilewalk_partial(&t->ifiles)) &
	      POINTERS_LOST))
		c->kept_referenced = sparse_count(&c->referenced);
	findings_snapshots(c->findings, false);
	if (c->sums)
		c->sums->closed = true;
	findings_history(c->findings, true);
	if (!err)
		err = walk_older(t, cx, false);
	findings_history(c->findings, false);
	return err;
}

int pass_tree(struct check *c, struct context *cx)
{
	/* Sets of virtual blocks, for all that the DAT can have. */
	uint64_t most = cx->max_memory / DIRECTORY_SHARE / sizeof(uint64_t) *
			SPARSE_CHUNK_BITS;
	uint64_t end = vblocks_end(c->vol, cx);
	const struct volume *vol = c->vol;
	struct tree t = { .check = c };
	int err;

	if (end > most)
		end = most;
	err = sparse_init(&c->referenced, cx, end);
	if (!err)
		err = sparse_init(&c->lingering, cx, end);
	if (!err)
		err = sparse_init(&t.walk, cx, end);
	if (!err)
		err = sparse_init(&t.reported, cx, end);
	pointers_init(&t.pointers, c, c->vol, &t.reported);
	if (!err)
		err = ifilewalk_init(&t.ifiles, cx, c, &t.pointers);
	if (!err)
		err = walk_metadata(&t, cx, &c->vol->sufile);
	if (!err)
		err = walk_metadata(&t, cx, &c->vol->cpfile);
	if (!err)
		err = walk_checkpoints(&t, cx);
	/*
	 * The kernel refuses inodes below s_first_ino that are not reserved ones
	 * (NILFS_VALID_INODE()).  Each mkfs.nilfs2 writes NILFS_USER_INO, and
	 * nothing changes it.
	 */
	if (!err && ifilewalk_least(&t.ifiles) < vol->geo.first_ino)
		findings_differ(c->findings, RULE_SB_FIRST_INO_USED,
				place_number(PLACE_SUPER,
					     (uint64_t)vol->super_used),
				NILFS_USER_INO, vol->geo.first_ino);
	if (!err && !c->tree_broken)
		err = synced_check(c, cx);
	pointers_fini(&t.pointers);
	ifilewalk_fini(&t.ifiles);
	sparse_fini(&t.walk);
	sparse_fini(&t.reported);
	free(t.cps);
	return err;
}

/* The unit of progress is an inode. */
uint64_t pass_tree_work(const struct check *c)
{
	struct nilfs_checkpoint cp;
	struct context quiet;

	context_init(&quiet);
	if (cptable_read(c->vol, &quiet, c->vol->latest.cno, &cp))
		return 0;
	return le64_get(cp.cp_inodes_count);
}
