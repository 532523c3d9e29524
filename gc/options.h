/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of gc.nilfs2. */
#ifndef NILFS2_GC_OPTIONS_H
#define NILFS2_GC_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/option.h"
#include "gc/plan/keep.h"
#include "gc/plan/policy.h"
#include "gc/tune/tune.h"

/* An amount of segments. */
struct options_amount {
	enum {
		OPTIONS_WORTH,		/* all segments that are worth it; no limit
					   is given */
		OPTIONS_SEGMENTS,
		OPTIONS_BYTES,
		OPTIONS_PERCENT,	/* of all segments */
	} unit;
	uint64_t n;
};

/* The blocks that compaction moves. */
enum { OPTIONS_COMPACT_NEEDED, OPTIONS_COMPACT_ALL };

/* The requested size of the volume. */
struct options_size {
	bool wanted;
	uint64_t bytes;		/* 0: none given */
};

struct options {
	struct options_amount free;
	struct options_policy {
		const struct policy *policy;
		uint32_t weight;	/* percent */
	} policy;
	uint64_t max_search;
	uint32_t min_reclaimable;	/* percent */
	uint64_t protect;		/* seconds */
	struct option_list defrag;	/* paths, or "all" */
	struct option_list deletions;	/* lists of ranges of checkpoints */
	struct option_list to_snapshot, to_checkpoint;	/* the same */
	bool take_snapshot;
	struct keep_rule keep;
	const char *keep_state;		/* file of the record, or NULL */
	bool force;			/* delete snapshots, too */
	bool keep_snapshots;		/* keep them, the default */
	int compact;			/* OPTIONS_COMPACT_..., or -1 */
	const char *output;		/* the file for a copy, or NULL */
	int order;			/* enum order_kind, or -1 */
	bool compare;			/* all policies, by forecasts */
	const char *features;		/* list of names, or NULL */
	struct tune tune;		/* but for the UUID */
	const char *uuid;		/* as text, or NULL */
	const char *svg;		/* file, or NULL */
	bool purge;
	struct options_size shrink, grow;
	bool punch;
	bool dry_run;
	bool no_check;			/* do not check the volume first */
	bool no_verify;			/* do not verify checksums of moved blocks */
	uint32_t latency;		/* milliseconds that a writer may wait */
	bool watch, status;
	struct options_amount low, high;	/* clean segments, of --watch */
	uint64_t speed;			/* bytes in a second; 0: any */
	/* Not an option: the verified checksums; NULL with no_verify. */
	struct sums *sums;
	/* Not an option: the mounted volume; NULL: it is not mounted. */
	const struct live *live;
	struct cleanerlock *lock;	/* of the cleaner of LIVE */
	uint64_t since;	/* online_options.since */
};

extern const struct options options_defaults;
extern const struct cli_option options_rows[];

/*
 * Converts AMOUNT to a number of segments of BYTES each, of which the volume
 * has N.
 */
uint64_t options_segments(const struct options_amount *amount, uint64_t bytes,
			  uint64_t n);

#endif
