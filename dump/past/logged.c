// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Deleted files that no checkpoint has any more.
 *
 * The logs are read three times: for inodes, for names, and for the blocks of the
 * files that the filter takes.  If there are no such files they are read once.
 *
 * Blocks of directories remain in logs as those of other files do.  Which files
 * are directories is known from the inodes.
 *
 * An entry has a number and no generation.  It is of the file that had the number
 * when its block was written, at CNO: one of whose inodes one is older than that
 * and one newer; or else of the last file that had the number before.  If the
 * latest state has another file with the number, entries after the last inode may
 * be of that one and do not count.
 */
#include "dump/past/logged.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "check/damage.h"
#include "disk/dirent.h"
#include "disk/inode.h"
#include "dump/past/filenames.h"
#include "dump/past/logblocks.h"
#include "dump/past/logfiles.h"
#include "dump/past/logitems.h"
#include "vol/cptable.h"
#include "vol/dir.h"
#include "vol/volume.h"

/* Directories above a file that only logs have. */
#define DEPTH_MAX 256

struct collector {
	struct logfiles *files;
	struct root *latest;
	uint64_t bytes; /* of all names */
	uint64_t dir;	/* was looked up last; 0: none */
	bool is_dir;
};

/* Whether the latest state has any file with number INO. */
static bool is_reused(struct root *latest, struct context *cx, uint64_t ino)
{
	struct nilfs_inode inode;
	struct context quiet;

	context_child(cx, &quiet);
	return root_inode(latest, &quiet, ino, &inode) != -ENOENT;
}

/*
 * The file of TYPE that had number INO at checkpoint CNO, or NULL; *CERTAIN:
 * its inode was there before and after that.
 */
static struct logfile *file_at(const struct logfiles *files,
			       struct context *cx, struct root *latest,
			       uint64_t ino, uint64_t cno, bool *certain)
{
	struct logfile *best = NULL;
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
	return best && !is_reused(latest, cx, ino) ? best : NULL;
}

static int set_name(struct collector *c, struct context *cx,
		    struct logfile *file, const struct dirent_entry *e,
		    uint64_t dir)
{
	char *name;

	if (file->name && file->dir == dir &&
	    strlen(file->name) == e->name_len &&
	    !memcmp(file->name, e->name, e->name_len))
		return 0;
	if (c->bytes + e->name_len > cx->max_memory)
		return fail(cx, -ENOMEM, "names of deleted files");
	name = strndup(e->name, e->name_len);
	if (!name)
		return fail(cx, -ENOMEM, "name of a file");
	c->bytes += e->name_len;
	c->bytes -= file->name ? strlen(file->name) : 0;
	free(file->name);
	file->name = name;
	file->dir = dir;
	return 0;
}

static int take_entry(struct collector *c, struct context *cx,
		      const struct dirent_entry *e, uint64_t dir, uint64_t cno)
{
	struct logfile *file;
	bool certain;
	int err;

	if (!tree_name_is_sane(e->name, e->name_len))
		return 0;
	file = file_at(c->files, cx, c->latest, e->ino, cno, &certain);
	if (!file || file->known || e->type != inode_dirent_type(file->type))
		return 0;
	if (file->name && (file->certain != certain ? file->certain
						    : file->named > cno))
		return 0;
	err = set_name(c, cx, file, e, dir);
	file->named = cno;
	file->certain = certain;
	return err;
}

static int take_entries(struct collector *c, struct context *cx,
			const void *block, uint64_t dir, uint64_t cno)
{
	struct dirent_entry e;
	struct dirent_iter it;
	int err = 0;

	dirent_iter_init(&it, block, c->latest->vol->geo.block_size);
	while (!err && dirent_iter_next(&it, &e))
		if (e.ino)
			err = take_entry(c, cx, &e, dir, cno);
	return err;
}

static int take_item(void *arg, struct context *cx, const struct log *log,
		     const struct segsum_block *b)
{
	struct collector *c = arg;
	struct volume *vol = c->latest->vol;
	const uint64_t cno = logitems_cno(log, b);
	const void *block;
	int err;

	if (b->is_node || cno > vol->latest.cno)
		return 0;
	if (c->dir != b->ino) {
		c->dir = b->ino;
		c->is_dir = inoset_has(&c->files->dirs, b->ino);
	}
	if (!c->is_dir)
		return 0;
	err = cache_get(vol->cache, cx, log->pseg + b->index, &block);
	if (err)
		return damage_forgive(cx, err);
	err = take_entries(c, cx, block, b->ino, cno);
	cache_put(vol->cache, block);
	return err;
}

