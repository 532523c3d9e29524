// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Deleted files that are in no checkpoint, and all files of a damaged checkpoint, for
 * "find" and "export".
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
 *
 * The files of a damaged checkpoint are those that a walk from the root directory
 * finds, whose names and maps are right, and the other inodes in use.  Only for these,
 * and for files whose map is damaged, the lists of the logs are used as above.
 */
#include "dump/history/logged.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "check/damage.h"
#include "check/names/filenames.h"
#include "disk/dirent.h"
#include "disk/inode.h"
#include "dump/files/content.h"
#include "dump/history/ifileblocks.h"
#include "dump/history/logfiles.h"
#include "vol/cptable.h"
#include "vol/dir.h"
#include "vol/volume.h"

/* Maximum number of directories above a file that only logs have. */
#define DEPTH_MAX 256

struct search {
	const struct logged_search *s;
	struct context *cx;
	struct root *latest;	/* or the damaged checkpoint */
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
	if (!file || file->known ||
	    (e->type != inode_dirent_type(file->type) &&
	     !(file->guessed && S_ISREG(file->type) &&
	       e->type == NILFS_FT_SYMLINK)))
		return 0;
	if (file->name && (file->certain != certain ? file->certain
						    : file->named > cno))
		return 0;
	file->named = cno;
	file->certain = certain;
	if (e->type == NILFS_FT_SYMLINK)
		file->type = S_IFLNK;
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

	if (b->is_node || cno > s->latest->cno)
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
	if (dir == NILFS_ROOT_INO) {
		ret = array_reserve(cx, &s->above, &s->above_room, 2);
		if (!ret)
			ret = snprintf(s->above, 2, "/");
	} else {
		ret = find_above(s, cx, s->latest, dir);
	}
	if (!ret)
		ret = cptable_list(vol, cx, false, &cnos, &i);
	if (s->files.rescue)
		ret = damage_forgive(cx, ret);
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
	if (err && s->s->broken && !damage_is_fatal(err)) {
		s->s->broken(s->s->arg, s->path, s->path_len, err);
		return 0;
	}
	if (err)
		return damage_forgive(cx, err);
	if (f->guessed) {
		fail_said(cx, -EUCLEAN, "its inode is lost: size, mode, owner "
			  "and times are not those of the file");
		s->s->broken(s->s->arg, s->path, s->path_len, -EUCLEAN);
	}
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

/* Whether the map of the file INO, INODE leads to all its blocks: 1, 0. */
static int has_whole_map(struct context *cx, struct volume *vol, uint64_t ino,
			 const struct nilfs_inode *inode)
{
	struct content content = { .file = NULL };
	struct content_part part;
	struct file file;
	int ret;

	if (S_ISDIR(le16_get(inode->i_mode)) || !inode_has_bmap(inode))
		return 1;
	ret = file_init(&file, cx, vol, ino, inode);
	if (!ret)
		ret = content_open(&content, cx, &file, NULL);
	while (!ret && (ret = content_next(&content, cx, &part)) > 0)
		ret = context_cancelled(cx);
	content_close(&content);
	return ret ? damage_forgive(cx, ret) : 1;
}

/* Reports the file of ITEM, which a path leads to, or leaves it to logs. */
static int rescue_item(struct search *s, struct context *cx,
		       const struct tree_item *item)
{
	struct root *root = s->latest;
	struct logged_file file = { .item = item, .cno = root->cno };
	const uint64_t blkoff =
		palloc_entry_blkoff(&root->vol->ifile_palloc, item->ino);
	struct logfile damaged = {
		.ino = item->ino,
		.generation = le32_get(item->inode->i_generation),
		.type = le16_get(item->inode->i_mode) & S_IFMT,
		.last = root->cno,
		/* Below the root directory; no other name replaces it. */
		.dir = NILFS_ROOT_INO,
		.named = UINT64_MAX,
		.certain = true,
		.wanted = true,
	};
	int ret = has_whole_map(cx, root->vol, item->ino, item->inode);

	if (ret > 0) {
		file.whole = le64_get(item->inode->i_size);
		ret = file_init(&file.file, cx, root->vol, item->ino,
				item->inode);
		/* A directory with a damaged map is a file without content. */
		ret = damage_forgive(cx, ret);
		return ret ? ret : s->s->found(s->s->arg, &file);
	}
	if (!ret)
		ret = file_lookup(&root->ifile, cx, blkoff, &damaged.blocknr);
	if (ret < 0)
		return ret;
	s->bytes += item->path_len;
	damaged.name = s->bytes > cx->max_memory ? NULL :
		       strndup(item->path + 1, item->path_len - 1);
	if (!damaged.name)
		return fail(cx, -ENOMEM, "paths of damaged files");
	ret = array_push(cx, &s->files.items, &s->files.count, &s->files.room,
			 damaged);
	if (ret)
		free(damaged.name);
	return ret;
}

/* Reports the files that paths lead to, and collects their numbers in SEEN. */
static int rescue_tree(struct search *s, struct context *cx,
		       struct inoset *seen)
{
	const struct tree_options how = { .recursive = true, .inodes = true };
	const struct logged_search *search = s->s;
	struct tree *tree = NULL;
	struct tree_item item = { .path = "/", .path_len = 1 };
	int ret = tree_open(&tree, cx, s->latest, "/", &how);

