/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of the latest checkpoint, from which a writer continues. */
#ifndef NILFS2_LOG_INHERIT_H
#define NILFS2_LOG_INHERIT_H

#include "base/context.h"
#include "log/meta/metafile.h"

struct volume;
struct writer;

/* The inodes of the metadata files; NULL: they are new. */
struct inherit_inodes {
	const struct nilfs_inode *dat, *cpfile, *sufile, *ifile;
};

/* Opens the metadata files of W as these inodes have them. */
int inherit_files(struct writer *w, struct context *cx,
		  const struct inherit_inodes *from);

/*
 * What VOL and CP say of the metadata files, but those in REBUILT (bit INO) begin
 * without blocks.  Which checkpoints are snapshots is left to the caller.
 */
int inherit_metadata(struct writer *w, struct context *cx,
		     const struct volume *vol,
		     const struct nilfs_checkpoint *cp, unsigned int rebuilt);

/*
 * The same of the ifile alone, which is opened again, and of the counts that
 * CP has.
 */
int inherit_ifile(struct writer *w, struct context *cx,
		  const struct nilfs_checkpoint *cp);

/*
 * Copies the state of VOL: files, counts, snapshots, and the position of the
 * next log.  -EUCLEAN if logs without a super root are there.
 */
int inherit_volume(struct writer *w, struct context *cx, struct volume *vol);

#endif
