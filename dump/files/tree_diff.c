// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two states of a directory tree.
 *
 * A block that is rewritten gets a new virtual block number, and the same
 * number at two checkpoints is the same block.  So two maps are walked in
 * parallel, and bytes are read only where their pointers differ.
 *
 * Directories are compared in pairs, by path.  The inodes that differ are known
 * beforehand (vol/mapdiff.h).  A directory whose inode is the same in both
 * has the same entries: it is read once, for those of its entries that are
 * directories or have changed, and no inode of the others is looked at.  Of a
 * directory that changed, or exists once, all entries are collected, sorted by
 * name, and merged.  Invalid names are reported and do not count, nor does a
 * name that a directory has twice, after the first time.
 *
 * Memory: the entries of one pair of changed directories, the pairs that wait,
 * a bit for each inode that changed and each directory.
 */
#include "config.h"

#include "dump/files/tree_diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/inoset.h"
#include "check/damage.h"
#include "disk/inode.h"
#include "vol/dir.h"
#include "vol/inodediff.h"
#include "vol/mapdiff.h"
#include "vol/tree.h"
#include "vol/volume.h"

const struct value_flag tree_diff_names[] = {
	{ TREE_DIFF_TYPE, "type" },
	{ TREE_DIFF_INODE, "inode" },
	{ TREE_DIFF_MODE, "mode" },
	{ TREE_DIFF_OWNER, "owner" },
	{ TREE_DIFF_GROUP, "group" },
	{ TREE_DIFF_LINKS, "links" },
	{ TREE_DIFF_SIZE, "size" },
	{ TREE_DIFF_BLOCKS, "blocks" },
	{ TREE_DIFF_MTIME, "mtime" },
	{ TREE_DIFF_CTIME, "ctime" },
	{ TREE_DIFF_DEVICE, "device" },
	{ TREE_DIFF_FLAGS, "flags" },
	{ TREE_DIFF_CONTENT, "content" },
	{ TREE_DIFF_GENERATION, "generation" },
	{ 0, NULL },
};

#define DIFFERS(field) (memcmp(&a->field, &b->field, sizeof(a->field)) != 0)

/* The differences of the two raw inodes themselves. */
static unsigned int compare_attributes(const struct nilfs_inode *a,
				       const struct nilfs_inode *b)
{
	unsigned int mode = le16_get(a->i_mode) ^ le16_get(b->i_mode);
	bool device = inode_has_rdev(a) && inode_has_rdev(b);
	unsigned int what = 0;

	if (mode & S_IFMT)
		what |= TREE_DIFF_TYPE;
	if (mode & ~(unsigned int)S_IFMT)
		what |= TREE_DIFF_MODE;
	if (DIFFERS(i_generation))
		what |= TREE_DIFF_GENERATION;
	if (DIFFERS(i_uid))
		what |= TREE_DIFF_OWNER;
	if (DIFFERS(i_gid))
		what |= TREE_DIFF_GROUP;
	if (DIFFERS(i_links_count))
		what |= TREE_DIFF_LINKS;
	if (DIFFERS(i_size))
		what |= TREE_DIFF_SIZE;
	if (DIFFERS(i_blocks))
		what |= TREE_DIFF_BLOCKS;
	if (DIFFERS(i_mtime) || DIFFERS(i_mtime_nsec))
		what |= TREE_DIFF_MTIME;
	if (DIFFERS(i_ctime) || DIFFERS(i_ctime_nsec))
		what |= TREE_DIFF_CTIME;
	if (device && DIFFERS(i_bmap[0]))
		what |= TREE_DIFF_DEVICE;
	if (DIFFERS(i_flags))
		what |= TREE_DIFF_FLAGS;
	return what;
}

/* Whether LEN bytes differ; NULL stands for zeroes. */
static bool bytes_differ(const char *a, const char *b, size_t len)
{
	size_t i;

	if (a && b)
		return memcmp(a, b, len) != 0;
	if (!a)
		a = b;
	for (i = 0; a && i < len; i++)
		if (a[i])
			return true;
	return false;
}

/* Ends the comparison of two maps: a block that differs, the end of a file. */
enum { DIFFERENT = 1, PAST_END };

