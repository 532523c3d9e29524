// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Deleted files that no checkpoint has any more.
 *
 * The logs are read three times: for inodes, for names, and for the blocks of the
 * files that the filter takes.  If there are no such files they are read once.
 */
#include "dump/past/logged.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/damage.h"
#include "disk/inode.h"
#include "dump/past/logblocks.h"
#include "dump/past/logfiles.h"
#include "dump/past/lognames.h"
#include "vol/dir.h"

struct search {
	const struct logged_search *s;
	struct root *latest;
	struct logfiles files;
	struct lognames names;
};

/* Whether the latest state has the path, whichever file that is: 1, 0. */
static int is_taken(struct search *s, struct context *cx)
{
	uint64_t ino;
	int err;

	if (*s->names.path != '/')
		return 0;
	err = dir_resolve(s->latest, cx, s->names.path, &ino);
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
	err = lognames_path(&s->names, cx, file);
	if (err || !filter_takes(s->s->filter, s->names.path, &inode))
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
	int err = lognames_path(&s->names, cx, f);

	if (!err)
		err = file_init(&file.file, cx, s->latest->vol, f->ino,
				&content->inode);
	if (err)
		return damage_forgive(cx, err);
	file.file.extents = content->extents;
	file.file.nextents = content->count;
	item.path = s->names.path;
	item.path_len = s->names.path_len;
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
				    take_content, s);
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
		.names = { .files = &s.files, .latest = latest },
	};
	int err = logfiles_collect(&s.files, cx, latest);

	if (!err && has_unknown(&s.files))
		err = lognames_collect(&s.files, cx, latest);
	if (!err && has_unknown(&s.files))
		err = find_files(&s, cx);
	lognames_fini(&s.names);
	logfiles_fini(&s.files);
	return err;
}
