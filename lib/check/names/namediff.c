// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks the names of a checkpoint by its difference from another one.
 *
 * Neighbouring checkpoints share most directories.  If all names and links of
 * one are correct, its list of inodes is updated to the next: names in blocks
 * that only the old one has are subtracted, inodes that differ are replaced,
 * and names in blocks that only the new one has are added, by the functions
 * that read whole directories.  Then all changes are checked.
 *
 * This shows only whether the checkpoint is correct.  At the first doubt, the
 * caller reads it as a whole and reports what is wrong.  A difference that
 * cannot be judged is a doubt too: a changed type below an unchanged name, a
 * directory without links, a map that does not match the size.
 *
 * A name added to a directory may exist in a block that is not read.  Names of
 * replaced blocks cannot, so these are remembered; for any other name, the
 * directory is read again.
 *
 * Inodes that differ are found by comparing the blocks of the ifiles that are
 * not shared: bitmaps bit by bit, inodes field by field.  Most differ only in
 * fields that names do not depend on.  An inode found twice, by its bit and its
 * bytes, is processed once.  A directory with the same size and root of its map
 * is unchanged, because blocks never change in place.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/sort.h"
#include "check/blockbatch.h"
#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "check/names/names.h"
#include "disk/inode.h"
#include "vol/inodediff.h"
#include "vol/mapdiff.h"

#define CHANGES_SHARE 8	/* share of the table memory for inodes that differ */
#define NAME_BYTES 32u	/* approximate bytes of a directory per name */

struct namediff {
	struct names *n;
	struct root *from, *to;

	/* Inodes that differ, in the end ascending by number. */
	struct inodelist_change *changes;
	size_t count, room;
	uint64_t most;
	bool sorted;		/* ascending so far */

	struct nameset gone;	/* names of replaced blocks of directories
				   that keep blocks */
	bool keeping;		/* directories that keep blocks are
				   processed, else the others */

	/* The current directory. */
	size_t dir;		/* index */
	struct blockbatch *batch;
	bool added;		/* blocks of the new side are read */
};

/* Adds an inode that differs in a field that names and links depend on.  1 if more
   inodes differ than can be kept. */
static int namediff_visit_inode(void *arg, struct context *cx,
				const struct inodediff_item *item)
{
	const struct nilfs_inode *a = item->a, *b = item->b;
	struct namediff *d = arg;
	uint8_t type;

	if (a && b) {
		type = inode_dirent_type(le16_get(a->i_mode));
		if (type == inode_dirent_type(le16_get(b->i_mode)) &&
		    le16_get(a->i_links_count) == le16_get(b->i_links_count) &&
		    (type != NILFS_FT_DIR || inode_has_same_map(a, b)))
			return 0;
	}
	if (d->count >= d->most)
		return 1;
	d->sorted &= !d->count || d->changes[d->count - 1].ino < item->ino;
	return array_push(cx, &d->changes, &d->count, &d->room,
			  (struct inodelist_change){ .ino = item->ino });
}

/*
 * Finds the inodes that differ in the properties that names and links depend
 * on: existence, type, links, and size and map of a directory.  Uses at most
 * BYTES.  1; 0 if an ifile cannot be read or more inodes differ.  -ENOMEM,
 * -EINTR.
 */