/* Compares the blocks that the maps of two files do not share. */
static int compare_blocks(void *arg, struct context *cx,
			  const struct mapdiff_item *item)
{
	struct file *file = arg; /* two */
	const struct nilfs_geometry *geo = &file[0].vol->geo;
	uint64_t size = le64_get(file[0].inode.i_size);
	const void *a = NULL, *b = NULL;
	size_t len = geo->block_size;
	int ret;

	if (item->key >= div_round_up(size, geo->block_size))
		return PAST_END;
	if (size - (item->key << geo->block_bits) < len)
		len = (size_t)(size - (item->key << geo->block_bits));
	ret = blockmap_borrow(&file[0].map, cx, item->a, &a);
	if (!ret)
		ret = blockmap_borrow(&file[1].map, cx, item->b, &b);
	if (!ret && bytes_differ(a, b, len))
		ret = DIFFERENT;
	cache_put(file[0].vol->cache, a);
	cache_put(file[0].vol->cache, b);
	return ret;
}

/* A name in a pair of directories. */
struct entry {
	uint64_t ino[2]; /* 0: not on that side */
	size_t name;	 /* offset in the names */
	uint8_t len;
	uint8_t type; /* as the entry says it */
};

/* A pair of directories that waits; its path ends the string of paths. */
struct waiting {
	uint64_t ino[2];
	size_t path;
	bool given; /* to the sink */
};

struct diff {
	struct root *root[2];
	const struct tree_diff_sink *sink;
	struct inoset changed;
	struct inoset seen[2]; /* directories */
	struct entry *entries;
	size_t count, entries_room;
	char *names;
	size_t names_len, names_room;
	struct waiting *waiting;
	size_t depth, waiting_room;
	char *paths;
	size_t paths_len, paths_room;
	struct waiting pair; /* the current one */
	char *path;	     /* of the current pair, or an entry */
	size_t dir_len, path_len, path_room;
	struct file file[2];
};

/* Adds an inode that is not the same on both sides to the set. */
static int note_change(void *arg, struct context *cx,
		       const struct inodediff_item *item)
{
	struct diff *d = arg;
	size_t size = d->root[0]->vol->geo.inode_size;
	int ret = bytes_differ((const char *)item->a,
			       (const char *)item->b, size)
			  ? inoset_add(&d->changed, cx, item->ino)
			  : 0;

	return ret < 0 ? ret : 0;
}

static int set_path(struct diff *d, struct context *cx, size_t at,
		    const char *name, size_t len)
{
	if (array_reserve(cx, &d->path, &d->path_room, at + len + 2))
		return -ENOMEM;
	d->path[at] = '/';
	memcpy(d->path + at + 1, name, len);
	d->path_len = at + 1 + len;
	return 0;
}

static int report_broken(struct diff *d, int err)
{
	if (damage_is_fatal(err))
		return err;
	d->sink->broken(d->sink->arg, d->path, d->path_len, err);
	return 0;
}

/* Queues the directory at the path; INO of a side that has none is 0. */
static int push(struct diff *d, struct context *cx, const uint64_t ino[2],
		bool given)
{
	struct waiting w = {.path = d->paths_len, .given = given};
	int i, ret;

	for (i = 0; i < 2; i++) {
		if (!ino[i])
			continue;
		ret = inoset_add(&d->seen[i], cx, ino[i]);
		if (!ret)
			ret = fail(cx, -EUCLEAN,
				   "directory %llu: in two places",
				   (unsigned long long)ino[i]);
		if (ret > 0)
			w.ino[i] = ino[i];
		else if (report_broken(d, ret))
			return ret;
	}
	if (!w.ino[1] && (!w.ino[0] || d->sink->whole_directories))
		return 0;
	if (array_reserve(cx, &d->waiting, &d->waiting_room, d->depth + 1))
		return -ENOMEM;
	if (array_reserve(cx, &d->paths, &d->paths_room,
			  d->paths_len + d->path_len))
		return -ENOMEM;
	memcpy(d->paths + d->paths_len, d->path, d->path_len);
	d->paths_len += d->path_len;
	d->waiting[d->depth++] = w;
	return 0;
}

