// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is known of a segment.
 *
 * The SUFILE says what was written and when, the latest super root which
 * segments are being written, the first log how old the segment is, and one
 * pass over the DAT how much of it is alive.  None of this reads the segment.
 * Only what kind of blocks they are has to be asked of the summaries; they
 * are read one segment at a time and nothing of them is kept.
 */
#include "dump/segment.h"

#include <errno.h>
#include <string.h>

#include "vol/logscan.h"
#include "vol/protection.h"
#include "vol/translate.h"

int segment_open(struct segment_source *src, struct context *cx,
		 struct volume *vol, uint64_t period)
{
	uint64_t protect_cno = UINT64_MAX;
	int err = 0;

	*src = (struct segment_source){
		.vol = vol,
		.prot_seq = protection_seq(vol),
	};
	if (period)
		err = protection_cno(vol, cx, period, &protect_cno);
	return err ? err : liveness_count(vol, cx, protect_cno, &src->live);
}

void segment_close(struct segment_source *src)
{
	liveness_free(src->live);
	summary_free(&src->summary);
	src->live = NULL;
}

static unsigned int stored_state(const struct segment_source *src,
				 uint64_t segnum,
				 const struct nilfs_segment_usage *su)
{
	const struct recovery *latest = &src->vol->latest;
	unsigned int state = 0;

	if (segnum == latest->segnum || segnum == latest->nextnum)
		state |= SEGMENT_ACTIVE;
	if (segusage_is_dirty(su))
		state |= SEGMENT_DIRTY;
	if (segusage_is_error(su))
		state |= SEGMENT_ERROR;
	return state;
}

/* The sequence number is that of the first log; an unwritten one has none. */
static int find_sequence(struct segment_source *src, struct context *cx,
			 struct segment *s)
{
	struct logscan scan;
	struct log log;
	int ret;

	ret = logscan_open(&scan, cx, src->vol, s->segnum, s->written);
	if (!ret)
		ret = logscan_next(&scan, cx, &log);
	if (ret < 0)
		return ret;
	if (!ret)
		return fail(cx, -EUCLEAN,
			    "segment %llu: does not begin with a log",
			    (unsigned long long)s->segnum);
	s->has_sequence = true;
	s->sequence = le64_get(log.ss.ss_seq);
	return 0;
}

/* As the cleaner asks before it touches a segment: nilfs_acc_blocks(). */
static bool is_protected(const struct segment_source *src,
			 const struct segment *s)
{
	if (!(s->state & SEGMENT_DIRTY) || s->state & SEGMENT_ERROR)
		return false;
	return s->state & SEGMENT_ACTIVE ||
	       (s->has_sequence && s->sequence >= src->prot_seq);
}

void segment_outline(const struct segment_source *src, uint64_t segnum,
		     const struct nilfs_segment_usage_ext *su,
		     struct segment *s)
{
	const struct nilfs_geometry *geo = &src->vol->geo;
	struct liveness_counts counts = { .current = 0 };

	if (src->live)
		counts = liveness_of(src->live, segnum);
	*s = (struct segment){
		.segnum = segnum,
		.state = stored_state(src, segnum, &su->su),
		.blocks = (uint32_t)(geometry_segment_end(geo, segnum) -
				     geometry_segment_start(geo, segnum)),
		.written = le32_get(su->su.su_nblocks),
		.has_counts = src->live != NULL,
		.live = counts.current,
		.snapshot = counts.snapshot,
		.recent = counts.protected,
		.su = *su,
		.has_stored = geo->has_live_blks,
	};
}

int segment_describe(struct segment_source *src, struct context *cx,
		     uint64_t segnum, const struct nilfs_segment_usage_ext *su,
		     struct segment *s)
{
	int err = 0;

	segment_outline(src, segnum, su, s);
	if (s->written && s->state & SEGMENT_DIRTY)
		err = find_sequence(src, cx, s);
	if (is_protected(src, s))
		s->state |= SEGMENT_PROTECTED;
	return err;
}

/* True for a block of file contents, directories among them. */
static bool is_data(const struct segsum_block *b)
{
	return b->is_virtual && !b->is_node && b->ino != NILFS_CPFILE_INO &&
	       b->ino != NILFS_SUFILE_INO && b->ino != NILFS_IFILE_INO;
}

static int is_kept(struct segment_source *src, struct context *cx,
		   uint64_t vblocknr, uint64_t blocknr)
{
	struct nilfs_dat_entry de;
	int err = translate_entry(src->vol, cx, vblocknr, &de);

	if (err == -ENOENT) {
		fail_clear(cx);
		return 0;
	}
	if (err)
		return err;
	return le64_get(de.de_blocknr) == blocknr &&
	       liveness_of_entry(src->live, &de) != LIVENESS_DEAD;
}

static int count_log(struct segment_source *src, struct context *cx,
		     const struct log *log, struct segment *s)
{
	struct segsum_block b;
	int ret;

	ret = summary_read(&src->summary, cx, src->vol, log->pseg, &log->ss);
	if (ret)
		return ret;
	s->overhead += segsum_nsumblk(&src->vol->geo, &log->ss) +
		       segsum_has_super_root(&log->ss);
	while ((ret = summary_next(&src->summary, cx, &b)) > 0) {
		if (!is_data(&b))
			continue;
		ret = is_kept(src, cx, b.vblocknr, log->pseg + b.index);
		if (ret < 0)
			return ret;
		s->data += (uint32_t)ret;
	}
	return ret;
}

int segment_count_data(struct segment_source *src, struct context *cx,
		       struct segment *s)
{
	struct logscan scan;
	struct log log;
	int ret;

	s->data = s->overhead = 0;
	s->has_data = false;
	if (!s->written || !s->has_counts)
		return 0;
	ret = logscan_open(&scan, cx, src->vol, s->segnum, s->written);
	while (!ret && (ret = logscan_next(&scan, cx, &log)) > 0)
		ret = count_log(src, cx, &log, s);
	s->has_data = !ret;
	return ret;
}

void segment_state_text(unsigned int state, char text[SEGMENT_STATE_CHARS])
{
	text[0] = state & SEGMENT_ACTIVE ? 'a' : '-';
	text[1] = state & SEGMENT_DIRTY ? 'd' : '-';
	text[2] = state & SEGMENT_ERROR ? 'e' : '-';
	text[3] = state & SEGMENT_PROTECTED ? 'p' : '-';
}
