// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adding live-block counts to a volume, or removing them.
 *
 * The size of SUFILE entries is in the superblock, so a superblock must never
 * lead to a log with another size.  It names a log of its own size; but unless
 * it is marked as unmounted, a mount continues to the logs after that one, and
 * would reach the new log by an old superblock if the new one is torn.
 * Therefore both superblocks are first marked as unmounted at the latest log.
 * A mount of either state makes the other superblock equal to the one that it
 * used.
 *
 * A kernel without the extension does not update the counts as it writes; they
 * are marked as exact for one checkpoint.
 */
#include "gc/tune/features.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/context.h"
#include "disk/segusage.h"
#include "disk/super.h"
#include "gc/move/onelog.h"
#include "gc/move/target.h"
#include "gc/plan/zoning.h"
#include "log/newsupers.h"
#include "log/repairwriter.h"
#include "log/writer.h"
#include "vol/liveness.h"
#include "vol/sutable.h"
#include "vol/volume.h"

#define EXT NILFS_FEATURE_COMPAT_SUFILE_LIVE_BLKS_EXT
#define TRACK NILFS_FEATURE_COMPAT_TRACK_LIVE_BLKS

/*
 * Rebuilding the segment usage file.
 *
 * Entries of another size are at other offsets, so the file begins without
 * blocks, and those of the old one end.  Segments that the writer allocates and
 * frees meanwhile are counted by it, and entered when the entries exist.  Clean
 * segments need none.
 */

/* All blocks and nodes. */
static int end_old(struct writer *w, struct context *cx, struct volume *old)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret = blockmap_cursor_open(&cur, cx, &old->sufile.map, 0, true);

	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0)
		ret = repairwriter_end(w, cx, item.ptr, METAFILE_SINGLE);
	blockmap_cursor_close(&cur);
	return ret;
}

/* The fields known to the kernel are kept; the rest follows from LIVE. */
static void set_counts(struct nilfs_segment_usage_ext *su,
		       const struct liveness_counts *n, uint64_t time)
{
	*su = (struct nilfs_segment_usage_ext){ .su = su->su };
	if (!segusage_is_dirty(&su->su))
		return;
	su->su_nlive_blks = le32_make(n->current + n->snapshot);
	su->su_nsnapshot_blks = le32_make(n->snapshot);
	su->su_nlive_lastmod = le64_make(time);
}

static int copy_usage(struct writer *w, struct context *cx, uint64_t segnum,
		      const struct nilfs_segment_usage_ext *su)
{
	const struct nilfs_geometry *g = writer_geometry(w);
	void *data;
	int ret = metafile_change(repairwriter_file(w, NILFS_SUFILE_INO), cx,
				  segusage_blkoff(g, segnum), &data, NULL);

	if (!ret)
		memcpy((char *)data + segusage_offset(g, segnum), su,
		       g->has_live_blks ? sizeof(*su) : sizeof(su->su));
	return ret;
}

