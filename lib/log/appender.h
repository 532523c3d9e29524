/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The log that is being filled, and the logs held back after it. */
#ifndef NILFS2_LOG_APPENDER_H
#define NILFS2_LOG_APPENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/geometry.h"
#include "log/meta/metafile.h"
#include "log/tables/dattable.h"
#include "log/tables/segments.h"
#include "log/write/loglayout.h"
#include "log/write/logout.h"
#include "log/write/payload.h"

/* COUNT virtual blocks from FIRST on are at INDEX of a payload. */
struct appender_place {
	uint64_t first;
	uint32_t index;
	uint32_t count;
	bool moved;		/* they had a position before */
};

/*
 * A block of a metadata file.  Its payload, to which the log has a reference,
 * gets its content when the log is closed.
 */
struct appender_meta {
	struct metafile *m;
	struct metafile_block block;
	uint32_t index;
	struct payload *payload;
	size_t at;
};

struct appender_log {
	struct appender_log *next;
	struct loglayout layout;
	uint64_t segnum, nextnum, seq;
	uint64_t start;			/* its first block */
	uint16_t flags;
	struct logout_run *runs;
	size_t nruns, runs_room;
	struct appender_place *places;
	size_t nplaces, places_room;
	struct appender_meta *metas;
	size_t nmetas, metas_room;
};

#define APPENDER_ANY UINT64_MAX

struct appender {
	const struct nilfs_geometry *g;
	struct logout *out;
	struct segments *segments;	/* these three are borrowed */
	struct dattable *dat;
	struct metafile *dat_file;
	uint64_t cno, time;
	uint32_t log_blocks;		/* maximum blocks of a log */
	uint16_t flags;			/* ss_flags of every log */
	/*
	 * The segment being written and the offset of the next log in it.  The
	 * segment after it may be APPENDER_ANY: it is allocated when needed.
	 */
	uint64_t segnum, nextnum, seq;
	uint32_t offset;
	bool first;			/* no log has begun yet */
	bool holding;			/* hold full logs back */
	struct appender_log *log;	/* open, or NULL */
	struct appender_log *held, **held_end;
	uint64_t blocks;		/* blocks of closed and held logs */
	uint64_t summaries;		/* of these, blocks of summaries */
	uint64_t last;			/* first block of the last of them */
};

/* A metadata file and the checkpoint number that its finfo records. */
struct appender_file {
	struct metafile *m;
	uint64_t ino;
	uint64_t cno;			/* fi_cno */
};

/*
 * Makes sure that the segments of the next log and of the log after it are
 * allocated and entered in the SUFILE.  -ENOSPC.
 */
int appender_settle(struct appender *a, struct context *cx);

/*
 * How many blocks of the next file fit into the open log, or the one that would
 * be opened; into a log that begins after it in the same segment; or into a log
 * of a whole segment.  0: none.
 */
enum appender_where { APPENDER_OPEN, APPENDER_NEXT, APPENDER_SEGMENT };

uint64_t appender_room(const struct appender *a, enum appender_where where);

/*
 * Lists as many blocks of RUN, which are those of PAYLOAD from AT on, as fit
 * into the open log; begins a log if none is open.  *DONE is the number listed.
 * With MOVED they keep their virtual numbers and get new positions.
 */
int appender_list(struct appender *a, struct context *cx,
		  const struct loglayout_run *run, struct payload *payload,
		  uint64_t at, bool moved, uint32_t *done);

/*
 * Lists N dirty blocks of a metadata file, in as many logs as needed; with HERE
 * only as many as fit into the rest of the open log.
 */
int appender_list_file(struct appender *a, struct context *cx,
		       const struct appender_file *file,
		       const struct metafile_block *blocks, size_t n,
		       bool here);

/*
 * Lists a super root at the end of the open log, or of a new one.  *BLOCK is
 * its memory, which the caller fills in.
 */
int appender_list_super_root(struct appender *a, struct context *cx,
			     void **block);

/*
 * Ends the open log.  Unless logs are held it is closed: positions are entered
 * in the DAT, the content of metadata is taken, and the log is submitted.
 */
int appender_end_log(struct appender *a, struct context *cx);

/* Ends the segment; the rest of it stays unused. */
int appender_leave_segment(struct appender *a, struct context *cx);

/* Ends the segment unless N blocks and their summaries fit into the rest of it. */
int appender_keep_together(struct appender *a, struct context *cx, uint64_t n);

/*
 * Enters the block positions of the log FIRST, which is full, and of all after it: in
 * the DAT and the SUFILE, and those of DAT blocks then in the map of the DAT.
 */
int appender_enter(struct appender *a, struct context *cx,
		   const struct appender_log *first);

/* Closes and submits the held logs, whose positions were entered. */
int appender_submit(struct appender *a, struct context *cx);

/* Frees logs that were not submitted. */
void appender_fini(struct appender *a);

#endif
