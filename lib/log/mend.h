/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A writer for a volume whose metadata is to be mended.
 *
 * writer_open() believes the volume; a repair knows better.  What is known
 * replaces what the volume says; then the metadata files of the new checkpoint
 * are changed block by block, and in the end the writer is told to look at
 * them again.
 */
#ifndef NILFS2_LOG_MEND_H
#define NILFS2_LOG_MEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "log/metafile.h"
#include "log/writer.h"

/* Bits of mend_known.anew: the file begins without blocks. */
#define MEND_ANEW(ino) (1u << (ino))

struct mend_known {
	/*
	 * True for a segment that may not be taken whatever the SUFILE says:
	 * something on the volume lives in it.  Borrowed during the writer's
	 * life.
	 */
	bool (*unusable)(void *arg, uint64_t segnum);
	void *arg;
	/*
	 * Metadata files whose map or content is of no use.  Their old blocks
	 * are not ended: nobody knows which they were.
	 */
	unsigned int anew;
	/* The log goes into a new segment, not behind the latest one. */
	bool fresh_segment;
	uint64_t seq;		/* of that segment; 0: the latest's plus 1 */
	/* The inode of the ifile and the counts that the new checkpoint begins
	   with; NULL: those of the latest one. */
	const struct nilfs_checkpoint *from;
};

/*
 * As writer_open(), but by KNOWN; what it does not say is believed.  Logs
 * behind the latest super root are no reason to refuse: they are given up
 * unless the caller rolled them forward.
 */
int mend_open(struct writer **wp, struct context *cx, struct volume *vol,
	      const struct writer_options *options,
	      const struct mend_known *known);

/*
 * The metadata file INO (DAT, cpfile, SUFILE, ifile) of the new checkpoint,
 * to be changed; the writer's, not to be closed.
 */
struct metafile *mend_file(struct writer *w, uint64_t ino);

/*
 * To be called when blocks of the DAT, the SUFILE or the cpfile were changed
 * by hand, before anything else is asked of W: forgets what W knew of free
 * numbers, counts of segments and snapshots, and reads it again from the
 * changed files.
 */
int mend_changed(struct writer *w, struct context *cx);

/* cp_inodes_count and cp_blocks_count that the new checkpoint goes on from. */
void mend_counts(struct writer *w, uint64_t inodes, uint64_t blocks);

/* Virtual block VBLOCKNR, of a file of KIND, is part of it no longer. */
int mend_end(struct writer *w, struct context *cx, uint64_t vblocknr,
	     enum metafile_kind kind);

#endif
