/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A log-structured volume that consists only of the places of blocks.
 *
 * Logical blocks are numbered: data first, then the blocks of metadata.  Each
 * is in one place or nowhere.  A place is segment * blocks + offset.  Both maps
 * take four bytes per block; everything else is kept per segment.
 */
#ifndef NILFS2_GC_SIM_SIMVOL_H
#define NILFS2_GC_SIM_SIMVOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "gc/plan/policy.h"
#include "gc/sim/volume/simplace.h"

#define SIMVOL_NONE UINT32_MAX

enum simvol_kind {
	SIMVOL_DATA,
	SIMVOL_NODE,	/* of the maps of files */
	SIMVOL_DAT,	/* NILFS2's table of virtual blocks */
	SIMVOL_KINDS,
};

/* Blocks that policies count as live besides those of the latest state. */
enum simvol_counts {
	SIMVOL_EXACT,		/* all blocks that would have to be moved */
	SIMVOL_COUNTERS,	/* live blocks, updated when blocks die,
				   without snapshots */
	SIMVOL_HALVED,		/* the same, halved when a snapshot is deleted */
};

struct simvol_config {
	uint32_t nsegments;
	uint32_t blocks;	/* per segment */
	uint64_t data;		/* logical blocks */
	uint64_t hot;		/* of these, the first ones */
	uint32_t node_fanout;	/* data blocks per node; 0: no nodes */
	uint32_t dat_fanout;	/* blocks per block of the DAT; 0: none */
	bool dat_allocates;	/* entries of the DAT as the kernel does it, not
				   by block */
	uint32_t summary_span;	/* blocks per summary block; 0: none */
	const struct simplace_kind *placement;	/* NULL: the first one */
	uint32_t classes;	/* of it; 0: the default */
	enum simvol_counts counts;
	bool metadata_log;	/* metadata has its own log */
	bool moves_change_nodes;	/* without a DAT moves change the maps */
	bool history;		/* snapshots, protection period */
	bool frees_dead;	/* full segments without live blocks are clean */
	uint32_t second;	/* blocks of the user per second; 0: each has
				   its own time */
	bool clocked;		/* times are those of the user's operations */
	uint32_t holes;		/* clean segments below which data fills
				   holes; 0: never */
};

enum simvol_state {
	SIMVOL_CLEAN,
	SIMVOL_OPEN,	/* a log ends in it */
	SIMVOL_FULL,	/* may be cleaned */
	SIMVOL_VICTIM,
	SIMVOL_HELD,	/* of an image, not to be cleaned */
};

/* Logs of a placement, one for the user, one for metadata. */
#define SIMVOL_LOGS (SIMPLACE_CLASSES + 2u)

struct simvol_log {
	uint32_t segnum;	/* SIMVOL_NONE: none yet */
	uint32_t offset;
	bool fills;		/* the segment was full before */
};

/* Facts of a segment for placements. */
struct simvol_origin {
	uint64_t opened, ended;	/* times, in blocks of the user; 0: not yet */
	uint8_t log;
};

/* Times at which the user wrote data; moving does not change them. */
struct simvol_ages {
	uint64_t *of;		/* by block */
	uint64_t *sum;		/* by segment: of its live blocks */
	uint64_t *youngest;	/* by segment: of all its blocks */
	uint32_t *n;		/* by segment: live blocks */
};

/*
 * Holes: places of dead blocks.  Blocks of the last checkpoint must not be
 * overwritten, so a block that was written before it leaves a hole only after
 * the next one.
 */
struct simvol_holes {
	uint32_t *stamp;	/* by place: checkpoint of the write, or
				   of a later death */
	uint32_t *waiting;	/* by segment: dead, but in the last checkpoint */
	uint32_t *since;	/* checkpoint for which WAITING counts */
	/* The segment that LOG continues in, or -1. */
	int64_t (*choose)(void *arg, unsigned int log);
	void *arg;
};

/* Entries of the DAT, if they are allocated: see simentry.c. */
struct simvol_entries {
	uint32_t *of;		/* by place: of the block written there, or NONE */
	uint64_t *used;		/* a bit per entry */
	uint32_t *nfree;	/* by group */
	uint32_t group, count;	/* number of entries, in a group and in all */
	uint32_t last;		/* allocated last */
};

/* Counts of blocks by kind; only numbers of 64 bits. */
struct simvol_totals {
	uint64_t user;			/* by the user */
	uint64_t written[SIMVOL_KINDS];	/* for the user; flushes of metadata */
	uint64_t summary;
	uint64_t moved[SIMVOL_KINDS];	/* by the cleaner */
	uint64_t held;			/* moved for snapshots or protection */
	uint64_t reclaimed[SIMVOL_KINDS];	/* dead blocks of victims */
	uint64_t reclaimed_summary;
	uint64_t cleaned, skipped;	/* segments */
	uint64_t released;	/* sum of the wear of all segments */
	uint64_t flushes, rounds;
	uint64_t filled;	/* blocks written into holes */
};

