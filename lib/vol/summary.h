/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading the summary of a log: the owner of each block.
 */
#ifndef NILFS2_VOL_SUMMARY_H
#define NILFS2_VOL_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/segsum.h"

struct volume;

/* Reuses its buffer for all logs; initialize with { 0 }. */
struct summary {
	struct volume *vol;
	uint64_t pseg;
	char *buf;
	size_t capacity;
	struct segsum_iter iter;
};

/*
 * Reads all summary blocks of the log at PSEG with header SS, which must lie inside
 * its segment.  -EUCLEAN for a damaged summary, -ENOMEM if it does not fit the
 * memory budget, -EIO.
 */
int summary_read(struct summary *s, struct context *cx, struct volume *vol,
		 uint64_t pseg, const struct nilfs_segment_summary *ss);

/* Steps over the payload: 1 and *B, 0 at the end, -EUCLEAN. */
int summary_next(struct summary *s, struct context *cx,
		 struct segsum_block *b);

#define SUMMARY_FILES_MAX 160

/* Writes "inodes 5, 12, 13 and more", the owners of the blocks; S is not advanced. */
void summary_files(const struct summary *s, char text[SUMMARY_FILES_MAX]);

void summary_free(struct summary *s);

#endif
