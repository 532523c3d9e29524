// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names that older checkpoints have and newer ones lack.
 *
 * Each checkpoint, the newest first, is compared with the next newer one; what
 * the two share is not read.  An entry that was removed between them is still
 * in the older one, which is the newest that has it.
 */
#include "dump/past/lost.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pairtable.h"
#include "disk/inode.h"
#include "dump/past/dirchange.h"
#include "dump/past/filenames.h"
#include "dump/past/removed.h"
#include "vol/cptable.h"
#include "vol/dir.h"
#include "vol/volume.h"

/* A pair of checkpoints that follow each other, and what was found. */
struct lost {
	const struct lost_search *s;
	struct root latest, newer, older;
	bool latest_broken;    /* that was reported */
	struct pairtable seen; /* hash of the path, and inode number */
	uint64_t dir;	       /* whose path is known; 0: none */
	char *path;
	size_t path_room, path_len, dir_len;
};

static bool is_fatal(int err)
{
	return err == -ENOMEM || err == -EINTR || err == -ENOBUFS ||
	       err == -EPIPE;
}

/* Sets the path of ENTRY, which the older checkpoint has. */
static int set_path(struct lost *f, struct context *cx,
		    const struct removed_entry *e)
{
	int err;

	if (f->dir != e->dir) {
		err = filenames_path(&f->older, cx, e->dir, e->name, e->len,
				     &f->path, &f->path_room, &f->path_len);
		f->dir = err ? 0 : e->dir;
		f->dir_len = f->path_len - e->len;
		return err;
	}
	if (array_reserve(cx, &f->path, &f->path_room,
			  f->dir_len + e->len + 1))
		return -ENOMEM;
	memcpy(f->path + f->dir_len, e->name, e->len);
	f->path_len = f->dir_len + e->len;
	f->path[f->path_len] = '\0';
	return 0;
}

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
 * Whether the latest state has the path, whichever file that is.  What cannot be
 * read there is reported once, and does not hide what is elsewhere.
 */
static int has_path(struct lost *f, struct context *cx, uint64_t *ino)
{
	int err = dir_resolve(&f->latest, cx, f->path, ino);

	if (!err || is_fatal(err))
		return err ? err : 1;
	if (err != -ENOENT && err != -ENOTDIR && !f->latest_broken) {
		f->s->broken(f->s->arg, f->latest.cno, err);
		f->latest_broken = true;
	}
	fail_clear(cx);
	return 0;
}

/* A deleted file: neither the next checkpoint nor the latest state has it. */
static int is_deleted(struct lost *f, struct context *cx, uint64_t ino,
		      const struct nilfs_inode *inode)
{
	int ret = has_file(&f->newer, cx, ino, inode);

	if (!ret)
		ret = has_file(&f->latest, cx, ino, inode);
	return ret < 0 ? ret : !ret;
}

/* Adds the path to those that were found: 1 if it is new. */
static int is_new(struct lost *f, struct context *cx, uint64_t ino)
{
	uint64_t hash = removed_hash(f->path, f->path_len);
	int err;

	if (pairtable_find(&f->seen, hash, ino))
		return 0;
	err = pairtable_add(&f->seen, cx, hash, ino, 1);
	return err ? err : 1;
}

/* Whether the entry, whose path is set, is one to look for: 1 or 0. */
static int is_wanted(struct lost *f, struct context *cx,
		     const struct removed_entry *e,
		     const struct nilfs_inode *inode)
{
	uint64_t ino;
	int ret;

	if (!filter_takes(f->s->filter, f->path, inode))
		return 0;
	ret = has_path(f, cx, &ino);
	if (ret > 0 && (f->s->deleted || ino == e->ino))
		return 0;
	return ret < 0 ? ret : is_new(f, cx, e->ino);
}

static int report_removed(struct lost *f, const struct removed_entry *e,
		       const struct nilfs_inode *inode)
{
	const struct tree_item item = {
		.kind = TREE_ENTRY,
		.path = f->path,
		.path_len = f->path_len,
		.inner = 1,
		.depth = 1,
		.name = f->path + f->dir_len,
		.name_len = f->path_len - f->dir_len,
		.ino = e->ino,
		.type = inode_dirent_type(le16_get(inode->i_mode)),
		.inode = inode,
	};

	return f->s->found(f->s->arg, &f->older, &item);
}

static int look_at_removed(struct lost *f, struct context *cx,
			   const struct removed_entry *e)
{
	struct nilfs_inode inode;
	int ret = root_inode(&f->older, cx, e->ino, &inode);

	if (!ret && f->s->deleted)
		ret = is_deleted(f, cx, e->ino, &inode);
	else if (!ret)
		ret = 1;
	if (ret <= 0)
		return ret;
	ret = set_path(f, cx, e);
	if (!ret)
		ret = is_wanted(f, cx, e, &inode);
	return ret > 0 ? report_removed(f, e, &inode) : ret;
}

static int found_removed(void *arg, struct context *cx,
			 const struct removed_entry *e)
{
	struct lost *f = arg;
	int err;

	if (!filter_takes_name(f->s->filter, e->name, e->len))
		return 0;
	err = look_at_removed(f, cx, e);
	if (!err || is_fatal(err))
		return err;
	f->s->broken(f->s->arg, f->older.cno, err);
	return 0;
}

static void broken_directory(void *arg, uint64_t dir, int err)
{
	struct lost *f = arg;

	(void)dir;
	f->s->broken(f->s->arg, f->older.cno, err);
}

/* The names that checkpoint CNO has and the next newer one lacks. */
static int compare_checkpoint(struct lost *f, struct context *cx,
			      uint64_t cno)
{
	const struct removed_sink sink = { found_removed, broken_directory,
					   f };
	int err = root_open(&f->older, cx, f->latest.vol, cno);
	bool opened = !err;

	f->dir = 0;
	if (!err && !dirchange_is_same_map(&f->older.cp.cp_ifile_inode,
					   &f->newer.cp.cp_ifile_inode))
		err = removed_run(cx, &f->older, &f->newer, &sink);
	if (err && is_fatal(err))
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
