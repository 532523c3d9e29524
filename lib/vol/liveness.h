/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts of live blocks of each segment, by reference.
 *
 * The DAT has an entry for every block with a virtual number: its position and its
 * lifetime in checkpoints.  One streaming pass over it, and one over the DAT's own map,
 * give exact counts for all segments; the segments themselves are not read.
 */
#ifndef NILFS2_VOL_LIVENESS_H
#define NILFS2_VOL_LIVENESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"

struct volume;

/* Blocks of one segment.  A damaged DAT can list more than the segment has. */
struct liveness_counts {
	uint32_t current;	/* in the latest checkpoint, or of the DAT */
	uint32_t snapshot;	/* not current, but in some snapshot */
	uint32_t protected;	/* neither, but protected by age */
};

enum liveness_kind {
	LIVENESS_DEAD,
	LIVENESS_CURRENT,
	LIVENESS_SNAPSHOT,
	LIVENESS_PROTECTED,
};

struct liveness {
	struct liveness_counts **chunks;	/* NULL: all zero */
	uint64_t nchunks;
	uint64_t entries;	/* DAT entries in use that were counted */
	uint64_t strays;	/* of these, outside the segments */
	uint64_t protect_cno;
	uint64_t *snapshots;	/* ascending */
	size_t nsnapshots;
	/* By liveness_count_old() only. */
	uint64_t *checkpoints;	/* ascending, snapshots too */
	size_t ncheckpoints;
	uint64_t old;		/* blocks that only plain, old checkpoints have */
};

/*
 * Counts the whole volume, with cx->threads workers.  A block of checkpoint
 * PROTECT_CNO or a later one counts as protected (UINT64_MAX: none); that is the
 * protection period of nilfs_cleanerd, given as a checkpoint.  *LP is freed with
 * liveness_free().  -ENOMEM beyond the memory budget, -EUCLEAN if the DAT's map is
 * damaged, -EIO.
 *
 * The definition is that of nilfs_vdesc_is_live() and nilfs_bdesc_is_live() of the
 * cleaner of nilfs-utils.
 */
int liveness_count(struct volume *vol, struct context *cx,
		   uint64_t protect_cno, struct liveness **lp);

/* The same, as if the N checkpoints of SNAPSHOTS, ascending, were snapshots. */
int liveness_count_with(struct volume *vol, struct context *cx,
			uint64_t protect_cno, const uint64_t *snapshots,
			size_t n, struct liveness **lp);

/*
 * As liveness_count(), and counts in the same pass the blocks that are neither in the
 * latest checkpoint nor in a snapshot, but in another checkpoint.
 */
int liveness_count_old(struct volume *vol, struct context *cx,
		       uint64_t protect_cno, struct liveness **lp);
void liveness_free(struct liveness *l);

/*
 * Updates the counts L of FROM to those of TO, a later state of the same volume with
 * the same snapshots and protection.  The blocks of FROM's DAT must not have been
 * overwritten.  Only the differences of the two DATs are read.  Fails as
 * liveness_count(); L is then undefined.
 */
int liveness_update(struct liveness *l, struct context *cx,
		    struct volume *from, struct volume *to);

/* The counts of SEGNUM; zeros for a segment without entries. */
struct liveness_counts liveness_of(const struct liveness *l, uint64_t segnum);

/* Why the block of a DAT entry in use is live, by the same definition. */
enum liveness_kind liveness_of_entry(const struct liveness *l,
				     const struct nilfs_dat_entry *de);

#endif
