// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The walk through a directory tree.
 *
 * A directory is processed at once: its names are read and sorted, each gets a
 * number, its files are placed, and its own blocks are packed.  Then its
 * subdirectories follow, each with its whole subtree.  So files of one directory are
 * adjacent, and memory is used for the names of one directory and for the pending
 * subdirectories along one path.  The path may have any depth: it is a list, not a
 * recursion.
 *
 * In a directory with many files other threads examine the files, and read small ones,
 * in advance (readahead.h).
 */
#include "config.h"

#include "mkfs/source/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/array.h"
#include "base/context.h"
#include "disk/ondisk.h"
#include "mkfs/populate/populate.h"
#include "mkfs/source/attrlist.h"
#include "mkfs/source/listing.h"
#include "mkfs/source/readahead.h"
#include "mkfs/source/sourcedir.h"
#include "mkfs/source/sourcefile.h"

/*
 * A pending subdirectory.  There may be very many, so they are packed one after the
 * other in one block of memory.
 */
struct subdir {
	uint64_t ino;		/* on the volume */
	uint64_t expected;		/* inode number in the parent's entry */
	uint8_t len;
	char name[];		/* with a NUL */
};

/* Bytes of a record with a name of LEN bytes; the next record is aligned. */
static size_t subdir_bytes(size_t len)
{
	return (offsetof(struct subdir, name) + len + 1 + 7) & ~(size_t)7;
}

/* A directory with subdirectories. */
struct level {
	struct sourcedir *dir;
	uint64_t ino;
	char *subdirs;		/* packed records */
	size_t at, bytes, room;	/* bytes of subdirs */
	size_t path_len;	/* in `path` */
};

struct walk {
	struct populate *p;
	const struct walk_options *options;
	struct walk_notes notes;
	bool excludes;		/* some names are excluded by rules */
	uint64_t dev;		/* of the top */
	struct sourcefile files;
	struct listing list;
	struct readahead *ahead;
	struct level *levels;
	size_t depth, levels_room;
	char *path;		/* below the top; only for exclusions */
	size_t path_room;
};

/* Appends NAME to the first BASE bytes of the path; sets *LEN to its length. */
static int walk_set_path(struct walk *w, struct context *cx, size_t base,
			 const char *name, size_t name_len, size_t *len)
{
	if (array_reserve(cx, &w->path, &w->path_room, base + name_len + 2))
		return -ENOMEM;
	if (base)
		w->path[base++] = '/';
	memcpy(w->path + base, name, name_len);
	*len = base + name_len;
	w->path[*len] = '\0';
	return 0;
}

static int walk_look_at(struct context *cx, const struct sourcedir *dir, int dirfd,
			const struct populate_name *name, struct statx *st)
{
	if (!statx(dirfd, name->name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
		   STATX_BASIC_STATS, st))
		return 0;
	return errno == ENOENT ?
		       sourcedir_fail(dir, cx, name->name, name->len, -ESTALE,
				      "changed while being read") :
		       sourcedir_fail(dir, cx, name->name, name->len, -errno,
				      "stat");
}

static int visit_dir(struct walk *w, struct context *cx, struct level *level,
		     struct populate_name *name)
{
	size_t bytes = subdir_bytes(name->len);
	uint64_t expected = name->ino;
	struct subdir *subdir;
	int err;

	name->type = NILFS_FT_DIR;
	err = populate_begin_dir(w->p, cx, level->ino, name->name, name->len,
				 &name->ino);
	if (!err)
		err = array_reserve(cx, &level->subdirs, &level->room,
				    level->bytes + bytes);
	if (err)
		return err;
	subdir = (struct subdir *)(level->subdirs + level->bytes);
	subdir->ino = name->ino;
	subdir->expected = expected;
	subdir->len = name->len;
	memcpy(subdir->name, name->name, name->len + 1u);
	level->bytes += bytes;
	return 1;
}

/* Visits one name; AHEAD is its result or NULL.  1; 0 if it is excluded. */
static int visit_name(struct walk *w, struct context *cx, struct level *level,
		      int dirfd, struct populate_name *name,
		      struct readahead_file *ahead)
{
	const struct walk_skip *skip = w->options->skip;
	struct statx looked;
	const struct statx *st = ahead ? &ahead->st : &looked;
	size_t len;
	int err = 0;

	if (w->excludes) {
		err = walk_set_path(w, cx, level->path_len, name->name, name->len,
				    &len);
		if (err || entry_excluded(w->options->rules, w->path))
			return err;
	}
	if (name->type == NILFS_FT_DIR)
		return visit_dir(w, cx, level, name);
	if (!ahead)
		err = walk_look_at(cx, level->dir, dirfd, name, &looked);
	if (err)
		return err;
	if (skip && skip->ino == st->stx_ino &&
	    skip->dev == makedev(st->stx_dev_major, st->stx_dev_minor)) {
		w->notes.skipped++;
		return 0;
	}
	if (S_ISDIR(st->stx_mode))
		return visit_dir(w, cx, level, name);
	w->files.ahead = ahead;
	err = sourcefile_add(&w->files, cx, level->dir, dirfd, name, st);
	return err ? err : 1;
}

