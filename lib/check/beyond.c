// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The blocks beyond the end of a device that is shorter than its volume.
 *
 * The blocks in use are those of the entries of the DAT that an existing checkpoint
 * has, and those of the DAT itself. Each of the latter that is beyond the end hides
 * entries, so that the counts are incomplete. Blocks of a DAT that cannot be
 * followed, and checkpoints that cannot be listed, are not counted.
 */
#include "check/beyond.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sparse.h"
#include "check/damage.h"
#include "dev/badareas.h"
#include "disk/super.h"
#include "vol/cptable.h"
#include "vol/datscan.h"
#include "vol/volume.h"

/* As the kernel chooses; the second copy was at the former end. */
static bool read_super(struct dev *dev, struct nilfs_super_block *sb,
		       struct nilfs_geometry *geo, enum rule *rule)
{
	const uint64_t offset[2] = { NILFS_SB_OFFSET_BYTES,
				     super_offset2(dev->size) };
	struct nilfs_super_block copy[2];
	struct super_choice choice;
	struct context quiet;
	bool read[2];
	int i;

	context_init(&quiet);
	for (i = 0; i < 2; i++)
		read[i] = offset[i] && !dev_read(dev, &quiet, offset[i], &copy[i],
						 sizeof(copy[i]));
	super_choose(read[0] ? &copy[0] : NULL, read[1] ? &copy[1] : NULL,
		     dev->size, &choice);
	if (choice.index < 0)
		return false;
	*sb = copy[choice.index];
	*rule = super_geometry(sb, dev->size, geo);
	return true;
}

uint64_t beyond_wanted(struct dev *dev)
{
	struct nilfs_super_block sb;
	struct nilfs_geometry geo;
	enum rule rule;

	return read_super(dev, &sb, &geo, &rule) && rule == RULE_SB_DEVICE_SIZE ?
	       le64_get(sb.s_dev_size) : 0;
}

struct search {
	struct beyond *b;
	struct volume *vol;
	uint64_t end;		/* first block that is not on the device, whole */
	uint64_t *cnos, *snapshots;
	size_t ncnos, nsnapshots;
	struct sparse segments;
	bool hidden;		/* a block of the DAT cannot be read */
};

static int count_block(void *arg, struct context *cx, uint64_t blocknr,
		       uint64_t vblocknr, const struct nilfs_dat_entry *de,
		       const struct blockmap_item *own)
{
	struct search *s = arg;
	uint64_t start = own ? 0 : le64_get(de->de_start);
	uint64_t end = own ? NILFS_CNO_MAX : le64_get(de->de_end);
	uint64_t *n = NULL;
	int ret;

	(void)vblocknr;
	if (blocknr < s->end)
		return 0;
	if (end == NILFS_CNO_MAX)
		n = &s->b->current;
	else if (search_within(s->snapshots, s->nsnapshots, start, end))
		n = &s->b->snapshots;
	else if (search_within(s->cnos, s->ncnos, start, end))
		n = &s->b->checkpoints;
	if (own)
		__atomic_store_n(&s->hidden, true, __ATOMIC_RELAXED);
	if (!n)
		return 0;
	__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
	blocknr /= s->vol->geo.blocks_per_segment;
	/* A number after the end of the volume is damage. */
	ret = sparse_can_have(&s->segments, blocknr) ?
	      sparse_add(&s->segments, cx, blocknr) : 0;
	return ret < 0 ? ret : 0;
}

static int skip_hidden(void *arg, struct context *cx, uint64_t blkoff)
{
	struct search *s = arg;

	(void)blkoff;
	fail_clear(cx);
	__atomic_store_n(&s->hidden, true, __ATOMIC_RELAXED);
	return 0;
}