/* Sets *WHAT to the differences of two files; of the same type, also the content. */
static int compare_inodes(struct diff *d, struct context *cx,
			  const uint64_t ino[2],
			  const struct nilfs_inode inode[2], unsigned int *what)
{
	mode_t mode = le16_get(inode[0].i_mode);
	int i, ret = 0;

	*what = compare_attributes(&inode[0], &inode[1]);
	if (ino[0] != ino[1])
		*what |= TREE_DIFF_INODE;
	if (*what & TREE_DIFF_TYPE || !(S_ISREG(mode) || S_ISLNK(mode)))
		return 0;
	if (*what & TREE_DIFF_SIZE) {
		*what |= TREE_DIFF_CONTENT;
		return 0;
	}
	for (i = 0; i < 2 && !ret; i++)
		ret = file_init(&d->file[i], cx, d->root[i]->vol, ino[i],
				&inode[i]);
	if (!ret)
		ret = mapdiff_walk(cx, &d->file[0].map, &d->file[1].map, false,
				   compare_blocks, d->file);
	if (ret == DIFFERENT)
		*what |= TREE_DIFF_CONTENT;
	return ret < 0 ? ret : 0;
}

/* Reports what is at the path, after the current pair if that is due. */
static int report_difference(struct diff *d, const uint64_t ino[2],
			     unsigned int what)
{
	const struct tree_diff_sink *sink = d->sink;
	const uint64_t *dir = d->pair.ino;
	int err = 0;

	if (sink->parents && !d->pair.given && dir[0] && dir[1])
		err = sink->found(sink->arg, d->path,
				  d->dir_len ? d->dir_len : 1, dir[0], dir[1],
				  0);
	d->pair.given = true;
	return err < 0 ? err : sink->found(sink->arg, d->path, d->path_len,
					   ino[0], ino[1], what);
}

/* Compares, and reports, what is at the path, on one side or on both. */
static int compare_files(struct diff *d, struct context *cx,
			 const uint64_t ino[2])
{
	struct nilfs_inode inode[2] = { 0 };
	uint64_t dirs[2] = {0, 0};
	unsigned int what = 0;
	bool given;
	int i, err = 0;

	for (i = 0; i < 2; i++) {
		if (!ino[i])
			continue;
		err = root_inode(d->root[i], cx, ino[i], &inode[i]);
		if (err)
			return report_broken(d, err);
		if (S_ISDIR(le16_get(inode[i].i_mode)))
			dirs[i] = ino[i];
	}
	if (ino[0] && ino[1])
		err = compare_inodes(d, cx, ino, inode, &what);
	if (!(what & ~d->sink->minor) &&
	    (dirs[1] || le16_get(inode[1].i_links_count) < 2))
		what = 0;
	given = what || !ino[0] || !ino[1];
	if (!err && given)
		err = report_difference(d, ino, what);
	if (err > 0)
		return 0;
	if (err)
		err = report_broken(d, err);
	return err ? err : push(d, cx, dirs, given);
}

/* Reports an entry of the current pair that does not count. */
static int report_name(struct diff *d, struct context *cx, const char *name,
		       size_t len, const char *text)
{
	int err = set_path(d, cx, d->dir_len, name, len);

	if (!err)
		err = fail(cx, -EUCLEAN, "%s", text);
	return report_broken(d, err);
}

/* Collects the entries of directory INO of side I that need a look. */
static int collect(struct diff *d, struct context *cx, int i, uint64_t ino,
		   const bool sides[2])
{
	bool both = sides[0] && sides[1];
	struct dir_cursor cur = { 0 };
	struct dir_entry de;
	int ret;

	ret = root_file(d->root[i], cx, ino, &d->file[i]);
	if (!ret)
		ret = dir_cursor_open(&cur, cx, &d->file[i]);
	while (!ret) {
		ret = dir_cursor_next(&cur, cx, &de);
		if (ret < 0 && cur.at_broken_block) {
			ret = report_broken(d, ret);
			continue;
		}
		if (ret <= 0)
			break;
		ret = 0;
		if (dir_is_dots(&de) || (both && de.type != NILFS_FT_DIR &&
				     !inoset_has(&d->changed, de.ino)))
			continue;
		if (!tree_name_is_sane(de.name, de.len)) {
			ret = report_name(d, cx, de.name, de.len,
					  "not a name of a file");
			continue;
		}
		if (array_reserve(cx, &d->entries, &d->entries_room,
				  d->count + 1) ||
		    array_reserve(cx, &d->names, &d->names_room,
				  d->names_len + de.len)) {
			ret = -ENOMEM;
			break;
		}
		memcpy(d->names + d->names_len, de.name, de.len);
		d->entries[d->count++] = (struct entry){
			.ino = { sides[0] ? de.ino : 0, sides[1] ? de.ino : 0 },
			.name = d->names_len,
			.len = de.len,
			.type = de.type,
		};
		d->names_len += de.len;
	}
	dir_cursor_close(&cur);
	return ret ? report_broken(d, ret) : 0;
}

