// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The names of the damaged files that fsck.nilfs2 --data reports, in each checkpoint,
 * and the newest checkpoint in which each of them is whole.
 *
 * Checkpoints are visited from the newest to the oldest. In a checkpoint one walk
 * through the tree finds the names of all files whose damage begins there. Their
 * names are then followed from one checkpoint to the next, and only directories that
 * have changed are read.
 *
 * A version is whole if all of its blocks can be located, the check found no damage
 * in them, and the logs of their segments could be read.
 */
#include "fsck/data/damaged.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "check/damage.h"
#include "disk/inode.h"
#include "vol/tree.h"

/* Names of a file that are followed from the first checkpoint on. */
#define NAMES_MAX 16

/* Whether checkpoint AT has a damaged block of F. Called with decreasing AT. */
static bool is_damaged_at(const struct damaged *d, struct damaged_file *f,
			  size_t at)
{
	while (f->next < f->runs_end && d->runs[f->next].end > at) {
		if (d->runs[f->next].from < f->least)
			f->least = d->runs[f->next].from;
		f->next++;
	}
	return f->least <= at;
}

/* Whether all blocks of F in ROOT, where it is INODE, were read by the check: 1, 0;
   damage; -EINTR, -ENOMEM. */
static int is_whole(const struct damaged *d, struct context *cx,
		    const struct damaged_file *f, const struct nilfs_inode *inode)
{
	const struct nilfs_geometry *geo = &d->vol->geo;
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct blockmap map;
	uint64_t blocknr;
	int ret;

	if (!inode_has_bmap(inode))
		return 1;
	ret = blockmap_init(&map, cx, d->vol, f->ino, inode);
	if (ret)
		return ret;
	ret = blockmap_cursor_open(&cur, cx, &map, 0, true);
	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = blockmap_resolve(&map, cx, item.ptr, &blocknr);
		if (!ret && bitmap_test(&d->c->broken_segments,
					geometry_segment_of(geo, blocknr)))
			ret = fail(cx, -EUCLEAN, "block %llu: its log",
				   (unsigned long long)blocknr);
		if (!ret)
			ret = context_cancelled(cx);
	}
	blockmap_cursor_close(&cur);
	return ret ? ret : 1;
}

/* Extends the last state of F to checkpoint AT, where it has INODE (NULL: it could
   not be read) and its current names; or adds one. -ENOMEM. */
static int add_state(struct damaged_file *f, struct context *cx, size_t at,
		     const struct nilfs_inode *inode)
{
	struct damaged_state *last = f->nstates ? &f->states[f->nstates - 1] : NULL;
	struct damaged_state state = {
		.from = at, .end = at + 1,
		.size = inode ? le64_get(inode->i_size) : 0,
	};
	const char *path = NULL;
	size_t i;

	for (i = f->names.count; inode && i-- > 0;) {
		path = trail_path(&f->names.items[i].trail);
		if (last && last->path && !strcmp(path, last->path))
			break;
	}
	if (last && last->from == at)
		return 0;
	if (last && last->from == at + 1 && !path == !last->path &&
	    (!path || !strcmp(path, last->path))) {
		last->from = at;
		if (state.size > last->size)
			last->size = state.size;
		return 0;
	}
	state.path = path ? strdup(path) : NULL;
	if (path && !state.path)
		return fail(cx, -ENOMEM, "path");
	if (array_push(cx, &f->states, &f->nstates, &f->states_room, state)) {
		free(state.path);
		return -ENOMEM;
	}
	return 0;
}

/* Visits checkpoint AT, which is ROOT. *SEEK: a file must be searched first; it is
   visited again afterwards. */