/* Visits all names in the requested order; removes excluded ones from the list. */
static int walk_visit_all(struct walk *w, struct context *cx, struct level *level,
			  int fd)
{
	enum walk_order order = w->options->order;
	struct listing *list = &w->list;
	struct readahead_file *ahead;
	struct statx st;
	size_t i, n = 0;
	int kept = 0;

	for (i = 0; order == WALK_SIZE && i < list->n; i++) {
		kept = walk_look_at(cx, level->dir, fd, &list->names[i], &st);
		if (kept)
			return kept;
		list->names[i].ino = S_ISREG(st.stx_mode) ? st.stx_size : 0;
	}
	if (order != WALK_NONE)
		listing_sort(list, order != WALK_NAME);
	/* Files that may be excluded are not read ahead. */
	readahead_begin(w->ahead, level->dir, fd, list->names,
			w->excludes ? 0 : list->n);
	for (i = 0; i < list->n; i++) {
		kept = context_cancelled(cx);
		if (!kept)
			kept = readahead_look(w->ahead, cx, i, &ahead);
		if (!kept)
			kept = visit_name(w, cx, level, fd, &list->names[i],
					  ahead);
		if (kept < 0)
			break;
		if (kept)
			list->names[n++] = list->names[i];
	}
	readahead_end(w->ahead);
	list->n = n;
	return kept < 0 ? kept : 0;
}

/* Reads the directory of LEVEL, open at FD. */
static int read_level(struct walk *w, struct context *cx, struct level *level,
		      int fd, const struct statx *st)
{
	int err = attrlist_report(cx, w->p, level->dir, NULL, 0,
				  attrlist_losses(fd));

	if (!err)
		err = sourcefile_flags(w->p, cx, level->dir, NULL, st);
	w->list.n = 0;
	if (err ||
	    (w->options->one_file_system && sourcedir_device(st) != w->dev))
		return err;
	err = listing_read(&w->list, cx, fd);
	if (err == -ENAMETOOLONG)
		return sourcefile_blame(cx, level->dir, NULL, err);
	if (err && err != -ENOMEM)
		return sourcedir_fail(level->dir, cx, NULL, 0, err,
				      "cannot read the directory");
	return err ? err : walk_visit_all(w, cx, level, fd);
}

/*
 * Visits directory DIR (ownership is transferred): its entry, its names, its files.  It
 * stays on the stack if it has subdirectories.
 */
static int walk_enter_dir(struct walk *w, struct context *cx, struct sourcedir *dir,
			  uint64_t ino, uint64_t parent, size_t path_len,
			  const struct statx *st)
{
	struct level level = { .dir = dir, .ino = ino, .path_len = path_len };
	struct entry e;
	int fd = sourcedir_use(dir, cx), err = fd < 0 ? fd : 0;

	if (!err) {
		err = read_level(w, cx, &level, fd, st);
		sourcedir_unuse(dir);
	}
	if (!err) {
		sourcefile_entry(st, &e);
		err = populate_end_dir(w->p, cx, ino, parent, &e, POPULATE_ALL,
				       w->list.names, w->list.n);
		err = sourcefile_blame(cx, dir, NULL, err);
	}
	if (!err && level.bytes)
		err = array_reserve(cx, &w->levels, &w->levels_room,
				    w->depth + 1);
	if (err || !level.bytes) {
		sourcedir_put(dir);
		free(level.subdirs);
		return err;
	}
	w->levels[w->depth++] = level;
	return 0;
}

static void leave(struct walk *w)
{
	struct level *level = &w->levels[--w->depth];

	sourcedir_put(level->dir);
	free(level->subdirs);
}

/* Visits the next subdirectory of the deepest level, or leaves that level. */
static int step_walk(struct walk *w, struct context *cx)
{
	struct level *level = &w->levels[w->depth - 1];
	const struct subdir *subdir;
	struct sourcedir *dir;
	size_t path_len = 0;
	struct statx st;
	int err;

	if (level->at == level->bytes) {
		leave(w);
		return 0;
	}
	subdir = (const struct subdir *)(level->subdirs + level->at);
	level->at += subdir_bytes(subdir->len);
	err = context_cancelled(cx);
	if (!err && w->excludes)
		err = walk_set_path(w, cx, level->path_len, subdir->name,
				    subdir->len, &path_len);
	if (!err)
		err = sourcedir_open(&dir, cx, level->dir, subdir->name,
				     subdir->len, &st);
	if (err)
		return err;
	/*
	 * The number of a mount point differs from the one in its directory entry.  Only
	 * at a mount point can a directory contain itself.
	 */
	if (subdir->expected != st.stx_ino &&
	    sourcedir_is_below(level->dir, &st)) {
		sourcedir_put(dir);
		return sourcedir_fail(level->dir, cx, subdir->name, subdir->len,
				      -ELOOP, "directory contains itself");
	}
	return walk_enter_dir(w, cx, dir, subdir->ino, level->ino, path_len, &st);
}

int walk_run(struct context *cx, const char *path,
	     const struct walk_options *options, struct populate *p,
	     struct walk_notes *notes)
{
	struct walk *w = calloc(1, sizeof(*w));
	struct sourcedir *top;
	struct statx st;
	uint64_t ino;
	int err;

	if (!w)
		return fail(cx, -ENOMEM, "walk through %s", path);
	w->p = p;
	w->options = options;
	w->excludes = options->rules && options->rules->nexclude;
	w->files.p = p;
	err = readahead_open(&w->ahead, cx, populate_needs(p)->block_size,
			     time(NULL));
	if (!err)
		err = populate_begin_dir(p, cx, 0, NULL, 0, &ino);
	if (!err)
		err = sourcedir_open_top(&top, cx, path, 0, &st);
	if (!err) {
		w->dev = sourcedir_device(&st);
		err = walk_enter_dir(w, cx, top, ino, ino, 0, &st);
	}
	while (!err && w->depth)
		err = step_walk(w, cx);
	while (w->depth)
		leave(w);
	if (notes)
		*notes = w->notes;
	readahead_close(w->ahead);
	sourcefile_fini(&w->files);
	listing_fini(&w->list);
	free(w->levels);
	free(w->path);
	free(w);
	return err;
}
