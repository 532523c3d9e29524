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
 * and its blocks are those that the logs list.  A directory entry repeats the
 * type of its inode, and any that names it knows it still: all directories of
 * its checkpoint are read for that, once.  The logs list the blocks of a file
 * with its number, and the DAT knows which of them the checkpoint has: that is
 * its map.  They are read once, too.
 */
#include "fsck/tree/inodeedit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "check/logs/listings.h"
#include "disk/bmap.h"
#include "disk/dirent.h"
#include "disk/inode.h"
#include "vol/root.h"

#define SECTOR 512u

/* Checkpoints that are asked once one has the inode. */
#define ASK_MOST 256

void inodedecide_note(struct inodeedit *e, const struct inodecase *c,
		      const char *fmt, ...)
{
	char text[128];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (c->cno == e->job->vol->latest.cno)
		fixers_note(e->job, "inode %" PRIu64 ": %s", c->ino, text);
	else
		fixers_note(e->job, "checkpoint %" PRIu64 ": inode %" PRIu64
			    ": %s", c->cno, c->ino, text);
}

/* Where the type of INO is, or NULL if it was not asked for. */
static uint8_t *type_of(const struct inodeedit *e, uint64_t ino)
{
	size_t at = search_lower_bound(e->inos, e->n, ino);

	return at < e->n && e->inos[at] == ino ? &e->types[at] : NULL;
}

static int take_names(void *arg, struct context *cx,
		      const struct blockbatch_item *item, const void *data,
		      int err)
{
	struct inodeedit *e = arg;
	struct dirent_entry entry;
	struct dirent_iter it;
	uint8_t *type;

	(void)cx;
	(void)item;
	if (!data)
		return damage_is_fatal(err) ? err : 0;
	dirent_iter_init(&it, data, e->job->vol->geo.block_size);
	while (dirent_iter_next(&it, &entry)) {
		type = type_of(e, entry.ino);
		if (type && *type == NILFS_FT_UNKNOWN &&
		    entry.type < NILFS_FT_MAX)
			*type = entry.type;
	}
	return 0;
}

int inodedecide_is_wrong(struct inodeedit *e, struct context *cx,
			 struct inodecase *c)
{
	const struct nilfs_inode *inode = &c->inode;
	struct volume *vol = e->job->vol;
	unsigned int signs = inode_signs(&vol->geo, inode);
	const uint8_t *type = type_of(e, c->ino);
	struct inodelist list = { 0 };
	struct root root;
	enum rule rule;
	bool whole;
	int ret = 0;

	/* What the entries that can be read say of all inodes. */
	if (type && e->named != c->cno) {
		memset(e->types, NILFS_FT_UNKNOWN, e->n);
		e->named = c->cno;
		ret = root_open(&root, cx, vol, c->cno);
		if (!ret)
			ret = inodelist_fill(&root, cx, &list, &whole);
		if (!ret)
			ret = inodelist_read_dirs(&root, cx, &list, 0,
						  list.ndirs, take_names, e);
		inodelist_fini(&list);
		ret = damage_forgive(cx, ret);
		if (ret)
			return ret;
		fail_clear(cx);
	}
	ret = inodeedit_check(vol, cx, c->ino, inode, &rule);
	if (ret)
		return ret;
	c->type = type ? *type : NILFS_FT_UNKNOWN;
	c->misnamed = c->ino != NILFS_ROOT_INO && c->type != NILFS_FT_UNKNOWN &&
		      c->type != inode_dirent_type(le16_get(inode->i_mode));
	if (c->misnamed && !signs) {
		ret = inodelist_is_mistyped(vol, cx, c->ino, inode, c->type);
		c->misnamed = ret > 0;
	}
	c->garbage = signs && signs + c->misnamed > 1;
	return ret < 0 ? ret : rule != RULE_OK || c->misnamed || c->garbage;
}

/* Whether all that MAP leads to first lives as long as the block of C, and, with
   LISTED, that the logs have it for the file: 1, 0. */
