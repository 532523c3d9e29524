// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decides the content of wrong inodes, for all checkpoints alike: the newest
 * one has a lifetime without end and no later checkpoints.
 *
 * An unchanged inode is in many blocks of the ifile, because it is rewritten
 * whenever another inode of its block changes.  So it is looked up in the
 * checkpoints before and after, from the nearest on.  Versions with the same
 * blocks and the same change time are equal.
 *
 * If the inode is still plausible, its wrong fields are derived from the rest
 * of the volume.  Otherwise it is replaced by that of another checkpoint,
 * preferably one with blocks that this checkpoint has too.  Checkpoints that
 * share the block of the ifile are useless; if the number was free in one,
 * checkpoints beyond it had another file.
 *
 * The map is that of the blocks that the logs list for the file and the DAT has
 * in this checkpoint.  If the logs do not have it, it is its own if that is
 * live and belongs to this file, or that of the other checkpoint: most files
 * have not changed, and in the newest checkpoint the repair of maps handles
 * blocks that have ended.  The logs are read once.
 *
 * If no checkpoint has the inode, its type is that in its directory entries, or
 * follows from its content.  All directories of the checkpoint are read for
 * that once.
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

/* Limit of checkpoints that are read after one had the inode. */
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

/* The place of the type of INO, or NULL if it is not among the inodes. */
static uint8_t *inodedecide_type_of(const struct inodeedit *e, uint64_t ino)
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
		type = inodedecide_type_of(e, entry.ino);
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
	const uint8_t *type = inodedecide_type_of(e, c->ino);
	struct inodelist list = { 0 };
	struct root root;
	enum rule rule;
	bool whole;
	int ret = 0;

	/* Collect the types of all inodes from the readable entries. */
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
	ret = inodefields_check(vol, cx, c->ino, inode, &rule);
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

/* Whether all blocks that MAP leads to directly are live as long as the block
   of C, and, with LISTED, whether the logs list them for the file: 1, 0. */
static int map_fits_case(struct inodeedit *e, struct context *cx,
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
		if (ret != VBLOCKS_USED || !lifetime_contains(&vb.life, &c->life))
			return 0;
		ret = listed ? listings_find_block(cx, e->job->check,
						   vb.blocknr, &b) : 1;
		if (ret <= 0 || b.ino != c->ino)
			return damage_forgive(cx, ret < 0 ? ret : 0);
	}
	return 1;
}

/* Looks in checkpoint CNO, whose inode C gets if it is better than the one
   before: 1, 0 if the number was free, -ENOMEM, -EINTR. */
static int inodedecide_ask_checkpoint(struct inodeedit *e, struct context *cx,
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
	/* The newest one may share its block with earlier checkpoints. */
	if (ret <= 0 || inode_check(&vol->geo, &inode, c->ino) != RULE_OK ||
	    (c->cno == vol->latest.cno &&
	     !memcmp(&inode, own, sizeof(inode))))
		return ret < 0 ? ret : 1;
	ret = inodefields_check(vol, cx, c->ino, &inode, &rule);
	if (ret || rule != RULE_OK)
		return ret ? ret : 1;
	same = le64_get(inode.i_ctime) == le64_get(own->i_ctime) &&
	       le32_get(inode.i_generation) == le32_get(own->i_generation) &&
	       !memcmp(inode.i_bmap, own->i_bmap, sizeof(own->i_bmap));
	ret = same || !inode_has_bmap(&inode);
	if (!ret && !c->fits)
		ret = map_fits_case(e, cx, c, inode.i_bmap, false);
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
	bool empty = inode_is_empty(&c->inode);	/* an empty inode is not as it was */
	unsigned int left = ASK_MOST;
	uint64_t cno;
	int ret = 1;

	if (c->asked)
		return c->same;
	c->asked = true;
	nearcps_begin(&e->nearby, c->life);
	while (ret >= 0 && left && !c->same && !(c->fits && empty) &&
	       (ret = nearcps_next(&e->nearby, cx, &cno)) > 0) {
		ret = inodedecide_ask_checkpoint(e, cx, c, cno);
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

/* Corrects wrong fields from the rest of the volume: 1, 0. */
static int repair_fields(struct inodeedit *e, struct context *cx,
			 struct inodecase *c)
{
	const struct nilfs_inode before = c->inode;
	uint64_t bytes = c->got << e->job->vol->geo.block_bits;
	bool right = false;
	enum rule rule;
	int ret = 0;

	/* A wrong type, by the names, may be the only error. */
	if (c->misnamed) {
		inodefields_set_type(c->type, &c->inode);
		ret = inodefields_check(e->job->vol, cx, c->ino, &c->inode,
					&rule);
		right = !ret && rule == RULE_OK;
	}
	/* Without nodes, the block count of a directory equals its size. */
	if (c->rule == RULE_INODE_DIR_BLOCKS &&
	    le64_get(c->inode.i_blocks) == bytes / SECTOR)
		c->inode.i_size = le64_make(bytes);
	if (c->rule == RULE_INODE_MODE && c->fits &&
	    le32_get(c->other.i_generation) == le32_get(before.i_generation))
		c->inode.i_mode = c->other.i_mode;
	if (!ret && !right && c->rule != RULE_INODE_EMPTY &&
	    (c->rule != RULE_INODE_MODE || !c->garbage))
		ret = inodefields_repair(e->job->vol, cx, c->ino, c->type,
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
 * Gives INODE the map of C, and its block count, by the logs, and sets *END to
 * one past its last data block: 1, 0 if the logs have none.
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

/* Completes c->other, from another checkpoint, with the map of C here;
   *FROM_LOGS if the map is from the logs.  1, 0. */
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
	/* Its own map, if that can be right, with a size that matches. */
	if (!ret && memcmp(c->inode.i_bmap, none, sizeof(none))) {
		ret = map_fits_case(e, cx, c, c->inode.i_bmap, true);
		if (ret > 0) {
			memcpy(inode->i_bmap, c->inode.i_bmap, sizeof(none));
			ret = inodefields_fit(e->job->vol, cx, c->ino, inode);
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
		/* Created from names and logs. */
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
				inodefields_set_type(c->type, &c->other);
			ret = inodefields_repair(vol, cx, c->ino, c->type,
					       &c->other);
		}
	}
	if (ret > 0 && c->must_live)
		ret = inode_has_bmap(&c->other)
			      ? map_fits_case(e, cx, c, c->other.i_bmap, false)
			      : c->named;
	if (!ret && hopeless && !c->must_live) {
		/* With the map of something else, it is no inode at all. */
		ret = c->type == NILFS_FT_REG_FILE || c->type == NILFS_FT_DIR ?
			      map_fits_case(e, cx, c, c->inode.i_bmap, false) : 1;
		return ret > 0 ? repair_fields(e, cx, c) : ret;
	}
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