	if (ret && !damage_is_fatal(ret)) {
		search->broken(search->arg, item.path, item.path_len, ret);
		ret = 0;
		goto out;
	}
	while (!ret && (ret = tree_next(tree, cx, &item)) > 0) {
		ret = 0;
		if (item.kind == TREE_BROKEN)
			search->broken(search->arg, item.path, item.path_len,
				       item.error);
		if (item.kind != TREE_ENTRY || !item.inode)
			continue;
		ret = inoset_add(seen, cx, item.ino);
		if (ret >= 0)
			ret = item.ino == NILFS_ROOT_INO ||
			      (search->only && item.ino != search->only) ||
			      !filter_takes(search->filter, item.path, item.inode)
				      ? 0
				      : rescue_item(s, cx, &item);
	}
out:
	tree_close(tree);
	return ret;
}

/* Sets the names of files by the entries of a directory that no path leads to. */
static int rescue_names(struct search *s, struct context *cx, uint64_t dir)
{
	struct dir_cursor cur;
	struct dir_entry entry;
	struct dirent_entry e;
	struct file file;
	int ret = root_file(s->latest, cx, dir, &file);

	if (ret)
		return damage_forgive(cx, ret);
	ret = dir_cursor_open(&cur, cx, &file);
	while (!ret && (ret = dir_cursor_next_sound(&cur, cx, &entry)) > 0) {
		e = (struct dirent_entry){
			.ino = entry.ino,
			.type = entry.type,
			.name = entry.name,
			.name_len = entry.len,
		};
		ret = logged_add_entry(s, cx, &e, dir, s->latest->cno);
	}
	dir_cursor_close(&cur);
	return damage_forgive(cx, ret);
}

static void report_inode(void *arg, uint64_t ino, int err)
{
	const struct search *s = arg;
	char path[24];
	int len = snprintf(path, sizeof(path), "#%llu", (unsigned long long)ino);

	s->s->broken(s->s->arg, path, (size_t)len, err);
}

static void report_inodes(void *arg, uint64_t first, uint64_t last, uint64_t cno)
{
	const struct search *s = arg;
	char text[64];
	int len = snprintf(text, sizeof(text), "inodes %llu to %llu",
			   (unsigned long long)first, (unsigned long long)last);

	if (cno)
		fail_said(s->cx, -EUCLEAN, "their block of the inode file is lost; "
			  "those of checkpoint %llu are used",
			  (unsigned long long)cno);
	else
		fail_said(s->cx, -EUCLEAN,
			  "their block of the inode file is lost");
	s->s->broken(s->s->arg, text, (size_t)len, -EUCLEAN);
}

/* Finds the content of lost file F by its map, or leaves it to logs. */
static int rescue_lost(struct search *s, struct context *cx, struct logfile *f)
{
	struct logblocks_file content = { .file = f };
	int ret = 0;

	if (s->s->only && s->s->only != f->ino)
		return 0;
	ret = logfiles_inode(cx, s->latest->vol, f, &content.inode);

	if (!ret)
		ret = make_path(s, cx, f);
	if (ret || !filter_takes(s->s->filter, s->path, &content.inode))
		return damage_forgive(cx, ret);
	ret = f->guessed ? S_ISDIR(f->type) :
	      has_whole_map(cx, s->latest->vol, f->ino, &content.inode);
	f->wanted = !ret;
	content.whole = le64_get(content.inode.i_size);
	return ret > 0 ? report_content(s, cx, &content) : ret;
}

int logged_rescue(struct context *cx, struct root *root,
		  const struct logged_search *search)
{
	struct search s = { .s = search, .cx = cx, .latest = root };
	struct logfiles *files = &s.files;
	struct extent *extents = NULL;
	struct inoset seen = { .words = { .used = 0 } };
	struct segsum_block b;
	bool any = false;
	size_t i;
	int ret = logitems_open(&files->logs, cx, root->vol);

	files->rescue = true;
	if (!ret)
		ret = ifileblocks_find(root, cx, &files->logs, &extents,
				       &files->stale, report_inodes, &s);
	if (!ret)
		ret = rescue_tree(&s, cx, &seen);
	if (!ret)
		ret = logfiles_rescue(files, cx, root, &seen, report_inode, &s);
	for (i = 0; i < files->count && ret >= 0; i++)
		if (S_ISDIR(files->items[i].type))
			ret = rescue_names(&s, cx, files->items[i].ino);
	logitems_rewind(&files->logs);
	while (ret >= 0 && files->count &&
	       (ret = logitems_next(&files->logs, cx, &b)) > 0)
		ret = add_dir_block(&s, cx, &b);
	for (i = 0; i < files->count && ret >= 0; i++) {
		if (!files->items[i].wanted)
			ret = rescue_lost(&s, cx, &files->items[i]);
		any |= files->items[i].wanted;
	}
	if (ret >= 0 && any)
		ret = logblocks_run(root->vol, cx, files, report_content, &s);
	root->ifile.extents = NULL;
	free(extents);
	inoset_fini(&seen);
	free(s.above);
	free(s.path);
	logfiles_fini(files);
	return ret < 0 ? ret : 0;
}
