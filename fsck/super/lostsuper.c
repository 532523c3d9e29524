// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A superblock rebuilt.
 *
 * Seed and block size are known from the logs, the size of inodes from that of
 * the super root.  What is left to find is how large segments are and how
 * large the entries of the metadata files.  Each guess can be held against the
 * SUFILE: the segment of the log with the super root has as many blocks in use
 * as lie up to the end of that log, and the next one is in use too.  A wrong
 * guess reads the wrong entry, or counts from the wrong place.
 */
#include "fsck/super/volscan.h"

#include <string.h>

#include "base/checked.h"
#include "base/uuidtext.h"
#include "check/damage.h"
#include "disk/segsum.h"
#include "disk/segusage.h"
#include "disk/super.h"
#include "vol/sutable.h"
#include "vol/volume.h"

#define GUESSES 64		/* sizes of segments that are tried */

struct guess {
	struct nilfs_geometry g;
	struct recovery at;
	const struct nilfs_segment_summary *ss;
};

/* The size of an inode, by that of the super root; 0 where that is none. */
static int find_inode_size(struct context *cx, struct dev *dev,
			   const struct nilfs_geometry *g, uint64_t offset,
			   uint32_t *size)
{
	struct nilfs_super_root sr;
	uint32_t rest;
	int err = dev_read(dev, cx, offset, &sr, sizeof(sr));

	*size = 0;
	if (err)
		return err;
	rest = le16_get(sr.sr_bytes) - offsetof(struct nilfs_super_root,
						sr_dat);
	if (rest % 3 || rest / 3 < NILFS_MIN_INODE_SIZE ||
	    rest / 3 > g->block_size / 4)
		return 0;
	*size = rest / 3;
	return 0;
}

/* Where the super root of ROOT is, with blocks of the size in GUESS. */
static void place_root(struct guess *guess, const struct volscan_root *root)
{
	uint64_t pseg = root->offset >> guess->g.block_bits;

	guess->ss = &root->ss;
	guess->at = (struct recovery){
		.cno = segsum_cno(&root->ss),
		.pseg_start = pseg,
		.super_root = pseg + le32_get(root->ss.ss_nblocks) - 1,
		.seq = le64_get(root->ss.ss_seq),
		.ctime = le64_get(root->ss.ss_create),
	};
}

/* What follows from the number of blocks of a segment. */
static void place_segment(struct guess *guess, uint64_t bps)
{
	struct nilfs_geometry *g = &guess->g;

	g->blocks_per_segment = (uint32_t)bps;
	g->nsegments = div_round_up(g->nblocks, bps);
	guess->at.segnum = geometry_segment_of(g, guess->at.pseg_start);
	guess->at.nextnum = geometry_segment_of(g,
						le64_get(guess->ss->ss_next));
	guess->at.offset = guess->at.super_root + 1 -
			   geometry_segment_start(g, guess->at.segnum);
}

/* Whether the SUFILE says what must be true of the latest log. */
static int sufile_agrees(struct context *cx, struct volume *vol,
			 const struct guess *guess)
{
	struct nilfs_segment_usage_ext now, next;
	int err;

	if (guess->at.segnum >= vol->geo.nsegments ||
	    guess->at.nextnum >= vol->geo.nsegments)
		return 0;
	err = sutable_read(vol, cx, guess->at.segnum, &now);
	if (!err)
		err = sutable_read(vol, cx, guess->at.nextnum, &next);
	if (err)
		return err;
	return segusage_is_dirty(&now.su) && segusage_is_dirty(&next.su) &&
	       le32_get(now.su.su_nblocks) == guess->at.offset;
}

