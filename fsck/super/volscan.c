// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding logs without a superblock.
 *
 * A log has two checksums with the same seed. The checksum of the summary,
 * computed backwards, gives the seed; the checksum of all blocks then matches
 * for only one block size. The next segments that logs name show the size of
 * segments. Blocks inside a log are file content, such as images of other
 * volumes, and skipped. A device that was formatted more than once has logs
 * with several seeds.
 *
 * For a new superblock the inode size is that of the super root. The sizes of
 * segments and of metadata file entries are guessed. Each guess is compared
 * with the SUFILE: the segment of the log with the super root must have as many
 * blocks in use as there are up to the end of that log, and the next segment
 * must be in use too.
 */
#include "fsck/super/rootsearch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/crc.h"
#include "base/uuidtext.h"
#include "check/damage.h"
#include "disk/segsum.h"
#include "disk/segusage.h"
#include "disk/super.h"
#include "vol/sutable.h"
#include "vol/volume.h"

#define STEP NILFS_MIN_BLOCK_SIZE	/* logs begin at multiples */
#define PIECE (1u << 20)
#define SUMMARY_MAX (16u << 20)
#define SIZES (NILFS_MAX_BLOCK_BITS - NILFS_MIN_BLOCK_BITS + 1)

#define DATASUM_FROM offsetof(struct nilfs_segment_summary, ss_sumsum)
#define SUMSUM_FROM offsetof(struct nilfs_segment_summary, ss_magic)

struct scan {
	struct volscan *q;
	struct dev *dev;
	uint8_t *piece;		/* content of the device, PIECE bytes */
	uint64_t off;		/* its offset on the device, and its length */
	size_t len;
	uint8_t *buffer;	/* PIECE bytes */
	uint64_t budget;	/* bytes that may still be summed up */
};

/* Sound logs are summed up once; for false logs the same cost is allowed. */
#define BUDGET 8

/* Continues *SUM over the bytes from FROM to END of the device. */
static int sum_range(struct scan *scan, struct context *cx, uint64_t from,
		     uint64_t end, uint32_t *sum)
{
	const uint8_t *bytes;
	size_t len;

	for (; from < end; from += len) {
		bool known = from >= scan->off && from - scan->off < scan->len;
		uint64_t most = known ? scan->off + scan->len - from : PIECE;
		int err = context_cancelled(cx);

		len = (size_t)(end - from < most ? end - from : most);
		if (!err && scan->budget < len)
			err = fail(cx, -EUCLEAN, "too many broken logs");
		if (!err && !known)
			err = dev_read(scan->dev, cx, from, scan->buffer,
				       len);
		if (err)
			return err;
		bytes = known ? scan->piece + (from - scan->off) :
				scan->buffer;
		scan->budget -= len;
		*sum = crc32_le(*sum, bytes, len);
	}
	return 0;
}

/* The block size with which the ss_datasum of the log at OFF is valid for SEED,
   or 0. Only KNOWN is tried unless it is 0. */
static int find_block_size(struct scan *scan, struct context *cx,
			   uint64_t off, const struct nilfs_segment_summary *ss,
			   uint32_t seed, uint32_t known, uint32_t *size)
{
	uint64_t from = off + DATASUM_FROM, end;
	uint32_t sum = seed, try;
	int err = 0;

	*size = 0;
	for (try = known ? known : NILFS_MIN_BLOCK_SIZE;
	     try <= (known ? known : NILFS_MIN_BLOCK_SIZE << (SIZES - 1));
	     try <<= 1) {
		end = off + (uint64_t)le32_get(ss->ss_nblocks) * try;
		if (off % try || end > scan->dev->size)
			return 0;
		err = sum_range(scan, cx, from, end, &sum);
		if (err)
			return err;
		from = end;
		if (sum == le32_get(ss->ss_datasum)) {
			*size = try;
			return 0;
		}
	}
	return 0;
}

static void volscan_add_log(struct volscan_volume *v, uint64_t off,
			    const struct nilfs_segment_summary *ss)
{
	uint64_t next = le64_get(ss->ss_next), rest;
	unsigned int i = v->nroots;

	v->logs++;
	if (le64_get(ss->ss_create) > v->newest)
		v->newest = le64_get(ss->ss_create);
	/* The greatest common divisor. The first segment begins after the
	   superblock. */
	if (next < NILFS_SEG_MIN_BLOCKS)
		next = 0;
	for (; next; next = rest) {
		rest = v->segment_blocks % next;
		v->segment_blocks = next;
	}
	if (!segsum_has_super_root(ss))
		return;
	/* Of two logs with the same number the later one on the device is
	   newer. */
	for (; i && le64_get(ss->ss_seq) >=
			    le64_get(v->roots[i - 1].ss.ss_seq); i--)
		if (i < VOLSCAN_ROOTS)
			v->roots[i] = v->roots[i - 1];
	if (i == VOLSCAN_ROOTS)
		return;
	v->roots[i] = (struct volscan_root){ .offset = off, .ss = *ss };
	if (v->nroots < VOLSCAN_ROOTS)
		v->nroots++;
}

