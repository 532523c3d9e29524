// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The checksum of a log as a witness: it proves that a computed block equals the
 * block that the log wrote.  It also finds flipped bits after a check has found
 * damage.
 *
 * The difference between the stored checksum and that of the blocks on the device
 * is computed once for each log.  The effect of a replaced block follows from that
 * block alone (base/crc.h).
 *
 * The search needs only a superblock, for the layout and the seed of the
 * checksums, because a flipped bit in the latest log may prevent opening the
 * latest state.  It reads the logs of the superblocks, those that follow in the
 * chain, and the others of segments in use; of all segments if the SUFILE is
 * unknown.  Logs with only file data are read if all data is checked.  Each bit
 * found becomes a finding with the wrong and the right byte.  If only a
 * superblock is wrong, only its log and the later logs are read.
 *
 * If a repair would release content because of an inode, the logs of that inode
 * and of the entries that name it are read: a flipped bit may be the cause, or
 * a log that is wrong otherwise, because of which nothing is released.
 *
 * After a crash, the search for the latest super root ends, or continues in the
 * next segment, at a place without a valid log.  That place is examined even
 * without other damage.  If no log follows, a truncated log is more likely than
 * a flipped bit, so that is a separate finding.
 *
 * In logs that no bit explains, one block may have an equal version elsewhere, which
 * the checksum proves in the same way (copies.h).
 *
 * A superblock is small enough to try every bit, including those of its length
 * and of the seed of its checksum.
 */
#include "fsck/witness/witness.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/crc.h"
#include "base/inoset.h"
#include "check/check.h"
#include "check/damage.h"
#include "check/pass/passes.h"
#include "disk/segsum.h"
#include "fsck/witness/copies.h"
#include "vol/root.h"

#define DETAIL_MAX 160
#define LEAST_BLOCK 1024

struct search {
	struct check *c;
	struct witness_supers supers;
	struct nilfs_geometry geo;
	struct logbits lb;
	char *summary;
	size_t summary_room;
	struct sparse reported; /* logs whose bits were reported, or doubted */
	/* Blocks that releases are about, and the logs read for them; WRONG:
	   the logs that no single bit corrects. */
	struct sparse asked, wrong;
	bool unverified;	/* the current release is in one of them */
	struct copies copies;
};

int witness_proves(struct witness *w, struct context *cx, uint64_t pseg,
		   const struct witness_block *blocks, size_t n)
{
	struct logbits *lb = &w->logbits;
	const struct nilfs_geometry *geo = lb->geo;
	uint64_t first, end, blocknr;
	uint32_t difference;
	int ret = 0;
	size_t i;

	/* Read once for consecutive calls. */
	if (!w->known || lb->pseg != pseg) {
		ret = logbits_header(lb, cx, pseg);
		if (ret > 0)
			ret = logbits_sum(lb, cx);
		w->known = !ret;
	}
	if (ret || !lb->readable)
		return ret;
	first = pseg + segsum_nsumblk(geo, &lb->ss);
	end = pseg + le32_get(lb->ss.ss_nblocks);
	difference = lb->difference;
	for (i = 0; i < n; i++) {
		blocknr = blocks[i].blocknr;
		if (blocknr < first || blocknr >= end)
			return 0;
		ret = dev_read(lb->dev, cx, blocknr << geo->block_bits, lb->buf,
			       geo->block_size);
		if (ret)
			return damage_forgive(cx, ret);
		difference ^= crc32_le_exchange(lb->buf, blocks[i].bytes,
						geo->block_size,
						(end - 1 - blocknr)
							<< geo->block_bits);
	}
	return !difference;
}

void witness_fini(struct witness *w)
{
	logbits_fini(&w->logbits);
}

/* Corrects the only bit of copy I whose flip makes the copy valid. */
static void correct_super(struct witness_supers *s, int i)
{
	uint8_t *p = (uint8_t *)&s->copy[i];
	unsigned int found = 0, n;

	for (n = 0; n < 8 * sizeof(s->copy[i]); n++) {
		p[n / 8] ^= (uint8_t)(1u << n % 8);
		if (super_check(&s->copy[i]) == RULE_OK) {
			found++;
			s->byte[i] = (int)(n / 8);
			s->bit[i] = (int)(n % 8);
		}
		p[n / 8] ^= (uint8_t)(1u << n % 8);
	}
	if (found == 1)
		p[s->byte[i]] ^= (uint8_t)(1u << s->bit[i]);
	else
		s->byte[i] = s->bit[i] = -1;
}

