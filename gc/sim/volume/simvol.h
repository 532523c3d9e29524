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
#include <stddef.h>
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

/* What policies count as live that the latest state does not need. */
enum simvol_counts {
	SIMVOL_EXACT,		/* what would have to be moved, counted */
	SIMVOL_COUNTERS,	/* live blocks, kept where blocks die; snapshots
				   are not looked at */
	SIMVOL_HALVED,		/* the same, and halved where a snapshot goes */
};

struct simvol_config {
	uint32_t nsegments;
	uint32_t blocks;	/* of a segment */
	uint64_t data;		/* logical blocks */
	uint64_t hot;		/* of these, the first ones */
	uint32_t node_fanout;	/* data blocks per node; 0: no nodes */
	uint32_t dat_fanout;	/* blocks per block of the DAT; 0: none */
	uint32_t summary_span;	/* blocks per summary block; 0: none */
	const struct simplace_kind *placement;	/* NULL: the first one */
	uint32_t classes;	/* of it; 0: as many as it has by default */
	enum simvol_counts counts;
	bool metadata_log;	/* metadata has its own log */
	bool moves_change_nodes;	/* no DAT hides moves from the maps */
	bool history;		/* snapshots, protection period */
	bool frees_dead;	/* full segments that are dead are clean */
	uint32_t second;	/* blocks the user writes in one; 0: each block
				   has a time of its own */
	bool clocked;		/* times are those of the user's operations */
	uint32_t holes;		/* clean segments below which logs of data are
				   written into holes; 0: never */
};

enum simvol_state {
	SIMVOL_CLEAN,
	SIMVOL_OPEN,	/* a log ends in it */
	SIMVOL_FULL,	/* what may be cleaned */
	SIMVOL_VICTIM,
	SIMVOL_HELD,	/* not to be cleaned: of an image */
};

/* Those of a placement, one for the user, one for metadata. */
#define SIMVOL_LOGS (SIMPLACE_CLASSES + 2u)

struct simvol_log {
	uint32_t segnum;	/* SIMVOL_NONE: none yet */
	uint32_t offset;
	bool fills;		/* the segment was full before */
};

/* What placements know of a segment. */
struct simvol_past {
	uint64_t opened;	/* when, in blocks that the user wrote */
	uint8_t log;
};

/* Times at which the user wrote data, which moving does not change. */
struct simvol_ages {
	uint64_t *of;		/* by block */
	uint64_t *sum;		/* by segment: of its live blocks */
	uint64_t *youngest;	/* by segment: of all its blocks */
	uint32_t *n;		/* by segment: live blocks */
};

/*
 * Holes: places of dead blocks.  What the last checkpoint needs may not be
 * written over, so a block that was written before it leaves a hole with the
 * next one only.
 */
struct simvol_holes {
	uint32_t *stamp;	/* by place: checkpoint in which it was written
				   or, where that is past, has died */
	uint32_t *waiting;	/* by segment: dead, but needed by the last
				   checkpoint */
	uint32_t *since;	/* ... when this was the one being made */
	/* The segment that LOG continues in, or -1. */
	int64_t (*choose)(void *arg, unsigned int log);
	void *arg;
};

/* Blocks, by what they are; only numbers of 64 bits. */
struct simvol_totals {
	uint64_t user;			/* that the user wrote */
	uint64_t written[SIMVOL_KINDS];	/* for the user; flushes of metadata */
	uint64_t summary;
	uint64_t moved[SIMVOL_KINDS];	/* by the cleaner */
	uint64_t held;			/* moved for snapshots or protection */
	uint64_t reclaimed[SIMVOL_KINDS];	/* dead ones of victims */
	uint64_t reclaimed_summary;
	uint64_t cleaned, skipped;	/* segments */
	uint64_t released;	/* the sum of the wear of all of them */
	uint64_t flushes, rounds;
	uint64_t filled;	/* blocks written into holes */
};

/* A layer of metadata: which block describes which, and which are dirty. */
struct simvol_layer {
	uint32_t base, count, fanout;
	uint64_t *dirty;	/* a bit per block */
	uint64_t *words;	/* a bit per word of these that is not 0 */
	uint32_t ndirty;
};

struct simvol {
	struct simvol_config config;
	uint32_t nlogical, nplaces;
	uint32_t *at;		/* by logical block: its place or NONE */
	uint32_t *owner;	/* by place: what was written there, or NONE */
	uint32_t *birth, *death;	/* by place: checkpoints, or NULL */
	struct policy_segment *segments;	/* .live is what policies see */
	uint32_t *needed;	/* by segment: would have to be moved */
	uint8_t *state;		/* by segment: enum simvol_state */
	uint32_t *wear;		/* by segment: times it was made clean */
	uint32_t *clean;	/* ring of clean segments, oldest first */
	uint32_t clean_first, nclean;
	struct simvol_log logs[SIMVOL_LOGS];
	struct simvol_layer layers[SIMVOL_KINDS];
	struct simplace place;
	struct simvol_past *past;	/* by segment */
	struct simvol_ages ages;	/* all NULL: none are kept */
	struct simvol_holes holes;	/* the same */
	uint64_t nwritten;	/* blocks of all segments */
	uint64_t ngarbage;	/* of full ones, not needed */
	uint64_t now;		/* blocks the user wrote */
	uint64_t start;		/* what that was at first */
	uint32_t cno;		/* checkpoint that is being made */
	uint32_t protect_cno;	/* the oldest that is protected */
	uint32_t *snapshots;	/* checkpoints, ascending */
	uint32_t nsnapshots;
	uint32_t nkept;		/* of these, the first ones: they never go */
	struct simvol_totals totals;
	uint64_t clock;		/* microseconds, of the user's operation */
	/* See simvol_notify(). */
	void (*changed)(void *arg, uint32_t segnum);
	void *changed_arg;
};