static int fits(struct inodeedit *e, struct context *cx,
		const struct inodecase *c,
		const le64 map[NILFS_INODE_BMAP_SIZE], bool listed)
{
	bool tree = bmap_is_btree(map);
	uint32_t i, n = NILFS_DIRECT_NBLOCKS;
	struct bmap_node root;
	struct vblock vb;
	uint64_t ptr;
	int ret;

	if (tree) {
		if (bmap_root_check(map) != RULE_OK)
			return 0;
		bmap_root_read(map, &root);
		n = root.nchildren;
	}
	for (i = 0; i < n; i++) {
		struct segsum_block b = { .ino = c->ino };

		ptr = tree ? bmap_node_ptr(&root, i) : bmap_direct_ptr(map, i);
		if (!ptr && !tree)
			continue;
		ret = vblocks_find(&e->vblocks, cx, ptr, &vb);
		if (ret < 0)
			return ret;
		if (ret != VBLOCKS_USED || vb.start > c->life.start ||
		    vb.end < c->life.end)
			return 0;
		ret = listed ? listings_find_block(cx, e->job->check,
						   vb.blocknr, &b, NULL) : 1;
		if (ret <= 0 || b.ino != c->ino)
			return damage_forgive(cx, ret < 0 ? ret : 0);
	}
	return 1;
}

/* Asks checkpoint CNO, whose inode C gets where it has none that is better: 1, 0
   where the number was free, -ENOMEM, -EINTR. */
static int ask_checkpoint(struct inodeedit *e, struct context *cx,
			  struct inodecase *c, uint64_t cno)
{
	const struct nilfs_inode *own = &c->inode;
	struct volume *vol = e->job->vol;
	struct nilfs_inode inode;
	struct root root;
	enum rule rule;
	bool used = true, same;
	int ret = root_open(&root, cx, vol, cno);

	if (ret)
		return damage_is_fatal(ret) ? ret : !damage_forgive(cx, ret);
	ret = damage_forgive(cx, file_bit(&root.ifile, cx, &vol->ifile_palloc,
					  c->ino, &used));
	if (ret < 0 || !used)
		return ret < 0 ? ret : 0;
	ret = damage_forgive(cx, root_inode_bytes(&root, cx, c->ino, &inode));
	/* The newest one may share its block with checkpoints before. */
	if (ret <= 0 || inode_check(&vol->geo, &inode, c->ino) != RULE_OK ||
	    (c->cno == vol->latest.cno &&
	     !memcmp(&inode, own, sizeof(inode))))
		return ret < 0 ? ret : 1;
	ret = inodeedit_check(vol, cx, c->ino, &inode, &rule);
	if (ret || rule != RULE_OK)
		return ret ? ret : 1;
	same = le64_get(inode.i_ctime) == le64_get(own->i_ctime) &&
	       le32_get(inode.i_generation) == le32_get(own->i_generation) &&
	       !memcmp(inode.i_bmap, own->i_bmap, sizeof(own->i_bmap));
	ret = same || !inode_has_bmap(&inode);
	if (!ret && !c->fits)
		ret = fits(e, cx, c, inode.i_bmap, false);
	if (ret < 0 || (c->other_cno && (!ret || (c->fits && !same))))
		return ret < 0 ? ret : 1;
	c->same = same;
	c->fits = ret;
	c->other_cno = cno;
	c->other = inode;
	return 1;
}

int inodedecide_ask(struct inodeedit *e, struct context *cx,
		    struct inodecase *c)
{
	bool empty = inode_is_empty(&c->inode);	/* which is not as it was */
	unsigned int left = ASK_MOST;
	uint64_t cno;
	int ret = 1;

	if (c->asked)
		return c->same;
	c->asked = true;
	nearcps_begin(&e->nearby, c->life);
	while (ret >= 0 && left && !c->same && !(c->fits && empty) &&
	       (ret = nearcps_next(&e->nearby, cx, &cno)) > 0) {
		ret = ask_checkpoint(e, cx, c, cno);
		if (!ret)
			nearcps_end_side(&e->nearby, cno);
		left -= c->other_cno != 0;
	}
	return ret < 0 ? ret : c->same;
}

int inodedecide_is_another(struct inodeedit *e, struct context *cx,
			   struct inodecase *c)
{
	int ret = inodedecide_ask(e, cx, c);

	return ret < 0 ? ret : c->other_cno &&
			       !inode_is_same_file(&c->other, &c->inode);
}

/* The fields that are wrong, by the rest of the volume: 1, 0. */
static int repair_fields(struct inodeedit *e, struct context *cx,
			 struct inodecase *c)
{
	const struct nilfs_inode before = c->inode;
	uint64_t bytes = c->got << e->job->vol->geo.block_bits;
	bool right = false;
	enum rule rule;
	int ret = 0;

