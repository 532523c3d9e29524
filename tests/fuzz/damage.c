// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bits flipped in the metadata of an image in memory, and put back.
 *
 * What is metadata is read from the summaries of the sound image: blocks of
 * the metadata files, all map nodes, directories, the summaries themselves,
 * super roots.  A block of the range list is picked first and a bit in it
 * second, so that the few superblock bytes are hit as often as large tables.
 */
#include "damage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/testdev/memory.h"
#include "disk/segsum.h"
#include "disk/super.h"
#include "disk/superroot.h"
#include "random.h"
#include "vol/logscan.h"
#include "vol/root.h"
#include "vol/summary.h"
#include "vol/volume.h"

/* Superblocks are two among thousands of ranges: they get more chances. */
#define SUPER_CHANCES 16u

static int add_range(struct damage *d, uint64_t offset, uint32_t len)
{
	if (d->count == d->room) {
		size_t room = d->room ? 2 * d->room : 1024;
		struct damage_range *r = realloc(d->ranges, room * sizeof(*r));

		if (!r)
			return -1;
		d->ranges = r;
		d->room = room;
	}
	d->ranges[d->count++] = (struct damage_range){ offset, len };
	return 0;
}

static int add_blocks(struct damage *d, uint64_t blocknr, uint32_t count)
{
	int err = 0;

	for (; count-- && !err; blocknr++)
		err = add_range(d, blocknr << d->geo.block_bits,
				d->geo.block_size);
	return err;
}

static bool is_metadata(struct root *root, struct context *cx,
			const struct segsum_block *b)
{
	struct nilfs_inode inode;

	if (b->is_node || b->ino < NILFS_USER_INO)
		return true;
	return !root_inode(root, cx, b->ino, &inode) &&
	       !S_ISREG(le16_get(inode.i_mode));
}

static int add_log(struct damage *d, struct context *cx, struct root *root,
		   const struct log *log)
{
	struct summary summary = { 0 };
	struct segsum_block b;
	int ret;

	ret = add_blocks(d, log->pseg, segsum_nsumblk(&d->geo, &log->ss));
	if (!ret && segsum_has_super_root(&log->ss))
		ret = add_range(d, (log->pseg + log->nblocks - 1) <<
				d->geo.block_bits, 400);
	if (!ret)
		ret = summary_read(&summary, cx, root->vol, log->pseg,
				   &log->ss);
	while (!ret && (ret = summary_next(&summary, cx, &b)) > 0)
		ret = is_metadata(root, cx, &b) ?
			add_blocks(d, log->pseg + b.index, 1) : 0;
	summary_free(&summary);
	return ret;
}

static int add_segments(struct damage *d, struct context *cx,
			struct root *root)
{
	struct logscan scan;
	struct log log;
	uint64_t segnum;
	int ret = 0;

	for (segnum = 0; segnum < d->geo.nsegments && !ret; segnum++) {
		ret = logscan_open(&scan, cx, root->vol, segnum, 0);
		while (!ret && (ret = logscan_next(&scan, cx, &log)) > 0)
			ret = add_log(d, cx, root, &log);
	}
	return ret;
}

static int find_metadata(struct damage *d, struct context *cx,
			 struct volume *vol)
{
	struct root root;
	unsigned int i;
	int err;

	d->geo = vol->geo;
	d->last_pseg = vol->latest.pseg_start;
	err = root_open(&root, cx, vol, 0);
	for (i = 0; i < SUPER_CHANCES && !err; i++)
		err = add_range(d, vol->super_offset[i % 2], 280);
	return err ? err : add_segments(d, cx, &root);
}

int damage_open(struct damage *d, char *bytes, size_t size)
{
	struct context cx;
	struct dev *dev = NULL;
	struct volume *vol = NULL;
	int err;

	memset(d, 0, sizeof(*d));
	d->bytes = bytes;
	d->size = size;
	context_init(&cx);
	err = memory_open(&dev, &cx, bytes, size);
	if (!err)
		err = volume_open(&vol, &cx, dev, NULL);
	if (!err)
		err = find_metadata(d, &cx, vol);
	if (err)
		fprintf(stderr, "the sound image: %s\n", cx.failure);
	volume_close(vol);
	dev_close(dev);
	return err ? -1 : 0;
}

void damage_close(struct damage *d)
{
	free(d->ranges);
	free(d->saved);
}

/* Makes LEN bytes at OFFSET safe to change. */
static void save(struct damage *d, uint64_t offset, uint32_t len)
{
	struct damage_saved *s;

	if (d->saved_count == d->saved_room) {
		d->saved_room = d->saved_room ? 2 * d->saved_room : 64;
		d->saved = realloc(d->saved, d->saved_room * sizeof(*s));
		if (!d->saved)
			abort();
	}
	s = &d->saved[d->saved_count++];
	s->offset = offset;
	s->len = len;
	memcpy(s->was, d->bytes + offset, len);
}

static void fit_super(struct damage *d, uint64_t offset)
{
	struct nilfs_super_block sb;

	save(d, offset, sizeof(sb));
	memcpy(&sb, d->bytes + offset, sizeof(sb));
	sb.s_sum = le32_make(super_checksum(&sb));
	memcpy(d->bytes + offset, &sb, sizeof(sb));
}

/* Sums up the log at the latest super root again, if it is still a log. */
static void fit_log(struct damage *d)
{
	uint64_t start = d->last_pseg << d->geo.block_bits, sr;
	struct nilfs_segment_summary ss;
	struct nilfs_super_root head;
	struct segsum_crc crc;
	size_t len;

	memcpy(&ss, d->bytes + start, sizeof(ss));
	if (segsum_check(&d->geo, &ss, d->last_pseg) != RULE_OK)
		return;
	len = (size_t)le32_get(ss.ss_nblocks) << d->geo.block_bits;
	if (start + len > d->size)
		return;
	sr = start + len - d->geo.block_size;
	save(d, sr, 8);
	memcpy(&head, d->bytes + sr, 8);
	head.sr_sum = le32_make(superroot_checksum(&d->geo, d->bytes + sr));
	memcpy(d->bytes + sr, &head, 8);

	save(d, start, sizeof(ss));
	segsum_crc_init(&crc, SEGSUM_SUMSUM, &d->geo, &ss);
	segsum_crc_update(&crc, d->bytes + start, len);
	ss.ss_sumsum = le32_make(crc.sum);
	memcpy(d->bytes + start, &ss, sizeof(ss));
	segsum_crc_init(&crc, SEGSUM_DATASUM, &d->geo, &ss);
	segsum_crc_update(&crc, d->bytes + start, len);
	ss.ss_datasum = le32_make(crc.sum);
	memcpy(d->bytes + start, &ss, sizeof(ss));
}

void damage_do(struct damage *d, unsigned int seed, unsigned long round,
	       unsigned int count, bool fit)
{
	uint64_t state = (uint64_t)seed << 40 ^ round;

	while (count--) {
		const struct damage_range *r =
			&d->ranges[next_random(&state) % d->count];
		uint64_t at = r->offset + next_random(&state) % r->len;

		save(d, at, 1);
		d->bytes[at] ^= (char)(1 << next_random(&state) % 8);
	}
	if (!fit)
		return;
	fit_log(d);
	fit_super(d, NILFS_SB_OFFSET_BYTES);
	fit_super(d, super_offset2(d->size));
}

void damage_undo(struct damage *d)
{
	while (d->saved_count) {
		const struct damage_saved *s = &d->saved[--d->saved_count];

		memcpy(d->bytes + s->offset, s->was, s->len);
	}
}