void witness_supers(struct witness_supers *s, struct context *cx,
		    struct dev *dev)
{
	struct super_choice choice;
	enum rule rule = RULE_OK;
	int i;

	*s = (struct witness_supers){
		.offset = {NILFS_SB_OFFSET_BYTES, super_offset2(dev->size)},
		.byte = {-1, -1},
		.bit = {-1, -1},
	};
	for (i = 0; i < 2; i++) {
		if (!s->offset[i] || dev_read(dev, cx, s->offset[i],
					      &s->copy[i], sizeof(s->copy[i])))
			continue;
		if (super_check(&s->copy[i]) != RULE_OK)
			correct_super(s, i);
		s->valid[i] = super_check(&s->copy[i]) == RULE_OK;
	}
	fail_clear(cx);
	super_choose(s->valid[0] ? &s->copy[0] : NULL,
		     s->valid[1] ? &s->copy[1] : NULL, dev->size, &choice);
	s->choice = choice.index;
	if (s->choice >= 0)
		rule = super_geometry(&s->copy[s->choice], dev->size, &s->geo);
	if (rule == RULE_SB_DEVICE_SIZE ||
	    (rule != RULE_OK && !rule_has(rule, RULE_READABLE)))
		s->choice = -1;
}

static void witness_add_finding(struct search *s, struct context *cx,
				enum rule rule, struct place place,
				uint64_t byte, unsigned int bit,
				const char *detail)
{
	uint8_t got;
	struct finding f = {
		.rule = rule,
		.place = place,
		.detail = detail,
		.has_want = true,
		.has_got = true,
	};

	if (dev_read(s->c->dev, cx, byte, &got, 1)) {
		fail_clear(cx);
		return;
	}
	f.got = got;
	f.want = got ^ 1u << bit;
	findings_add(s->c->findings, &f);
}

/* Starts iterating over the blocks that the log of LB lists: 0, -EIO, -ENOMEM. */
static int witness_read_summary(struct search *s, struct context *cx,
				const struct logbits *lb,
				struct segsum_iter *it)
{
	const struct nilfs_geometry *geo = &s->geo;
	uint32_t nsumblk = segsum_nsumblk(geo, &lb->ss);
	size_t len = (size_t)nsumblk << geo->block_bits;
	char *grown = array_grow(cx, s->summary, &s->summary_room, nsumblk,
				 geo->block_size);
	int err;

	if (!grown)
		return -ENOMEM;
	s->summary = grown;
	err = logbits_read(lb, cx, lb->pseg << geo->block_bits, grown, len);
	if (!err)
		segsum_iter_init(it, geo, grown, len);
	return err;
}

/* Reports a flipped bit of the log of LB; TAIL: the log may be truncated. */
static int add_bit(struct search *s, struct context *cx,
		   const struct logbits *lb, const struct logbit *bit, bool tail)
{
	uint64_t blocknr = bit->byte >> s->geo.block_bits;
	uint64_t index = blocknr - lb->pseg;
	struct place place = place_number(PLACE_BLOCK, blocknr);
	char what[DETAIL_MAX / 2] = "not listed", detail[DETAIL_MAX];
	enum rule rule = RULE_LOG_BIT;
	struct segsum_iter it;
	struct segsum_block b;
	int err;

	if (index < segsum_nsumblk(&s->geo, &lb->ss)) {
		strcpy(what, "segment summary");
	} else if (segsum_has_super_root(&lb->ss) &&
		   index == le32_get(lb->ss.ss_nblocks) - 1) {
		strcpy(what, "super root");
	} else {
		err = witness_read_summary(s, cx, lb, &it);
		if (err)
			return err;
		while (segsum_iter_next(&it, &b)) {
			if (b.index != index)
				continue;
			if (!b.is_node && b.ino >= NILFS_USER_INO)
				rule = RULE_LOG_DATA_BIT;
			snprintf(what, sizeof(what),
				 b.is_node ? "node of inode %" PRIu64
					   : "inode %" PRIu64 " block %" PRIu64,
				 b.ino, b.blkoff);
			break;
		}
	}
	place.offset = (uint32_t)(bit->byte & (s->geo.block_size - 1));
	snprintf(detail, sizeof(detail),
		 "%s, byte %" PRIu32 ", bit %u; by chance 1 in %" PRIu64, what,
		 place.offset, bit->bit, (UINT64_C(1) << 32) / bit->positions);
	witness_add_finding(s, cx, tail ? RULE_LOG_TAIL_BIT : rule, place,
			    bit->byte, bit->bit, detail);
	return 0;
}

