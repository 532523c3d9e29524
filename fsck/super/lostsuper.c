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

/* 1 where the SUFILE says what must be true of the latest log; damage only says
   that the guess is wrong. */
static int try_volume(struct context *cx, struct dev *dev, struct guess *guess)
{
	struct nilfs_geometry *g = &guess->g;
	uint64_t most = g->nblocks / g->blocks_per_segment, count;
	struct nilfs_segment_usage_ext now, next;
	struct volume *vol;
	bool fits = false;
	int err = volume_open_at(&vol, cx, dev, g, &guess->at);

	if (err)
		return damage_forgive(cx, err);
	err = sutable_read(vol, cx, guess->at.segnum, &now);
	if (!err)
		err = sutable_read(vol, cx, guess->at.nextnum, &next);
	if (!err)
		fits = segusage_is_dirty(&now.su) &&
		       segusage_is_dirty(&next.su) &&
		       le32_get(now.su.su_nblocks) == guess->at.offset;
	if (fits) {
		/* The number of segments must fit the device, whatever the
		   SUFILE says. */
		err = count_segments(cx, vol, &count);
		g->nsegments = !err && count <= most &&
					       count > guess->at.segnum &&
					       count > guess->at.nextnum ?
				       count : most;
	}
	volume_close(vol);
	return err ? damage_forgive(cx, err) : fits;
}

/* Entries of both sizes that the SUFILE is known to have. */
static int try_segment(struct context *cx, struct dev *dev,
		       struct guess *guess, uint64_t bps)
{
	static const uint32_t sizes[] = {
		NILFS_MIN_SEGMENT_USAGE_SIZE, NILFS_EXT_SEGMENT_USAGE_SIZE
	};
	struct nilfs_geometry *g = &guess->g;
	unsigned int i;
	int ret = 0;

	g->blocks_per_segment = (uint32_t)bps;
	g->nsegments = div_round_up(g->nblocks, bps);
	guess->at.segnum = geometry_segment_of(g, guess->at.pseg_start);
	guess->at.nextnum = geometry_segment_of(g,
						le64_get(guess->ss->ss_next));
	guess->at.offset = guess->at.super_root + 1 -
			   geometry_segment_start(g, guess->at.segnum);
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

/* With the size of an inode by that of the super root of ROOT. */
static int try_root(struct context *cx, struct dev *dev, struct guess *guess,
		    const struct volscan_volume *v,
		    const struct volscan_root *root)
{
	struct nilfs_geometry *g = &guess->g;
	uint64_t pseg = root->offset >> g->block_bits;
	struct nilfs_super_root sr;
	uint32_t rest;
	int err;

	guess->ss = &root->ss;
	guess->at = (struct recovery){
		.cno = segsum_cno(&root->ss),
		.pseg_start = pseg,
		.super_root = pseg + le32_get(root->ss.ss_nblocks) - 1,
		.seq = le64_get(root->ss.ss_seq),
		.ctime = le64_get(root->ss.ss_create),
	};
	err = dev_read(dev, cx, guess->at.super_root << g->block_bits, &sr,
		       sizeof(sr));
	if (err)
		return damage_forgive(cx, err);
	rest = le16_get(sr.sr_bytes) - offsetof(struct nilfs_super_root,
						sr_dat);
	if (rest % 3 || rest / 3 < NILFS_MIN_INODE_SIZE ||
	    rest / 3 > g->block_size / 4)
		return 0;
	g->inode_size = rest / 3;
	return try_segments(cx, dev, guess, v->segment_blocks);
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

int lostsuper_make(struct nilfs_super_block *sb, struct context *cx,
		   struct dev *dev, const struct volscan_volume *v)
{
	struct guess guess = {
		.g = {
			.block_size = v->block_size,
			.block_bits = (uint32_t)__builtin_ctz(v->block_size),
			.crc_seed = v->crc_seed,
			.dat_entry_size = NILFS_MIN_DAT_ENTRY_SIZE,
			.checkpoint_size = NILFS_MIN_CHECKPOINT_SIZE,
			.first_ino = NILFS_USER_INO,
			.first_data_block = div_round_up(4096, v->block_size),
		},
	};
	unsigned int i;
	int ret = 0;

	guess.g.nblocks = dev->size >> guess.g.block_bits;
	for (i = 0; i < v->nroots && !ret; i++)
		ret = try_root(cx, dev, &guess, v, &v->roots[i]);
	if (ret <= 0)
		return ret;
	super_set_geometry(sb, dev->size, &guess.g);
	sb->s_feature_compat = le64_make(guess.g.has_live_blks);
	sb->s_feature_compat_ro =
		le64_make(NILFS_FEATURE_COMPAT_RO_BLOCK_COUNT);
	sb->s_feature_incompat = le64_make(0);
	fill_defaults(sb, &guess);
	sb->s_last_cno = le64_make(guess.at.cno);
	sb->s_last_pseg = le64_make(guess.at.pseg_start);
	sb->s_last_seq = le64_make(guess.at.seq);
	sb->s_state = le16_make(0);
	sb->s_sum = le32_make(super_checksum(sb));
	return 1;
}
