/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Information on one segment, from several sources. */
#ifndef NILFS2_DUMP_SEGMENT_H
#define NILFS2_DUMP_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "out/histogram.h"
#include "out/report.h"
#include "out/segmap.h"
#include "vol/liveness.h"
#include "vol/summary.h"
#include "vol/sutable.h"
#include "vol/volume.h"

/* State as the kernel shows it: ACTIVE is not the bit on the disk. */
enum {
	SEGMENT_ACTIVE = 1 << 0,	/* being written, or the next to be */
	SEGMENT_DIRTY = 1 << 1,		/* in use */
	SEGMENT_ERROR = 1 << 2,
	SEGMENT_PROTECTED = 1 << 3,	/* must not be reused now */
};

struct segment {
	uint64_t segnum;
	unsigned int state;		/* SEGMENT_*; 0: clean */
	uint32_t blocks;		/* length */
	uint32_t written;		/* su_nblocks */
	bool has_counts;
	uint32_t live, snapshot, recent;	/* see liveness_counts */
	struct nilfs_segment_usage_ext su;
	bool has_stored;		/* counts of live blocks in SU */
	bool has_sequence;
	uint64_t sequence;
	/* By segment_count_data() only. */
	bool has_data;
	uint32_t data;			/* of the kept blocks: file contents */
	uint32_t live_data;		/* of these, of the latest state */
	uint32_t overhead;		/* summaries and super roots */
};

/* The sources of these values. */
struct segment_source {
	struct volume *vol;
	struct liveness *live;		/* NULL: not known */
	uint64_t prot_seq;
	struct summary summary;		/* a buffer for segment_count_data() */
};

/*
 * Prepares to describe the segments of VOL.  Blocks of checkpoints of the last PERIOD
 * seconds are counted as recent (0: none).  Reads the whole DAT.  Closed with
 * segment_close(), after a failure too.  Fails as liveness_count() and
 * protection_cno(); SRC can still be used, without the counts of live blocks.
 */
int segment_open(struct segment_source *src, struct context *cx,
		 struct volume *vol, uint64_t period);
void segment_close(struct segment_source *src);

/*
 * Fills S for SEGNUM with usage SU; one block of a segment in use is read.
 * -EUCLEAN if the segment does not begin with a log, -EIO; all members except the
 * sequence are filled even so.
 */
int segment_describe(struct segment_source *src, struct context *cx,
		     uint64_t segnum, const struct nilfs_segment_usage_ext *su,
		     struct segment *s);

/* The same without the sequence number and SEGMENT_PROTECTED. */
void segment_outline(const struct segment_source *src, uint64_t segnum,
		     const struct nilfs_segment_usage_ext *su,
		     struct segment *s);

/*
 * Counts the data blocks among the live blocks of S; reads the summaries of its logs and
 * looks each block of a file up in the DAT.  -EUCLEAN, -EIO, -ENOMEM.
 */
int segment_count_data(struct segment_source *src, struct context *cx,
		       struct segment *s);

/* Blocks that a cleaner would keep, and blocks that it would free; 0 if unknown. */
static inline uint32_t segment_kept(const struct segment *s)
{
	return s->live + s->snapshot + s->recent;
}

static inline uint32_t segment_dead(const struct segment *s)
{
	uint32_t kept = segment_kept(s);

	return s->has_counts && kept < s->written ? s->written - kept : 0;
}

/* S in the form for a map of segments. */
struct segmap_segment segment_to_map(const struct segment *s);

/* "ad-p" as in lssu(1): active, dirty, error, protected. */
#define SEGMENT_STATE_CHARS 4
void segment_state_text(unsigned int state, char text[SEGMENT_STATE_CHARS]);

struct segment_total {
	uint64_t segments, clean, active, dirty, error, protected;
	uint64_t blocks, written, live, snapshot, recent, dead;
	uint64_t data, live_data, overhead;
	uint64_t without_data;		/* segments whose data was not counted */
	uint64_t unknown;		/* their live blocks */
	uint64_t without_counts;	/* segments with unknown live blocks */
	struct histogram use;		/* of segments in use, in tenths */
};

void segment_total_init(struct segment_total *t);
void segment_total_add(struct segment_total *t, const struct segment *s);

/* Reports the sums as a section; blocks are of BLOCK_SIZE bytes. */
void segment_total_report(const struct segment_total *t,
			  struct report *report, uint32_t block_size);

/* Reports a histogram of the utilization of segments in use. */
void segment_total_report_use(const struct segment_total *t,
			      struct report *report);

#endif