/*
 * Sets the names of FILES as the blocks of directories have them that logs list,
 * the newest one of each.  -ENOMEM past the memory budget, -EINTR.
 */
static int collect_names(struct logfiles *files, struct context *cx,
			 struct root *latest)
{
	struct collector c = { .files = files, .latest = latest };

	return logitems_run(latest->vol, cx, take_item, &c);
}

/* All zero but for the first two: ready to make paths. */
struct paths {
	const struct logfiles *files;
	struct root *latest;
	uint64_t dir;		/* whose path was looked for last; 0: none */
	bool found;
	char *above, *path;	/* of entries of that directory; of the file */
	size_t above_room, above_len, path_room, path_len;
};

/* A path that is made from its end. */
struct ancestry {
	const struct logfile *parts[DEPTH_MAX]; /* the file first */
	size_t count;
};

/* The file and the directories above it that only logs have. */
static void climb(struct ancestry *t, const struct logfiles *files,
		  struct context *cx, struct root *latest,
		  const struct logfile *file)
{
	const struct logfile *dir = file;
	bool certain;

	t->count = 0;
	while (dir && t->count < DEPTH_MAX) {
		t->parts[t->count++] = dir;
		if (!dir->name)
			return;
		dir = file_at(files, cx, latest, dir->dir, dir->named,
			      &certain);
		if (dir && (dir->known || !S_ISDIR(dir->type)))
			dir = NULL;
	}
}

static int append(struct paths *n, struct context *cx, const char *text)
{
	size_t more = strlen(text);

	if (array_reserve(cx, &n->path, &n->path_room, n->path_len + more + 1))
		return -ENOMEM;
	memcpy(n->path + n->path_len, text, more + 1);
	n->path_len += more;
	return 0;
}

/* Sets the path of entries of directory DIR as of ROOT: 1; 0 if it has none. */
static int find_above(struct paths *n, struct context *cx,
		      struct root *root, uint64_t dir)
{
	struct nilfs_inode inode;
	int err = root_inode(root, cx, dir, &inode);

	if (!err && !S_ISDIR(le16_get(inode.i_mode)))
		return 0;
	if (!err)
		err = filenames_path(root, cx, dir, "", 0, &n->above,
				     &n->above_room, &n->above_len);
	if (err == -ELOOP)
		err = -ENOENT;
	return err ? damage_forgive(cx, err) : 1;
}

/* The same of the latest state, or else of the newest checkpoint that has it. */
static int find_in_checkpoints(struct paths *n, struct context *cx,
			       uint64_t dir)
{
	struct volume *vol = n->latest->vol;
	struct root older;
	uint64_t *cnos;
	size_t i;
	int ret = find_above(n, cx, n->latest, dir);

	if (ret)
		return ret;
	ret = cptable_list(vol, cx, false, &cnos, &i);
	while (!ret && i-- > 0) {
		ret = root_open(&older, cx, vol, cnos[i]);
		if (!ret)
			ret = find_above(n, cx, &older, dir);
		else
			ret = damage_forgive(cx, ret);
	}
	free(cnos);
	return ret;
}

/* Begins the path with that of directory DIR. */
static int put_directory(struct paths *n, struct context *cx, uint64_t dir)
{
	char number[24];
	int ret;

	if (n->dir != dir) {
		n->dir = 0;
		ret = find_in_checkpoints(n, cx, dir);
		if (ret < 0)
			return ret;
		n->dir = dir;
		n->found = ret;
	}
	if (n->found)
		return append(n, cx, n->above);
	snprintf(number, sizeof(number), "#%llu/", (unsigned long long)dir);
	return append(n, cx, number);
}

/* Begins it with FILE, above which nothing is known that only logs have. */
static int put_top(struct paths *n, struct context *cx,
		   const struct logfile *file)
{
	char number[24];
	int err;

	if (!file->name) {
		snprintf(number, sizeof(number), "#%llu",
			 (unsigned long long)file->ino);
		return append(n, cx, number);
	}
	err = put_directory(n, cx, file->dir);
	return err ? err : append(n, cx, file->name);
}

