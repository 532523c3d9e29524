// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The facts of a segment, for the commands segments, map and report.
 *
 * The SUFILE records the number of written blocks and the time, the latest super
 * root gives the active segments, the first log the sequence number, and one pass
 * over the DAT counts live blocks.  Only the kinds of blocks are taken from the
 * summaries of all logs, which are read one segment at a time and not kept.
 */
#include "dump/volume/segment.h"

#include <errno.h>

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

void segment_outline(const struct segment_source *src, uint64_t segnum,
		     const struct nilfs_segment_usage_ext *su,
		     struct segment *s)
{
	const struct nilfs_geometry *geo = &src->vol->geo;
	const struct recovery *latest = &src->vol->latest;
	struct liveness_counts counts = { .current = 0 };

	if (src->live)
		counts = liveness_of(src->live, segnum);
	*s = (struct segment){
		.segnum = segnum,
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
	if (segnum == latest->segnum || segnum == latest->nextnum)
		s->state |= SEGMENT_ACTIVE;
	if (segusage_is_dirty(&su->su))
		s->state |= SEGMENT_DIRTY;
	if (segusage_is_error(&su->su))
		s->state |= SEGMENT_ERROR;
}

int segment_describe(struct segment_source *src, struct context *cx,
		     uint64_t segnum, const struct nilfs_segment_usage_ext *su,
		     struct segment *s)
{
	struct logscan scan;
	struct log log;
	int ret = 1;

	segment_outline(src, segnum, su, s);
	if (s->written && s->state & SEGMENT_DIRTY) {
		ret = logscan_open(&scan, cx, src->vol, segnum, s->written);
		if (!ret)
			ret = logscan_next(&scan, cx, &log);
		s->has_sequence = ret > 0;
		if (s->has_sequence)
			s->sequence = le64_get(log.ss.ss_seq);
	}
	/* The condition of the cleaner: nilfs_acc_blocks(). */
	if (s->state & SEGMENT_DIRTY && !(s->state & SEGMENT_ERROR) &&
	    (s->state & SEGMENT_ACTIVE ||
	     (s->has_sequence && s->sequence >= src->prot_seq)))
		s->state |= SEGMENT_PROTECTED;
	if (!ret)
		return fail(cx, -EUCLEAN,
			    "segment %llu: does not begin with a log",
			    (unsigned long long)segnum);
	return ret < 0 ? ret : 0;
}

int segment_count_data(struct segment_source *src, struct context *cx,
		       struct segment *s)
{
	enum liveness_kind kind;
	struct nilfs_dat_entry de;
	struct segsum_block b;
	struct logscan scan;
	struct log log;
	uint64_t covered = 0;
	int ret, found;

