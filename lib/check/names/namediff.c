// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The names of a checkpoint, from those of another one and the difference.
 *
 * Checkpoints that follow one another share most directories.  Where all names
 * and links of one were found sound, the list of its inodes is carried over to
 * the next: the names in blocks that only the one has are subtracted, inodes
 * that differ are replaced, the names in blocks that only the other has are
 * added, by the same functions that read whole directories.  Then what was
 * touched is judged; all else is as it was.
 *
 * This only shows whether all is well.  At the first doubt the caller reads the
 * checkpoint whole, and what is wrong is found as in any other one.  A doubt is
 * also what the difference cannot show: a type that changed below a name that
 * did not, a directory without links, a map that does not fit the size.
 *
 * A name that comes to a directory may be one that it has in a block that is
 * not read.  Those that were in the replaced blocks cannot, so they are
 * remembered; for any other one the directory is read again.
 */

#include <errno.h>
#include <string.h>

#include "base/checked.h"
#include "check/blockbatch.h"
#include "check/names/dirread.h"
#include "check/names/ifilediff.h"
#include "check/names/names.h"
#include "vol/mapdiff.h"

#define CHANGES_SHARE 8 /* of the table memory, for inodes that differ */
#define NAME_BYTES 32u /* of a directory to a name, about */

struct namediff {
	struct names *n;
	struct root *from;
	struct ifilediff diff;
	struct nameset gone; /* from directories of which blocks are kept */
	bool keeping;	     /* which of them are processed */

	/* The current directory. */
	size_t dir; /* index */
	struct blockbatch *batch;
	const struct blockmap *map; /* of the side whose blocks are read */
	bool added;		    /* that is the new one */
};

/* Both versions of a directory; one of them may have no map. */
struct versions {
	struct blockmap maps[2];
	const struct blockmap *a, *b; /* NULL: none */
	uint64_t blocks_a, blocks_b;  /* by the size */
};

/* Of the blocks in which they differ. */
struct measure {
	const struct versions *v;
	uint64_t only_a, only_b, both;
	bool hole; /* one is missing, or past the size */
};

static void doubt_names(struct namediff *d)
{
	d->n->doubts++;
}

static int open_version(struct blockmap *map, struct context *cx,
			struct root *root, uint64_t ino, uint64_t *blocks)
{
	struct nilfs_inode inode;
	int ret = root_inode_bytes(root, cx, ino, &inode);

	if (ret < 0)
		return ret;
	*blocks =
		div_round_up(le64_get(inode.i_size), root->vol->geo.block_size);
	return blockmap_init(map, cx, root->vol, ino, &inode);
}

static int open_versions(const struct namediff *d, struct context *cx,
			 const struct inodelist_change *c, struct versions *v)
{
	int err = 0;

	*v = (struct versions){ .a = NULL };
	if (inodelist_is_dir(c->before)) {
		v->a = &v->maps[0];
		err = open_version(&v->maps[0], cx, d->from, c->ino,
				   &v->blocks_a);
	}
	if (!err && inodelist_is_dir(c->kind)) {
		v->b = &v->maps[1];
		err = open_version(&v->maps[1], cx, &d->n->root, c->ino,
				   &v->blocks_b);
	}
	return err;
}

static int count_block(void *arg, struct context *cx,
		       const struct mapdiff_item *item)
{
	struct measure *m = arg;

	(void)cx;
	if (item->a && item->b) {
		m->both++;
		m->hole |= item->key >= m->v->blocks_b;
	} else if (item->a) {
		m->only_a++;
		m->hole |= item->key < m->v->blocks_b;
	} else {
		m->only_b++;
		m->hole |= item->key < m->v->blocks_a ||
			   item->key >= m->v->blocks_b;
	}
	return 0;
}

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * Whether directory C keeps blocks.  The old one has exactly those of its size;
 * the new one is doubted unless it has.
 */
static int measure_diff(struct namediff *d, struct context *cx,
			struct inodelist_change *c)
{
	struct versions v;
	struct measure m = { .v = &v };
	int err = open_versions(d, cx, c, &v);

