/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Versions of the blocks of files, as the summaries of logs list them.
 *
 * The account of losses reads logs only here.
 */
#ifndef NILFS2_FSCK_VERSIONS_H
#define NILFS2_FSCK_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "check/logs/logindex.h"

struct volume;

/* One data block of a file, as it was written once or moved to. */
struct version {
	uint64_t ino, blkoff;
	uint64_t cno; /* written with; 0: not known */
	uint64_t vblocknr;
	uint64_t blocknr; /* on the device */
	uint64_t seq;	  /* of the log; greater is newer */
	bool is_suspect;  /* the checksum of the log does not match */
};

struct version_range {
	uint64_t first, end; /* inode numbers */
};

struct versions {
	struct volume *vol;
	struct logindex *logs;
	const struct bitmap *used; /* segments in use; no bits: not known */
	/* Wanted: of these inodes, or written with a checkpoint past BEYOND. */
	struct version_range *ranges;
	size_t nranges, ranges_room;
	uint64_t beyond; /* the checksums of these logs are checked */
	struct version *items;
	size_t n, room;
	uint64_t newest; /* the newest checkpoint of any log */
	bool gathered;
};

/* Nothing is wanted of VOL, borrowed, with segments USED (may be empty), whose
   LOGS have an index. */
void versions_init(struct versions *v, struct volume *vol,
		   struct logindex *logs, const struct bitmap *used);
void versions_fini(struct versions *v);

/* Wants inodes from FIRST on, below END.  -ENOMEM past the memory budget. */
int versions_want(struct versions *v, struct context *cx, uint64_t first,
		  uint64_t end);

/*
 * Reads all logs with a valid summary, of segments in use or not, and sorts the
 * wanted blocks.  Unreadable logs are left out.  -ENOMEM, -EINTR.
 */
int versions_gather(struct versions *v, struct context *cx);

/* Index of the first version of block BLKOFF of inode INO, or of a later
   block: newest first for each block; v->n where there is none. */
size_t versions_from(const struct versions *v, uint64_t ino, uint64_t blkoff);

/* Number I of the versions, where that is one of block BLKOFF of inode INO, or
   NULL: these are all from versions_from() on. */
const struct version *versions_at(const struct versions *v, size_t i,
				  uint64_t ino, uint64_t blkoff);

/* The log of VOL, with index IX, that has block BLOCKNR, of any use of its
   segment: false where none is known. */
bool versions_log(struct logindex *ix, struct context *cx, struct volume *vol,
		  uint64_t blocknr, struct logindex_segment *s,
		  struct logindex_log *log);

/* What a log says of block BLOCKNR of the device, if any lists it. */
bool versions_listed(const struct versions *v, struct context *cx,
		     uint64_t blocknr, struct segsum_block *b);

#endif