/* All segments, by the counts of the SUFILE and its entries with errors. */
static int count_segments(struct context *cx, struct volume *vol,
			  uint64_t *count)
{
	struct nilfs_segment_usage_ext su;
	struct nilfs_sufile_header header;
	struct sutable_cursor cur;
	uint64_t segnum, errors = 0;
	int ret = sutable_header(vol, cx, &header);

	if (ret)
		return ret;
	ret = sutable_cursor_open(&cur, cx, vol, false);
	while (!ret &&
	       (ret = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0) {
		errors += segusage_is_error(&su.su) &&
			  !segusage_is_dirty(&su.su);
		ret = 0;
	}
	sutable_cursor_close(&cur);
	if (!checked_add(le64_get(header.sh_ncleansegs),
			 le64_get(header.sh_ndirtysegs), count) ||
	    !checked_add(*count, errors, count))
		*count = UINT64_MAX;
	return ret;
}

/* The number of segments must fit the device, whatever the SUFILE says. */
static int settle_segments(struct context *cx, struct volume *vol,
			   struct guess *guess)
{
	struct nilfs_geometry *g = &guess->g;
	uint64_t most = g->nblocks / g->blocks_per_segment, count;
	int err = count_segments(cx, vol, &count);

	if (!err && count <= most && count > guess->at.segnum &&
	    count > guess->at.nextnum)
		g->nsegments = count;
	else
		g->nsegments = most;
	return err;
}

/* Damage only says that the guess is wrong. */
static int try_volume(struct context *cx, struct dev *dev, struct guess *guess)
{
	struct volume *vol;
	int ret = volume_open_at(&vol, cx, dev, &guess->g, &guess->at);

	if (ret)
		return damage_forgive(cx, ret);
	ret = sufile_agrees(cx, vol, guess);
	if (ret > 0) {
		ret = settle_segments(cx, vol, guess);
		if (!ret)
			ret = 1;
	}
	volume_close(vol);
	return damage_forgive(cx, ret);
}

/* Entries of both sizes that the SUFILE is known to have. */
static int try_segment(struct context *cx, struct dev *dev,
		       struct guess *guess, uint64_t bps)
{
	static const uint32_t sizes[] = {
		NILFS_MIN_SEGMENT_USAGE_SIZE, NILFS_EXT_SEGMENT_USAGE_SIZE
	};
	unsigned int i;
	int ret = 0;

	place_segment(guess, bps);
	if (guess->at.segnum >= guess->g.nsegments ||
	    guess->at.nextnum >= guess->g.nsegments ||
	    guess->at.super_root >=
		    geometry_segment_end(&guess->g, guess->at.segnum))
		return 0;
	for (i = 0; i < 2 && !ret; i++) {
		guess->g.segment_usage_size = sizes[i];
		guess->g.has_live_blks = i;
		ret = try_volume(cx, dev, guess);
	}
	return ret;
}

/* Divisors of what the logs name as next segments, the greatest first. */
static int try_segments(struct context *cx, struct dev *dev,
			struct guess *guess, uint64_t multiple)
{
	uint64_t n;
	int ret = 0;

	for (n = 1; n <= GUESSES && !ret; n++) {
		uint64_t bps = multiple / n;

		if (multiple % n || bps > UINT32_MAX)
			continue;
		if (bps < NILFS_SEG_MIN_BLOCKS)
			break;
		ret = try_segment(cx, dev, guess, bps);
	}
	return ret;
}

static int try_root(struct context *cx, struct dev *dev, struct guess *guess,
		    const struct volscan_volume *v,
		    const struct volscan_root *root)
{
	struct nilfs_geometry *g = &guess->g;
	int ret;

	place_root(guess, root);
	ret = find_inode_size(cx, dev, g, guess->at.super_root << g->block_bits,
			      &g->inode_size);
	if (ret || !g->inode_size)
		return damage_forgive(cx, ret);
	return try_segments(cx, dev, guess, v->segment_blocks);
}

static void begin_guess(struct guess *guess, const struct dev *dev,
			const struct volscan_volume *v)
{
	struct nilfs_geometry *g = &guess->g;

	memset(guess, 0, sizeof(*guess));
	g->block_size = v->block_size;
	g->block_bits = (uint32_t)__builtin_ctz(v->block_size);
	g->crc_seed = v->crc_seed;
	g->nblocks = dev->size >> g->block_bits;
	g->dat_entry_size = NILFS_MIN_DAT_ENTRY_SIZE;
	g->checkpoint_size = NILFS_MIN_CHECKPOINT_SIZE;
	g->first_ino = NILFS_USER_INO;
	g->first_data_block = div_round_up(4096, v->block_size);
}

static void fill_layout(struct nilfs_super_block *sb, const struct dev *dev,
			const struct nilfs_geometry *g)
{
	super_set_geometry(sb, dev->size, g);
	sb->s_feature_compat = le64_make(g->has_live_blks);
	sb->s_feature_compat_ro =
		le64_make(NILFS_FEATURE_COMPAT_RO_BLOCK_COUNT);
	sb->s_feature_incompat = le64_make(0);
}

/* What the user chose, if it was lost, gets what mkfs.nilfs2 gives. */
static void fill_defaults(struct nilfs_super_block *sb,
			  const struct guess *guess)
{
	static const uint8_t space[16];
	uint32_t percentage = le32_get(sb->s_r_segments_percentage);
	unsigned int errors = le16_get(sb->s_errors);

	if (percentage < 1 || percentage > 99)
		sb->s_r_segments_percentage = le32_make(LOSTSUPER_RESERVED);
	if (errors < NILFS_ERRORS_CONTINUE || errors > NILFS_ERRORS_PANIC)
		sb->s_errors = le16_make(NILFS_ERRORS_CONTINUE);
	if (!le64_get(sb->s_ctime))
		sb->s_ctime = le64_make(guess->at.ctime);
	if (!memcmp(sb->s_uuid, space, sizeof(sb->s_uuid)))
		uuidtext_of(space, guess->ss, sizeof(*guess->ss), sb->s_uuid);
	sb->s_creator_os = le32_make(NILFS_OS_LINUX);
}

static void fill_cursor(struct nilfs_super_block *sb,
			const struct guess *guess)
{
	sb->s_last_cno = le64_make(guess->at.cno);
	sb->s_last_pseg = le64_make(guess->at.pseg_start);
	sb->s_last_seq = le64_make(guess->at.seq);
	sb->s_state = le16_make(0);
	sb->s_sum = le32_make(super_checksum(sb));
}

int lostsuper_make(struct nilfs_super_block *sb, struct context *cx,
		   struct dev *dev, const struct volscan_volume *v)
{
	struct guess guess;
	unsigned int i;
	int ret = 0;

	begin_guess(&guess, dev, v);
	for (i = 0; i < v->nroots && !ret; i++)
		ret = try_root(cx, dev, &guess, v, &v->roots[i]);
	if (ret <= 0)
		return ret;
	fill_layout(sb, dev, &guess.g);
	fill_defaults(sb, &guess);
	fill_cursor(sb, &guess);
	return 1;
}