static int by_name(const void *a, const void *b, void *names)
{
	const struct entry *x = a, *y = b;
	int order = memcmp((char *)names + x->name, (char *)names + y->name,
			   x->len < y->len ? x->len : y->len);

	return order ? order : x->len - y->len;
}

static int by_name_and_place(const void *a, const void *b, void *names)
{
	const struct entry *x = a, *y = b;
	int order = by_name(a, b, names);

	return order ? order : x->name < y->name ? -1 : 1;
}

/* Makes one entry of two with one name, one on each side: of two the first. */
static int merge(struct diff *d, struct context *cx)
{
	size_t i, n = 0;
	int err = 0, side;

	if (!d->count)
		return 0;
	qsort_r(d->entries, d->count, sizeof(*d->entries), by_name_and_place,
		d->names);
	for (i = 1; i < d->count && !err; i++) {
		struct entry *last = &d->entries[n], *e = &d->entries[i];

		side = e->ino[0] == 0;
		if (by_name(last, e, d->names))
			d->entries[++n] = *e;
		else if (!last->ino[side])
			last->ino[side] = e->ino[side];
		else
			err = report_name(d, cx, d->names + e->name, e->len,
					  "the directory has this name twice; "
					  "the first one counts");
	}
	d->count = n + 1;
	return err;
}

/* The pair that waits on top. */
static int compare_waiting(struct diff *d, struct context *cx)
{
	const struct waiting w = d->waiting[--d->depth];
	const struct entry *e;
	size_t len = d->paths_len - w.path, i;
	bool same = w.ino[0] == w.ino[1] && !inoset_has(&d->changed, w.ino[0]);
	int err = set_path(d, cx, 0, d->paths + w.path + 1, len - 1);

	/* The root's "/" is no part of the paths below it. */
	d->dir_len = len > 1 ? len : 0;
	d->paths_len = w.path;
	d->pair = w;
	d->count = d->names_len = 0;
	if (!err && same)
		err = collect(d, cx, 0, w.ino[0], (bool[2]){true, true});
	if (!err && !same && w.ino[0])
		err = collect(d, cx, 0, w.ino[0], (bool[2]){true, false});
	if (!err && !same && w.ino[1])
		err = collect(d, cx, 1, w.ino[1], (bool[2]){false, true});
	if (!err)
		err = merge(d, cx);
	for (i = 0; i < d->count && !err; i++) {
		e = &d->entries[i];
		err = set_path(d, cx, d->dir_len, d->names + e->name, e->len);
		if (err)
			break;
		if (e->ino[0] != e->ino[1] ||
		    inoset_has(&d->changed, e->ino[0]))
			err = compare_files(d, cx, e->ino);
		else if (e->type == NILFS_FT_DIR)
			err = push(d, cx, e->ino, false);
	}
	return err ? err : context_cancelled(cx);
}

int tree_diff(struct context *cx, struct root *a, struct root *b,
	      const char *path, const struct tree_diff_sink *sink)
{
	struct diff *d = calloc(1, sizeof(*d));
	uint64_t ino[2] = {0, 0};
	size_t len;
	int i, err;

	if (!d)
		return fail(cx, -ENOMEM, "comparison");
	d->root[0] = a;
	d->root[1] = b;
	d->sink = sink;
	err = inodediff_run(cx, a, b, INODEDIFF_ALL, note_change, d);
	if (!err)
		err = set_path(d, cx, 0, "", 0);
	/* Finds PATH on both sides, and compares it. */
	for (i = 0; i < 2 && !err; i++) {
		err = dir_resolve(d->root[i], cx, path, &ino[i]);
		if (err)
			ino[i] = 0;
		if (err == -ENOENT || err == -ENOTDIR)
			err = i && !ino[0] ? err : 0;
	}
	d->path_len = 0;
	for (path += strspn(path, "/"); *path && !err;
	     path += strspn(path, "/")) {
		len = strcspn(path, "/");
		err = set_path(d, cx, d->path_len, path, len);
		path += len;
	}
	if (!d->path_len)
		d->path_len = 1;
	if (!err)
		err = compare_files(d, cx, ino);
	while (!err && d->depth)
		err = compare_waiting(d, cx);
	inoset_fini(&d->changed);
	inoset_fini(&d->seen[0]);
	inoset_fini(&d->seen[1]);
	free(d->entries);
	free(d->names);
	free(d->waiting);
	free(d->paths);
	free(d->path);
	free(d);
	return err;
}
