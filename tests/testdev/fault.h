/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device with injected faults.
 *
 * Wrapped around another device it counts operations and makes the N-th one
 * fail, be torn, or be where the power goes off.  A test that runs a writer
 * with N = 1, 2, 3, ... until the fault no longer happens has seen every point
 * at which the writer can be interrupted.
 */
#ifndef NILFS2_TESTDEV_FAULT_H
#define NILFS2_TESTDEV_FAULT_H

#include "dev/dev.h"

enum fault_kind {
	FAULT_NONE,
	FAULT_FAIL, /* the operation fails with -EIO and does nothing;
		       later ones succeed */
	FAULT_TEAR, /* a write does its first TEAR_BYTES, then power is
		       off */
	FAULT_CUT,  /* power goes off before the operation */
	FAULT_FULL, /* this write and all later ones fail with -ENOSPC */
	FAULT_LOSE, /* this write and all later ones succeed, and do nothing */
};

/* Which operations the plan counts; an OR of these. */
enum fault_count {
	FAULT_READS = 1 << 0,
	FAULT_WRITES = 1 << 1, /* discards, and changes of zones, too */
	FAULT_FLUSHES = 1 << 2,
};

struct fault_plan {
	enum fault_kind kind;
	unsigned int counted;
	uint64_t at;	     /* the counted operation, from 1 */
	uint64_t tear_bytes; /* FAULT_TEAR; 0 is half of the write */
	/*
	 * Keep writes back until a flush, as a disk's cache may.  When the
	 * power goes off, each write since the last flush has reached the
	 * device underneath whole, in some of its sectors or not at all, in
	 * an order and by a choice drawn from SEED.  Not on a device with
	 * zones, which wants its writes in order.
	 */
	bool reorder;
	uint64_t seed;
	/*
	 * BAD_BYTES from BAD_OFF on are a place of the medium that is worn out:
	 * reads of any of it fail with -EIO, whatever KIND is.  A write of all
	 * of it heals it, as a disk does by putting another sector there.
	 */
	uint64_t bad_off, bad_bytes;
	/*
	 * If not NULL (borrowed): gets a 1 for each sector that is read, of the
	 * device's sector_size.
	 */
	unsigned char *sectors_read;
};

/*
 * A device that carries PLAN out over UNDER (borrowed: the test looks at what
 * is left there).  Once the power is off every operation fails with -EIO.
 * Reads see writes that are kept back.  Operations may come from several
 * threads; one is carried out at a time.  -ENOMEM if the writes kept back would
 * pass the memory budget of CX.
 */
int fault_open(struct dev **devp, struct context *cx, struct dev *under,
	       const struct fault_plan *plan);

/*
 * Turns the power off now, as for a cut right after the writer ended.  Closing
 * the device with the power on loses nothing.
 */
void fault_power_off(struct dev *dev);

/* Number of counted operations so far. */
uint64_t fault_counted(const struct dev *dev);

/* Whether the planned fault has happened. */
bool fault_happened(const struct dev *dev);

/* How many reads have failed for the bad place; none do any more if healed. */
uint64_t fault_bad_reads(const struct dev *dev);

#endif
