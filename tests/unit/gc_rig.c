// SPDX-License-Identifier: GPL-2.0-or-later
/* A volume to be cleaned, made and judged. */
#include "gc_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/testdev/memory.h"
#include "disk/super.h"
#include "vol/sutable.h"

/* One more checkpoint: all files, or others instead of most of them. */
static int layer(struct rig *r, struct writer *w, unsigned int round)
{
	const struct newfile_run run = { 0, 3 + round };
	unsigned int i;
	int ret = 0;

	for (i = 0; i < RIG_FILES && !ret; i++) {
		if (!round)
			ret = log_volume_place(&r->v, w,
					       log_volume_add(&r->v, &run, 1));
		else if (i % 3)
			ret = log_volume_replace(&r->v, w, &r->v.files[i],
						 &run, 1);
	}
	return ret ? ret : log_volume_place_root(&r->v, w, round);
}

static int add_checkpoint(struct rig *r, unsigned int round)
{
	struct writer_options o = log_volume_options(r->shape);
	struct context *cx = &r->v.cx;
	struct volume *vol = NULL;
	struct writer *w = NULL;
	int ret;

	o.snapshot = !round;
	if (!round) {
		ret = writer_create(&w, cx, r->v.dev, &r->v.g, &o);
	} else {
		ret = volume_open(&vol, cx, r->v.dev, NULL);
		if (!ret)
			ret = writer_open(&w, cx, vol, &o);
	}
	if (!ret)
		ret = layer(r, w, round);
	if (!ret)
		ret = writer_commit(w, cx, &r->v.end);
	writer_close(w);
	volume_close(vol);
	return ret ? ret : log_volume_write_super(&r->v);
}

void rig_open_larger(struct rig *r, const struct log_shape *shape,
		     unsigned int rounds, uint64_t more)
{
	unsigned int i;
	int ret = 0;

	memset(r, 0, sizeof(*r));
	r->shape = shape;
	log_volume_init(&r->v, shape);
	for (i = 0; i < rounds && !ret; i++) {
		ret = add_checkpoint(r, i);
		if (!i)
			memcpy(r->kept, r->v.files, sizeof(r->kept));
	}
	if (ret)
		printf("Bail out! %s\n", r->v.cx.failure);
	r->size = r->v.dev->size +
		  more * shape->blocks_per_segment * shape->block_size;
	r->before = calloc(1, r->size);
	r->bytes = malloc(r->size);
	dev_read(r->v.dev, &r->v.cx, 0, r->before, r->v.dev->size);
}

void rig_open(struct rig *r, const struct log_shape *shape)
{
	rig_open_larger(r, shape, RIG_ROUNDS, 0);
}

void rig_open_with(struct rig *r, struct log_shape *shape, uint64_t clean)
{
	rig_open(r, shape);
	while (r->v.end.clean_segments != clean) {
		shape->nsegments += clean - r->v.end.clean_segments;
		rig_close(r);
		rig_open(r, shape);
	}
	memcpy(r->bytes, r->before, r->size);
}

void rig_close(struct rig *r)
{
	free(r->before);
	free(r->bytes);
	log_volume_fini(&r->v);
}

void rig_leave_mounted(struct rig *r)
{
	const uint64_t offsets[] = {
		NILFS_SB_OFFSET_BYTES, super_offset2(r->v.dev->size),
	};
	struct nilfs_super_block sb;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		memcpy(&sb, r->before + offsets[i], sizeof(sb));
		sb.s_state = le16_make(0);
		sb.s_sum = le32_make(super_checksum(&sb));
		memcpy(r->before + offsets[i], &sb, sizeof(sb));
	}
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

bool rig_holds_also(struct rig *r, size_t size, rig_judge *also, void *arg)
{
	struct dev *disk, *first = r->v.dev;
	struct volume *vol = NULL;
	unsigned int i;
	bool good;

	memory_open(&disk, &r->v.cx, r->bytes, size);
	r->v.dev = disk;	/* where the content of files is compared */
	good = !volume_open(&vol, &r->v.cx, disk, NULL) &&
	       log_audit(&r->v.cx, vol) &&
	       (!vol->geo.has_live_blks ||
		sutable_is_exact(vol, &r->v.cx) == 1);
	for (i = 0; i < RIG_FILES && good; i++)
		good = log_volume_reads(&r->v, vol, 0, &r->v.files[i], NULL) &&
		       log_volume_reads(&r->v, vol, RIG_SNAPSHOT, &r->kept[i],
					NULL);
	good = good && also(arg, vol, disk);
	volume_close(vol);
	dev_close(disk);
	r->v.dev = first;
	return good;
}

static bool note_cno(void *arg, struct volume *vol, struct dev *dev)
{
	uint64_t *cno = arg;

	(void)dev;
	*cno = vol->latest.cno;
	return true;
}

bool rig_holds(struct rig *r, uint64_t *cno)
{
	*cno = 0;
	return rig_holds_also(r, r->size, note_cno, cno);
}