/* Reports the bits of the log of LB, once. */
static int witness_add_log(struct search *s, struct context *cx,
			   const struct logbits *lb, bool tail)
{
	unsigned int i;
	int ret = lb->nbits ? sparse_add(&s->reported, cx, lb->pseg) : 0;
	int err = 0;

	for (i = 0; ret > 0 && i < lb->nbits && !err; i++)
		err = add_bit(s, cx, lb, &lb->bits[i], tail);
	return ret < 0 ? ret : err == -EIO ? 0 : err;
}

/* The same for a log of a chain; FOLLOWS: another log follows it. */
static int add_chained(struct search *s, struct context *cx,
		       const struct logbits *lb, bool follows)
{
	int i, ret;

	/* A log of a superblock was complete, and so was one with a successor. */
	for (i = 0; i < 2; i++) {
		const struct nilfs_super_block *sb = &s->supers.copy[i];

		follows |= s->supers.valid[i] &&
			   le64_get(sb->s_last_pseg) == lb->pseg &&
			   le64_get(sb->s_last_seq) ==
				   le64_get(lb->ss.ss_seq);
	}
	if (follows || logbits_is_credible(lb))
		return witness_add_log(s, cx, lb, !follows);
	/* At the end of the chain the log is probably truncated.  It is not
	   reported again when its segment is read. */
	ret = sparse_add(&s->reported, cx, lb->pseg);
	return ret < 0 ? ret : 0;
}

/* Walks the chain from PSEG on, as the kernel's search for the latest super
   root does. */
static int witness_walk_chain(struct search *s, struct context *cx,
			      uint64_t pseg, uint64_t seq)
{
	struct logbits last = {.nbits = 0}; /* the log before this one */
	uint64_t nextnum = UINT64_MAX, end;
	bool ended = false; /* a segment without a valid log was found */
	int ret, err = 0;

	for (;;) {
		ret = logbits_header(&s->lb, cx, pseg);
		if (ret < 0)
			return ret;
		ret = ret && le64_get(s->lb.ss.ss_seq) == seq;
		if (last.nbits)
			err = add_chained(s, cx, &last, ret);
		if (!err && ret)
			err = logbits_blocks(&s->lb, cx)
				      ?: copies_add(&s->copies, cx, &s->lb);
		if (err)
			return err;
		last.nbits = 0;
		if (ret) {
			last = s->lb;
			ended = false;
			nextnum = geometry_segment_of(
				&s->geo, le64_get(s->lb.ss.ss_next));
			end = geometry_segment_end(
				&s->geo, geometry_segment_of(&s->geo, pseg));
			pseg += le32_get(s->lb.ss.ss_nblocks);
			if (pseg + 1 < end)
				continue;
		}
		if (ended || nextnum >= s->geo.nsegments)
			break;
		seq++;
		pseg = geometry_segment_start(&s->geo, nextnum);
		ended = true;
	}
	return last.nbits ? add_chained(s, cx, &last, false) : 0;
}

/* Walks the chains that the superblocks lead to. */
static int search_chains(struct search *s, struct context *cx)
{
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++) {
		const struct nilfs_super_block *sb = &s->supers.copy[i];

		if (s->supers.valid[i])
			err = witness_walk_chain(s, cx,
						 le64_get(sb->s_last_pseg),
						 le64_get(sb->s_last_seq));
	}
	return err;
}

/*
 * Whether to read the blocks of the log of s->lb: 1, 0, or a failure.  Passes
 * do not check file data, unless they sum it up, or find damage in a directory,
 * whose blocks are not distinguished from file data.
 */
static int is_concerned(struct search *s, struct context *cx)
{
	struct segsum_iter it;
	struct segsum_block b;
	int err;

	if (s->c->data || segsum_has_super_root(&s->lb.ss) ||
	    findings_have_stage(s->c->findings, RULE_STAGE_NAMES) ||
	    findings_count(s->c->findings, RULE_INODE_LINKS_NAMES))
		return 1;
	err = witness_read_summary(s, cx, &s->lb, &it);
	if (err)
		return damage_forgive(cx, err);
	while (segsum_iter_next(&it, &b))
		if (b.is_node || b.ino < NILFS_USER_INO)
			return 1;
	return 0;
}