	if (!err)
		err = mapdiff_run(cx, v.a, v.b, count_block, &m);
	if (err)
		return err;
	c->kept = v.a && v.b && v.blocks_a > m.only_a + m.both;
	if (m.hole || m.only_a != above(v.blocks_a, v.blocks_b) ||
	    m.only_b != above(v.blocks_b, v.blocks_a) || (v.b && !v.blocks_b))
		doubt_names(d);
	return 0;
}

/* Whether C can be derived from the difference. */
static bool is_plain(struct namediff *d, const struct inodelist_change *c)
{
	struct inodelist_row row = inodelist_find(&d->n->list, c->ino);

	if ((c->before && !(c->before & INODELIST_TYPE)) ||
	    (c->kind && !(c->kind & INODELIST_TYPE)))
		return false;
	if (inodelist_is_dir(c->before) && !row.chunk->links[row.at])
		return false;
	return !inodelist_is_dir(c->kind) || c->links;
}

static int prepare_diff(struct namediff *d, struct context *cx)
{
	size_t i;
	int err = 0;

	for (i = 0; i < d->diff.count && !err && !d->n->doubts; i++) {
		struct inodelist_change *c = &d->diff.changes[i];

		if (!is_plain(d, c))
			doubt_names(d);
		else if (c->map)
			err = measure_diff(d, cx, c);
	}
	return err;
}

static int add_block(void *arg, struct context *cx,
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
	err = blockmap_resolve(d->map, cx, block.vblocknr, &block.blocknr);
	return err ? err : blockbatch_add(d->batch, cx, &block);
}

/* Adds the blocks of one side of those directories that keep some, or not. */
static int add_blocks(void *arg, struct context *cx, struct blockbatch *batch)
{
	struct namediff *d = arg;
	struct versions v;
	size_t i;
	int err = 0;

	d->batch = batch;
	for (i = 0; i < d->diff.count && !err; i++) {
		const struct inodelist_change *c = &d->diff.changes[i];

		if (!c->map || c->kept != d->keeping)
			continue;
		err = open_versions(d, cx, c, &v);
		d->map = d->added ? v.b : v.a;
		if (err || !d->map)
			continue;
		d->dir = inodelist_find_dir(&d->n->list, c->ino);
		err = mapdiff_run(cx, v.a, v.b, add_block, d);
	}
	return err;
}

/* Takes back that directory number DIR has a name of INO. */
static void remove_name(struct namediff *d, size_t dir, uint64_t ino)
{
	struct inodelist *list = &d->n->list;
	struct inodelist_row row = inodelist_find(list, ino);
	struct inodelist_dir *child;

	if (!row.chunk || !row.chunk->names[row.at] ||
	    row.chunk->names[row.at] == UINT16_MAX) {
		doubt_names(d);
		return;
	}
	row.chunk->names[row.at]--;
	row.chunk->touched = true;
	if (!inodelist_is_dir(row.chunk->kind[row.at]))
		return;
	child = &list->dirs[inodelist_find_dir(list, ino)];
	child->parent = 0;
	list->dirs[dir].subdirs--;
}

/* A block that was sound: its first entries are "." and "..". */
static int remove_block(void *arg, struct context *cx,
			const struct blockbatch_item *item, const void *data,
			int err)
{
	struct namediff *d = arg;
	uint64_t ino = d->n->list.dirs[item->owner].ino;
	struct dirent_entry e;
	struct dirent_iter it;
	unsigned int slot;

	if (!data)
		return err;
	err = 0;
	if (!item->blkoff)
		d->n->list.dirs[item->owner].dotdot = INODELIST_UNKNOWN;
	dirent_iter_init(&it, data, d->n->root.vol->geo.block_size);
	for (slot = 0; !err && dirent_iter_next(&it, &e); slot++) {
		if (!e.ino)
			continue;
		if (item->blkoff || slot > 1)
			remove_name(d, item->owner, e.ino);
		if (d->keeping)
			err = nameset_add(
				&d->gone, cx,
				nameset_tag_in(ino, e.name, e.name_len));
		err = err < 0 ? err : 0;
	}
	return err;
}

/* Turns to the directories that keep blocks, or the others: are there any? */
static bool turn_to(struct namediff *d, bool keeping)
{
	size_t i;

	d->keeping = keeping;
	for (i = 0; i < d->diff.count; i++)
		if (d->diff.changes[i].map &&
		    d->diff.changes[i].kept == keeping)
			return true;
	return false;
}