/*
 * An empty volume.  -EINVAL where CONFIG makes no sense, -ENOMEM.  To be
 * closed also then.
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

/* What segments that are written now have as their time. */
static inline uint64_t simvol_time(const struct simvol *v)
{
	if (v->config.clocked)
		return v->clock;
	return v->config.second ?
		       v->start + (v->now - v->start) / v->config.second :
		       v->now;
}

/* What logical block ID is. */
static inline enum simvol_kind simvol_kind_of(const struct simvol *v,
					      uint32_t id)
{
	if (id < v->config.data)
		return SIMVOL_DATA;
	return id < v->layers[SIMVOL_DAT].base ? SIMVOL_NODE : SIMVOL_DAT;
}

/* Writes data block ID to another place.  -ENOSPC. */
int simvol_write(struct simvol *v, struct context *cx, uint32_t id);

/* The user has no use for data block ID any more. */
void simvol_trim(struct simvol *v, uint32_t id);

/*
 * Puts ID, wherever it is, at the end of LOG.  What is written for the user is
 * born now; what is MOVED was born before.  -ENOSPC.
 */
int simvol_append(struct simvol *v, struct context *cx, unsigned int log,
		  uint32_t id, bool moved);

/*
 * The same for a block at PLACE that only the past needs: its copy has the same
 * life.
 */
int simvol_append_past(struct simvol *v, struct context *cx, unsigned int log,
		       uint32_t place);

/* The log that ID is to be written to now: see struct simplace_kind. */
unsigned int simvol_log_of(struct simvol *v, uint32_t id,
			   enum simplace_cause why);

/*
 * From now on there are ages of data (simchoice.c), by those of segments.
 * -ENOMEM.
 */
int simchoice_ages_open(struct simvol *v, struct context *cx);

/* Data block ID was at OLD (or NONE) and is now in SEGNUM, moved or new. */
void simchoice_ages_put(struct simvol *v, uint32_t id, uint32_t old,
			uint32_t segnum, bool moved);

/* Data block ID is no longer at OLD. */
void simchoice_ages_drop(struct simvol *v, uint32_t id, uint32_t old);

/* From now on there are holes (simpast.c). -ENOMEM. */
int simpast_holes_open(struct simvol *v, struct context *cx);

/* What was written to PLACE has died there. */
void simpast_holes_drop(struct simvol *v, uint32_t place);

/* Places of SEGNUM that are none. */
uint32_t simpast_holes_taken(const struct simvol *v, uint32_t segnum);

/* Counts what nwritten and ngarbage are. */
void simvol_count(struct simvol *v);

/* Whether a snapshot or the protection period needs what died at PLACE. */
bool simvol_is_held(const struct simvol *v, uint32_t place);

/* Victim SEGNUM, of which nothing is needed, becomes clean. */
void simvol_release(struct simvol *v, uint32_t segnum);

/* LOG goes on in another segment next time. */
void simvol_end_log(struct simvol *v, unsigned int log);

void simvol_set_state(struct simvol *v, uint32_t segnum,
		      enum simvol_state state);

/*
 * No block lost, none in two places, all counts what they should be, every
 * segment accounted for.  -EUCLEAN with what is wrong; -ENOMEM.
 */
int simcheck_volume(const struct simvol *v, struct context *cx);

/* The last complete checkpoint becomes a snapshot. -ENOMEM. */
int simpast_take(struct simvol *v, struct context *cx);

/* The oldest snapshot that may go is one no longer; nothing without one. */
void simpast_drop(struct simvol *v);

/* Checkpoints before CNO are protected no longer. */
void simpast_protect(struct simvol *v, uint32_t cno);

/*
 * The blocks of SEGNUM that are needed, by examining all its places: what its
 * count should be; *LIVE of them are of the latest state.
 */
uint32_t simpast_count(const struct simvol *v, uint32_t segnum, uint32_t *live);

/*
 * Sets up the layers by V's config, and V's nlogical.  -ENOMEM, -EINVAL.
 * simvol_close() closes them, as what the other two open.
 */
int simmeta_open(struct simvol *v, struct context *cx);

/* Block ID has another place: what describes it is dirty. */
void simmeta_touch_layers(struct simvol *v, uint32_t id, bool moved);

static inline void simmeta_touch(struct simvol *v, uint32_t id, bool moved)
{
	/* Most volumes have no metadata. */
	if (v->nlogical > v->config.data)
		simmeta_touch_layers(v, id, moved);
}

/* The cleaner moves metadata block ID: makes it dirty. */
void simmeta_move(struct simvol *v, uint32_t id);

/* Blocks that a flush would write. */
static inline uint64_t simmeta_dirty(const struct simvol *v)
{
	return (uint64_t)v->layers[SIMVOL_NODE].ndirty +
	       v->layers[SIMVOL_DAT].ndirty;
}

/*
 * Writes those nodes that are dirty of the COUNT data blocks from FIRST on,
 * which is no checkpoint: what fsync() does in f2fs. -ENOSPC.
 */
int simmeta_sync(struct simvol *v, struct context *cx, uint32_t first,
		 uint32_t count);

/* Writes what is dirty, and a checkpoint is complete. -ENOSPC. */
int simmeta_flush(struct simvol *v, struct context *cx);

#endif