#define SIMVOL_BITS 64u	/* of a word of the layers */

/* A layer of metadata: its blocks, and which of them are dirty. */
struct simvol_layer {
	uint32_t base, count, fanout;
	uint64_t *dirty;	/* a bit per block */
	uint64_t *words;	/* a bit per nonzero word of these */
	uint32_t ndirty;
};

struct simvol {
	struct simvol_config config;
	uint32_t nlogical, nplaces;
	uint32_t *at;		/* by logical block: its place or NONE */
	uint32_t *owner;	/* by place: block written there, or NONE */
	uint32_t *birth, *death;	/* by place: checkpoints, or NULL */
	struct policy_segment *segments;	/* .live is what policies see */
	uint32_t *needed;	/* by segment: would have to be moved */
	uint8_t *state;		/* by segment: enum simvol_state */
	uint32_t *wear;		/* by segment: times cleaned */
	uint32_t *clean;	/* ring of clean segments, oldest first */
	uint32_t clean_first, nclean;
	struct simvol_log logs[SIMVOL_LOGS];
	struct simvol_layer layers[SIMVOL_KINDS];
	struct simplace place;
	struct simvol_origin *origin;	/* by segment */
	struct simvol_ages ages;	/* all NULL: not kept */
	struct simvol_holes holes;	/* the same */
	struct simvol_entries entries;	/* the same */
	uint64_t nwritten;	/* blocks of all segments */
	uint64_t ngarbage;	/* of full ones, not needed */
	uint64_t died[SIMVOL_LOGS];	/* by log: blocks that the
					   user replaced or trimmed */
	uint64_t now;		/* blocks the user wrote */
	uint64_t start;		/* NOW at the beginning */
	uint32_t cno;		/* present checkpoint */
	uint32_t protect_cno;	/* the oldest that is protected */
	uint32_t *snapshots;	/* checkpoints, ascending */
	uint32_t nsnapshots;
	uint32_t nkept;		/* of these, the first ones: never deleted */
	struct simvol_totals totals;
	uint64_t clock;		/* microseconds, time of the user's operation */
	/* See simvol_notify(). */
	void (*changed)(void *arg, uint32_t segnum);
	void *changed_arg;
};

/*
 * An empty volume.  -EINVAL if CONFIG is contradictory, -ENOMEM.  To be closed
 * also then.
 */
int simvol_open(struct simvol *v, struct context *cx,
		const struct simvol_config *config);
void simvol_close(struct simvol *v);

/* The counts or the state of SEGNUM have changed. */
static inline void simvol_notify(const struct simvol *v, uint32_t segnum)
{
	if (v->changed)
		v->changed(v->changed_arg, segnum);
}

/* The time of segments that are written now. */
static inline uint64_t simvol_time(const struct simvol *v)
{
	if (v->config.clocked)
		return v->clock;
	return v->config.second ?
		       v->start + (v->now - v->start) / v->config.second :
		       v->now;
}

/* The kind of logical block ID. */
static inline enum simvol_kind simvol_kind_of(const struct simvol *v,
					      uint32_t id)
{
	if (id < v->config.data)
		return SIMVOL_DATA;
	return id < v->layers[SIMVOL_DAT].base ? SIMVOL_NODE : SIMVOL_DAT;
}

/* Writes data block ID to another place.  -ENOSPC. */
int simvol_write(struct simvol *v, struct context *cx, uint32_t id);

/* The user no longer needs data block ID. */
void simvol_trim(struct simvol *v, uint32_t id);

/*
 * Writes ID at the end of LOG.  A block of the user is born now; a MOVED one
 * was born before.  -ENOSPC.
 */
int simvol_append(struct simvol *v, struct context *cx, unsigned int log,
		  uint32_t id, bool moved);

/*
 * The same for a block at PLACE that only old states need: its copy has the
 * same lifetime.
 */
int simvol_append_held(struct simvol *v, struct context *cx, unsigned int log,
		       uint32_t place);

/* The log for the next write of ID: see struct simplace_kind. */
unsigned int simvol_log_of(struct simvol *v, uint32_t id,
			   enum simplace_cause why);

/*
 * Begins to keep ages of data (simchoice.c), from those of segments.  -ENOMEM.
 */
int simchoice_ages_open(struct simvol *v, struct context *cx);

