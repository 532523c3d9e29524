// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The versions of files over all checkpoints.
 *
 * Checkpoints are visited from the oldest on.  One whose ifile has the same map
 * as the one before has the same files.  Otherwise the virtual number of the
 * block that has the inode is looked up in the ifile: if it is the same as
 * before, so is the inode, and nothing is read.
 *
 * For a path there is a first round that collects the files that it leads to;
 * numbers are reused, so that a file is a number and a generation.  Only the
 * numbers are followed then.
 */
#include "dump/past/versions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pairtable.h"
#include "disk/inode.h"
#include "disk/palloc.h"
#include "dump/common/image.h"
#include "dump/files/inodechange.h"
#include "dump/past/filenames.h"
#include "vol/cptable.h"
#include "vol/mapdiff.h"
#include "vol/volume.h"

/* An inode number that is followed. */
struct follower {
	struct filenames names;
	uint64_t ptr;		  /* of the block of the ifile; 0: none */
	bool read;		  /* PTR is valid */
	bool there;		  /* INODE is a file that is followed */
	struct nilfs_inode inode; /* in the checkpoint visited last */
	bool open;		  /* VERSION goes on */
	struct version version;
	char *paths; /* of it */
	size_t paths_room;
};

struct walk {
	struct volume *vol;
	const struct versions_sink *sink;
	struct trail path;	/* of the first round */
	bool any_file;		/* no generations are listed */
	struct pairtable files; /* inode number and generation */
	struct follower *followers;
	size_t count, room;
	uint64_t *cnos;
	size_t checkpoints;
	bool found;
	struct root root; /* the checkpoint visited last */
	bool has_root;	  /* it is open */
	bool same;	  /* it has the files of the one before */
};

/* Goes on after what concerns one checkpoint only. */
static int report_checkpoint(struct walk *w, uint64_t cno, int err)
{
	if (!err || image_is_fatal(err))
		return err;
	w->sink->broken(w->sink->arg, cno, err);
	return 0;
}

/* Opens checkpoint CNO, and sees whether it has the files of the last one. */
static int open_checkpoint(struct walk *w, struct context *cx, uint64_t cno)
{
	const struct nilfs_inode *ifile = &w->root.cp.cp_ifile_inode;
	struct nilfs_inode before = *ifile;
	int err = root_open(&w->root, cx, w->vol, cno);

	w->same = !err && w->has_root && inodechange_is_same_map(ifile, &before);
	w->has_root = !err;
	return err;
}

/*
 * The first round: what the path leads to.
 */

static int add_follower(struct walk *w, struct context *cx, uint64_t ino)
{
	size_t i;

	for (i = 0; i < w->count; i++)
		if (w->followers[i].names.ino == ino)
			return 0;
	if (array_reserve(cx, &w->followers, &w->room, w->count + 1))
		return -ENOMEM;
	w->followers[w->count++] = (struct follower){ .names.ino = ino };
	return 0;
}

static int add_file(struct walk *w, struct context *cx)
{
	struct nilfs_inode inode;
	uint64_t ino;
	int err = trail_follow(&w->path, cx, &w->root, &ino);

	if (!err)
		err = root_inode(&w->root, cx, ino, &inode);
	if (err == -ENOENT || err == -ENOTDIR) {
		fail_clear(cx);
		return 0;
	}
	if (err)
		return err;
	if (pairtable_find(&w->files, ino, le32_get(inode.i_generation)))
		return 0;
	err = pairtable_add(&w->files, cx, ino, le32_get(inode.i_generation),
			    1);
	return err ? err : add_follower(w, cx, ino);
}

/* Checkpoints that cannot be opened are reported by the second round. */
static int collect_files(struct walk *w, struct context *cx)
{
	size_t i;
	int err = 0;

	for (i = 0; i < w->checkpoints && !err; i++) {
		err = open_checkpoint(w, cx, w->cnos[i]);
		if (!err && !w->same)
			err = report_checkpoint(w, w->cnos[i],
						add_file(w, cx));
		if (image_is_fatal(err))
			return err;
		fail_clear(cx);
		err = context_cancelled(cx);
	}
	w->has_root = false;
	return err;
}

/*
 * The second round: their versions.
 */

static int end_version(struct walk *w, struct follower *f)
{
	if (!f->open)
		return 0;
	f->open = false;
	f->version.names = f->paths;
	w->found = true;
	return w->sink->found(w->sink->arg, &f->version);
}

static int count_block(void *arg, struct context *cx,
		       const struct mapdiff_item *item)
{
	uint64_t *count = arg;

	(void)item;
	++*count;
	return *count % 4096 ? 0 : context_cancelled(cx);
}

/* Counts the blocks that differ; BEFORE is NULL if there is no version. */
static int count_changed(struct walk *w, struct context *cx,
			 const struct nilfs_inode *before, struct version *v)
{
	struct blockmap a, b;
	int err = 0;

	v->changed = 0;
	v->known = true;
	if (!inode_has_bmap(&v->inode))
		return 0;
	if (before)
		err = blockmap_init(&a, cx, w->vol, v->ino, before);
	if (!err)
		err = blockmap_init(&b, cx, w->vol, v->ino, &v->inode);
	if (!err)
		err = mapdiff_run(cx, before ? &a : NULL, &b, count_block,
				  &v->changed);
	v->known = !err;
	return err;
}

