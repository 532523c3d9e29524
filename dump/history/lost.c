// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names that older checkpoints have and newer ones lack.
 *
 * Each checkpoint, the newest first, is compared with the next newer one; shared
 * blocks are not read.  The older one of two is then the newest that has an entry
 * that was removed between them.
 *
 * Of a changed directory only the blocks that the two versions do not share are
 * read: those of the newer one into a set of names, then those of the older one,
 * whose entries are searched in the set.  A directory that is missing, or whose
 * number was reused, has lost all its entries.
 */
#include "dump/history/lost.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/inoset.h"
#include "base/pairtable.h"
#include "base/text.h"
#include "check/names/filenames.h"
#include "disk/dirent.h"
#include "disk/inode.h"
#include "dump/common/image.h"
#include "vol/cptable.h"
#include "vol/dir.h"
#include "vol/inodediff.h"
#include "vol/mapdiff.h"

/* A pair of checkpoints that follow each other, and what was found. */
struct lost {
	const struct lost_search *s;
	struct root latest, newer, older;
	bool latest_broken;    /* that was reported */
	struct pairtable seen; /* hash of path and generation, and inode */
	struct inoset reused;  /* numbers of other files in the newer one */

	uint64_t dir;	       /* the directory in both */
	struct pairtable kept; /* hash and inode, in the newer one's blocks */
	bool in_newer;	       /* its blocks are read, else the older one's */

	uint64_t known; /* directory whose path is known; 0: none */
	char *path;
	size_t path_room, path_len, dir_len;
};

/* Whether ROOT has the file that is INODE in the older checkpoint. */
static int has_file(struct root *root, struct context *cx, uint64_t ino,
		    const struct nilfs_inode *inode)
{
	struct nilfs_inode other;
	int ret = root_inode(root, cx, ino, &other);

	if (ret == -ENOENT) {
		fail_clear(cx);
		return 0;
	}
	return ret ? ret : inode_is_same_file(inode, &other);
}

/*
 * Reports the removed entry E, with its path in the older checkpoint, if the search
 * is for it: its path, or with DELETED its file, is not in the latest state.
 */
static int take_removed(struct lost *f, struct context *cx,
			const struct dirent_entry *e)
{
	struct nilfs_inode inode;
	struct tree_item item;
	uint64_t ino, hash;
	int ret = root_inode(&f->older, cx, e->ino, &inode);

	if (ret)
		return ret;
	if (f->s->deleted) {
		ret = has_file(&f->newer, cx, e->ino, &inode);
		if (!ret)
			ret = has_file(&f->latest, cx, e->ino, &inode);
		if (ret)
			return ret < 0 ? ret : 0;
	}
	if (f->known != f->dir) {
		ret = filenames_path(&f->older, cx, f->dir, e->name,
				     e->name_len, &f->path, &f->path_room,
				     &f->path_len);
		f->known = ret ? 0 : f->dir;
		f->dir_len = f->path_len - e->name_len;
		if (ret)
			return ret;
	} else {
		if (array_reserve(cx, &f->path, &f->path_room,
				  f->dir_len + e->name_len + 1))
			return -ENOMEM;
		memcpy(f->path + f->dir_len, e->name, e->name_len);
		f->path_len = f->dir_len + e->name_len;
		f->path[f->path_len] = '\0';
	}
	if (!filter_takes(f->s->filter, f->path, &inode))
		return 0;
	/* Read failures in the latest state are reported once. */
	ret = dir_resolve(&f->latest, cx, f->path, &ino);
	if (ret && image_is_fatal(ret))
		return ret;
	if (ret && ret != -ENOENT && ret != -ENOTDIR && !f->latest_broken) {
		f->s->broken(f->s->arg, f->latest.cno, ret);
		f->latest_broken = true;
	}
	if (ret) {
		fail_clear(cx);
	} else if (f->s->deleted) {
		return 0;
	} else if (ino == e->ino) {
		ret = has_file(&f->latest, cx, ino, &inode);
		if (ret)
			return ret < 0 ? ret : 0;
	}
	hash = text_hash(f->path, f->path_len) ^
	       (uint64_t)le32_get(inode.i_generation) << 32;
	if (pairtable_find(&f->seen, hash, e->ino))
		return 0;
	if (pairtable_add(&f->seen, cx, hash, e->ino, 1))
		return -ENOMEM;
	item = (struct tree_item){
		.kind = TREE_ENTRY,
		.path = f->path,
		.path_len = f->path_len,
		.inner = 1,
		.depth = 1,
		.name = f->path + f->dir_len,
		.name_len = f->path_len - f->dir_len,
		.ino = e->ino,
		.type = inode_dirent_type(le16_get(inode.i_mode)),
		.inode = &inode,
	};
	return f->s->found(f->s->arg, &f->older, &item);
}