static int copy_all(struct writer *w, struct context *cx, struct volume *old,
		    const struct liveness *live, uint64_t time)
{
	struct nilfs_segment_usage_ext su;
	struct sutable_cursor cur;
	struct liveness_counts n;
	uint64_t segnum;
	int ret = sutable_cursor_open(&cur, cx, old, false);

	while (!ret &&
	       (ret = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0) {
		ret = 0;
		if (segusage_is_clean(&su.su))
			continue;
		n = live ? liveness_of(live, segnum) :
			   (struct liveness_counts){ 0 };
		set_counts(&su, &n, time);
		ret = copy_usage(w, cx, segnum, &su);
	}
	sutable_cursor_close(&cur);
	return ret;
}

/*
 * Fills the SUFILE of W, which repairwriter_open() began without blocks, from
 * OLD: the same volume, opened with the old entry size, whose blocks end.  If
 * the entries of W have counts of live blocks these are those of LIVE, as of
 * TIME, and exact.  -EUCLEAN, -EIO, -ENOMEM.
 */
static int sufilenew_fill(struct writer *w, struct context *cx,
			  struct volume *old, const struct liveness *live,
			  uint64_t time)
{
	void *header;
	int ret = end_old(w, cx, old);

	if (!ret)
		ret = metafile_change(repairwriter_file(w, NILFS_SUFILE_INO),
				      cx, 0, &header, NULL);
	if (!ret)
		ret = copy_all(w, cx, old, live, time);
	if (!ret)
		ret = repairwriter_changed(w, cx);
	if (!ret && live)
		repairwriter_exact(w);
	return ret;
}

struct change {
	struct dev *dev;
	struct volume *vol;	/* as it is to be */
	struct volume *old;	/* unchanged */
	struct liveness *live;	/* NULL: no counts */
	struct zoning zones;
	uint64_t time;
};

/* The active superblock, to be changed in memory. */
static struct nilfs_super_block *super_of(struct volume *vol)
{
	return &vol->super[vol->super_used];
}

/* Superblocks that name the latest log, as the last one. */
static int name_latest(struct change *c, struct context *cx)
{
	struct nilfs_super_block *sb = super_of(c->vol);
	unsigned int state = le16_get(sb->s_state) | NILFS_VALID_FS;
	struct writer_end end;
	int ret = onelog_latest(&end, cx, c->old);

	if (ret)
		return ret;
	newsupers_fill(sb, &c->vol->geo, &end, c->time, (uint16_t)state);
	return newsupers_write(cx, c->dev, sb, newsupers_offset2(c->vol));
}

/* From here on the volume in memory is as the log will make it. */
static enum rule set_layout(struct change *c, bool on)
{
	struct nilfs_super_block *sb = super_of(c->vol);
	uint64_t compat = le64_get(sb->s_feature_compat);

	compat = on ? compat | EXT : compat & ~(uint64_t)(EXT | TRACK);
	sb->s_feature_compat = le64_make(compat);
	sb->s_segment_usage_size = le16_make(on ?
					     NILFS_EXT_SEGMENT_USAGE_SIZE :
					     NILFS_MIN_SEGMENT_USAGE_SIZE);
	return super_geometry(sb, c->dev->size, &c->vol->geo);
}

static int write_sufile_log(struct change *c, struct context *cx,
			    struct writer_end *end)
{
	const struct writer_options options =
		writer_options_on(c->vol, c->time);
	struct repairwriter_known known = {
		.rebuilt = REPAIRWRITER_FILE(NILFS_SUFILE_INO)};
	struct writer *w = NULL;
	int ret = zoning_open(&c->zones, cx, c->old);

	zoning_fill(&c->zones, &known);
	if (!ret)
		ret = repairwriter_open(&w, cx, c->vol, &options, &known);
	if (!ret)
		ret = sufilenew_fill(w, cx, c->old, c->live, c->time);
	if (!ret)
		ret = onelog_commit(w, cx, c->vol, c->time, end);
	writer_close(w);
	return ret;
}

static int convert(struct change *c, struct context *cx, bool on,
		   struct writer_end *end)
{
	int ret = volume_open(&c->old, cx, c->dev, NULL);

	if (!ret && on)
		ret = liveness_count(c->old, cx, UINT64_MAX, &c->live);
	if (!ret)
		ret = name_latest(c, cx);
	if (!ret && set_layout(c, on) != RULE_OK)
		ret = fail(cx, -EUCLEAN, "superblock: cannot have entries of "
			   "another size; run fsck.nilfs2");
	return ret ? ret : write_sufile_log(c, cx, end);
}

int features_set(struct features_done *done, struct context *cx,
		 struct dev *dev, enum features_ext ext, uint64_t time)
{
	struct change c = { .dev = dev, .time = time };
	bool on = ext == FEATURES_EXT_ON;
	struct writer_end end = { 0 };
	int ret = target_open_volume(&c.vol, cx, dev);

	*done = (struct features_done){ false, 0 };
	if (!ret && ext != FEATURES_EXT_AS_IS &&
	    c.vol->geo.has_live_blks != on) {
		ret = convert(&c, cx, on, &end);
		done->changed = !ret;
		done->written = end.blocks;
	}
	zoning_close(&c.zones);
	liveness_free(c.live);
	volume_close(c.old);
	volume_close(c.vol);
	return ret;
}