static int find_changes(struct namediff *d, struct context *cx, uint64_t bytes)
{
	struct volume *vol = d->to->vol;
	struct nilfs_inode inode, old;
	struct inodelist_change *c;
	struct inodelist_row row;
	size_t n = 0, i;
	uint16_t links;
	bool allocated, compared;
	int ret;

	d->most = bytes / sizeof(*d->changes);
	d->sorted = true;
	ret = inodediff_run(cx, d->from, d->to, INODEDIFF_BITS,
			    namediff_visit_inode, d);
	compared = !ret;
	if (compared && !d->sorted)
		sort_in_place(d->changes, d->count, sizeof(*d->changes),
			      sort_compare_number);
	for (i = 0; compared && i < d->count && ret >= 0; i++) {
		c = &d->changes[i];
		if (i && c->ino == c[-1].ino)
			continue;
		row = inodelist_find(&d->n->list, c->ino);
		allocated = false;
		links = 0;
		ret = file_bit(&d->to->ifile, cx, &vol->ifile_palloc, c->ino,
			       &allocated);
		if (ret >= 0)
			ret = root_inode_bytes(d->to, cx, c->ino, &inode);
		if (ret > 0)
			c->kind = inodelist_kind(vol, c->ino, &inode,
						 allocated);
		if (ret > 0 && c->kind)
			c->links = le16_get(inode.i_links_count);
		if (row.chunk) {
			c->before = row.chunk->kind[row.at];
			links = row.chunk->links[row.at];
		}
		c->map = inodelist_is_dir(c->kind) !=
			 inodelist_is_dir(c->before);
		if (ret >= 0 && !c->map && inodelist_is_dir(c->kind)) {
			ret = root_inode_bytes(d->from, cx, c->ino, &old);
			c->map = !inode_has_same_map(&old, &inode);
		}
		if (ret >= 0 && (c->map || c->kind != c->before ||
				 c->links != links))
			d->changes[n++] = *c;
	}
	if (compared)
		d->count = n;
	if (ret < 0 && damage_is_fatal(ret))
		return ret;
	if (ret < 0)
		fail_clear(cx);
	return compared && ret >= 0;
}

/*
 * Calls VISIT for the blocks in which the versions of a directory in both checkpoints
 * differ, and sets BLOCKS to the numbers of blocks by their sizes; 0 where the inode
 * is no directory.
 */
static int compare_versions(const struct namediff *d, struct context *cx,
			    const struct inodelist_change *c,
			    uint64_t blocks[2], mapdiff_visit *visit, void *arg)
{
	struct root *roots[2] = { d->from, d->to };
	const uint8_t kinds[2] = { c->before, c->kind };
	const struct nilfs_inode *sides[2] = { NULL, NULL };
	struct nilfs_inode inodes[2];
	unsigned int i;
	int ret;

	for (i = 0; i < 2; i++) {
		blocks[i] = 0;
		if (!inodelist_is_dir(kinds[i]))
			continue;
		ret = root_inode_bytes(roots[i], cx, c->ino, &inodes[i]);
		if (ret < 0)
			return ret;
		sides[i] = &inodes[i];
		blocks[i] = div_round_up(le64_get(inodes[i].i_size),
					 d->to->vol->geo.block_size);
	}
	return mapdiff_run_file(cx, d->to->vol, c->ino, sides[0], sides[1],
				visit, arg);
}

/* Counts the blocks in which the versions of a directory differ. */
struct measure {
	uint64_t blocks[2];	/* number of blocks by the size */
	uint64_t only_a, only_b, both;
	bool hole;		/* a block is missing or after the size */
};

static int namediff_count_block(void *arg, struct context *cx,
				const struct mapdiff_item *item)
{
	struct measure *m = arg;
	const uint64_t *blocks = m->blocks;

	(void)cx;
	if (item->a && item->b) {
		m->both++;
		m->hole |= item->key >= blocks[1];
	} else if (item->a) {
		m->only_a++;
		m->hole |= item->key < blocks[1];
	} else {
		m->only_b++;
		m->hole |= item->key < blocks[0] || item->key >= blocks[1];
	}
	return 0;
}

/*
 * Determines which of the directories that differ keep blocks.  A change that
 * the difference does not show is a doubt.  The old version of a directory has
 * exactly the blocks of its size; if the new version has not, that is a doubt.
 */
