// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The content of the checkpoint file.
 *
 * All of it is repaired, whatever was found: entries block by block, then what
 * is counted from them and the list of snapshots, which is in the order of
 * numbers.
 */
#include "fsck/checkpoints/cpcontent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disk/checkpoint.h"

static const struct nilfs_geometry *geo_of(const struct cpcontent *c)
{
	return &c->cm.check->vol->geo;
}

static void note_block(const struct cpcontent *c,
		       const struct cprepair_block *b)
{
	unsigned long long blkoff = b->is.blkoff;

	if (b->changed && b->is.origin == CPBLOCKS_MAPPED)
		fixers_note(c->cm.job, "checkpoints of block %llu: made right",
			    blkoff);
	else if (b->valid && b->is.origin != CPBLOCKS_MAPPED)
		fixers_note(c->cm.job, "checkpoints of block %llu: from the "
			    "logs", blkoff);
}

static int put_blocks(struct cpcontent *c, struct context *cx, void *buf)
{
	struct cprepair_block b = { .is.data = buf };
	size_t i;
	int err = 0;

	for (i = 0; i < c->cm.blocks.n && !err; i++) {
		b.is.blkoff = c->cm.blocks.blkoffs[i];
		err = cprepair_block(&c->cm, cx, &b);
		if (!err)
			err = c->put(c->arg, cx, &b);
		if (!err)
			note_block(c, &b);
	}
	return err;
}

/* Changes SIZE bytes of the file at OFFSET of block BLKOFF to those of NEW. */
static int change_bytes(const struct cpcontent *c, struct context *cx,
			uint64_t blkoff, size_t offset, const void *new,
			size_t size)
{
	char *buf = calloc(1, geo_of(c)->block_size);
	int ret = buf ? c->look(c->arg, cx, blkoff, buf) :
			fail(cx, -ENOMEM, "block of the cpfile");

	if (ret > 0 && !memcmp(buf + offset, new, size)) {
		ret = 0;
	} else if (ret >= 0) {
		memcpy(buf + offset, new, size);
		ret = c->change(c->arg, cx, blkoff, buf);
		ret = ret ? ret : 1;
	}
	free(buf);
	return ret;
}

int cpcontent_change(const struct cpcontent *c, struct context *cx,
		     uint64_t cno, size_t field, const void *new, size_t size)
{
	return change_bytes(c, cx, checkpoint_blkoff(geo_of(c), cno),
			    checkpoint_offset(geo_of(c), cno) + field, new,
			    size);
}

/* Links the snapshots, each to the one before it and the one after it. */
static int link_snapshots(struct cpcontent *c, struct context *cx)
{
	const uint64_t *snapshots = c->cm.snapshots;
	size_t i, n = c->cm.nsnapshots;
	bool changed = false;
	int ret = 0;

	for (i = 0; i < n && ret >= 0; i++) {
		const struct nilfs_snapshot_list links = {
			.ssl_next = le64_make(i + 1 < n ? snapshots[i + 1] : 0),
			.ssl_prev = le64_make(i ? snapshots[i - 1] : 0),
		};

		ret = cpcontent_change(c, cx, snapshots[i],
				       offsetof(struct nilfs_checkpoint,
						cp_snapshot_list),
				       &links, sizeof(links));
		changed |= ret > 0;
	}
	if (changed)
		fixers_note(c->cm.job, "list of snapshots: linked again");
	return ret < 0 ? ret : 0;
}

static int write_header(struct cpcontent *c, struct context *cx)
{
	size_t n = c->cm.nsnapshots;
	const struct nilfs_cpfile_header header = {
		.ch_ncheckpoints = le64_make(c->cm.valid),
		.ch_nsnapshots = le64_make(n),
		.ch_snapshot_list = {
			.ssl_next = le64_make(n ? c->cm.snapshots[0] : 0),
			.ssl_prev = le64_make(n ? c->cm.snapshots[n - 1] : 0),
		},
	};
	int ret = change_bytes(c, cx, 0, 0, &header, sizeof(header));

	if (ret > 0)
		fixers_note(c->cm.job, "header of checkpoints: %llu, and of "
			    "these %llu snapshots",
			    (unsigned long long)c->cm.valid,
			    (unsigned long long)n);
	return ret < 0 ? ret : 0;
}

int cpcontent_write(struct cpcontent *c, struct context *cx)
{
	void *buf = malloc(geo_of(c)->block_size);
	int err = buf ? put_blocks(c, cx, buf) :
			fail(cx, -ENOMEM, "block of the cpfile");

	free(buf);
	if (!err)
		err = link_snapshots(c, cx);
	return err ? err : write_header(c, cx);
}