/* Adds the log at OFF, if it is one; *BYTES is its size, or 0. */
static int volscan_take_log(struct scan *scan, struct context *cx, uint64_t off,
			    const struct nilfs_segment_summary *ss, uint64_t *bytes)
{
	uint32_t nblocks = le32_get(ss->ss_nblocks);
	uint32_t sumbytes = le32_get(ss->ss_sumbytes);
	uint32_t header = le16_get(ss->ss_bytes), seed, size = 0;
	struct volscan *q = scan->q;
	unsigned int i = 0;
	uint8_t *buf;
	int err;

	*bytes = 0;
	/* Sizes that are possible with any block size. */
	if (le32_get(ss->ss_magic) != NILFS_SEGSUM_MAGIC ||
	    header < NILFS_SEGSUM_MIN_BYTES || header > sumbytes ||
	    header > NILFS_MIN_BLOCK_SIZE || sumbytes > SUMMARY_MAX ||
	    nblocks < NILFS_PSEG_MIN_BLOCKS ||
	    (uint64_t)nblocks * STEP > scan->dev->size - off)
		return 0;
	buf = sumbytes <= scan->dev->size - off ? malloc(sumbytes) : NULL;
	if (!buf)
		return fail(cx, -EUCLEAN, "summary of %u bytes", sumbytes);
	err = dev_read(scan->dev, cx, off, buf, sumbytes);
	if (!err)
		seed = crc32_le_seed(le32_get(ss->ss_sumsum), buf + SUMSUM_FROM,
				     sumbytes - SUMSUM_FROM);
	free(buf);
	if (err)
		return err;
	while (i < q->nvolumes && q->volumes[i].crc_seed != seed)
		i++;
	err = find_block_size(scan, cx, off, ss, seed,
			      i < q->nvolumes ? q->volumes[i].block_size : 0,
			      &size);
	if (err || !size)
		return err;
	if (i == q->nvolumes && i < VOLSCAN_VOLUMES) {
		q->volumes[q->nvolumes++] = (struct volscan_volume){
			.crc_seed = seed, .block_size = size,
		};
	}
	if (i < q->nvolumes)
		volscan_add_log(&q->volumes[i], off, ss);
	*bytes = (uint64_t)nblocks * size;
	return 0;
}

/* Reads smaller pieces around an unreadable place, which may take a disk
   seconds for each attempt, and larger ones after it. */
int volscan_run(struct volscan *q, struct context *cx, struct dev *dev)
{
	uint64_t off = 0, size = dev->size / STEP * STEP, at, bytes;
	struct scan scan = {
		.q = q,
		.dev = dev,
		.piece = malloc(PIECE),
		.buffer = malloc(PIECE),
		.budget = BUDGET * dev->size,
	};
	struct nilfs_segment_summary ss;
	size_t len, piece = PIECE;
	int err = scan.piece && scan.buffer ? 0 :
		  fail(cx, -ENOMEM, "search for logs");

	while (off < size && !err) {
		err = context_cancelled(cx);
		len = size - off < piece ? (size_t)(size - off) : piece;
		if (!err && dev_is_hole(dev, off, len)) {
			off += len;
			continue;
		}
		scan.off = off;
		if (!err)
			err = dev_read(dev, cx, off, scan.piece, len);
		scan.len = err ? 0 : len;
		if (err)
			piece = len / 8 / STEP > 1 ? len / 8 / STEP * STEP :
						     STEP;
		else
			piece = len < PIECE / 2 ? 2 * len : PIECE;
		if (err == -EIO) {
			fail_clear(cx);
			err = 0;
			off += len > STEP ? 0 : len;
			continue;
		}
		/* Continues after the last log in the piece. */
		for (at = 0; !err && at + sizeof(ss) <= len;
		     at += bytes ? bytes : STEP) {
			memcpy(&ss, scan.piece + at, sizeof(ss));
			err = volscan_take_log(&scan, cx, off + at, &ss, &bytes);
			if (err == -EIO || err == -EUCLEAN) {
				fail_clear(cx);
				err = 0;
				bytes = 0;
			}
		}
		off += at > len ? at : len;
		if (!err && q->check)
			check_progress(q->check, off);
	}
	free(scan.piece);
	free(scan.buffer);
	return err;
}

#define GUESSES 64		/* maximum number of segment sizes tried */

struct guess {
	struct nilfs_geometry g;
	struct recovery at;
	const struct nilfs_segment_summary *ss;
};

/* 1 if the SUFILE agrees with the latest log. Damage only means that the guess
   is wrong. */
