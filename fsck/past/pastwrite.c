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

static int follow(struct pastwrite *w, struct context *cx, uint64_t key,
		  uint64_t end, unsigned int level, le64 *ptr);

/* The pointers of NODE, below END: 1 where one is another now, 0. */
static int follow_all(struct pastwrite *w, struct context *cx,
		      struct bmapnode *node, uint64_t end)
{
	uint32_t i, count = bmapnode_count(node);
	int ret = 0, changed = 0;

	for (i = 0; i < count && ret >= 0; i++) {
		ret = follow(w, cx, bmapnode_key(node, i),
			     i + 1 < count ? bmapnode_key(node, i + 1) : end,
			     bmapnode_level(node) - 1u, &node->ptrs[i]);
		changed |= ret > 0;
	}
	return ret < 0 ? ret : changed;
}

/*
 * The pointer at PTR, to what is of LEVEL and has blocks [KEY, END) of the file:
 * 1 where it is another now, 0.  A node that is not in the list gets there if
 * something below it is replaced.
 */
static int follow(struct pastwrite *w, struct context *cx, uint64_t key,
		  uint64_t end, unsigned int level, le64 *ptr)
{
	const struct pastblocks_block what = {
		.ino = w->ino, .vblocknr = le64_get(*ptr),
		.key = key, .level = level,
	};
	struct pastblocks_block *b = pastblocks_find(w->p, what.vblocknr);
	uint32_t size = w->p->job->vol->geo.block_size;
	bool listed = b;
	struct bmapnode node;
	int ret;

	if (!what.vblocknr ||
	    (b && (b->ino != w->ino || b->level != level)))
		return 0;
	if (!listed) {
		if (!level || !has_goal(w, key, end))
			return 0;
		ret = pastblocks_change(w->p, cx, &what, false, &b);
		if (ret <= 0)
			return damage_forgive(cx, ret);
	}
	if (level && !b->number) {
		node = bmapnode_block(size, b->content);
		ret = bmap_node_check(size, b->content) == RULE_OK &&
		      bmapnode_level(&node) == level
			      ? follow_all(w, cx, &node, end) : 0;
		if (!ret && !listed)
			pastblocks_drop(w->p, what.vblocknr);
		if (ret < 0 || (!ret && !listed))
			return ret;
	}
	b = pastblocks_find(w->p, what.vblocknr);
	if (!b->number) {
		const struct past_block past = {
			.ino = b->ino,
			.blkoff = b->key,
			.is_node = b->level > 0,
			.vblocknr = b->vblocknr,
		};

		ret = past_replace(w->p->job->writer, cx, &past, b->content,
				   &b->number);
		if (ret)
			return ret;
	}
	*ptr = le64_make(b->number);
	return 1;
}

/* The map of INODE: 1 where it is another now, 0. */
static int follow_map(struct pastwrite *w, struct context *cx,
		      struct nilfs_inode *inode)
{
	struct bmapnode root = bmapnode_root(inode->i_bmap);
	int ret = 0, changed = 0;
	uint64_t key;

	if (bmap_is_btree(inode->i_bmap)) {
		if (bmap_root_check(inode->i_bmap) != RULE_OK)
			return 0;
		return follow_all(w, cx, &root, UINT64_MAX);
	}
	for (key = 0; key < NILFS_DIRECT_NBLOCKS && ret >= 0; key++) {
		ret = follow(w, cx, key, key + 1, 0, &inode->i_bmap[1 + key]);
		changed |= ret > 0;
	}
	return ret < 0 ? ret : changed;
}

/* The current file as checkpoint CNO has it, and its inode in the ifile. */
static int look_at_file(struct pastwrite *w, struct context *cx, uint64_t cno)
{
	const struct palloc *palloc = &w->p->job->vol->ifile_palloc;
	struct pastblocks_block *b, what = {
		.ino = NILFS_IFILE_INO,
		.key = palloc_entry_blkoff(palloc, w->ino),
	};
	struct nilfs_inode inode;
	struct root root;
	bool listed;
	char *at;
	int ret = root_open(&root, cx, w->p->job->vol, cno);

	if (!ret)
		ret = blockmap_lookup(&root.ifile.map, cx, what.key,
				      &what.vblocknr);
	if (ret > 0)
		ret = damage_add(&w->seen, cx, what.vblocknr);
	if (ret <= 0)
		return damage_forgive(cx, ret);
	listed = pastblocks_find(w->p, what.vblocknr);
	ret = pastblocks_change(w->p, cx, &what, false, &b);
	if (ret <= 0)
		return ret;
	at = (char *)b->content + palloc_entry_offset(palloc, w->ino);
	memcpy(&inode, at, sizeof(inode));
	ret = inode_has_bmap(&inode) ? follow_map(w, cx, &inode) : 0;
	if (ret > 0)
		memcpy(at, &inode, sizeof(inode));
	else if (!ret && !listed)
		pastblocks_drop(w->p, what.vblocknr);
	return ret < 0 ? ret : 0;
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

int pastwrite_run(struct pastblocks *p, struct context *cx)
{
	struct pastwrite w = { .p = p };
	uint64_t start = UINT64_MAX, end = 0;
	size_t i, n = 0;
	int err = cptable_list(p->job->vol, cx, false, &w.cnos, &w.ncnos);

	for (i = 0; i < p->n; i++) {
		const struct lifetime *life = &p->list[i].life;

		start = life->start < start ? life->start : start;
		end = life->end > end ? life->end : end;
	}
	for (i = 0; i < w.ncnos; i++)
		if (w.cnos[i] >= start && w.cnos[i] < end)
			w.cnos[n++] = w.cnos[i];
	w.ncnos = n;
	if (!err)
		err = sparse_init(&w.seen, cx, vblocks_end(p->job->vol, cx));
	if (!err)
		err = set_goals(&w, cx);
	if (!err)
		err = look_at_files(&w, cx);
	/* Blocks of ifiles have joined the list. */
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
