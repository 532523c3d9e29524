// SPDX-License-Identifier: GPL-2.0-or-later
/* A damaged volume in memory, repaired and judged. */
#include "fsck_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/testdev/memory.h"
#include "fsck_run.h"
#include "log/inodes.h"

static const struct log_shape shape = {
	.block_size = 1024, .blocks_per_segment = 32, .nsegments = 24,
	.log_blocks = 32, .collect = 8, .threads = 1,
};

/* The damage. */
static int miscount(struct log_volume *v, struct writer *w, unsigned int i)
{
	struct nilfs_inode inode;
	int err = inodes_read(w, &v->cx, v->files[i].ino, &inode);

	inode.i_links_count = le16_make(7);
	return err ? err : inodes_write(w, &v->cx, v->files[i].ino, &inode);
}

static int fill(struct log_volume *v)
{
	const struct newfile_run run = { 0, 3 };
	struct writer_options options = log_volume_options(&shape);
	struct writer *w = NULL;
	unsigned int i;
	int err = writer_create(&w, &v->cx, v->dev, &v->g, &options);

	for (i = 0; i < RIG_FILES; i++)
		log_volume_add(v, &run, 1);
	for (i = 0; i < RIG_FILES && !err; i++)
		err = log_volume_place(v, w, &v->files[i]);
	if (!err)
		err = log_volume_place_root(v, w, false);
	if (!err)
		err = miscount(v, w, 2);
	if (!err)
		err = writer_commit(w, &v->cx, &v->end);
	writer_close(w);
	return err ? err : log_volume_write_super(v);
}

void rig_open(struct rig *r)
{
	log_volume_init(&r->v, &shape);
	if (fill(&r->v))
		printf("Bail out! %s\n", r->v.cx.failure);
	r->size = r->v.dev->size;
	r->before = malloc(r->size);
	r->bytes = malloc(r->size);
	dev_read(r->v.dev, &r->v.cx, 0, r->before, r->size);
}

void rig_close(struct rig *r)
{
	free(r->before);
	free(r->bytes);
	log_volume_fini(&r->v);
}

struct cut rig_cut(struct rig *r, cut_job *job, cut_judge *judge, void *arg)
{
	return (struct cut){
		.cx = &r->v.cx,
		.before = r->before,
		.bytes = r->bytes,
		.size = r->size,
		.job = job,
		.judge = judge,
		.arg = arg,
	};
}

int rig_judge(struct rig *r)
{
	const struct options no = { .mode = OPTIONS_NO };
	struct volume *vol = NULL;
	struct dev *disk;
	unsigned int i;
	int ret;

	memory_open(&disk, &r->v.cx, r->bytes, r->size);
	ret = fsck_run(&r->v.cx, disk, &no);
	if (volume_open(&vol, &r->v.cx, disk, NULL))
		ret = -EIO;
	for (i = 0; i < RIG_FILES && ret >= 0; i++)
		if (!log_volume_reads(&r->v, vol, 0, &r->v.files[i], NULL))
			ret = -EIO;
	volume_close(vol);
	dev_close(disk);
	return ret;
}