	s->data = s->live_data = s->overhead = 0;
	s->has_data = false;
	if (!s->written || !s->has_counts)
		return 0;
	ret = logscan_open(&scan, cx, src->vol, s->segnum, s->written);
	while (!ret && (ret = logscan_next(&scan, cx, &log)) > 0) {
		ret = summary_read(&src->summary, cx, src->vol, log.pseg,
				   &log.ss);
		if (ret)
			break;
		covered += le32_get(log.ss.ss_nblocks);
		s->overhead += segsum_nsumblk(&src->vol->geo, &log.ss) +
			       segsum_has_super_root(&log.ss);
		while ((ret = summary_next(&src->summary, cx, &b)) > 0) {
			/* Only contents of files, including directories. */
			if (!b.is_virtual || b.is_node ||
			    b.ino == NILFS_CPFILE_INO ||
			    b.ino == NILFS_SUFILE_INO ||
			    b.ino == NILFS_IFILE_INO)
				continue;
			found = translate_entry(src->vol, cx, b.vblocknr, &de);
			if (found && found != -ENOENT)
				return found;
			if (found)
				fail_clear(cx);
			if (found || le64_get(de.de_blocknr) !=
					     log.pseg + b.index)
				continue;
			kind = liveness_of_entry(src->live, &de);
			s->data += kind != LIVENESS_DEAD;
			s->live_data += kind == LIVENESS_CURRENT;
		}
	}
	/* After a damaged log nothing was read. */
	s->has_data = !ret && covered >= s->written;
	return ret;
}

struct segmap_segment segment_to_map(const struct segment *s)
{
	return (struct segmap_segment){
		.error = s->state & SEGMENT_ERROR,
		.active = s->state & SEGMENT_ACTIVE,
		.dirty = s->state & SEGMENT_DIRTY,
		.counted = s->has_counts,
		.blocks = s->blocks,
		.kept = segment_kept(s),
		.live = s->live,
		.snapshot = s->snapshot,
	};
}

void segment_state_text(unsigned int state, char text[SEGMENT_STATE_CHARS])
{
	text[0] = state & SEGMENT_ACTIVE ? 'a' : '-';
	text[1] = state & SEGMENT_DIRTY ? 'd' : '-';
	text[2] = state & SEGMENT_ERROR ? 'e' : '-';
	text[3] = state & SEGMENT_PROTECTED ? 'p' : '-';
}

/*
 * Sums over segments.  Utilization is the share of a segment's blocks that a
 * cleaner would keep.
 */

#define BAR_LENGTH 40
#define USE_BUCKETS 10
#define USE_MAX 9999		/* hundredths of a percent; 100 % joins them */

void segment_total_init(struct segment_total *t)
{
	*t = (struct segment_total){ .segments = 0 };
	histogram_linear(&t->use, USE_MAX, USE_BUCKETS);
}

void segment_total_add(struct segment_total *t, const struct segment *s)
{
	t->segments++;
	t->clean += !s->state;
	t->active += (s->state & SEGMENT_ACTIVE) != 0;
	t->dirty += (s->state & SEGMENT_DIRTY) != 0;
	t->error += (s->state & SEGMENT_ERROR) != 0;
	t->protected += (s->state & SEGMENT_PROTECTED) != 0;
	t->blocks += s->blocks;
	t->written += s->written;
	t->live += s->live;
	t->snapshot += s->snapshot;
	t->recent += s->recent;
	t->dead += segment_dead(s);
	t->without_counts += !s->has_counts;
	if (s->has_data) {
		t->data += s->data;
		t->live_data += s->live_data;
		t->overhead += s->overhead;
	} else if (s->written) {
		t->without_data++;
		t->unknown += s->live;
	}
	if (s->state & SEGMENT_DIRTY && s->has_counts && s->blocks)
		histogram_add(&t->use,
			      value_percent(segment_kept(s),
					    s->blocks).number, 1);
}

void segment_total_report(const struct segment_total *t,
			  struct report *r, uint32_t block_size)
{
	uint64_t kept = t->live + t->snapshot + t->recent;

	report_begin(r, "totals", "Totals");
	report_u64(r, "segments", "Segments", t->segments);
	report_u64(r, "clean_segments", "Clean", t->clean);
	report_u64(r, "dirty_segments", "In use", t->dirty);
	report_u64(r, "active_segments", "Active", t->active);
	report_u64(r, "error_segments", "Erroneous", t->error);
	report_u64(r, "protected_segments", "Protected", t->protected);
	report_u64(r, "blocks", "Blocks", t->blocks);
	report_u64(r, "written", "Written", t->written);
	if (t->without_counts) {
		report_end(r);
		return;
	}
	report_u64(r, "live", "Live", t->live);
	report_u64(r, "snapshot", "Snapshots only", t->snapshot);
	report_u64(r, "recent", "Recent only", t->recent);
	report_u64(r, "dead", "Dead", t->dead);
	if (!t->without_data) {
		report_u64(r, "data", "File data", t->data);
		report_u64(r, "metadata", "Metadata", kept - t->data);
		report_u64(r, "overhead", "Summaries, roots", t->overhead);
	}
	report_size(r, "kept_bytes", "Kept space", kept * block_size);
	report_size(r, "dead_bytes", "Dead space", t->dead * block_size);
	report_value(r, VALUE_PERCENT, "use", "Use",
		     value_percent(kept, t->blocks));
	report_end(r);
}

void segment_total_report_use(const struct segment_total *t,
			      struct report *report)
{
	histogram_report(&t->use, report, "utilization", VALUE_PERCENT,
			 BAR_LENGTH);
}
