/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cleaning a mounted volume: call after call, until the goal is reached.
 */
#ifndef NILFS2_GC_ONLINE_H
#define NILFS2_GC_ONLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "gc/clean/clean.h"
#include "gc/plan/policy.h"

struct cleanerlock;
struct dev;
struct live;
struct online;

struct online_options {
	const struct policy *policy;
	uint32_t metadata_weight;	/* percent, for it */
	uint64_t max_search;	/* segments examined per choice; 0: all */
	uint64_t goal;		/* more clean segments, or CLEAN_ALL */
	uint64_t scarce;	/* with so few clean segments calls are large */
	uint32_t min_dead;	/* percent of a segment, for it to be cleaned */
	uint64_t first, end;	/* segments that are cleaned; END 0: all */
	bool empty;		/* all of these, whatever is gained */
	uint64_t enough;	/* blocks moved, that end it, too; 0: any number */
	uint64_t protect;	/* seconds */
	uint64_t since;		/* checkpoints from this number on are kept as well: the
				   next one, before the lock was asked for */
	struct cleanerlock *lock;	/* of the caller: lent to others between passes */
	uint32_t latency;	/* milliseconds that a writer may wait for a call */
	bool verify;		/* checksums of logs whose blocks are moved */
	bool forecast;		/* change nothing */
	size_t most;		/* candidates of a pass, to bound the memory; 0: all */
	bool once;		/* only one pass, and those after the lock was lent */
	void *arg;		/* of the functions below, each of which may be NULL */
	/* As of clean_options. */
	void (*fate)(void *arg, const struct policy_segment *s,
		     enum clean_fate fate);
	/* Segment SEGNUM is skipped, with the reason. */
	void (*left)(void *arg, uint64_t segnum, const char *why);
	/* MOVED of about TO_MOVE blocks were moved. */
	void (*moving)(void *arg, uint64_t moved, uint64_t to_move);
	/* As of collector_options, before the first call. */
	void (*deleting)(void *arg, const uint64_t *cnos, size_t n);
	/* After each call: may wait; 1: no more calls; or -errno. */
	int (*called)(void *arg, struct context *cx, const struct online *n);
};

struct online {
	uint64_t clean_before, clean_after;	/* segments */
	uint64_t gained;	/* segments, by this program alone */
	uint64_t victims, left;	/* segments cleaned, and skipped */
	uint64_t young;		/* segments that a superblock may need yet */
	uint64_t moved;		/* blocks */
	uint64_t freed;		/* virtual numbers */
	uint64_t calls;
	uint64_t resets;	/* zones */
	uint64_t longest;	/* call, milliseconds */
	struct clean_rest rest;
	bool short_memory;	/* not all segments were candidates */
};

/*
 * Cleans the volume of LIVE on DEV, the device without page cache.  The caller holds
 * the lock of its cleaner.  CLOCK returns milliseconds.  0 also if the goal was not
 * reached; -ENOSPC if too few segments are clean, -EUCLEAN if the volume is damaged,
 * -ESTALE or -EBUSY if another cleaner is at work, -EIO, -EINTR, -ENOMEM.  All calls
 * that were made stay.
 */
int online_run(struct online *n, struct context *cx, const struct live *live,
	       struct dev *dev, uint64_t (*clock)(void),
	       const struct online_options *options);

#endif