int beyond_find(struct beyond *b, struct context *cx, struct dev *dev)
{
	struct nilfs_super_block sb;
	struct search s = { .b = b };
	const struct datscan_visitor visitor = {
		.block = count_block, .unreadable = skip_hidden, .arg = &s,
	};
	struct nilfs_geometry geo;
	struct dev *full;
	enum rule rule;
	int err;

	*b = (struct beyond){ .device = dev->size };
	if (!read_super(dev, &sb, &geo, &rule) || rule != RULE_SB_DEVICE_SIZE)
		return 0;
	b->volume = le64_get(sb.s_dev_size);
	s.end = geo.nblocks;
	/* Reads beyond the end fail on a device of the full size. */
	err = badareas_open(&full, cx, dev);
	if (err)
		return err;
	full->size = b->volume;
	err = badareas_add(full, cx, b->device, b->volume - b->device) ?:
	      volume_open(&s.vol, cx, full, NULL);
	b->found = !err;
	if (!err)
		err = cptable_list(s.vol, cx, false, &s.cnos, &s.ncnos) ?:
		      cptable_list(s.vol, cx, true, &s.snapshots, &s.nsnapshots);
	/* The blocks of the latest state can still be counted. */
	if (damage_is(err) && b->found) {
		s.hidden = true;
		err = damage_forgive(cx, err);
	}
	if (!err)
		err = sparse_init(&s.segments, cx, le64_get(sb.s_nsegments)) ?:
		      datscan_run(s.vol, cx, &visitor);
	b->complete = !err && !s.hidden;
	b->segments = s.segments.bits ? sparse_count(&s.segments) : 0;
	sparse_fini(&s.segments);
	free(s.snapshots);
	free(s.cnos);
	volume_close(s.vol);
	dev_close(full);
	err = damage_forgive(cx, err);
	return err ? err : 1;
}

void beyond_text(const struct beyond *b, char text[BEYOND_TEXT_MAX])
{
	const uint64_t n[] = { b->current, b->snapshots, b->checkpoints };
	static const char *const of[] = {
		"of the latest state", "of snapshots only", "of old checkpoints only",
	};
	const char *comma = ": ";
	unsigned int i;
	int at;

	if (!b->found || beyond_is_nothing(b)) {
		snprintf(text, BEYOND_TEXT_MAX, b->found ?
			 "all blocks in use lie before the end of the device" :
			 "the log of the latest state lies beyond the end of the "
			 "device, or cannot be read");
		return;
	}
	if (!b->segments) {
		snprintf(text, BEYOND_TEXT_MAX, "what lies beyond the end of the "
			 "device cannot be determined");
		return;
	}
	at = snprintf(text, BEYOND_TEXT_MAX, "%s%" PRIu64 " blocks in use, in %" PRIu64
		      " segment%s, lie beyond the end of the device",
		      b->complete ? "" : "at least ", n[0] + n[1] + n[2],
		      b->segments, b->segments == 1 ? "" : "s");
	for (i = 0; i < 3; i++) {
		if (!n[i])
			continue;
		at += snprintf(text + at, BEYOND_TEXT_MAX - (size_t)at,
			       "%s%" PRIu64 " %s", comma, n[i], of[i]);
		comma = ", ";
	}
}

void beyond_report(const struct beyond *b, struct report *r)
{
	char text[BEYOND_TEXT_MAX];

	beyond_text(b, text);
	if (report_is_text(r)) {
		report_string(r, NULL, "Beyond the end", text);
		return;
	}
	report_begin(r, "beyond", NULL);
	report_u64(r, "device_bytes", "Device", b->device);
	report_u64(r, "volume_bytes", "Volume", b->volume);
	report_bool(r, "complete", "Complete", b->complete);
	report_u64(r, "segments", "Segments", b->segments);
	report_u64(r, "latest", "Latest", b->current);
	report_u64(r, "snapshots", "Snapshots", b->snapshots);
	report_u64(r, "checkpoints", "Checkpoints", b->checkpoints);
	report_string(r, "text", "Text", text);
	report_end(r);
}
