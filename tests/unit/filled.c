// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Volumes filled by tests.
 */
#include "filled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void filled_init(struct filled *f, const struct log_shape *shape)
{
	memset(f, 0, sizeof(*f));
	log_volume_init(&f->v, shape);
}

void filled_fini(struct filled *f)
{
	volume_close(f->vol);
	log_volume_fini(&f->v);
}

static int begin(struct filled *f, struct writer **w)
{
	const struct writer_options options = { .time = LOG_VOLUME_TIME };

	if (f->vol)
		return writer_open(w, &f->v.cx, f->vol, &options);
	return writer_create(w, &f->v.cx, f->v.dev, &f->v.g, &options);
}

static int add_tree(struct filled *f, struct writer *w, struct populate *p,
		    const char *path)
{
	int err;

	err = walk_run(&f->v.cx, path, &f->walk, p, &f->notes);
	if (!err)
		err = populate_finish(p, &f->v.cx);
	if (!err && f->meanwhile)
		f->meanwhile(f->arg);
	if (!err)
		err = writer_commit(w, &f->v.cx, &f->v.end);
	f->counts = (struct populate_counts){ 0 };
	populate_add_counts(p, &f->counts);
	return err;
}

int filled_tree(struct filled *f, const char *path)
{
	struct populate *p = NULL;
	struct writer *w = NULL;
	int err;

	err = begin(f, &w);
	if (!err)
		err = populate_open(&p, &f->v.cx, w, f->vol, &f->populate);
	if (!err)
		err = add_tree(f, w, p, path);
	writer_close(w);
	populate_close(p);
	volume_close(f->vol);
	f->vol = NULL;
	if (!err)
		err = log_volume_write_super(&f->v);
	if (!err)
		err = volume_open(&f->vol, &f->v.cx, f->v.dev, NULL);
	return err;
}

int filled_look(struct filled *f, struct root *root)
{
	int err = f->vol ? root_open(root, &f->v.cx, f->vol, 0) : -1;

	if (err)
		printf("# %s\n", f->v.cx.failure);
	return err;
}

static unsigned int count_in(struct filled *f, struct root *root,
			     uint64_t ino, uint64_t *dirs, size_t *ndirs)
{
	struct dir_cursor cursor;
	struct dir_entry entry;
	struct file file;
	unsigned int n = 0;

	if (root_file(root, &f->v.cx, ino, &file) ||
	    dir_cursor_open(&cursor, &f->v.cx, &file))
		return 0;
	while (dir_cursor_next(&cursor, &f->v.cx, &entry) > 0) {
		if (!strcmp(entry.name, ".") || !strcmp(entry.name, ".."))
			continue;
		n++;
		if (entry.type == NILFS_FT_DIR)
			dirs[(*ndirs)++] = entry.ino;
	}
	dir_cursor_close(&cursor);
	return n;
}

unsigned int filled_count_names(struct filled *f, struct root *root)
{
	uint64_t *dirs = calloc(f->counts.directories + 1, sizeof(*dirs));
	size_t ndirs = 1, i;
	unsigned int n = 0;

	dirs[0] = NILFS_ROOT_INO;
	for (i = 0; i < ndirs; i++)
		n += count_in(f, root, dirs[i], dirs, &ndirs);
	free(dirs);
	return n;
}
