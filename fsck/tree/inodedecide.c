// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One decision for the inodes of all checkpoints: that of the newest one is a
 * life without an end, and has no checkpoints behind it.
 *
 * An inode that was not changed for a while stands in many blocks of the
 * ifile: each time another inode of its block is changed it is written again
 * as it is.  So the checkpoints before and after are asked for the same
 * inode, from the nearest on; one with the same blocks and the same time of
 * change is the same in all.
 *
 * Else, if it still makes sense, the fields that are wrong are set to what the
 * rest of the volume says.  One that does not is replaced by that of another
 * checkpoint, by preference one with blocks that this checkpoint has, too.
 * Those that share the block of the ifile are no help; where the number was
 * free those beyond had another file.
 *
 * Its map is what the logs say that the file had.  Where they do not, it is the
 * one that it has, if that is alive and this file's, or that of the other
 * checkpoint: most files are what they were, and in the newest checkpoint what
 * has ended since is for the repair of maps.
 *
 * Where no checkpoint has it the type is what its names say, or its content,
 * and its blocks are those that the logs list.
 */
#include "fsck/tree/inodedecide.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sort.h"
#include "check/damage.h"
#include "check/logs/lifelogs.h"
#include "check/names/inodetype.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "fsck/tree/inoderepair.h"
#include "vol/root.h"

#define SECTOR 512u

/* Checkpoints that are asked once one has the inode. */
#define ASK_MOST 256

int inodedecide_open(struct inodedecide *d, struct context *cx,
		     struct fixer_job *job, const uint64_t *inos, size_t n)
{
	const struct palloc *palloc = &job->vol->ifile_palloc;
	uint64_t *blocks = calloc(n ? n : 1, sizeof(*blocks));
	size_t i, count;
	int err = 0;

	*d = (struct inodedecide){ .job = job, .lost = { .job = job } };
	vblocks_init(&d->vblocks, job->vol, NULL);
	if (!blocks)
		return fail(cx, -ENOMEM, "blocks of %zu inodes", n);
	for (i = 0; i < n; i++)
		blocks[i] = palloc_entry_blkoff(palloc, inos[i]);
	count = sort_unique(blocks, n);
	for (i = 0; i < count && !err; i++)
		err = lostinodes_add(&d->lost, cx, palloc, blocks[i]);
	free(blocks);
	return err || !n ? err : around_open(&d->around, cx, job->vol);
}

void inodedecide_close(struct inodedecide *d)
{
	around_close(&d->around);
	vblocks_fini(&d->vblocks);
	lostinodes_fini(&d->lost);
}

void inodedecide_note(struct inodedecide *d, const struct inodecase *c,
		      const char *fmt, ...)
{
	char text[128];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (c->cno == d->job->vol->latest.cno)
		fixers_note(d->job, "inode %" PRIu64 ": %s", c->ino, text);
	else
		fixers_note(d->job, "checkpoint %" PRIu64 ": inode %" PRIu64
			    ": %s", c->cno, c->ino, text);
}

int inodedecide_is_wrong(struct inodedecide *d, struct context *cx,
			 struct inodecase *c)
{
	const struct nilfs_inode *inode = &c->inode;
	struct volume *vol = d->job->vol;
	unsigned int signs = inode_signs(&vol->geo, inode);
	enum rule rule;
	int ret = lostinodes_type(&d->lost, cx, c->cno, c->ino, &c->type);

	if (!ret)
		ret = inoderepair_check(vol, cx, c->ino, inode, &rule);
	if (ret)
		return ret;
	c->misnamed = c->ino != NILFS_ROOT_INO && c->type != NILFS_FT_UNKNOWN &&
		      c->type != inode_dirent_type(le16_get(inode->i_mode));
	if (c->misnamed && !signs) {
		ret = inodetype_is_wrong(vol, cx, c->ino, inode, c->type);
		c->misnamed = ret > 0;
	}
	c->garbage = signs && signs + c->misnamed > 1;
	return ret < 0 ? ret : rule != RULE_OK || c->misnamed || c->garbage;
}

/* Whether PTR leads to a block that lives as long as the block of C, and, with
   LISTED, that its log has for the file: 1, 0. */
static int reaches(struct inodedecide *d, struct context *cx,
		   const struct inodecase *c, uint64_t ptr, bool listed)
{
	struct segsum_block b = { .ino = c->ino };
	struct vblock vb;
	int ret = vblocks_find(&d->vblocks, cx, ptr, &vb);

	if (ret < 0)
		return ret;
	if (ret != VBLOCKS_USED || vb.start > c->life.start ||
	    vb.end < c->life.end)
		return 0;
	ret = listed ? lifelogs_find_block(cx, d->job->check, vb.blocknr, &b,
					   NULL) : 1;
	return ret > 0 ? b.ino == c->ino : damage_forgive(cx, ret);
}