/* Sums up the log of s->lb, once, if it contains block BLOCKNR, which a release
   depends on. */
static int verify_log(struct search *s, struct context *cx, uint64_t blocknr)
{
	int ret;

	if (blocknr - s->lb.pseg >= le32_get(s->lb.ss.ss_nblocks))
		return 0;
	ret = sparse_add(&s->asked, cx, s->lb.pseg);
	if (ret > 0) {
		ret = logbits_blocks(&s->lb, cx)
			      ?: copies_add(&s->copies, cx, &s->lb)
			      ?: witness_add_log(s, cx, &s->lb, false);
		if (!ret && !s->lb.whole)
			ret = sparse_add(&s->wrong, cx, s->lb.pseg);
		if (ret > 0 && !s->c->data)
			findings_broken(s->c->findings, RULE_LOG_DATASUM,
					place_number(PLACE_LOG, s->lb.pseg));
	}
	if (ret >= 0 && sparse_test(&s->wrong, s->lb.pseg)) {
		s->unverified = true;
		ret = sparse_add(&s->wrong, cx, blocknr);
	}
	return ret < 0 ? ret : 0;
}

/*
 * Examines the logs of a segment, all of one sequence number: the log of block
 * BLOCKNR, or, if that is 0, all concerned logs.
 */
static int witness_search_segment(struct search *s, struct context *cx,
				  uint64_t segnum, uint64_t blocknr)
{
	uint64_t pseg = geometry_segment_start(&s->geo, segnum);
	uint64_t end = geometry_segment_end(&s->geo, segnum), seq = 0;
	bool any = false;
	int ret;

	while (pseg + NILFS_PSEG_MIN_BLOCKS <= end) {
		ret = logbits_header(&s->lb, cx, pseg);
		if (ret < 0)
			return ret;
		if (!ret) {
			pseg = logbits_next(&s->lb, cx, pseg + 1, end);
			continue;
		}
		if (any && le64_get(s->lb.ss.ss_seq) != seq)
			return 0;
		any = true;
		seq = le64_get(s->lb.ss.ss_seq);
		if (s->c->vol &&
		    chain_is_beyond(&s->geo, s->c->vol->latest.seq, seq))
			return 0;
		pseg += le32_get(s->lb.ss.ss_nblocks);
		if (blocknr)
			ret = verify_log(s, cx, blocknr);
		else if ((ret = is_concerned(s, cx)) > 0)
			ret = logbits_blocks(&s->lb, cx)
				      ?: copies_add(&s->copies, cx, &s->lb)
				      ?: witness_add_log(s, cx, &s->lb, false);
		if (ret)
			return ret;
	}
	return 0;
}

/* Examines all segments that may contain logs that some state needs. */
static int search_segments(struct search *s, struct context *cx)
{
	const struct check *c = s->c;
	bool all = !c->vol || !c->used_segments.bits || !check_knows_sufile(c);
	uint64_t segnum;
	int err = 0;

	for (segnum = 0; segnum < s->geo.nsegments && !err; segnum++) {
		err = context_cancelled(cx);
		if (!err && (all || bitmap_test(&c->used_segments, segnum) ||
			     bitmap_test(&c->live_segments, segnum)))
			err = witness_search_segment(s, cx, segnum, 0);
		check_progress(s->c, segnum);
	}
	return err;
}

/* Examines the log of block BLKOFF of FILE, once: 0, or a failure. */
static int witness_search_block(struct search *s, struct context *cx,
				struct file *file, uint64_t blkoff)
{
	uint64_t blocknr;
	int ret = file_lookup(file, cx, blkoff, &blocknr);

	if (ret <= 0)
		return ret;
	ret = sparse_add(&s->asked, cx, blocknr);
	if (ret > 0)
		return witness_search_segment(
			s, cx, geometry_segment_of(&s->geo, blocknr), blocknr);
	s->unverified |= sparse_test(&s->wrong, blocknr);
	return ret;
}

/* Examines the logs with the inodes that would be released, and with the
   directory entries that name them. */
