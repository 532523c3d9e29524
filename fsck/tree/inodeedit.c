// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changes inodes in place, in the latest state or in a snapshot.
 *
 * A writer only allocates and frees inode numbers; it cannot correct the
 * bitmap, or an inode that is marked free.  So the ifile of the latest state is
 * changed block by block.  In a snapshot the existing blocks are changed, which
 * other checkpoints share (snapblocks.h).
 *
 * The new content of an inode is decided in inodedecide.c.  A map from another
 * checkpoint is repaired.
 *
 * An inode about which nothing is known is cleared.  In the latest state it is
 * free then, and the directory repair handles its names; this waits for a round
 * without repaired directories, which may contain the name and so the type.  A
 * lost root is created empty, because everything else can be linked into it.
 * In a snapshot a zeroed inode counts as missing.
 */
#include "fsck/tree/inodeedit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/damage.h"
#include "disk/dirpack.h"
#include "disk/inode.h"
#include "fsck/maps/mapfile.h"
#include "log/remap.h"
#include "log/directwriter.h"
#include "vol/root.h"

int inodeedit_open(struct inodeedit *e, struct context *cx,
		   struct fixer_job *job, struct snapblocks *snap,
		   const uint64_t *inos, size_t n)
{
	const struct palloc *palloc = &job->vol->ifile_palloc;
	uint64_t *blocks = calloc(n + 1, sizeof(*blocks)), ino;
	struct palloc_block what;
	size_t i;
	int err;

	*e = (struct inodeedit){
		.job = job,
		.geo = &job->vol->geo,
		.latest = job->vol->latest.cno,
		.palloc = palloc,
		.ifile = directwriter_file(job->writer, NILFS_IFILE_INO),
		.snap = snap,
	};
	vblocks_init(&e->vblocks, job->vol, NULL);
	if (!blocks)
		return fail(cx, -ENOMEM, "blocks of %zu inodes", n);
	for (i = 0; i < n; i++)
		blocks[i] = palloc_entry_blkoff(palloc, inos[i]);
	n = sort_unique(blocks, n);
	err = array_reserve(cx, &e->inos, &e->room,
			    n * palloc->entries_per_block + 1);
	for (i = 0; i < n && !err; i++) {
		palloc_locate(palloc, blocks[i], &what);
		for (ino = what.first; ino < what.first + what.count; ino++)
			if (!inode_is_private(ino))
				e->inos[e->n++] = ino;
	}
	free(blocks);
	e->types = calloc(e->n + 1, sizeof(*e->types));
	e->block = malloc(palloc->block_size);
	if (!err && (!e->types || !e->block))
		return fail(cx, -ENOMEM, "types of %zu inodes", e->n);
	return err || !n ? err : nearcps_open(&e->nearby, cx, job->vol);
}

int inodeedit_case(struct inodeedit *e, struct context *cx, uint64_t cno,
		   uint64_t ino, struct inodecase *c)
{
	uint64_t blkoff = palloc_entry_blkoff(e->palloc, ino);
	struct snapblocks_block block = { .level = 0 };
	const void *data;
	struct root root;
	int ret;

	*c = (struct inodecase){
		.cno = cno,
		.ino = ino,
		.life = { cno, NILFS_CNO_MAX },
		.rule = RULE_INODE_EMPTY,
	};
	if (cno == e->latest) {
		ret = metafile_look(e->ifile, cx, blkoff, &data);
	} else {
		data = e->block;
		ret = root_open(&root, cx, e->job->vol, cno);
		if (!ret)
			ret = blockmap_lookup(&root.ifile.map, cx, blkoff,
					      &block.vblocknr);
		if (ret > 0) {
			ret = snapblocks_read(e->snap, cx, &block, e->block);
			c->life = block.life;
		}
		ret = damage_forgive(cx, ret);
	}
	if (ret > 0)
		memcpy(&c->inode, (const char *)data +
		       palloc_entry_offset(e->palloc, ino), sizeof(c->inode));
	return ret;
}

