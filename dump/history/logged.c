// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Deleted files that are in no checkpoint, for "find" and "export".
 *
 * The lists of the logs are used three times: for inodes, for names, and for the
 * blocks of the files that the filter accepts.  The first pass ends the search if
 * there are no such files.
 *
 * Names are found in blocks of directories, whose numbers are known from the
 * inodes.  An entry has an inode number and no generation.  It belongs to the file
 * that had the number at CNO, when the block was written: a file with an older and
 * a newer inode, otherwise the last file that had the number before.  If the latest
 * state has another file with the number, entries after the last inode may belong
 * to that one and do not count.
 */
#include "dump/history/logged.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "check/damage.h"
#include "disk/dirent.h"
#include "disk/inode.h"
#include "dump/history/filenames.h"
#include "dump/history/logfiles.h"
#include "vol/cptable.h"
#include "vol/dir.h"
#include "vol/volume.h"

/* Maximum number of directories above a file that only logs have. */
#define DEPTH_MAX 256

struct search {
	const struct logged_search *s;
	struct root *latest;
	struct logfiles files;

	uint64_t bytes;		/* of all names */
	uint64_t dir;		/* the last inode looked up; 0: none */
	bool is_dir;

	uint64_t above_of;	/* directory whose path is ABOVE; 0: none */
	char *above, *path;	/* path of that directory; of a file */
	size_t above_room, path_room, path_len;
};

/*
 * The file that had number INO at checkpoint CNO, or NULL.  *CERTAIN: it has an
 * older and a newer inode.
 */
static struct logfile *file_at(const struct search *s, struct context *cx,
			       uint64_t ino, uint64_t cno, bool *certain)
{
	const struct logfiles *files = &s->files;
	struct logfile *best = NULL;
	struct nilfs_inode inode;
	struct context quiet;
	size_t i;

	*certain = false;
	for (i = logfiles_from(files, ino);
	     i < files->count && files->items[i].ino == ino; i++) {
		struct logfile *file = &files->items[i];

		if (file->first > cno)
			continue;
		if (cno <= file->last) {
			*certain = true;
			return file;
		}
		if (!best || file->last > best->last)
			best = file;
	}
	if (!best)
		return NULL;
	context_child(cx, &quiet);
	return root_inode(s->latest, &quiet, ino, &inode) == -ENOENT ? best
								      : NULL;
}

/* Names a file by entry E of directory DIR, if the name is better than the last. */
static int logged_add_entry(struct search *s, struct context *cx,
			    const struct dirent_entry *e, uint64_t dir, uint64_t cno)
{
	struct logfile *file;
	bool certain;
	char *name;

	if (!e->ino || !tree_name_is_sane(e->name, e->name_len))
		return 0;
	file = file_at(s, cx, e->ino, cno, &certain);
	if (!file || file->known || e->type != inode_dirent_type(file->type))
		return 0;
	if (file->name && (file->certain != certain ? file->certain
						    : file->named > cno))
		return 0;
	file->named = cno;
	file->certain = certain;
	if (file->name && file->dir == dir &&
	    strlen(file->name) == e->name_len &&
	    !memcmp(file->name, e->name, e->name_len))
		return 0;
	if (s->bytes + e->name_len > cx->max_memory)
		return fail(cx, -ENOMEM, "names of deleted files");
	name = strndup(e->name, e->name_len);
	if (!name)
		return fail(cx, -ENOMEM, "name of a file");
	s->bytes += e->name_len;
	s->bytes -= file->name ? strlen(file->name) : 0;
	free(file->name);
	file->name = name;
	file->dir = dir;
	return 0;
}

/* Sets the names of files by the entries in B, if it is a block of a directory. */
static int add_dir_block(struct search *s, struct context *cx,
			 const struct segsum_block *b)
{
	struct volume *vol = s->latest->vol;
	const struct logitems *logs = &s->files.logs;
	const uint64_t cno = logitems_cno(logs, b);
	struct dirent_entry e;
	struct dirent_iter it;
	const void *block;
	int err;

	if (b->is_node || cno > vol->latest.cno)
		return 0;
	if (s->dir != b->ino) {
		s->dir = b->ino;
		s->is_dir = inoset_has(&s->files.dirs, b->ino);
	}
	if (!s->is_dir)
		return 0;
	err = cache_get(vol->cache, cx, logs->at.log.pseg + b->index, &block);
	if (err)
		return damage_forgive(cx, err);
	dirent_iter_init(&it, block, vol->geo.block_size);
	while (!err && dirent_iter_next(&it, &e))
		err = logged_add_entry(s, cx, &e, b->ino, cno);
	cache_put(vol->cache, block);
	return err;
}

static int append(struct search *s, struct context *cx, const char *text)
{
	size_t more = strlen(text);

	if (array_reserve(cx, &s->path, &s->path_room, s->path_len + more + 1))
		return -ENOMEM;
	memcpy(s->path + s->path_len, text, more + 1);
	s->path_len += more;
	return 0;
}

/* Sets `above` to the path of directory DIR in ROOT: 1; 0 if there is none. */
static int find_above(struct search *s, struct context *cx,
		      struct root *root, uint64_t dir)
{
	struct nilfs_inode inode;
	size_t len;
	int err = root_inode(root, cx, dir, &inode);

	if (!err && !S_ISDIR(le16_get(inode.i_mode)))
		return 0;
	if (!err)
		err = filenames_path(root, cx, dir, "", 0, &s->above,
				     &s->above_room, &len);
	if (err == -ELOOP)
		err = -ENOENT;
	return err ? damage_forgive(cx, err) : 1;
}