static int prepare_diff(struct namediff *d, struct context *cx)
{
	struct names *n = d->n;
	uint64_t least;
	size_t i;
	int err = 0;

	for (i = 0; i < d->count && !err && !n->doubts; i++) {
		struct inodelist_change *c = &d->changes[i];
		struct inodelist_row row = inodelist_find(&n->list, c->ino);
		struct measure m = { .only_a = 0 };
		const uint64_t *blocks = m.blocks;

		if ((c->before && !(c->before & INODELIST_TYPE)) ||
		    (c->kind && !(c->kind & INODELIST_TYPE)) ||
		    (inodelist_is_dir(c->before) &&
		     !row.chunk->links[row.at]) ||
		    (inodelist_is_dir(c->kind) && !c->links)) {
			n->doubts++;
			break;
		}
		if (!c->map)
			continue;
		err = compare_versions(d, cx, c, m.blocks,
				       namediff_count_block, &m);
		if (err)
			break;
		c->kept = inodelist_is_dir(c->before) &&
			  inodelist_is_dir(c->kind) &&
			  blocks[0] > m.only_a + m.both;
		least = blocks[0] < blocks[1] ? blocks[0] : blocks[1];
		n->doubts += m.hole || m.only_a != blocks[0] - least ||
			     m.only_b != blocks[1] - least ||
			     (inodelist_is_dir(c->kind) && !blocks[1]);
	}
	return err;
}

static int namediff_add_block(void *arg, struct context *cx,
			      const struct mapdiff_item *item)
{
	const struct namediff *d = arg;
	struct blockbatch_item block = {
		.owner = d->dir,
		.blkoff = item->key,
		.vblocknr = d->added ? item->b : item->a,
	};
	int err;

	if (!block.vblocknr)
		return 0;
	err = blockmap_resolve(&d->to->ifile.map, cx, block.vblocknr,
			       &block.blocknr);
	return err ? err : blockbatch_add(d->batch, cx, &block);
}

/* Adds the blocks of one side, of the directories that keep blocks or of the
   others. */
static int namediff_add_blocks(void *arg, struct context *cx,
			       struct blockbatch *batch)
{
	struct namediff *d = arg;
	uint64_t blocks[2];
	size_t i;
	int err = 0;

	d->batch = batch;
	for (i = 0; i < d->count && !err; i++) {
		const struct inodelist_change *c = &d->changes[i];

		if (!c->map || c->kept != d->keeping ||
		    !inodelist_is_dir(d->added ? c->kind : c->before))
			continue;
		d->dir = inodelist_find_dir(&d->n->list, c->ino);
		err = compare_versions(d, cx, c, blocks, namediff_add_block, d);
	}
	return err;
}

/* Subtracts the names in a block that was correct: its first entries are "."
   and "..". */
static int remove_block(void *arg, struct context *cx,
			const struct blockbatch_item *item, const void *data,
			int err)
{
	struct namediff *d = arg;
	struct inodelist *list = &d->n->list;
	struct inodelist_dir *dir = &list->dirs[item->owner];
	struct inodelist_row row;
	struct dirent_entry e;
	struct dirent_iter it;
	unsigned int slot;

	if (!data)
		return err;
	err = 0;
	if (!item->blkoff)
		dir->dotdot = INODELIST_UNKNOWN;
	dirent_iter_init(&it, data, d->n->root.vol->geo.block_size);
	for (slot = 0; err >= 0 && dirent_iter_next(&it, &e); slot++) {
		if (!e.ino)
			continue;
		if (d->keeping)
			err = dupnames_add_tag(
				&d->gone, cx,
				dupnames_tag_in(dir->ino, e.name, e.name_len));
		if (!item->blkoff && slot <= 1)
			continue;
		row = inodelist_find(list, e.ino);
		if (!row.chunk || !row.chunk->names[row.at] ||
		    row.chunk->names[row.at] == UINT16_MAX) {
			d->n->doubts++;
			continue;
		}
		row.chunk->names[row.at]--;
		row.chunk->touched = true;
		if (!inodelist_is_dir(row.chunk->kind[row.at]))
			continue;
		list->dirs[inodelist_find_dir(list, e.ino)].parent = 0;
		dir->subdirs--;
	}
	return err < 0 ? err : 0;
}