static int search_releases(struct search *s, struct context *cx)
{
	const struct check *c = s->c;
	struct root root;
	struct file dir;
	le64 ino;	/* first field of an entry */
	const void *block;
	size_t i;
	int ret = 0;

	if (c->nreleases == CHECK_RELEASES_MAX)
		return search_segments(s, cx);
	for (i = 0; i < c->nreleases && ret >= 0; i++) {
		const struct place *at = &c->releases[i];
		const struct palloc *p = &c->vol->ifile_palloc;

		s->unverified = false;
		ret = root_open(&root, cx, c->vol, at->cno) ?:
		      witness_search_block(
			s, cx, &root.ifile,
			palloc_entry_blkoff(p, at->ino));
		if (!ret && at->kind == PLACE_NAME) {
			ret = root_file(&root, cx, at->ino, &dir) ?:
			      witness_search_block(s, cx, &dir,
						   at->blkoff) ?:
			      file_block(&dir, cx, at->blkoff, &block);
		}
		if (ret > 0) {
			memcpy(&ino, (const char *)block + at->offset,
			       sizeof(ino));
			file_put(&dir, block);
			ret = witness_search_block(
				s, cx, &root.ifile,
				palloc_entry_blkoff(p, le64_get(ino)));
		}
		ret = damage_forgive(cx, ret);
		if (!ret && s->unverified && c->unverified)
			ret = inoset_add(c->unverified, cx, at->ino);
	}
	return ret < 0 ? ret : 0;
}

/* Examines the logs of releases; unless ONLY those, all that are concerned. */
static int run_search(struct check *c, struct context *cx, bool only)
{
	bool spare = !only &&
		     findings_have_stage(c->findings, RULE_STAGE_DEVICE);
	struct search s = {.c = c};
	struct sparse *const sets[] = {&s.reported, &s.asked, &s.wrong};
	bool damaged = !only && (!c->vol || findings_count_severity(c->findings,
								    RULE_ERROR));
	char detail[DETAIL_MAX];
	bool unmounted = only;
	unsigned int i;
	int err = 0;

	if (c->vol && damaged)
		c->work = c->vol->geo.nsegments;
	if (!damaged) {
		unmounted |= le16_get(volume_super(c->vol)->s_state) &
			     NILFS_VALID_FS;
		if (unmounted && !spare && !c->nreleases)
			return 0;
	}
	for (i = 0; i < 3 && !err; i++)
		err = sparse_init(sets[i], cx, c->dev->size / LEAST_BLOCK);
	witness_supers(&s.supers, cx, c->dev);
	s.lb = (struct logbits){.dev = c->dev, .geo = &s.geo};
	if (!err && damaged) {
		for (i = 0; i < 2; i++) {
			struct place at = place_number(PLACE_SUPER, i);
			int byte = s.supers.byte[i], bit = s.supers.bit[i];

			if (byte < 0)
				continue;
			at.offset = (uint32_t)byte;
			snprintf(detail, sizeof(detail), "byte %d, bit %d",
				 byte, bit);
			witness_add_finding(&s, cx, RULE_SB_BIT, at,
					    s.supers.offset[i] + at.offset,
					    (unsigned int)bit, detail);
		}
		s.geo = s.supers.geo;
		if (s.supers.choice >= 0)
			err = search_chains(&s, cx) ?: search_segments(&s, cx);
	} else if (!err) {
		s.geo = c->vol->geo;
		err = spare ? search_chains(&s, cx) : 0;
		/* The first place in the chain without a valid log. */
		if (!err && !unmounted && c->vol->latest.gap_pseg)
			err = witness_walk_chain(&s, cx,
						 c->vol->latest.gap_pseg,
						 c->vol->latest.gap_seq);
	}
	if (!err && c->vol) {
		s.geo = c->vol->geo;
		err = search_releases(&s, cx);
	}
	if (!err && !only && s.copies.n)
		err = copies_search(&s.copies, cx, &s.lb, c->findings);
	copies_fini(&s.copies);
	logbits_fini(&s.lb);
	free(s.summary);
	for (i = 0; i < 3; i++)
		sparse_fini(sets[i]);
	return err;
}

int witness_search(struct check *c, struct context *cx)
{
	return run_search(c, cx, false);
}

int witness_verify(struct check *c, struct context *cx)
{
	return c->vol ? run_search(c, cx, true) : 0;
}
