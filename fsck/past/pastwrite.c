// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every checkpoint that has one of the blocks gets the new one instead.
 *
 * A block is replaced for all of them, with the same life (log/past.h): no
 * node and no inode is in checkpoints that do not all have what it points to,
 * so those that point to it are replaced likewise, each once, up to the
 * inode of the ifile, which stands in the cpfile.  What was replaced is
 * remembered, and several checkpoints share the new blocks as they did the
 * old ones.
 *
 * First come the maps of files, by which inodes change and so blocks of the
 * ifile, then the maps of ifiles.  Of a map only what leads to one of the
 * blocks is read.
 */
#include "fsck/past/pastblocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "disk/bmap.h"
#include "disk/checkpoint.h"
#include "disk/inode.h"
#include "log/meta/bmapnode.h"
#include "log/past.h"
#include "log/repairwriter.h"
#include "vol/cptable.h"
#include "vol/root.h"

/* Where in a file something is to be replaced. */
struct goal {
	uint64_t ino, key;
};

struct pastwrite {
	struct pastblocks *p;
	struct goal *goals;	/* sorted */
	size_t ngoals;
	uint64_t *cnos;		/* those that may have any of the blocks */
	size_t ncnos;
	uint64_t ino;		/* the current file */
	struct sparse seen;	/* blocks of the ifile that had it */
};

