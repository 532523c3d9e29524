// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The walk through a directory tree.
 *
 * A directory is processed at once: its names are read, sorted, and each gets a
 * number; its files are placed; its own blocks are packed.  Then its
 * subdirectories follow, each with all below it.  So files of one directory are
 * together, and memory is used for one directory's names and for the pending
 * subdirectories along one path.  That path may have any depth: it is a list,
 * not a recursion.
 *
 * In a directory with many files other threads examine them, and read the small
 * ones, ahead of this (readahead.h), which only saves time.
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
 * Pending subdirectories.
 *
 * There may be very many, and each is needed once: they are packed one after
 * the other in one piece of memory.
 */

struct subdir {
	uint64_t ino;		/* on the volume */
	uint64_t expected;		/* what the directory above says */
	uint8_t len;
	char name[];		/* with a NUL */
};

/* All zero: none. */
struct subdirs {
	char *items;		/* one after the other */
	size_t at, bytes, room;
};

/* Of one with a name of LEN bytes, so that the next is aligned. */
static size_t subdir_bytes(size_t len)
{
	return (offsetof(struct subdir, name) + len + 1 + 7) & ~(size_t)7;
}

/* Appends NAME, whose number in the source is EXPECTED.  -ENOMEM. */
static int subdirs_add(struct subdirs *s, struct context *cx,
		       const struct populate_name *name, uint64_t expected)
{
	size_t bytes = subdir_bytes(name->len);
	struct subdir *subdir;

	if (array_reserve(cx, &s->items, &s->room, s->bytes + bytes))
		return -ENOMEM;
	subdir = (struct subdir *)(s->items + s->bytes);
	subdir->ino = name->ino;
	subdir->expected = expected;
	subdir->len = name->len;
	memcpy(subdir->name, name->name, name->len + 1u);
	s->bytes += bytes;
	return 0;
}

/* The next one, valid until subdirs_fini(), or NULL. */
static const struct subdir *subdirs_next(struct subdirs *s)
{
	const struct subdir *subdir;

	if (s->at == s->bytes)
		return NULL;
	subdir = (const struct subdir *)(s->items + s->at);
	s->at += subdir_bytes(subdir->len);
	return subdir;
}

static void subdirs_fini(struct subdirs *s)
{
	free(s->items);
}

/* A directory with subdirectories. */
struct level {
	struct sourcedir *dir;
	uint64_t ino;
	struct subdirs subdirs;
	size_t path_len;	/* in `path` */
};

struct walk {
	struct populate *p;
	const struct walk_options *options;
	struct walk_notes notes;
	uint64_t dev;		/* of the top */
	struct sourcefile files;
	struct listing list;
	struct readahead *ahead;
	struct level *levels;
	size_t depth, levels_room;
	char *path;		/* below the top; only for exclusions */
	size_t path_room;
};

