/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts of live blocks of each segment, by reference.
 *
 * The DAT has an entry for every block with a virtual number: its position and
 * the checkpoints to which it belongs.  One streaming pass over it, and one
 * over the DAT's own map, give exact counts for all segments; the segments
 * themselves are not read.
 */
#ifndef NILFS2_VOL_LIVENESS_H
#define NILFS2_VOL_LIVENESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"

struct volume;

/* Blocks of one segment.  A broken DAT can name more than it has. */
struct liveness_counts {
	uint32_t current;	/* in the latest checkpoint, or of the DAT */
	uint32_t snapshot;	/* not those, but held by some snapshot */
	uint32_t protected;	/* neither, but not older than the protection */
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
	uint64_t strays;	/* of them, pointing outside the segments */
	uint64_t protect_cno;
	uint64_t *snapshots;	/* ascending */
	size_t nsnapshots;
};

/*
 * Counts the whole volume, with cx->threads workers.  A block of
 * checkpoint PROTECT_CNO or a later one counts as protected (UINT64_MAX: none
 * does; nilfs_cleanerd's protection period, given as a checkpoint).  *LP is
 * freed with liveness_free().  -ENOMEM past the memory budget, -EUCLEAN where
 * the DAT's map is broken, -EIO.
 *
 * The definition is that of nilfs_vdesc_is_live() and nilfs_bdesc_is_live()
 * of nilfs-utils' cleaner.
 */
int liveness_count(struct volume *vol, struct context *cx,
		   uint64_t protect_cno, struct liveness **lp);

/* The same, as if the N checkpoints of SNAPSHOTS, ascending, were snapshots. */
int liveness_count_with(struct volume *vol, struct context *cx,
			uint64_t protect_cno, const uint64_t *snapshots,
			size_t n, struct liveness **lp);
void liveness_free(struct liveness *l);

/*
 * Makes the counts L of FROM, with all of them still there, those of TO: a
 * later state of the same volume, with the same snapshots and protection, which
 * has not written to the blocks of FROM's DAT.  Only what differs of the two
 * DATs is read.  Fails as liveness_count(); what is in L means nothing then.
 */
int liveness_update(struct liveness *l, struct context *cx,
		    struct volume *from, struct volume *to);

/* The counts of SEGNUM (zeros for one that was never met). */
struct liveness_counts liveness_of(const struct liveness *l, uint64_t segnum);

/* For whom the block of a DAT entry in use is live, by the same definition. */
enum liveness_kind liveness_of_entry(const struct liveness *l,
				     const struct nilfs_dat_entry *de);

#endif