/* Switches to the directories that keep blocks, or to the others: whether there
   are any. */
static bool turn_to(struct namediff *d, bool keeping)
{
	size_t i;

	d->keeping = keeping;
	for (i = 0; i < d->count; i++)
		if (d->changes[i].map && d->changes[i].kept == keeping)
			return true;
	return false;
}

/* Updates the list from the old checkpoint to the new one. */
static int replace_names(struct namediff *d, struct context *cx)
{
	struct names *n = d->n;
	struct dupnames *dups = &n->dups;
	struct nilfs_inode inode;
	struct blockbatch batch;
	size_t i;
	int ret = dupnames_clear_set(&d->gone, cx), keeping;

	for (keeping = 0; keeping < 2 && !ret; keeping++) {
		if (!turn_to(d, keeping))
			continue;
		ret = blockbatch_open(&batch, cx, d->to->vol, remove_block, d) ?:
		      namediff_add_blocks(d, cx, &batch) ?:
		      blockbatch_flush(&batch, cx);
		blockbatch_close(&batch);
		d->batch = NULL;
	}
	/* The type of names that stay is right only if that of the inode is
	   unchanged. */
	for (i = 0; i < d->count; i++) {
		const struct inodelist_change *c = &d->changes[i];
		struct inodelist_row row = inodelist_find(&n->list, c->ino);

		n->doubts += row.chunk && row.chunk->names[row.at] &&
			     (c->before ^ c->kind) & INODELIST_TYPE;
	}
	if (!ret)
		ret = inodelist_apply(&n->list, cx, d->changes, d->count);
	if (!ret && !inodelist_has_dir(&n->list, NILFS_ROOT_INO))
		n->doubts++;
	if (ret || n->doubts)
		return ret;
	d->added = true;
	for (keeping = 0; keeping < 2 && !ret; keeping++) {
		n->gone = keeping ? &d->gone : NULL;
		if (turn_to(d, keeping))
			ret = names_read(n, cx, namediff_add_blocks, d);
	}
	n->gone = NULL;
	/* Estimates the number of names of each directory to be read again. */
	for (i = 0; i < dups->nbigs && ret >= 0; i++) {
		ret = root_inode_bytes(&n->root, cx,
				       n->list.dirs[dups->bigs[i].dir].ino,
				       &inode);
		dups->bigs[i].names = le64_get(inode.i_size) / NAME_BYTES;
	}
	if (ret >= 0)
		ret = dupnames_settle(n, cx);
	return ret ? ret : names_compare(n, cx, true);
}

int namediff_run(struct names *n, struct context *cx,
		 struct namediff_base *base, uint64_t *work)
{
	struct namediff d = { .n = n, .from = &base->root, .to = &n->root };
	int ret, err = 0;

	if (!base->root.vol)
		return 0;
	ret = find_changes(&d, cx, n->c->table_memory / CHANGES_SHARE);
	*work += d.count;
	if (ret > 0 && d.count && !base->sound)
		ret = 0;
	if (ret > 0 && d.count) {
		n->trial = true;
		n->doubts = 0;
		err = prepare_diff(&d, cx);
		if (!err && !n->doubts)
			err = replace_names(&d, cx);
		n->trial = false;
		n->dups.nsuspects = n->dups.nbigs = 0;
		/* If memory does not suffice, the checkpoint is read as a
		   whole. */
		ret = !err && !n->doubts;
		if (err == -EINTR)
			ret = err;
		else
			fail_clear(cx);
		if (ret > 0)
			inodelist_settle(&n->list);
	}
	free(d.changes);
	dupnames_free_set(&d.gone);
	return ret;
}
