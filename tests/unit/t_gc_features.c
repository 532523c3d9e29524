// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A SUFILE with other entries, under power cuts.
 *
 * Whenever the power goes off the volume is the old one or the new one, whole,
 * by either superblock: the size of entries that it says is that of the log it
 * leads to, also where nothing says that the volume was unmounted.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/testdev/memory.h"
#include "disk/super.h"
#include "gc/tune/features.h"
#include "gc_rig.h"

#include "tap.h"

static const struct log_shape shapes[] = {
	{ .block_size = 1024, .blocks_per_segment = 32, .nsegments = 150,
	  .log_blocks = 32, .collect = 8, .threads = 1 },
	{ .block_size = 1024, .blocks_per_segment = 32, .nsegments = 150,
	  .log_blocks = 32, .collect = 8, .threads = 1, .live_blks = true },
};

static size_t super_offset(const struct rig *r, int copy)
{
	return copy ? super_offset2(r->size) : NILFS_SB_OFFSET_BYTES;
}

static int set(struct rig *r, struct dev *dev, bool on,
	       struct features_done *done)
{
	struct context cx;

	context_child(&r->v.cx, &cx);
	return features_set(done, &cx, dev, on ? FEATURES_EXT_ON :
						 FEATURES_EXT_OFF,
			    LOG_VOLUME_TIME + 1);
}

/* r->bytes hold without superblock COPY, where that leaves a valid one. */
static bool holds_without(struct rig *r, int copy)
{
	char *place = r->bytes + super_offset(r, copy);
	struct nilfs_super_block sb, other;
	uint64_t cno;
	bool good;

	memcpy(&sb, place, sizeof(sb));
	memcpy(&other, r->bytes + super_offset(r, !copy), sizeof(other));
	if (super_check(&other) != RULE_OK)
		return true;
	memset(place, 0, sizeof(sb));
	good = rig_holds(r, &cno);
	memcpy(place, &sb, sizeof(sb));
	return good;
}

static bool holds(struct rig *r, uint64_t *cno)
{
	return rig_holds(r, cno) && holds_without(r, 0) && holds_without(r, 1);
}

static void test_whole(struct rig *r, bool on)
{
	struct features_done done;
	struct volume *vol = NULL;
	struct dev *disk;
	uint64_t cno;

	memcpy(r->bytes, r->before, r->size);
	memory_open(&disk, &r->v.cx, r->bytes, r->size);
	is_int(set(r, disk, !on, &done), 0, "as it is already");
	ok(!done.changed && !memcmp(r->bytes, r->before, r->size),
	   "nothing is written");
	is_int(set(r, disk, on, &done), 0, on ? "counts" : "no counts");
	ok(done.changed && holds(r, &cno), "files are as before");
	is_int(volume_open(&vol, &r->v.cx, disk, NULL), 0, "open");
	is_int(vol->geo.has_live_blks, on, "by the superblock");
	is_int(vol->geo.segment_usage_size, on ? 32 : 16, "size of entries");
	volume_close(vol);
	is_int(set(r, disk, !on, &done), 0, "and back");
	ok(done.changed && holds(r, &cno), "files are as before");
	dev_close(disk);
}

struct change {
	struct rig *r;
	bool on;
};

static int set_again(void *arg, struct context *cx, struct dev *dev)
{
	const struct change *c = arg;
	struct features_done done;

	(void)cx;
	return set(c->r, dev, c->on, &done);
}

static enum cut_state judge(void *arg)
{
	const struct change *c = arg;
	uint64_t cno;

	if (!holds(c->r, &cno))
		return CUT_BAD;
	return cno > RIG_ROUNDS ? CUT_NEW : CUT_OLD;
}

static void test_cuts(struct rig *r, bool on)
{
	struct change change = { r, on };
	const struct cut cut = rig_cut(r, set_again, judge, &change);
	struct cut_counts c[CUT_WAYS];
	unsigned int i;

	cut_all(&cut, c);
	for (i = 0; i < CUT_WAYS; i++) {
		is_int(c[i].bad, 0, cut_ways[i].how);
		ok(c[i].old && c[i].new, "old %u times, new %u times", c[i].old,
		   c[i].new);
	}
}

int main(void)
{
	struct rig r;
	bool on;
	int i;

	for (i = 0; i < 4; i++) {
		on = !shapes[i / 2].live_blks;
		rig_open(&r, &shapes[i / 2]);
		if (i % 2)
			rig_leave_mounted(&r);
		test_whole(&r, on);
		test_cuts(&r, on);
		rig_close(&r);
	}
	return tap_done();
}