/* Block BLKOFF of the ifile of CNO, writable: 1 and *DATA, 0. */
static int inodeedit_change_block(struct inodeedit *e, struct context *cx,
				  uint64_t cno, uint64_t blkoff, void **data,
				  bool *fresh)
{
	struct snapblocks_block *b;
	struct root root;
	int ret;

	*fresh = false;
	if (cno == e->latest) {
		ret = metafile_change(e->ifile, cx, blkoff, data, fresh);
		return ret ? ret : 1;
	}
	ret = root_open(&root, cx, e->job->vol, cno);
	if (!ret)
		ret = snapblocks_change_in(e->snap, cx, &root.ifile, blkoff,
					   &b);
	if (ret > 0)
		*data = b->content;
	return damage_forgive(cx, ret);
}

int inodeedit_write(struct inodeedit *e, struct context *cx,
		    const struct inodecase *c)
{
	struct inodecase old;
	void *data;
	bool fresh;
	int ret = inodeedit_case(e, cx, c->cno, c->ino, &old);

	if (ret > 0 && !memcmp(&old.inode, &c->inode, sizeof(c->inode)))
		return 0;
	if (ret >= 0)
		ret = inodeedit_change_block(
			e, cx, c->cno, palloc_entry_blkoff(e->palloc, c->ino),
			&data, &fresh);
	if (ret > 0)
		memcpy((char *)data + palloc_entry_offset(e->palloc, c->ino),
		       &c->inode, sizeof(c->inode));
	return ret;
}

int inodeedit_is_used(const struct inodeedit *e, struct context *cx,
		      uint64_t cno, uint64_t ino)
{
	uint64_t group = palloc_group(e->palloc, ino);
	const void *bitmap;
	struct root root;
	bool used = false;
	int ret;

	if (cno == e->latest) {
		ret = metafile_look(e->ifile, cx,
				    palloc_bitmap_blkoff(e->palloc, group),
				    &bitmap);
		return ret > 0 ? palloc_bit(bitmap, palloc_group_offset(
							    e->palloc, ino))
			       : ret;
	}
	ret = root_open(&root, cx, e->job->vol, cno);
	if (!ret)
		ret = file_bit(&root.ifile, cx, e->palloc, ino, &used);
	return ret < 0 ? damage_forgive(cx, ret) : used;
}

int inodeedit_mark(struct inodeedit *e, struct context *cx, uint64_t cno,
		   uint64_t ino, bool used)
{
	const struct palloc *p = e->palloc;
	uint64_t group = palloc_group(p, ino);
	uint32_t bit = palloc_group_offset(p, ino), nfrees, i;
	struct nilfs_palloc_group_desc *descs;
	uint8_t *bitmap;
	void *data;
	bool fresh;
	int ret = inodeedit_change_block(
		e, cx, cno, palloc_bitmap_blkoff(p, group), &data, &fresh);

	if (ret <= 0 || palloc_bit(data, bit) == used)
		return ret < 0 ? ret : 0;
	bitmap = data;
	bitmap[bit / 8] ^= (uint8_t)(1u << bit % 8);
	nfrees = p->entries_per_group - palloc_count(p, bitmap);
	if (cno == e->latest) {
		e->bits = true;
		if (ino >= NILFS_USER_INO)
			e->more += used ? 1 : -1;
	}
	ret = inodeedit_change_block(e, cx, cno, palloc_desc_blkoff(p, group),
				     &data, &fresh);
	if (ret <= 0)
		return ret;
	descs = data;
	for (i = 0; fresh && i < p->groups_per_desc; i++)
		descs[i].pg_nfrees = le32_make(p->entries_per_group);
	descs = (void *)((char *)data + palloc_desc_offset(p, group));
	descs->pg_nfrees = le32_make(nfrees);
	return 0;
}