static int copy_names(struct follower *f, struct context *cx)
{
	size_t len = 0, i;

	for (i = 0; i < f->names.count; i++) {
		const char *path = trail_path(&f->names.items[i].trail);
		size_t size = strlen(path) + 1;

		if (array_reserve(cx, &f->paths, &f->paths_room, len + size))
			return -ENOMEM;
		memcpy(f->paths + len, path, size);
		len += size;
	}
	f->version.names_len = len;
	return 0;
}

static int begin_version(struct walk *w, struct context *cx,
			 struct follower *f)
{
	struct nilfs_inode before = f->version.inode;
	bool same = f->version.ino && inode_is_same_file(&before, &f->inode);
	int err;

	f->version = (struct version){
		.first = w->root.cno,
		.created = le64_get(w->root.cp.cp_create),
		.ino = f->names.ino,
		.inode = f->inode,
	};
	f->open = true;
	err = count_changed(w, cx, same ? &before : NULL, &f->version);
	err = report_checkpoint(w, w->root.cno, err);
	return err ? err : copy_names(f, cx);
}

/* Reads the inode in the present checkpoint. */
static int read_follower(struct walk *w, struct context *cx,
			 struct follower *f)
{
	uint64_t ino = f->names.ino, ptr = 0, generation;
	int ret = blockmap_lookup(
		&w->root.ifile.map, cx,
		palloc_entry_blkoff(&w->vol->ifile_palloc, ino), &ptr);

	if (ret < 0)
		return ret;
	if (!ret)
		ptr = 0;
	if (f->read && f->ptr == ptr)
		return 0;
	f->read = true;
	f->ptr = ptr;
	f->there = false;
	ret = root_inode(&w->root, cx, ino, &f->inode);
	if (ret == -ENOENT) {
		fail_clear(cx);
		return 0;
	}
	generation = le32_get(f->inode.i_generation);
	f->there = !ret && (w->any_file ||
			    pairtable_find(&w->files, ino, generation));
	return ret;
}

/* The names that lead to the file, which is in the present checkpoint. */
static int update_names(struct walk *w, struct context *cx,
			struct follower *f)
{
	uint64_t ino = 0;
	int err = -ENOENT;

	f->names.changed = false;
	if (w->path.count && !w->path.climbs)
		err = trail_follow(&w->path, cx, &w->root, &ino);
	fail_clear(cx);
	err = !err && ino == f->names.ino
		      ? filenames_add(&f->names, cx, w->path.path, w->path.len)
		      : 0;
	if (!err)
		err = filenames_update(&f->names, cx, &w->root, &f->inode);
	return report_checkpoint(w, w->root.cno, err);
}

static bool is_same_version(const struct follower *f)
{
	return f->open && !f->names.changed &&
	       !memcmp(&f->inode, &f->version.inode, sizeof(f->inode));
}

static void extend_version(struct walk *w, struct follower *f)
{
	f->version.last = w->root.cno;
	f->version.checkpoints++;
}

static int visit_follower(struct walk *w, struct context *cx,
			  struct follower *f)
{
	int err = read_follower(w, cx, f);

	if (err)
		return report_checkpoint(w, w->root.cno, err);
	if (!f->there)
		return end_version(w, f);
	err = update_names(w, cx, f);
	if (!err && !is_same_version(f)) {
		err = end_version(w, f);
		if (!err)
			err = begin_version(w, cx, f);
	}
	if (!err)
		extend_version(w, f);
	return err;
}

static int visit_checkpoint(struct walk *w, struct context *cx, uint64_t cno)
{
	int err = open_checkpoint(w, cx, cno);
	size_t i;

	if (err)
		return report_checkpoint(w, cno, err);
	for (i = 0; i < w->count && !err; i++) {
		struct follower *f = &w->followers[i];

		if (!w->same)
			err = visit_follower(w, cx, f);
		else if (f->open)
			extend_version(w, f);
	}
	return err ? err : context_cancelled(cx);
}

static int follow_all(struct walk *w, struct context *cx)
{
	size_t i;
	int err = 0;

	for (i = 0; i < w->checkpoints && !err; i++)
		err = visit_checkpoint(w, cx, w->cnos[i]);
	for (i = 0; i < w->count && !err; i++)
		err = end_version(w, &w->followers[i]);
	return err;
}

static void free_walk(struct walk *w)
{
	size_t i;

	for (i = 0; i < w->count; i++) {
		filenames_fini(&w->followers[i].names);
		free(w->followers[i].paths);
	}
	free(w->followers);
	free(w->cnos);
	pairtable_fini(&w->files);
	trail_fini(&w->path);
}

int versions_of_inode(struct volume *vol, struct context *cx, uint64_t ino,
		      const struct versions_sink *sink)
{
	struct walk w = { .vol = vol, .sink = sink, .any_file = true };
	int err = cptable_list(vol, cx, false, &w.cnos, &w.checkpoints);

	if (!err)
		err = add_follower(&w, cx, ino);
	if (!err)
		err = follow_all(&w, cx);
	if (!err && !w.found)
		err = fail_said(cx, -ENOENT, "inode %llu: in no checkpoint",
				(unsigned long long)ino);
	free_walk(&w);
	return err;
}

int versions_of_path(struct volume *vol, struct context *cx, const char *path,
		     const struct versions_sink *sink)
{
	struct walk w = { .vol = vol, .sink = sink };
	int err = trail_set(&w.path, cx, path, strlen(path));

	if (!err)
		err = cptable_list(vol, cx, false, &w.cnos, &w.checkpoints);
	if (!err)
		err = collect_files(&w, cx);
	if (!err)
		err = follow_all(&w, cx);
	if (!err && !w.found)
		err = fail_said(cx, -ENOENT, "%s: in no checkpoint", path);
	free_walk(&w);
	return err;
}