/* The same in the latest state or the newest checkpoint that has DIR; otherwise
   `above` is "#INO/". */
static int set_above(struct search *s, struct context *cx, uint64_t dir)
{
	struct volume *vol = s->latest->vol;
	struct root older;
	uint64_t *cnos = NULL;
	size_t i = 0;
	int ret;

	if (s->above_of == dir)
		return 0;
	s->above_of = 0;
	ret = find_above(s, cx, s->latest, dir);
	if (!ret)
		ret = cptable_list(vol, cx, false, &cnos, &i);
	while (!ret && i-- > 0) {
		ret = root_open(&older, cx, vol, cnos[i]);
		ret = ret ? damage_forgive(cx, ret)
			  : find_above(s, cx, &older, dir);
	}
	free(cnos);
	if (!ret && !array_reserve(cx, &s->above, &s->above_room, 24))
		ret = snprintf(s->above, 24, "#%llu/", (unsigned long long)dir);
	if (ret <= 0)
		return ret ? ret : -ENOMEM;
	s->above_of = dir;
	return 0;
}

/*
 * Sets `path`, `path_len` bytes and a NUL, to the path of FILE.  It begins with a
 * slash if all directories up to the root were found: in the latest state, in the
 * newest checkpoint that has the directory, or in logs.  Otherwise it begins with
 * "#" and the number of the last directory that was found, or of the file.
 * -ENOMEM, -EINTR; -EIO, -EUCLEAN if the list of checkpoints cannot be read.
 */
static int make_path(struct search *s, struct context *cx,
		     const struct logfile *file)
{
	const struct logfile *parts[DEPTH_MAX], *dir = file;
	char number[24];
	bool certain;
	size_t n = 0;
	int err;

	while (dir && n < DEPTH_MAX) {
		parts[n++] = dir;
		if (!dir->name)
			break;
		dir = file_at(s, cx, dir->dir, dir->named, &certain);
		if (dir && (dir->known || !S_ISDIR(dir->type)))
			dir = NULL;
	}
	dir = parts[--n];
	s->path_len = 0;
	if (dir->name) {
		err = set_above(s, cx, dir->dir);
		if (!err)
			err = append(s, cx, s->above);
		if (!err)
			err = append(s, cx, dir->name);
	} else {
		snprintf(number, sizeof(number), "#%llu",
			 (unsigned long long)dir->ino);
		err = append(s, cx, number);
	}
	while (!err && n-- > 0) {
		err = append(s, cx, "/");
		if (!err)
			err = append(s, cx, parts[n]->name);
	}
	return err;
}

/* Whether FILE meets the filter, and its path does not exist in the latest state. */
static int logged_is_wanted(struct search *s, struct context *cx,
			    const struct logfile *file)
{
	struct nilfs_inode inode;
	uint64_t ino;
	int err;

	if (file->known)
		return 0;
	err = logfiles_inode(cx, s->latest->vol, file, &inode);
	if (err)
		return damage_forgive(cx, err);
	err = make_path(s, cx, file);
	if (err || !filter_takes(s->s->filter, s->path, &inode))
		return err;
	if (*s->path != '/')
		return 1;
	err = dir_resolve(s->latest, cx, s->path, &ino);
	if (!err)
		return 0;
	err = damage_forgive(cx, err == -ENOTDIR ? -ENOENT : err);
	return err ? err : 1;
}

static int report_content(void *arg, struct context *cx,
			  const struct logblocks_file *content)
{
	struct search *s = arg;
	const struct logfile *f = content->file;
	struct tree_item item = {
		.kind = TREE_ENTRY,
		.inner = 1,
		.depth = 1,
		.ino = f->ino,
		.type = inode_dirent_type(f->type),
		.inode = &content->inode,
	};
	struct logged_file file = {
		.item = &item, .cno = f->last, .whole = content->whole,
	};
	const char *slash;
	int err = make_path(s, cx, f);

	if (!err)
		err = file_init(&file.file, cx, s->latest->vol, f->ino,
				&content->inode);
	if (err)
		return damage_forgive(cx, err);
	file.file.extents = content->extents;
	file.file.nextents = content->count;
	item.path = s->path;
	item.path_len = s->path_len;
	item.inner = *item.path == '/';
	slash = strrchr(item.path, '/');
	item.name = slash ? slash + 1 : item.path;
	item.name_len = strlen(item.name);
	return s->s->found(s->s->arg, &file);
}

int logged_run(struct context *cx, struct root *latest,
	       const struct logged_search *search)
{
	struct search s = { .s = search, .latest = latest };
	struct logfiles *files = &s.files;
	struct segsum_block b;
	bool any = false;
	size_t i = 0;
	int ret = logfiles_collect(files, cx, latest);

	while (i < files->count && files->items[i].known)
		i++;
	logitems_rewind(&files->logs);
	while (ret >= 0 && i < files->count &&
	       (ret = logitems_next(&files->logs, cx, &b)) > 0)
		ret = add_dir_block(&s, cx, &b);
	for (; i < files->count && ret >= 0; i++) {
		ret = logged_is_wanted(&s, cx, &files->items[i]);
		files->items[i].wanted = ret > 0;
		any |= ret > 0;
	}
	if (ret >= 0 && any)
		ret = logblocks_run(latest->vol, cx, files, report_content, &s);
	free(s.above);
	free(s.path);
	logfiles_fini(files);
	return ret < 0 ? ret : 0;
}