/* Whether all that MAP leads to first is there in the life of C: 1, 0. */
static int fits(struct inodedecide *d, struct context *cx,
		const struct inodecase *c,
		const le64 map[NILFS_INODE_BMAP_SIZE], bool listed)
{
	struct bmap_node root;
	uint32_t i;
	int ret = 1;

	if (!bmap_is_btree(map)) {
		for (i = 0; i < NILFS_DIRECT_NBLOCKS && ret > 0; i++)
			if (bmap_direct_ptr(map, i))
				ret = reaches(d, cx, c,
					      bmap_direct_ptr(map, i), listed);
		return ret;
	}
	if (bmap_root_check(map) != RULE_OK)
		return 0;
	bmap_root_read(map, &root);
	for (i = 0; i < root.nchildren && ret > 0; i++)
		ret = reaches(d, cx, c, bmap_node_ptr(&root, i), listed);
	return ret;
}

/* Enters INODE of checkpoint CNO in C where that has none that is better. */
static int take_answer(struct inodedecide *d, struct context *cx,
		       struct inodecase *c, uint64_t cno,
		       const struct nilfs_inode *inode)
{
	const struct nilfs_inode *own = &c->inode;
	bool same = le64_get(inode->i_ctime) == le64_get(own->i_ctime) &&
		    le32_get(inode->i_generation) ==
			    le32_get(own->i_generation) &&
		    !memcmp(inode->i_bmap, own->i_bmap, sizeof(own->i_bmap));
	int ret = same || !inode_has_bmap(inode);

	if (!ret && !c->fits)
		ret = fits(d, cx, c, inode->i_bmap, false);
	if (ret < 0 || (c->other_cno && (!ret || (c->fits && !same))))
		return ret < 0 ? ret : 0;
	c->same = same;
	c->fits = ret;
	c->other_cno = cno;
	c->other = *inode;
	return 0;
}

/* Asks checkpoint CNO: 1, 0 where the number was free, -ENOMEM, -EINTR. */
static int ask_checkpoint(struct inodedecide *d, struct context *cx,
			  struct inodecase *c, uint64_t cno)
{
	struct volume *vol = d->job->vol;
	struct nilfs_inode inode;
	struct root root;
	enum rule rule;
	bool used = true;
	int ret = root_open(&root, cx, vol, cno);

	if (ret)
		return damage_is_fatal(ret) ? ret : !damage_forgive(cx, ret);
	ret = damage_forgive(cx, file_bit(&root.ifile, cx, &vol->ifile_palloc,
					  c->ino, &used));
	if (ret < 0 || !used)
		return ret < 0 ? ret : 0;
	ret = damage_forgive(cx, root_inode_bytes(&root, cx, c->ino, &inode));
	/* The newest one may share its block with checkpoints before. */
	if (ret <= 0 || (c->cno == vol->latest.cno &&
			 !memcmp(&inode, &c->inode, sizeof(inode))))
		return ret < 0 ? ret : 1;
	ret = inoderepair_judge(vol, cx, c->ino, &inode, &rule);
	if (!ret && rule == RULE_OK)
		ret = take_answer(d, cx, c, cno, &inode);
	return ret < 0 ? ret : 1;
}

int inodedecide_ask(struct inodedecide *d, struct context *cx,
		    struct inodecase *c)
{
	bool empty = inode_is_empty(&c->inode);	/* which is not as it was */
	unsigned int left = ASK_MOST;
	uint64_t cno;
	int ret = 1;

	if (c->asked)
		return c->same;
	c->asked = true;
	around_begin(&d->around, c->life);
	while (ret >= 0 && left && !c->same && !(c->fits && empty) &&
	       (ret = around_next(&d->around, cx, &cno)) > 0) {
		ret = ask_checkpoint(d, cx, c, cno);
		if (!ret)
			around_end_side(&d->around, cno);
		left -= c->other_cno != 0;
	}
	return ret < 0 ? ret : c->same;
}

int inodedecide_is_another(struct inodedecide *d, struct context *cx,
			   struct inodecase *c)
{
	int ret = inodedecide_ask(d, cx, c);

	return ret < 0 ? ret : c->other_cno &&
			       !inode_is_same_file(&c->other, &c->inode);
}

int inodedecide_is_foreign(struct inodedecide *d, struct context *cx,
			   const struct inodecase *c)
{
	uint64_t ptr = inode_has_bmap(&c->inode) ?
			       bmap_first_ptr(c->inode.i_bmap) : 0;
	struct segsum_block b = { .ino = c->ino };
	struct vblock vb;
	int ret = ptr ? vblocks_find(&d->vblocks, cx, ptr, &vb) : 0;

	if (!ptr || ret != VBLOCKS_USED)
		return ret < 0 ? ret : 0;
	ret = lifelogs_find_block(cx, d->job->check, vb.blocknr, &b, NULL);
	return ret < 0 ? damage_forgive(cx, ret) : b.ino != c->ino;
}

/* The fields that are wrong, by the rest of the volume: 1, 0. */
static int repair_fields(struct inodedecide *d, struct context *cx,
			 struct inodecase *c)
{
	const struct nilfs_inode before = c->inode;
	uint64_t bytes = c->got << d->job->vol->geo.block_bits;
	bool right = false;
	enum rule rule;
	int ret = 0;