static int compare_goal(const void *a, const void *b)
{
	const struct goal *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static bool is_below(const void *item, const void *key)
{
	return compare_goal(item, key) < 0;
}

static int set_goals(struct pastwrite *w, struct context *cx)
{
	size_t i;

	free(w->goals);
	w->ngoals = w->p->n;
	w->goals = calloc(w->ngoals + 1, sizeof(*w->goals));
	if (!w->goals)
		return fail(cx, -ENOMEM, "blocks of snapshots");
	for (i = 0; i < w->ngoals; i++)
		w->goals[i] = (struct goal){ w->p->list[i].ino,
					     w->p->list[i].key };
	sort_in_place(w->goals, w->ngoals, sizeof(*w->goals), compare_goal);
	return 0;
}

/* Whether something in blocks [KEY, END) of the current file is a goal. */
static bool has_goal(const struct pastwrite *w, uint64_t key, uint64_t end)
{
	const struct goal first = { w->ino, key };
	size_t at = search_first(w->goals, w->ngoals, sizeof(*w->goals),
				 is_below, &first);

	return at < w->ngoals && w->goals[at].ino == w->ino &&
	       w->goals[at].key < end;
}

struct child {
	uint64_t key, end;
	unsigned int level;
};

static int follow(struct pastwrite *w, struct context *cx,
		  const struct child *child, le64 *ptr);

/* The pointers of NODE, below END: 1 where one is another now, 0. */
static int follow_all(struct pastwrite *w, struct context *cx,
		      struct bmapnode *node, uint32_t count, uint64_t end)
{
	int ret = 0, changed = 0;
	uint32_t i;

	for (i = 0; i < count && ret >= 0; i++) {
		const struct child child = {
			.key = bmapnode_key(node, i),
			.end = i + 1 < count ? bmapnode_key(node, i + 1) : end,
			.level = bmapnode_level(node) - 1u,
		};

		ret = follow(w, cx, &child, &node->ptrs[i]);
		changed |= ret > 0;
	}
	return ret < 0 ? ret : changed;
}

/* What is below the node in BLOCK, which CHILD leads to: 1, 0. */
static int follow_node(struct pastwrite *w, struct context *cx,
		       const struct child *child, void *block)
{
	uint32_t size = w->p->job->vol->geo.block_size;
	struct bmapnode node = bmapnode_block(size, block);

	if (bmap_node_check(size, block) != RULE_OK ||
	    bmapnode_level(&node) != child->level)
		return 0;
	return follow_all(w, cx, &node, bmapnode_count(&node), child->end);
}

/* Gives block VBLOCKNR of the list its place in the log. */
static int replace_block(struct pastwrite *w, struct context *cx,
			 uint64_t vblocknr, le64 *ptr)
{
	struct pastblocks_block *b = pastblocks_find(w->p, vblocknr);
	const struct past_block past = {
		.ino = b->ino,
		.blkoff = b->key,
		.is_node = b->level > 0,
		.vblocknr = vblocknr,
	};
	int err = 0;

	if (!b->number)
		err = past_replace(w->p->job->writer, cx, &past, b->content,
				   &b->number);
	if (err)
		return err;
	*ptr = le64_make(b->number);
	return 1;
}

/* A node that is not in the list: it is if something below it is replaced. */
static int look_below(struct pastwrite *w, struct context *cx,
		      const struct child *child, uint64_t vblocknr)
{
	const struct pastblocks_block what = {
		.ino = w->ino, .vblocknr = vblocknr,
		.key = child->key, .level = child->level,
	};
	struct pastblocks_block *b;
	int ret = pastblocks_change(w->p, cx, &what, false, &b);

	if (ret <= 0)
		return damage_forgive(cx, ret);
	ret = follow_node(w, cx, child, b->content);
	if (!ret)
		pastblocks_drop(w->p, vblocknr);
	return ret;
}

/* The pointer at PTR, CHILD of its holder: 1 where it is another now, 0. */
static int follow(struct pastwrite *w, struct context *cx,
		  const struct child *child, le64 *ptr)
{
	uint64_t vblocknr = le64_get(*ptr);
	const struct pastblocks_block *b = pastblocks_find(w->p, vblocknr);
	int ret = 1;

	if (!vblocknr ||
	    (b && (b->ino != w->ino || b->level != child->level)))
		return 0;
	if (b && !b->number && child->level)
		ret = follow_node(w, cx, child, b->content);
	if (!b && (!child->level || !has_goal(w, child->key, child->end)))
		return 0;
	if (!b)
		ret = look_below(w, cx, child, vblocknr);
	if (ret < 0 || (!b && !ret))
		return ret;
	return replace_block(w, cx, vblocknr, ptr);
}

/* The map of INODE: 1 where it is another now, 0. */
static int follow_map(struct pastwrite *w, struct context *cx,
		      struct nilfs_inode *inode)
{
	struct bmapnode root = bmapnode_root(inode->i_bmap);
	struct child child = { .level = 0 };
	int ret = 0, changed = 0;

	if (bmap_is_btree(inode->i_bmap)) {
		if (bmap_root_check(inode->i_bmap) != RULE_OK)
			return 0;
		return follow_all(w, cx, &root, bmapnode_count(&root),
				  UINT64_MAX);
	}
	for (; child.key < NILFS_DIRECT_NBLOCKS && ret >= 0; child.key++) {
		child.end = child.key + 1;
		ret = follow(w, cx, &child, &inode->i_bmap[1 + child.key]);
		changed |= ret > 0;
	}
	return ret < 0 ? ret : changed;
}

/* The current file, whose inode block WHAT of the ifile has. */
static int change_inode(struct pastwrite *w, struct context *cx,
			const struct pastblocks_block *what)
{
	uint32_t offset = palloc_entry_offset(&w->p->job->vol->ifile_palloc,
					      w->ino);
	bool listed = pastblocks_find(w->p, what->vblocknr);
	struct pastblocks_block *b;
	struct nilfs_inode inode;
	char *block;
	int ret = pastblocks_change(w->p, cx, what, false, &b);

	if (ret <= 0)
		return ret;
	block = b->content;
	memcpy(&inode, block + offset, sizeof(inode));
	ret = inode_has_bmap(&inode) ? follow_map(w, cx, &inode) : 0;
	if (ret > 0)
		memcpy(block + offset, &inode, sizeof(inode));
	else if (!ret && !listed)
		pastblocks_drop(w->p, what->vblocknr);
	return ret < 0 ? ret : 0;
}

static int look_at_file(struct pastwrite *w, struct context *cx, uint64_t cno)
{
	struct pastblocks_block what = {
		.ino = NILFS_IFILE_INO,
		.key = palloc_entry_blkoff(&w->p->job->vol->ifile_palloc,
					   w->ino),
	};
	struct root root;
	int ret = root_open(&root, cx, w->p->job->vol, cno);

	if (!ret)
		ret = blockmap_lookup(&root.ifile.map, cx, what.key,
				      &what.vblocknr);
	if (ret > 0)
		ret = damage_add(&w->seen, cx, what.vblocknr);
	if (ret <= 0)
		return damage_forgive(cx, ret);
	return change_inode(w, cx, &what);
}

/* The maps of all files but ifiles. */
static int look_at_files(struct pastwrite *w, struct context *cx)
{
	size_t i, j;
	int err = 0;

	for (i = 0; i < w->ngoals && !err; i++) {
		if (w->goals[i].ino == NILFS_IFILE_INO ||
		    (i && w->goals[i].ino == w->goals[i - 1].ino))
			continue;
		w->ino = w->goals[i].ino;
		sparse_clear(&w->seen);
		for (j = 0; j < w->ncnos && !err; j++)
			err = look_at_file(w, cx, w->cnos[j]);
		if (!err)
			err = context_cancelled(cx);
	}
	return err;
}

/* The ifile of checkpoint CNO. */
static int look_at_ifile(struct pastwrite *w, struct context *cx, uint64_t cno)
{
	struct volume *vol = w->p->job->vol;
	struct metafile *cpfile = repairwriter_file(w->p->job->writer,
						    NILFS_CPFILE_INO);
	struct nilfs_checkpoint cp, *to;
	void *data;
	int ret = cptable_read(vol, cx, cno, &cp);

	if (ret)
		return damage_forgive(cx, ret);
	ret = follow_map(w, cx, &cp.cp_ifile_inode);
	if (ret <= 0)
		return ret;
	ret = metafile_change(cpfile, cx, checkpoint_blkoff(&vol->geo, cno),
			      &data, NULL);
	if (ret)
		return ret;
	to = (void *)((char *)data + checkpoint_offset(&vol->geo, cno));
	memcpy(to->cp_ifile_inode.i_bmap, cp.cp_ifile_inode.i_bmap,
	       sizeof(to->cp_ifile_inode.i_bmap));
	return 0;
}

/* The checkpoints in which any of the blocks lived. */
static int list_checkpoints(struct pastwrite *w, struct context *cx)
{
	uint64_t start = UINT64_MAX, end = 0;
	size_t i, n = 0;
	int err = cptable_list(w->p->job->vol, cx, false, &w->cnos, &w->ncnos);

	for (i = 0; i < w->p->n; i++) {
		const struct lifetime *life = &w->p->list[i].life;

		start = life->start < start ? life->start : start;
		end = life->end > end ? life->end : end;
	}
	for (i = 0; i < w->ncnos; i++)
		if (w->cnos[i] >= start && w->cnos[i] < end)
			w->cnos[n++] = w->cnos[i];
	w->ncnos = n;
	return err;
}

int pastwrite_run(struct pastblocks *p, struct context *cx)
{
	struct pastwrite w = { .p = p };
	size_t i;
	int err = list_checkpoints(&w, cx);

	if (!err)
		err = sparse_init(&w.seen, cx, vblocks_end(p->job->vol, cx));
	if (!err)
		err = set_goals(&w, cx);
	if (!err)
		err = look_at_files(&w, cx);
	if (!err)
		err = set_goals(&w, cx);
	w.ino = NILFS_IFILE_INO;
	for (i = 0; i < w.ncnos && !err; i++) {
		err = look_at_ifile(&w, cx, w.cnos[i]);
		if (!err)
			err = context_cancelled(cx);
	}
	sparse_fini(&w.seen);
	free(w.goals);
	free(w.cnos);
	return err;
}
