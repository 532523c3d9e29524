// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adding live-block counts to a volume, or removing them.
 *
 * The size of SUFILE entries is in the superblock, so a superblock must never
 * lead to a log with another size.  It names a log of its own size.  But unless
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
#include "log/directwriter.h"
#include "log/writer.h"
#include "vol/liveness.h"
#include "vol/sutable.h"
#include "vol/volume.h"

#define EXT NILFS_FEATURE_COMPAT_SUFILE_LIVE_BLKS_EXT
#define TRACK NILFS_FEATURE_COMPAT_TRACK_LIVE_BLKS

struct change {
	struct dev *dev;
	struct volume *vol;	/* in its new state */
	struct volume *old;	/* unchanged */
	struct liveness *live;	/* NULL: no counts */
	struct zoning zones;
	uint64_t time;
};

/*
 * Fills the SUFILE of W, which directwriter_open() began without blocks, as
 * entries of another size are at other offsets; the old blocks end.  The writer
 * counts the segments that it allocates and frees in the meantime, and enters
 * them when the entries exist.  Clean segments need no entry.
 */
static int fill_sufile(struct change *c, struct context *cx, struct writer *w)
{
	const struct nilfs_geometry *g = writer_geometry(w);
	struct metafile *sufile = directwriter_file(w, NILFS_SUFILE_INO);
	struct nilfs_segment_usage_ext su;
	struct blockmap_cursor blocks;
	struct blockmap_item item;
	struct sutable_cursor cur;
	struct liveness_counts n;
	uint64_t segnum;
	void *data;
	int ret;

	/* All blocks and nodes. */
	ret = blockmap_cursor_open(&blocks, cx, &c->old->sufile.map, 0, true);
	while (!ret && (ret = blockmap_cursor_next(&blocks, cx, &item)) > 0)
		ret = directwriter_end(w, cx, item.ptr, METAFILE_SINGLE);
	blockmap_cursor_close(&blocks);
	if (!ret)
		ret = metafile_change(sufile, cx, 0, &data, NULL);
	if (ret)
		return ret;

	ret = sutable_cursor_open(&cur, cx, c->old, false);
	while (!ret &&
	       (ret = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0) {
		ret = 0;
		if (segusage_is_clean(&su.su))
			continue;
		/*
		 * Fields that the kernel knows are kept; the rest is counted.
		 */
		su = (struct nilfs_segment_usage_ext){ .su = su.su };
		if (segusage_is_dirty(&su.su)) {
			n = c->live ? liveness_of(c->live, segnum) :
				      (struct liveness_counts){ 0 };
			su.su_nlive_blks = le32_make(n.current + n.snapshot);
			su.su_nsnapshot_blks = le32_make(n.snapshot);
			su.su_nlive_lastmod = le64_make(c->time);
		}
		ret = metafile_change(sufile, cx, segusage_blkoff(g, segnum),
				      &data, NULL);
		if (!ret)
			memcpy((char *)data + segusage_offset(g, segnum), &su,
			       g->has_live_blks ? sizeof(su) : sizeof(su.su));
	}
	sutable_cursor_close(&cur);
	if (!ret)
		ret = directwriter_changed(w, cx);
	if (!ret && c->live)
		directwriter_exact(w);
	return ret;
}

static int write_sufile_log(struct change *c, struct context *cx,
			    struct writer_end *end)
{
	const struct writer_options options =
		writer_options_on(c->vol, c->time);
	struct directwriter_known known = {
		.rebuilt = DIRECTWRITER_FILE(NILFS_SUFILE_INO)};
	struct writer *w = NULL;
	int ret = zoning_open(&c->zones, cx, c->old);

	zoning_fill(&c->zones, &known);
	/* With the superblocks as they are, no mount must find it. */
	known.fresh_segment = true;
	if (!ret)
		ret = directwriter_open(&w, cx, c->vol, &options, &known);
	if (!ret)
		ret = fill_sufile(c, cx, w);
	if (!ret)
		ret = onelog_commit(w, cx, c->vol, c->time, end);
	writer_close(w);
	return ret;
}

static int convert_sufile(struct change *c, struct context *cx, bool on,
			  struct writer_end *end)
{
	/* The active superblock, to be changed in memory. */
	struct nilfs_super_block *sb = &c->vol->super[c->vol->super_used];
	unsigned int state = le16_get(sb->s_state) | NILFS_VALID_FS;
	uint64_t compat = le64_get(sb->s_feature_compat);
	struct writer_end latest;
	int ret = volume_open(&c->old, cx, c->dev, NULL);

	if (!ret && on)
		ret = liveness_count(c->old, cx, UINT64_MAX, &c->live);

	/* Both superblocks name the latest log as the last one. */
	if (!ret)
		ret = onelog_latest(&latest, cx, c->old);
	if (ret)
		return ret;
	newsupers_fill(sb, &c->vol->geo, &latest, c->time, (uint16_t)state);
	ret = newsupers_write(cx, c->dev, sb, newsupers_offset2(c->vol));
	if (ret)
		return ret;

	/* From here on the volume in memory has the new state. */
	compat = on ? compat | EXT : compat & ~(uint64_t)(EXT | TRACK);
	sb->s_feature_compat = le64_make(compat);
	sb->s_segment_usage_size = le16_make(on ?
					     NILFS_EXT_SEGMENT_USAGE_SIZE :
					     NILFS_MIN_SEGMENT_USAGE_SIZE);
	if (super_geometry(sb, c->dev->size, &c->vol->geo) != RULE_OK)
		return fail(cx, -EUCLEAN, "superblock: the size of segment usage "
			    "entries cannot change; run fsck.nilfs2");
	return write_sufile_log(c, cx, end);
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
		ret = convert_sufile(&c, cx, on, &end);
		done->changed = !ret;
		done->written = end.blocks;
	}
	zoning_close(&c.zones);
	liveness_free(c.live);
	volume_close(c.old);
	volume_close(c.vol);
	return ret;
}
