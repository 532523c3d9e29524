// SPDX-License-Identifier: GPL-2.0-or-later
/* The volume that tests of the checker look at. */
#include "fsck_volume.h"

#include <stdlib.h>
#include <string.h>

static const struct log_shape shape = {
	.block_size = 1024, .blocks_per_segment = 32, .nsegments = 64,
	.log_blocks = 32, .collect = 8, .threads = 1,
};

static int first_layer(struct log_volume *v, struct writer *w)
{
	unsigned int i;
	int ret = 0;

	for (i = 1; i <= FSCK_VOLUME_FILES && !ret; i++) {
		struct newfile_run run = { 0, i };

		ret = log_volume_place(v, w, log_volume_add(v, &run, 1));
	}
	return ret ? ret : log_volume_place_root(v, w, false);
}

static int second_layer(struct log_volume *v, struct writer *w)
{
	struct newfile_run run = { 0, 30 };
	unsigned int i;
	int ret = 0;

	for (i = 0; i < FSCK_VOLUME_FILES && !ret; i += 4)
		ret = log_volume_replace(v, w, &v->files[i], &run, 1);
	if (!ret)
		ret = log_volume_remove(v, w, &v->files[1]);
	return ret ? ret : log_volume_place_root(v, w, true);
}

/* A checkpoint over that of AT, in which it is said to be then. */
static int write_layer(struct log_volume *v, struct recovery *at)
{
	struct writer_options options = log_volume_options(&shape);
	struct volume *below = NULL;
	struct writer *w = NULL;
	int ret;

	options.snapshot = !at->cno;
	if (!at->cno) {
		ret = writer_create(&w, &v->cx, v->dev, &v->g, &options);
	} else {
		ret = volume_open_at(&below, &v->cx, v->dev, &v->g, at);
		if (!ret)
			ret = writer_open(&w, &v->cx, below, &options);
	}
	if (!ret)
		ret = at->cno ? second_layer(v, w) : first_layer(v, w);
	if (!ret)
		ret = writer_commit(w, &v->cx, &v->end);
	if (!ret)
		writer_recovery(w, &v->end, at);
	writer_close(w);
	volume_close(below);
	return ret;
}

int fsck_volume_make(struct log_volume *v, struct log_file **first)
{
	struct recovery at = { .cno = 0 };
	int ret;

	log_volume_init(v, &shape);
	ret = write_layer(v, &at);
	if (!ret && first) {
		*first = calloc(v->nfiles, sizeof(**first));
		memcpy(*first, v->files, v->nfiles * sizeof(**first));
	}
	if (!ret)
		ret = write_layer(v, &at);
	return ret ? ret : log_volume_write_super(v);
}