/* Appends NAME to the first BASE bytes of the path; *LEN is what it has. */
static int set_path(struct walk *w, struct context *cx, size_t base,
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

static bool has_exclusions(const struct walk *w)
{
	return w->options->rules && w->options->rules->nexclude;
}

/* 1 where NAME is left out. */
static int is_excluded(struct walk *w, struct context *cx, size_t base,
		       const struct populate_name *name)
{
	size_t len;
	int err;

	if (!has_exclusions(w))
		return 0;
	err = set_path(w, cx, base, name->name, name->len, &len);
	return err ? err : entry_excluded(w->options->rules, w->path);
}

static bool is_skipped(const struct walk *w, const struct statx *st)
{
	uint64_t dev = makedev(st->stx_dev_major, st->stx_dev_minor);
	size_t i;

	for (i = 0; i < w->options->nskip; i++)
		if (w->options->skip[i].ino == st->stx_ino &&
		    w->options->skip[i].dev == dev)
			return true;
	return false;
}

static int look_at(struct context *cx, const struct sourcedir *dir, int dirfd,
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

/* Sorts the names in the requested order. */
static int sort(struct walk *w, struct context *cx,
		const struct sourcedir *dir, int dirfd)
{
	struct listing *list = &w->list;
	struct statx st;
	size_t i;
	int err;

	if (w->options->order == WALK_NONE)
		return 0;
	for (i = 0; w->options->order == WALK_SIZE && i < list->n; i++) {
		err = look_at(cx, dir, dirfd, &list->names[i], &st);
		if (err)
			return err;
		list->names[i].ino = S_ISREG(st.stx_mode) ? st.stx_size : 0;
	}
	listing_sort(list, w->options->order != WALK_NAME);
	return 0;
}

static int visit_dir(struct walk *w, struct context *cx, struct level *level,
		     struct populate_name *name)
{
	uint64_t expected = name->ino;
	int err;

	name->type = NILFS_FT_DIR;
	err = populate_begin_dir(w->p, cx, level->ino, name->name, name->len,
				 &name->ino);
	if (!err)
		err = subdirs_add(&level->subdirs, cx, name, expected);
	return err ? err : 1;
}

/* One name, of which AHEAD is known or NULL: 1, 0 where it is left out. */
static int visit_name(struct walk *w, struct context *cx, struct level *level,
		      int dirfd, struct populate_name *name,
		      struct readahead_file *ahead)
{
	struct statx looked;
	const struct statx *st = ahead ? &ahead->st : &looked;
	int err;

	err = is_excluded(w, cx, level->path_len, name);
	if (err)
		return err < 0 ? err : 0;
	if (name->type == NILFS_FT_DIR)
		return visit_dir(w, cx, level, name);
	if (!ahead)
		err = look_at(cx, level->dir, dirfd, name, &looked);
	if (err)
		return err;
	if (is_skipped(w, st)) {
		w->notes.skipped++;
		return 0;
	}
	if (S_ISDIR(st->stx_mode))
		return visit_dir(w, cx, level, name);
	w->files.ahead = ahead;
	err = sourcefile_add(&w->files, cx, level->dir, dirfd, name, st);
	return err ? err : 1;
}

/* Visits all names; those left out disappear from the list. */
static int visit_all(struct walk *w, struct context *cx, struct level *level,
		     int dirfd)
{
	struct populate_name *names = w->list.names;
	struct readahead_file *ahead;
	size_t i, n = 0;
	int kept;

	for (i = 0; i < w->list.n; i++) {
		kept = context_cancelled(cx);
		if (!kept)
			kept = readahead_look(w->ahead, cx, i, &ahead);
		if (!kept)
			kept = visit_name(w, cx, level, dirfd, &names[i],
					  ahead);
		if (kept < 0)
			return kept;
		if (kept)
			names[n++] = names[i];
	}
	w->list.n = n;
	return 0;
}

/* The same; what may be left out is not touched ahead. */
static int visit_ahead(struct walk *w, struct context *cx,
		       struct level *level, int dirfd)
{
	size_t n = has_exclusions(w) ? 0 : w->list.n;
	int err;

	readahead_begin(w->ahead, level->dir, dirfd, w->list.names, n);
	err = visit_all(w, cx, level, dirfd);
	readahead_end(w->ahead);
	return err;
}

static int read_names(struct walk *w, struct context *cx,
		      const struct sourcedir *dir, int fd)
{
	int err = listing_read(&w->list, cx, fd);

	if (err == -ENAMETOOLONG)
		return sourcefile_blame(cx, dir, NULL, err);
	if (err && err != -ENOMEM)
		return sourcedir_fail(dir, cx, NULL, 0, err,
				      "read of the directory");
	return err;
}

/* What is in LEVEL's directory, open at FD. */
static int read_level(struct walk *w, struct context *cx, struct level *level,
		      int fd, const struct statx *st)
{
	int err;

	err = attrlist_report(cx, w->p, level->dir, NULL, 0, fd);
	if (!err)
		err = sourcefile_flags(w->p, cx, level->dir, NULL, st);
	w->list.n = 0;
	if (err ||
	    (w->options->one_file_system && sourcedir_device(st) != w->dev))
		return err;
	err = read_names(w, cx, level->dir, fd);
	if (!err)
		err = sort(w, cx, level->dir, fd);
	if (!err)
		err = visit_ahead(w, cx, level, fd);
	return err;
}

/* LEVEL's directory, whole: its entry, its names, its files. */
static int do_level(struct walk *w, struct context *cx, struct level *level,
		    uint64_t parent, const struct statx *st)
{
	struct entry e;
	int fd, err;

	fd = sourcedir_use(level->dir, cx);
	if (fd < 0)
		return fd;
	err = read_level(w, cx, level, fd, st);
	sourcedir_unuse(level->dir);
	if (err)
		return err;
	sourcefile_entry(st, &e);
	err = populate_end_dir(w->p, cx, level->ino, parent, &e,
			       POPULATE_ALL, w->list.names, w->list.n);
	return sourcefile_blame(cx, level->dir, NULL, err);
}

/* Visits directory DIR, given over, and leaves it on top if it has others. */
static int enter_dir(struct walk *w, struct context *cx, struct sourcedir *dir,
		     uint64_t ino, uint64_t parent, size_t path_len,
		     const struct statx *st)
{
	struct level level = { .dir = dir, .ino = ino, .path_len = path_len };
	int err;

	err = do_level(w, cx, &level, parent, st);
	if (!err && level.subdirs.bytes)
		err = array_reserve(cx, &w->levels, &w->levels_room,
				    w->depth + 1);
	if (err || !level.subdirs.bytes) {
		sourcedir_put(dir);
		subdirs_fini(&level.subdirs);
		return err;
	}
	w->levels[w->depth++] = level;
	return 0;
}

static void leave(struct walk *w)
{
	struct level *level = &w->levels[--w->depth];

	sourcedir_put(level->dir);
	subdirs_fini(&level->subdirs);
}

/*
 * A mount point has another number than in its directory; only there can a
 * directory contain itself.
 */
static int check_loop(struct context *cx, const struct level *level,
		      const struct subdir *subdir, const struct statx *st)
{
	if (subdir->expected == st->stx_ino ||
	    !sourcedir_is_below(level->dir, st))
		return 0;
	return sourcedir_fail(level->dir, cx, subdir->name, subdir->len,
			      -ELOOP, "directory in itself");
}

/* Visits the next subdirectory of the deepest level, or leaves that. */
static int step_walk(struct walk *w, struct context *cx)
{
	struct level *level = &w->levels[w->depth - 1];
	const struct subdir *subdir = subdirs_next(&level->subdirs);
	struct sourcedir *dir;
	size_t path_len = 0;
	struct statx st;
	int err;

	if (!subdir) {
		leave(w);
		return 0;
	}
	err = context_cancelled(cx);
	if (!err && has_exclusions(w))
		err = set_path(w, cx, level->path_len, subdir->name,
			       subdir->len, &path_len);
	if (!err)
		err = sourcedir_open(&dir, cx, level->dir, subdir->name,
				     subdir->len, &st);
	if (err)
		return err;
	err = check_loop(cx, level, subdir, &st);
	if (err) {
		sourcedir_put(dir);
		return err;
	}
	return enter_dir(w, cx, dir, subdir->ino, level->ino, path_len, &st);
}

static int enter_top(struct walk *w, struct context *cx, const char *path)
{
	struct sourcedir *dir;
	struct statx st;
	uint64_t ino;
	int err;

	err = populate_begin_dir(w->p, cx, 0, NULL, 0, &ino);
	if (!err)
		err = sourcedir_open_top(&dir, cx, path, 0, &st);
	if (err)
		return err;
	w->dev = sourcedir_device(&st);
	return enter_dir(w, cx, dir, ino, ino, 0, &st);
}

int walk_run(struct context *cx, const char *path,
	     const struct walk_options *options, struct populate *p,
	     struct walk_notes *notes)
{
	struct walk *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return fail(cx, -ENOMEM, "walk through %s", path);
	w->p = p;
	w->options = options;
	w->files.p = p;
	err = readahead_open(&w->ahead, cx, populate_block_size(p),
			     time(NULL));
	if (!err)
		err = enter_top(w, cx, path);
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