static int visit_file(struct damaged *d, struct context *cx,
		      struct damaged_file *f, struct root *root, size_t at,
		      bool *seek)
{
	const bool damaged = is_damaged_at(d, f, at);
	const bool rest = f->next < f->runs_end;
	struct nilfs_inode inode;
	int ret;

	if (!damaged && !rest && f->known && f->has_whole)
		return 0;
	ret = root_inode(root, cx, f->ino, &inode);
	if (ret) {
		d->incomplete |= ret != -ENOENT;
		ret = damage_forgive(cx, ret);
		return ret || !damaged ? ret : add_state(f, cx, at, NULL);
	}
	if (f->known && !inode_is_same_file(&f->inode, &inode)) {
		if (!damaged && !rest)
			return 0;
		/* The number is of another file here. */
		ret = array_push(cx, &d->former, &d->nformer, &d->former_room, *f);
		if (ret)
			return ret;
		d->former[d->nformer - 1].from = at + 1;
		*f = (struct damaged_file){
			.ino = f->ino, .run = f->run, .runs_end = f->runs_end,
			.next = f->next, .least = f->least, .end = at + 1,
			.names = { .ino = f->ino },
		};
	}
	if (!damaged && !f->known) {
		/* Perhaps a whole version, newer than all damage. */
		if (!f->has_whole || !inode_is_same_file(&f->inode, &inode)) {
			f->whole = at;
			f->inode = inode;
		}
		f->has_whole = true;
		return 0;
	}
	if (!damaged) {
		if (f->has_whole)
			return 0;
		ret = is_whole(d, cx, f, &inode);
		f->has_whole = ret > 0;
		f->whole = at;
		return ret > 0 ? 0 : damage_forgive(cx, ret);
	}
	if (!f->known && f->has_whole) {
		ret = inode_is_same_file(&f->inode, &inode) ?
		      is_whole(d, cx, f, &f->inode) : 0;
		f->has_whole = ret > 0;
		ret = ret > 0 ? 0 : damage_forgive(cx, ret);
		if (ret)
			return ret;
	}
	f->known = true;
	f->inode = inode;
	if (!f->sought) {
		*seek = true;
		return 0;
	}
	ret = filenames_update(&f->names, cx, root, &inode);
	d->incomplete |= ret && damage_is(ret);
	ret = damage_forgive(cx, ret);
	return ret ? ret : add_state(f, cx, at, &inode);
}

/* Finds the names in ROOT of all files that are known and were not sought. */
static int seek_names(struct damaged *d, struct context *cx, struct root *root)
{
	const struct tree_options how = { .recursive = true };
	struct tree *tree = NULL;
	struct tree_item item;
	size_t at;
	int ret = tree_open(&tree, cx, root, "/", &how);

	while (!ret && (ret = tree_next(tree, cx, &item)) > 0) {
		ret = 0;
		if (item.kind != TREE_ENTRY) {
			d->incomplete |= item.kind == TREE_BROKEN;
			fail_clear(cx);
			continue;
		}
		at = search_number(d->files, d->nfiles, sizeof(*d->files), item.ino);
		if (at < d->nfiles && d->files[at].ino == item.ino &&
		    d->files[at].known && !d->files[at].sought &&
		    d->files[at].names.count < NAMES_MAX)
			ret = filenames_add(&d->files[at].names, cx, item.path,
					    item.path_len);
	}
	tree_close(tree);
	for (at = 0; at < d->nfiles; at++) {
		struct damaged_file *f = &d->files[at];

		if (f->known && !f->sought)
			f->names.before = *root;
		f->sought |= f->known;
	}
	return ret;
}

/* Visits all files in checkpoint AT. */
static int visit_checkpoint(struct damaged *d, struct context *cx, size_t at)
{
	struct root root;
	bool seek = false;
	size_t i;
	int ret = root_open(&root, cx, d->vol, d->cnos[at]);

	if (ret) {
		d->incomplete = true;
		return damage_forgive(cx, ret);
	}
	for (i = 0; i < d->nfiles && !ret; i++)
		ret = visit_file(d, cx, &d->files[i], &root, at, &seek);
	if (ret || !seek)
		return ret;
	/* Their states are added in a second visit. */
	ret = damage_forgive(cx, seek_names(d, cx, &root));
	for (i = 0; i < d->nfiles && !ret; i++)
		ret = visit_file(d, cx, &d->files[i], &root, at, &seek);
	return ret;
}

/* Finds the path of the whole version of F. */
static int find_whole_path(struct damaged *d, struct context *cx,
			   struct damaged_file *f)
{
	struct nilfs_inode inode;
	struct root root;
	int ret;

	if (!f->has_whole || !f->sought)
		return 0;
	ret = root_open(&root, cx, d->vol, d->cnos[f->whole]) ?:
	      root_inode(&root, cx, f->ino, &inode) ?:
	      filenames_update(&f->names, cx, &root, &inode);
	if (!ret && f->names.count)
		f->whole_path = strdup(trail_path(&f->names.items[0].trail));
	return damage_forgive(cx, ret);
}

int damagednames_find(struct damaged *d, struct context *cx)
{
	struct progress *p = &d->tool->progress;
	size_t at, i;
	int ret = 0;

	progress_begin(p, "finding damaged files", d->ncnos, false);
	for (at = d->ncnos; at-- > 0 && !ret;) {
		progress_update(p, d->ncnos - at);
		ret = visit_checkpoint(d, cx, at) ?: context_cancelled(cx);
	}
	for (i = 0; i < d->nfiles && !ret; i++)
		ret = find_whole_path(d, cx, &d->files[i]);
	for (i = 0; i < d->nformer && !ret; i++)
		ret = find_whole_path(d, cx, &d->former[i]);
	progress_end(p);
	return ret;
}