/*
 * Sets `path`, `path_len` bytes and a NUL, to the path of FILE.  It begins with a
 * slash if it leads to the root: in the latest state, or in the newest checkpoint
 * that has the directory, or by way of directories that only logs have.
 * Otherwise it begins with "#" and the number of the last directory that was
 * found, or of the file.  -ENOMEM, -EINTR; -EIO, -EUCLEAN if the list of
 * checkpoints cannot be read.
 */
static int make_path(struct paths *n, struct context *cx,
		     const struct logfile *file)
{
	struct ancestry t;
	size_t i;
	int err;

	climb(&t, n->files, cx, n->latest, file);
	i = t.count - 1;
	n->path_len = 0;
	err = put_top(n, cx, t.parts[i]);
	while (!err && i-- > 0) {
		err = append(n, cx, "/");
		if (!err)
			err = append(n, cx, t.parts[i]->name);
	}
	return err;
}

static void free_paths(struct paths *n)
{
	free(n->above);
	free(n->path);
}

struct search {
	const struct logged_search *s;
	struct root *latest;
	struct logfiles files;
	struct paths paths;
};

/* Whether the latest state has the path, whichever file that is: 1, 0. */
static int is_taken(struct search *s, struct context *cx)
{
	uint64_t ino;
	int err;

	if (*s->paths.path != '/')
		return 0;
	err = dir_resolve(s->latest, cx, s->paths.path, &ino);
	if (err == -ENOTDIR)
		err = -ENOENT;
	return err ? damage_forgive(cx, err) : 1;
}

/* Whether FILE, whose path is set then, is searched for: 1, 0. */
static int is_wanted(struct search *s, struct context *cx,
		     const struct logfile *file)
{
	struct nilfs_inode inode;
	int err;

	if (file->known)
		return 0;
	err = logfiles_inode(cx, s->latest->vol, file, &inode);
	if (err)
		return damage_forgive(cx, err);
	err = make_path(&s->paths, cx, file);
	if (err || !filter_takes(s->s->filter, s->paths.path, &inode))
		return err;
	err = is_taken(s, cx);
	return err < 0 ? err : !err;
}

static int take_content(void *arg, struct context *cx,
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
	int err = make_path(&s->paths, cx, f);

	if (!err)
		err = file_init(&file.file, cx, s->latest->vol, f->ino,
				&content->inode);
	if (err)
		return damage_forgive(cx, err);
	file.file.extents = content->extents;
	file.file.nextents = content->count;
	item.path = s->paths.path;
	item.path_len = s->paths.path_len;
	item.inner = *item.path == '/';
	slash = strrchr(item.path, '/');
	item.name = slash ? slash + 1 : item.path;
	item.name_len = strlen(item.name);
	return s->s->found(s->s->arg, &file);
}

/* Finds the content of what the filter takes. */
static int find_files(struct search *s, struct context *cx)
{
	const struct logfile **wanted;
	size_t i, n = 0;
	int ret = 0;

	wanted = calloc(s->files.count, sizeof(*wanted));
	if (!wanted)
		return fail(cx, -ENOMEM, "deleted files");
	for (i = 0; i < s->files.count && ret >= 0; i++) {
		ret = is_wanted(s, cx, &s->files.items[i]);
		if (ret > 0)
			wanted[n++] = &s->files.items[i];
	}
	if (ret >= 0 && n)
		ret = logblocks_run(s->latest->vol, cx, wanted, n,
				    &s->files.proven, take_content, s);
	free(wanted);
	return ret < 0 ? ret : 0;
}

static bool has_unknown(const struct logfiles *files)
{
	size_t i = 0;

	while (i < files->count && files->items[i].known)
		i++;
	return i < files->count;
}

int logged_run(struct context *cx, struct root *latest,
	       const struct logged_search *search)
{
	struct search s = {
		.s = search,
		.latest = latest,
		.paths = { .files = &s.files, .latest = latest },
	};
	int err = logfiles_collect(&s.files, cx, latest);

	if (!err && has_unknown(&s.files))
		err = collect_names(&s.files, cx, latest);
	if (!err && has_unknown(&s.files))
		err = find_files(&s, cx);
	free_paths(&s.paths);
	logfiles_fini(&s.files);
	return err;
}
