/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A volume that also writes into the holes of segments in use, as f2fs does
 * when space is short (slack space recycling).  Numbers only.
 *
 * NILFS2 never does that, so this is no part of the simulator: it is here to
 * repeat an experiment that was made with it.
 */
#ifndef NILFS2_TESTS_BENCH_SLACK_H
#define NILFS2_TESTS_BENCH_SLACK_H

#include <stdbool.h>
#include <stdint.h>

#define SLACK_BLOCKS 512u	/* of a segment */
#define SLACK_NONE UINT32_MAX

enum slack_log { SLACK_DENTRY, SLACK_DATA, SLACK_MOVED, SLACK_NODE,
		 SLACK_LOGS };

enum slack_state { SLACK_FREE, SLACK_CURRENT, SLACK_USED, SLACK_PREFREE };

struct slack_segment {
	enum slack_state state;
	enum slack_log log;		/* it was written by */
	uint32_t valid;			/* blocks */
	uint32_t taken;			/* ... and at the last checkpoint */
};

struct slack {
	uint32_t nsegments, reserved, overprovision, window;
	uint32_t ndata, nnodes, per_node;	/* blocks; data of a node */
	struct slack_segment *segments;
	uint32_t *at, *owner;		/* of blocks, of places */
	uint8_t *valid, *valid_then;	/* by place */
	uint8_t *dirty;			/* by node */
	uint32_t ndirty, nfree, nprefree;
	uint32_t current[SLACK_LOGS], offset[SLACK_LOGS];
	bool reuses[SLACK_LOGS];	/* the log fills holes */
	uint32_t last_victim[2];	/* where the search goes on */
	bool apart;			/* ... for holes by itself */
	bool failed;			/* there was no free segment */
	/* What is measured. */
	uint64_t runs, victims, garbage, moved, checkpoints, reused;
};

bool slack_open(struct slack *s);	/* sizes are set; false: no memory */
void slack_close(struct slack *s);

/* The file system gets some space where it is short of it. */
void slack_balance(struct slack *s);

/* Block ID (data, then nodes, then directories) is written by LOG. */
void slack_write(struct slack *s, enum slack_log log, uint32_t id);

/* The node of data block ID is written, as fsync() does. */
void slack_sync(struct slack *s, uint32_t id);

void slack_checkpoint(struct slack *s);

/*
 * A victim for the cleaner, or, with LOG below SLACK_LOGS, a segment of that
 * log with holes.
 */
uint32_t slack_victim(struct slack *s, enum slack_log log);

#endif