static int try_volume(struct context *cx, struct dev *dev, struct guess *guess)
{
	struct nilfs_geometry *g = &guess->g;
	uint64_t most = g->nblocks / g->blocks_per_segment, count, segnum;
	struct nilfs_segment_usage_ext now, next, su;
	struct nilfs_sufile_header header;
	struct sutable_cursor cur;
	struct volume *vol;
	bool fits = false;
	int err = volume_open_at(&vol, cx, dev, g, &guess->at);

	if (err)
		return damage_forgive(cx, err);
	err = sutable_read(vol, cx, guess->at.segnum, &now);
	if (!err)
		err = sutable_read(vol, cx, guess->at.nextnum, &next);
	if (err)
		goto out;
	fits = segusage_is_dirty(&now.su) && segusage_is_dirty(&next.su) &&
	       le32_get(now.su.su_nblocks) == guess->at.offset;
	if (!fits)
		goto out;
	/* All segments, by the counts of the SUFILE and its entries with
	   errors. Their number must fit the device. */
	err = sutable_header(vol, cx, &header);
	if (!err && !checked_add(le64_get(header.sh_ncleansegs),
				 le64_get(header.sh_ndirtysegs), &count))
		count = most + 1;
	if (!err)
		err = sutable_cursor_open(&cur, cx, vol, false);
	if (!err) {
		while ((err = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0)
			count += count <= most && segusage_is_error(&su.su) &&
				 !segusage_is_dirty(&su.su);
		sutable_cursor_close(&cur);
	}
	g->nsegments = !err && count <= most && count > guess->at.segnum &&
				       count > guess->at.nextnum ?
			       count : most;
out:
	volume_close(vol);
	return err ? damage_forgive(cx, err) : fits;
}

/* Tries both known sizes of SUFILE entries. */
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

/* Tries the inode size of the super root of ROOT, and segment sizes that divide
   the next segments of the logs, the greatest first. */
static int try_root(struct context *cx, struct dev *dev, struct guess *guess,
		    const struct volscan_volume *v,
		    const struct volscan_root *root)
{
	struct nilfs_geometry *g = &guess->g;
	uint64_t pseg = root->offset >> g->block_bits, n, bps;
	struct nilfs_super_root sr;
	uint32_t rest;
	int ret;

	guess->ss = &root->ss;
	guess->at = (struct recovery){
		.cno = segsum_cno(&root->ss),
		.pseg_start = pseg,
		.super_root = pseg + le32_get(root->ss.ss_nblocks) - 1,
		.seq = le64_get(root->ss.ss_seq),
		.ctime = le64_get(root->ss.ss_create),
	};
	ret = dev_read(dev, cx, guess->at.super_root << g->block_bits, &sr,
		       sizeof(sr));
	if (ret)
		return damage_forgive(cx, ret);
	rest = le16_get(sr.sr_bytes) - offsetof(struct nilfs_super_root,
						sr_dat);
	if (rest % 3 || rest / 3 < NILFS_MIN_INODE_SIZE ||
	    rest / 3 > g->block_size / 4)
		return 0;
	g->inode_size = rest / 3;
	for (n = 1; n <= GUESSES && !ret; n++) {
		bps = v->segment_blocks / n;
		if (v->segment_blocks % n || bps > UINT32_MAX)
			continue;
		if (bps < NILFS_SEG_MIN_BLOCKS)
			break;
		ret = try_segment(cx, dev, guess, bps);
	}
	return ret;
}

int volscan_super(struct nilfs_super_block *sb, struct context *cx,
		  struct dev *dev, const struct volscan_volume *v)
{
	static const uint8_t none[16];
	uint32_t percentage = le32_get(sb->s_r_segments_percentage);
	unsigned int errors = le16_get(sb->s_errors);
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
	/* Lost options get the defaults of mkfs.nilfs2. */
	if (percentage < 1 || percentage > 99)
		sb->s_r_segments_percentage = le32_make(VOLSCAN_RESERVED);
	if (errors < NILFS_ERRORS_CONTINUE || errors > NILFS_ERRORS_PANIC)
		sb->s_errors = le16_make(NILFS_ERRORS_CONTINUE);
	if (!le64_get(sb->s_ctime))
		sb->s_ctime = le64_make(guess.at.ctime);
	if (!memcmp(sb->s_uuid, none, sizeof(sb->s_uuid)))
		uuidtext_of(none, guess.ss, sizeof(*guess.ss), sb->s_uuid);
	sb->s_creator_os = le32_make(NILFS_OS_LINUX);
	sb->s_last_cno = le64_make(guess.at.cno);
	sb->s_last_pseg = le64_make(guess.at.pseg_start);
	sb->s_last_seq = le64_make(guess.at.seq);
	sb->s_state = le16_make(0);
	sb->s_sum = le32_make(super_checksum(sb));
	return 1;
}
