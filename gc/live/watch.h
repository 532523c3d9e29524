/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Staying with a mounted volume: cleaning whenever clean segments become few.
 */
#ifndef NILFS2_GC_WATCH_H
#define NILFS2_GC_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "gc/live/online.h"

enum watch_state {
	WATCH_IDLE,		/* enough segments are clean */
	WATCH_CLEANING,
	WATCH_STUCK,		/* too few are clean, and none is worth cleaning */
	WATCH_WAITING,		/* for another cleaner, or for superblocks */
	WATCH_UNMOUNTED,	/* the end */
};

/* The present state, and the sums since the beginning. */
struct watch_status {
	enum watch_state state;
	uint64_t segments, clean, low, high;
	uint64_t runs;		/* of cleaning */
	uint64_t victims, skipped, calls, moved, freed;
	uint64_t longest;	/* call, milliseconds */
	char problem[FAILURE_TEXT_MAX];	/* the last one, "" if none */
};

struct watch_options {
	struct online_options clean;	/* but for goal, and the functions */
	/* Clean segments; begin below, end above.  Both 0: by what is in use. */
	uint64_t low, high;
	uint64_t reserve;	/* clean segments that the kernel reserves */
	uint64_t segment_blocks;
	uint64_t speed;		/* bytes moved in a second, while not scarce; 0: any */
	uint32_t block_size;	/* bytes */
	/* Functions of the tool: clocks in milliseconds and in seconds, and a wait that a
	   signal ends. */
	uint64_t (*clock)(void);
	int64_t (*now)(void);
	void (*wait)(uint64_t ms);
	void *arg;
	/* Called with each new state or problem, and after each call. */
	void (*changed)(void *arg, const struct watch_status *status);
};

/*
 * Watches the volume mounted on the directory PATH until CX is cancelled or it is
 * unmounted, then returns 0.  Between runs of cleaning the directory is closed, so that
 * it can be unmounted, and the lock of the cleaner is free.  Most failures of a run are
 * only in the status, and the next one follows after a minute; -ESTALE if another
 * cleaner does not respect the lock.
 */
int watch_run(struct watch_status *status, struct context *cx, const char *path,
	      const struct watch_options *options);

#endif