/* Data block ID was at OLD (or NONE) and is now in SEGNUM, moved or new. */
void simchoice_ages_put(struct simvol *v, uint32_t id, uint32_t old,
			uint32_t segnum, bool moved);

/* Data block ID is no longer at OLD. */
void simchoice_ages_drop(struct simvol *v, uint32_t id, uint32_t old);

/* The block at PLACE has died. */
void simhistory_holes_drop(struct simvol *v, uint32_t place);

/* Places of SEGNUM that are not holes. */
uint32_t simhistory_holes_taken(const struct simvol *v, uint32_t segnum);

/* Computes nwritten and ngarbage. */
void simvol_count(struct simvol *v);

/* Makes victim SEGNUM clean, which has no needed blocks. */
void simvol_release(struct simvol *v, uint32_t segnum);

/* LOG continues in another segment next time. */
void simvol_end_log(struct simvol *v, unsigned int log);

void simvol_set_state(struct simvol *v, uint32_t segnum,
		      enum simvol_state state);

/*
 * Whether no block is lost or in two places, all counts are correct, and every
 * segment is accounted for.  -EUCLEAN with the fault; -ENOMEM.
 */
int simcheck_volume(const struct simvol *v, struct context *cx);

/* Whether a snapshot or the protection period needs the dead block at PLACE. */
bool simhistory_is_held(const struct simvol *v, uint32_t place);

/* Makes the last complete checkpoint a snapshot.  -ENOMEM. */
int simhistory_take(struct simvol *v, struct context *cx);

/* Deletes the oldest snapshot that is not kept forever, if there is one. */
void simhistory_drop(struct simvol *v);

/* Ends the protection of checkpoints before CNO. */
void simhistory_protect(struct simvol *v, uint32_t cno);

/*
 * Counts the needed blocks of SEGNUM by examining all its places; *LIVE of them
 * are of the latest state.
 */
uint32_t simhistory_count(const struct simvol *v, uint32_t segnum, uint32_t *live);

/*
 * Sets up the layers by V's config, and V's nlogical.  -ENOMEM, -EINVAL.
 * simvol_close() frees them, and the ages and holes.
 */
int simlayers_open(struct simvol *v, struct context *cx);

/* Block ID has another place: makes the blocks that describe it dirty. */
void simlayers_set_dirty(struct simvol *v, uint32_t id, bool moved);

/*
 * Entries of the DAT are in groups of so many blocks: a bitmap has a bit for
 * each entry of 32 bytes, and the size of one of these blocks.
 */
#define SIMVOL_GROUP_BLOCKS 256u

/* The blocks of a DAT whose entries are allocated. */
uint64_t simlayers_entry_blocks(const struct simvol_config *c);

/* The block of the DAT with ENTRY is dirty. */
void simlayers_dirty_entry(struct simvol *v, uint32_t entry);

static inline void simlayers_touch(struct simvol *v, uint32_t id, bool moved)
{
	/* Most volumes have no metadata. */
	if (v->nlogical > v->config.data)
		simlayers_set_dirty(v, id, moved);
}

/* Makes metadata block ID dirty, to be moved by the cleaner. */
void simlayers_move(struct simvol *v, uint32_t id);

/*
 * Sets up the entries of V, if they are allocated; -ENOMEM.  simentry_close() is
 * also called after a failure.
 */
int simentry_open(struct simvol *v, struct context *cx);
void simentry_close(struct simvol *v);

/* Block ID was written to PLACE, and was at OLD, or NONE. */
void simentry_write(struct simvol *v, uint32_t id, uint32_t old,
		    uint32_t place);

/* COUNT blocks of an image, dead or live, are from FIRST on. */
void simentry_put(struct simvol *v, uint32_t first, uint32_t count);

/* The block at FROM was moved to TO. */
void simentry_move(struct simvol *v, uint32_t from, uint32_t to);

/* The block at PLACE, if it has an entry, will be written over. */
void simentry_free(struct simvol *v, uint32_t place);

/* Number of blocks that a flush would write. */
static inline uint64_t simmeta_dirty(const struct simvol *v)
{
	return (uint64_t)v->layers[SIMVOL_NODE].ndirty +
	       v->layers[SIMVOL_DAT].ndirty;
}

/*
 * Writes the dirty nodes of the COUNT data blocks from FIRST on, without a
 * checkpoint: as fsync() in f2fs.  -ENOSPC.
 */
int simmeta_sync(struct simvol *v, struct context *cx, uint32_t first,
		 uint32_t count);

/* Writes all dirty blocks and completes a checkpoint.  -ENOSPC. */
int simmeta_flush(struct simvol *v, struct context *cx);

#endif