/* Reports a failure that concerns this checkpoint only, and returns 0. */
static int report_broken(struct lost *f, int err)
{
	if (!err || image_is_fatal(err))
		return err;
	f->s->broken(f->s->arg, f->older.cno, err);
	return 0;
}

static int visit_entry(struct lost *f, struct context *cx,
		       const struct dirent_entry *e)
{
	uint64_t hash = text_hash(e->name, e->name_len);
	bool kept = pairtable_find(&f->kept, hash, e->ino);

	if (f->in_newer)
		return kept ? 0 : pairtable_add(&f->kept, cx, hash, e->ino, 1);
	if ((kept && !inoset_has(&f->reused, e->ino)) ||
	    !filter_takes_name(f->s->filter, e->name, e->name_len))
		return 0;
	return report_broken(f, take_removed(f, cx, e));
}

/* Visits the entries of a block that only one version of the directory has. */
static int visit_block(void *arg, struct context *cx,
		       const struct mapdiff_item *item)
{
	struct lost *f = arg;
	uint64_t ptr = f->in_newer ? item->b : item->a;
	struct dirent_entry e;
	struct dirent_iter it;
	const void *block;
	int err;

	if (!ptr)
		return 0;
	err = blockmap_borrow(&f->latest.ifile.map, cx, ptr, &block);
	if (!err) {
		dirent_iter_init(&it, block, f->latest.vol->geo.block_size);
		while (!err && dirent_iter_next(&it, &e))
			if (e.ino && e.name_len && !dirent_is_dots(&e))
				err = visit_entry(f, cx, &e);
		if (!err && it.verdict != RULE_OK)
			err = fail(cx, -EUCLEAN, "%s",
				   rule_info(it.verdict)->text);
	}
	cache_put(f->latest.vol->cache, block);
	err = report_broken(f, err);
	return err ? err : context_cancelled(cx);
}

static int compare_directory(void *arg, struct context *cx,
			     const struct inodediff_item *item)
{
	const struct nilfs_inode *a = item->a, *b = item->b;
	struct lost *f = arg;
	int older, err = 0;

	if (!a)
		return 0;
	if (b && !inode_is_same_file(a, b))
		b = NULL;	/* the directory is gone */
	f->dir = item->ino;
	for (older = !b; older < 2 && !err; older++) {
		f->in_newer = !older;
		err = mapdiff_run_file(cx, f->latest.vol, f->dir, a, b,
				       visit_block, f);
	}
	pairtable_fini(&f->kept);
	return report_broken(f, err);
}

static int note_reused(void *arg, struct context *cx,
		       const struct inodediff_item *item)
{
	struct lost *f = arg;
	const struct nilfs_inode *a = item->a, *b = item->b;
	int ret = 0;

	if (a && b && !inode_is_same_file(a, b))
		ret = inoset_add(&f->reused, cx, item->ino);
	return ret < 0 ? ret : 0;
}

/* The names that checkpoint CNO has and the next newer one lacks. */
static int compare_checkpoint(struct lost *f, struct context *cx,
			      uint64_t cno)
{
	int err = root_open(&f->older, cx, f->latest.vol, cno);
	bool opened = !err;

	f->known = 0;
	if (!err && !inode_has_same_map(&f->older.cp.cp_ifile_inode,
					   &f->newer.cp.cp_ifile_inode)) {
		err = inodediff_run(cx, &f->older, &f->newer, INODEDIFF_ALL,
				    note_reused, f);
		if (!err)
			err = inodediff_run(cx, &f->older, &f->newer,
					    INODEDIFF_DIRS, compare_directory,
					    f);
		inoset_fini(&f->reused);
	}
	if (err && image_is_fatal(err))
		return err;
	if (err)
		f->s->broken(f->s->arg, cno, err);
	if (opened)
		f->newer = f->older;
	return context_cancelled(cx);
}

int lost_run(struct context *cx, const struct root *latest,
	     const struct lost_search *search)
{
	struct lost f = { .s = search, .latest = *latest, .newer = *latest };
	uint64_t *cnos;
	size_t count, i;
	int err = cptable_list(latest->vol, cx, false, &cnos, &count);

	for (i = count; i-- > 0 && !err;)
		if (cnos[i] < latest->cno)
			err = compare_checkpoint(&f, cx, cnos[i]);
	free(cnos);
	pairtable_fini(&f.seen);
	free(f.path);
	return err;
}
