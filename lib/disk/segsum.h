/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The segment summary: the header of a log and the list of its blocks. */
#ifndef NILFS2_DISK_SEGSUM_H
#define NILFS2_DISK_SEGSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/geometry.h"
#include "disk/ondisk.h"
#include "disk/rule.h"

/*
 * Checks a log at block START with the expected sequence number SEQ as the kernel
 * does, except for its datasum: nilfs_validate_log(), and the end of the segment as
 * in nilfs_search_super_root().  The kernel ignores the rest of the header.
 */
enum rule segsum_check_kernel(const struct nilfs_geometry *g,
			      const struct nilfs_segment_summary *ss,
			      uint64_t start, uint64_t seq);

/*
 * Checks the log at block START for decoding: magic, and sizes and counts that fit
 * each other and the segment.  The functions below may be used only after RULE_OK.
 */
enum rule segsum_check(const struct nilfs_geometry *g,
		       const struct nilfs_segment_summary *ss, uint64_t start);

/* Checks for unknown flags, and that ss_next is the beginning of a segment. */
enum rule segsum_check_links(const struct nilfs_geometry *g,
			     const struct nilfs_segment_summary *ss);

/* The number of blocks of the summary. */
uint32_t segsum_nsumblk(const struct nilfs_geometry *g,
			const struct nilfs_segment_summary *ss);

/* True if the last block of the log is a super root. */
bool segsum_has_super_root(const struct nilfs_segment_summary *ss);

/* Whether the header contains ss_cno; older ones end before it. */
bool segsum_has_cno(const struct nilfs_segment_summary *ss);

/* ss_cno, or 0 in an older header that has none. */
uint64_t segsum_cno(const struct nilfs_segment_summary *ss);

/* The checksums of a log: of its summary, and of all its blocks. */
enum segsum_sum {
	SEGSUM_SUMSUM,
	SEGSUM_DATASUM,
};

/*
 * A checksum, computed while the bytes of the log are passed.  After the last byte that
 * it covers (later ones are ignored) `left` is 0 and `sum` is final.
 */
struct segsum_crc {
	enum segsum_sum kind;
	uint32_t sum;
	uint32_t skip;		/* bytes still to be skipped */
	uint64_t left;		/* bytes still to be summed */
};

/* Begins with the first byte of the log. */
void segsum_crc_init(struct segsum_crc *crc, enum segsum_sum kind,
		     const struct nilfs_geometry *g,
		     const struct nilfs_segment_summary *ss);
void segsum_crc_update(struct segsum_crc *crc, const void *buf, size_t len);

/* RULE_LOG_SUMSUM, RULE_LOG_DATASUM, or RULE_OK; all bytes must have been passed. */
enum rule segsum_crc_check(const struct segsum_crc *crc,
			   const struct nilfs_segment_summary *ss);

/* One block of the payload as listed in the summary. */
struct segsum_block {
	uint64_t ino;
	uint64_t cno;		/* fi_cno */
	uint64_t vblocknr;	/* 0 in the DAT file */
	uint64_t blkoff;	/* 0 for a node outside the DAT file */
	uint32_t index;		/* its block offset in the log */
	uint32_t finfo;		/* index of its file in the log */
	uint32_t file_nblocks;	/* fi_nblocks */
	uint32_t file_ndatablk;	/* fi_ndatablk */
	uint32_t file_block;	/* index of this block in the file's list */
	uint8_t level;		/* 0 for data; for a node in the DAT file its
				   level, otherwise 1 (unknown) */
	bool is_node;
	bool is_virtual;
};

/* A walk through the blocks that a summary lists. */
struct segsum_iter {
	enum rule verdict;	/* why the walk ended; RULE_OK: complete */
	const uint8_t *buf;
	uint32_t block_size;
	uint32_t offset;	/* of the next item in buf */
	uint32_t sumbytes;
	uint32_t index;		/* payload block of the next item */
	uint32_t end;		/* one past the last payload block */
	uint32_t finfo_left;
	struct segsum_block block;	/* of the current file */
};

/*
 * Begins a walk.  BUF contains the summary blocks of a log whose header passed
 * segsum_check().  With LEN less than segsum_nsumblk() blocks the walk ends early
 * with RULE_LOG_TRUNCATED.
 */
void segsum_iter_init(struct segsum_iter *it, const struct nilfs_geometry *g,
		      const void *buf, size_t len);

/*
 * Gets the next block: 1, or 0 at the end with a verdict in IT.  Never reads outside
 * BUF, and ends after at most ss_nblocks steps.  Items do not cross the end of a
 * block: nilfs_read_summary_info().
 */
int segsum_iter_next(struct segsum_iter *it, struct segsum_block *block);

/* Items of COUNT data blocks of a file, from INDEX on in the log. */
struct segsum_run {
	const struct nilfs_binfo_v *items;	/* in the buffer */
	uint32_t index;
	uint32_t count;
};

/*
 * Gets the following data blocks of the current file, if they have virtual numbers,
 * as far as their items are contiguous; returns their number.  0 if the next block
 * is of another kind, or there is none.
 */
uint32_t segsum_iter_run(struct segsum_iter *it, struct segsum_run *run);

#endif