int inodeedit_clear(struct inodeedit *e, struct context *cx, uint64_t cno,
		    uint64_t ino)
{
	const struct inodecase none = { .cno = cno, .ino = ino };
	int ret = inodeedit_write(e, cx, &none);

	return ret < 0 ? ret : inodeedit_mark(e, cx, cno, ino, false);
}

/* Creates an empty root, so that the volume can be mounted. */
static int make_empty_root(struct inodeedit *e, struct context *cx)
{
	uint32_t block_size = e->geo->block_size;
	struct inodecase c = {
		.cno = e->latest,
		.ino = NILFS_ROOT_INO,
		.inode = {
			.i_size = le64_make(block_size),
			.i_ctime = le64_make(e->job->time),
			.i_mtime = le64_make(e->job->time),
			.i_mode = le16_make(S_IFDIR | 0755),
			.i_links_count = le16_make(2),
		},
	};
	struct remap *map = NULL;
	struct dirpack p;
	void *block = malloc(block_size);
	int err = block ? 0 : fail(cx, -ENOMEM, "block of a directory");

	if (err)
		return err;
	dirpack_init(&p, block, block_size);
	dirpack_add(&p, NILFS_ROOT_INO, NILFS_FT_DIR, ".", 1);
	dirpack_add(&p, NILFS_ROOT_INO, NILFS_FT_DIR, "..", 2);
	dirpack_end(&p);
	err = remap_open(&map, cx, e->job->writer, NILFS_ROOT_INO);
	if (!err)
		err = remap_put(map, cx, 0, block);
	if (!err)
		err = remap_finish(map, cx, &c.inode);
	if (!err)
		err = inodeedit_write(e, cx, &c);
	remap_close(map);
	free(block);
	if (err >= 0)
		fixers_note(e->job, "root directory: created empty");
	return err;
}

int inodeedit_decide(struct inodeedit *e, struct context *cx,
		     struct inodecase *c)
{
	bool latest = c->cno == e->latest;
	enum rule rule;
	int ret = inodedecide_run(e, cx, c);

	if (ret < 0)
		return ret;
	if (ret > 0 && latest && c->old_map &&
	    array_push(cx, &e->borrowed, &e->nborrowed, &e->borrowed_room, c->ino))
		return -ENOMEM;
	if (ret > 0) {
		if (latest)
			e->ndirs += S_ISDIR(le16_get(c->inode.i_mode));
		else if (c->other_cno && !c->same && e->job->borrowed)
			*e->job->borrowed = true;
		return inodeedit_write(e, cx, c);
	}
	if (c->must_live)
		return 0;
	if (latest && c->ino == NILFS_ROOT_INO)
		return make_empty_root(e, cx);
	if (latest && !e->last) {
		e->nlater++;
		return 0;
	}
	if (!latest) {
		if (c->ino == NILFS_ROOT_INO || inode_is_empty(&c->inode))
			return 0;
		ret = inodefields_check(e->job->vol, cx, c->ino, &c->inode,
					&rule);
		if (ret || (rule == RULE_OK &&
			    !inode_is_garbage(e->geo, &c->inode)))
			return ret;
	}
	inodedecide_note(e, c, "lost, no checkpoint has it");
	if (latest)
		return inodeedit_clear(e, cx, c->cno, c->ino);
	memset(&c->inode, 0, sizeof(c->inode));
	return inodeedit_write(e, cx, c);
}

int inodeedit_close(struct inodeedit *e, struct context *cx, int err)
{
	if (!err && e->nborrowed)
		err = fix_maps_of(e->job, cx, e->borrowed, e->nborrowed);
	if (!err)
		directwriter_count_inodes(e->job->writer, e->more);
	if (!err && e->bits)
		err = directwriter_changed(e->job->writer, cx);
	free(e->borrowed);
	free(e->block);
	free(e->inos);
	free(e->types);
	fileblocks_fini(&e->fileblocks);
	vblocks_fini(&e->vblocks);
	nearcps_close(&e->nearby);
	return err;
}