	/* The type that the names say may be all that is wrong. */
	if (c->misnamed) {
		inoderepair_set_type(c->type, &c->inode);
		ret = inoderepair_check(d->job->vol, cx, c->ino, &c->inode,
					&rule);
		right = !ret && rule == RULE_OK;
	}
	/* A directory without nodes has the blocks that it was counted to have. */
	if (c->rule == RULE_INODE_DIR_BLOCKS &&
	    le64_get(c->inode.i_blocks) == bytes / SECTOR)
		c->inode.i_size = le64_make(bytes);
	if (c->rule == RULE_INODE_MODE && c->fits &&
	    le32_get(c->other.i_generation) == le32_get(before.i_generation))
		c->inode.i_mode = c->other.i_mode;
	if (!ret && !right && c->rule != RULE_INODE_EMPTY &&
	    (c->rule != RULE_INODE_MODE || !c->garbage))
		ret = inoderepair_fields(d->job->vol, cx, c->ino, c->type,
					 &c->inode);
	if (ret > 0 || right)
		ret = memcmp(&before, &c->inode, sizeof(before)) != 0;
	if (ret > 0)
		inodedecide_note(d, c, "fields repaired");
	else
		c->inode = before;
	return ret;
}

/* Gives the other inode the map that the file had: 1, 0 where none is known. */
static int find_map(struct inodedecide *d, struct context *cx,
		    struct inodecase *c)
{
	static const le64 none[NILFS_INODE_BMAP_SIZE];
	const struct nilfs_geometry *geo = &d->job->vol->geo;
	struct nilfs_inode *inode = &c->other, derived = *inode;
	uint64_t end, last = le64_get(inode->i_size) + geo->block_size - 1;
	int ret;

	if (c->same || !inode_has_bmap(inode))
		return 1;
	ret = lostinodes_map(&d->lost, cx, c->cno, c->ino, &derived, &end);
	if (ret > 0) {
		if (last >> geo->block_bits != end)
			derived.i_size = le64_make(end << geo->block_bits);
		c->from_logs = memcmp(inode->i_bmap, derived.i_bmap,
				      sizeof(derived.i_bmap));
		*inode = derived;
		return 1;
	}
	/* Its own, where that can be right, with a size that fits. */
	if (!ret && memcmp(c->inode.i_bmap, none, sizeof(none)))
		ret = fits(d, cx, c, c->inode.i_bmap, true);
	if (ret <= 0)
		return ret;
	memcpy(inode->i_bmap, c->inode.i_bmap, sizeof(none));
	ret = inoderepair_fit(d->job->vol, cx, c->ino, inode);
	return ret ? ret : 1;
}

/* Whether INODE is what C must be: one that is in use.  1, 0. */
static int is_live(struct inodedecide *d, struct context *cx,
		   const struct inodecase *c, const struct nilfs_inode *inode)
{
	if (!c->must_live)
		return 1;
	return inode_has_bmap(inode) ? fits(d, cx, c, inode->i_bmap, false) :
				       c->named;
}

/* C becomes what the other checkpoint has: 1, 0. */
static int take_other(struct inodedecide *d, struct context *cx,
		      struct inodecase *c)
{
	int ret = find_map(d, cx, c);

	c->old_map = !ret;
	if (ret < 0 || (!ret && !c->fits && c->life.end != NILFS_CNO_MAX))
		return ret;
	ret = is_live(d, cx, c, &c->other);
	if (ret <= 0)
		return ret;
	c->inode = c->other;
	inodedecide_note(d, c, "restored from checkpoint %" PRIu64 "%s",
			 c->other_cno,
			 c->from_logs ? ", its map from the logs" : "");
	return 1;
}

/* C is made of what names and logs say: 1, 0. */
static int make_inode(struct inodedecide *d, struct context *cx,
		      struct inodecase *c)
{
	const struct nilfs_inode before = c->inode;
	uint64_t end;
	int ret = lostinodes_map(&d->lost, cx, c->cno, c->ino, &c->inode, &end);

	if (ret > 0)
		ret = lostinodes_make(&d->lost, cx, c->cno, c->ino, &c->inode,
				      end);
	if (ret > 0)
		ret = is_live(d, cx, c, &c->inode);
	if (ret > 0)
		inodedecide_note(d, c, "rebuilt from the logs");
	else
		c->inode = before;
	return ret;
}

int inodedecide_run(struct inodedecide *d, struct context *cx,
		    struct inodecase *c)
{
	int ret = inodedecide_is_wrong(d, cx, c);
	bool hopeless = c->garbage || c->rule == RULE_INODE_EMPTY ||
			c->rule == RULE_INODE_LINKS_ZERO;

	if (ret >= 0)
		ret = inodedecide_ask(d, cx, c);
	if (!ret && !hopeless)
		ret = repair_fields(d, cx, c);
	if (ret < 0 || (ret && !c->same))
		return ret;
	ret = c->other_cno ? take_other(d, cx, c) : make_inode(d, cx, c);
	return ret || !hopeless || c->must_live ? ret : repair_fields(d, cx, c);
}