static int remove_names(struct namediff *d, struct context *cx, bool keeping)
{
	struct blockbatch batch;
	int err;

	if (!turn_to(d, keeping))
		return 0;
	err = blockbatch_open(&batch, cx, d->n->root.vol, remove_block, d);

	if (!err)
		err = add_blocks(d, cx, &batch);
	if (!err)
		err = blockbatch_flush(&batch, cx);
	blockbatch_close(&batch);
	d->batch = NULL;
	return err;
}

/* Names that stay are of the type that they say only if the inode is. */
static void doubt_types(struct namediff *d)
{
	size_t i;

	for (i = 0; i < d->diff.count; i++) {
		const struct inodelist_change *c = &d->diff.changes[i];
		struct inodelist_row row = inodelist_find(&d->n->list, c->ino);

		if (row.chunk && row.chunk->names[row.at] &&
		    (c->before ^ c->kind) & INODELIST_TYPE)
			doubt_names(d);
	}
}

/* Directories that are to be read again, about how many names each has. */
static int estimate_names(struct names *n, struct context *cx)
{
	struct dupnames *dups = &n->dups;
	struct nilfs_inode inode;
	size_t i;
	int ret = 0;

	for (i = 0; i < dups->nbigs && ret >= 0; i++) {
		ret = root_inode_bytes(&n->root, cx,
				       n->list.dirs[dups->bigs[i].dir].ino,
				       &inode);
		dups->bigs[i].names = le64_get(inode.i_size) / NAME_BYTES;
	}
	return ret < 0 ? ret : 0;
}

static int add_names(struct namediff *d, struct context *cx)
{
	struct names *n = d->n;
	int err = 0;

	d->added = true;
	if (turn_to(d, false))
		err = dirnames_read(n, cx, add_blocks, d);
	n->gone = &d->gone;
	if (!err && turn_to(d, true))
		err = dirnames_read(n, cx, add_blocks, d);
	n->gone = NULL;
	if (!err)
		err = estimate_names(n, cx);
	return err ? err : dupnames_settle(n, cx);
}

static bool has_root(struct inodelist *list)
{
	struct inodelist_row row = inodelist_find(list, NILFS_ROOT_INO);

	return row.chunk && row.chunk->links[row.at] &&
	       inodelist_is_dir(row.chunk->kind[row.at]);
}

/* Carries the list over. */
static int replace_names(struct namediff *d, struct context *cx)
{
	struct names *n = d->n;
	int err = nameset_clear(&d->gone, cx);

	if (!err)
		err = remove_names(d, cx, false);
	if (!err)
		err = remove_names(d, cx, true);
	doubt_types(d);
	if (!err)
		err = inodelist_apply(&n->list, cx, d->diff.changes,
				      d->diff.count);
	if (!err && !has_root(&n->list))
		doubt_names(d);
	if (err || n->doubts)
		return err;
	err = add_names(d, cx);
	return err ? err : linkcount_touched(n, cx);
}

/* What memory does not suffice for is read whole, too. */
static bool is_fatal(int err)
{
	return err == -EINTR;
}

static int try_difference(struct namediff *d, struct context *cx)
{
	struct names *n = d->n;
	int err;

	n->trial = true;
	n->doubts = 0;
	err = prepare_diff(d, cx);
	if (!err && !n->doubts)
		err = replace_names(d, cx);
	n->trial = false;
	n->dups.nsuspects = n->dups.nbigs = 0;
	if (err && is_fatal(err))
		return err;
	fail_clear(cx);
	if (err || n->doubts)
		return 0;
	inodelist_settle(&n->list);
	return 1;
}

int namediff_run(struct names *n, struct context *cx,
		 struct namediff_base *base, uint64_t *work)
{
	struct namediff d = { .n = n, .from = &base->root };
	int ret;

	if (!base->root.vol)
		return 0;
	ret = ifilediff_find(&d.diff, cx, n->c->table_memory / CHANGES_SHARE,
			     &base->root, &n->root, &n->list);
	*work += d.diff.count;
	if (ret > 0 && d.diff.count)
		ret = base->sound ? try_difference(&d, cx) : 0;
	ifilediff_fini(&d.diff);
	nameset_fini(&d.gone);
	return ret;
}