	/* The type that the names say may be all that is wrong. */
	if (c->misnamed) {
		inodeedit_set_type(c->type, &c->inode);
		ret = inodeedit_check(e->job->vol, cx, c->ino, &c->inode,
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
		ret = inodeedit_fields(e->job->vol, cx, c->ino, c->type,
					 &c->inode);
	if (ret > 0 || right)
		ret = memcmp(&before, &c->inode, sizeof(before)) != 0;
	if (ret > 0)
		inodedecide_note(e, c, "fields repaired");
	else
		c->inode = before;
	return ret;
}

/*
 * Gives INODE the map of C, and its count of blocks, as the logs know it, and
 * sets *END to one past its last block of data: 1, 0 where they know none.
 */
static int find_map(struct inodeedit *e, struct context *cx,
		    const struct inodecase *c, struct nilfs_inode *inode,
		    uint64_t *end)
{
	int err = 0;

	if (!e->listed) {
		err = fileblocks_gather(&e->fileblocks, cx, e->job->check, e->inos,
				    e->n);
		e->listed = true;
		e->many = err == -EFBIG;
	}
	if (e->many && err) {
		fail_clear(cx);
		fileblocks_fini(&e->fileblocks);
		err = 0;
	}
	return err ? err : fileblocks_map(e->job->check, cx,
				      e->many ? NULL : &e->fileblocks, c->ino,
				      c->cno, inode, end);
}

/* Makes c->other, of another checkpoint, what C is to be, with the map that it had
   here; *FROM_LOGS where the logs say which.  1, 0. */
static int fit_other(struct inodeedit *e, struct context *cx,
		     struct inodecase *c, bool *from_logs)
{
	static const le64 none[NILFS_INODE_BMAP_SIZE];
	const struct nilfs_geometry *geo = &e->job->vol->geo;
	struct nilfs_inode *inode = &c->other, derived = *inode;
	uint64_t end, last = le64_get(inode->i_size) + geo->block_size - 1;
	int ret;

	if (c->same || !inode_has_bmap(inode))
		return 1;
	ret = find_map(e, cx, c, &derived, &end);
	if (ret > 0) {
		if (last >> geo->block_bits != end)
			derived.i_size = le64_make(end << geo->block_bits);
		*from_logs = memcmp(inode->i_bmap, derived.i_bmap,
				    sizeof(none));
		*inode = derived;
	}
	/* Its own, where that can be right, with a size that fits. */
	if (!ret && memcmp(c->inode.i_bmap, none, sizeof(none))) {
		ret = fits(e, cx, c, c->inode.i_bmap, true);
		if (ret > 0) {
			memcpy(inode->i_bmap, c->inode.i_bmap, sizeof(none));
			ret = inodeedit_fit(e->job->vol, cx, c->ino, inode);
			ret = ret ? ret : 1;
		}
	}
	c->old_map = !ret;
	return ret ? ret : c->fits || c->life.end == NILFS_CNO_MAX;
}

int inodedecide_run(struct inodeedit *e, struct context *cx,
		    struct inodecase *c)
{
	int ret = inodedecide_is_wrong(e, cx, c);
	bool hopeless = c->garbage || c->rule == RULE_INODE_EMPTY ||
			c->rule == RULE_INODE_LINKS_ZERO;
	struct volume *vol = e->job->vol;
	bool from_logs = false;
	uint64_t end;

	if (ret >= 0)
		ret = inodedecide_ask(e, cx, c);
	if (!ret && !hopeless)
		ret = repair_fields(e, cx, c);
	if (ret < 0 || (ret && !c->same))
		return ret;
	if (c->other_cno) {
		ret = fit_other(e, cx, c, &from_logs);
	} else {
		/* What names and logs say of it. */
		c->other = (struct nilfs_inode){
			.i_ctime = le64_make(e->job->time),
			.i_mtime = le64_make(e->job->time),
			.i_mode = le16_make(c->type == NILFS_FT_DIR ? 0700 :
								      0600),
			.i_links_count = le16_make(1),
		};
		ret = find_map(e, cx, c, &c->other, &end);
		if (ret > 0) {
			c->other.i_size = le64_make(end << vol->geo.block_bits);
			if (c->type != NILFS_FT_UNKNOWN)
				inodeedit_set_type(c->type, &c->other);
			ret = inodeedit_fields(vol, cx, c->ino, c->type,
					       &c->other);
		}
	}
	if (ret > 0 && c->must_live)
		ret = inode_has_bmap(&c->other) ?
			      fits(e, cx, c, c->other.i_bmap, false) : c->named;
	if (!ret && hopeless && !c->must_live)
		return repair_fields(e, cx, c);
	if (ret <= 0)
		return ret;
	c->inode = c->other;
	if (c->other_cno)
		inodedecide_note(e, c, "restored from checkpoint %" PRIu64 "%s",
				 c->other_cno,
				 from_logs ? ", its map from the logs" : "");
	else
		inodedecide_note(e, c, "rebuilt from the logs");
	return 1;
}
