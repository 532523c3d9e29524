/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a writer takes over from the latest checkpoint of a volume. */
#ifndef NILFS2_LOG_INHERIT_H
#define NILFS2_LOG_INHERIT_H

#include "base/context.h"
#include "log/metafile.h"

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
 * What VOL and CP say of the metadata files, but those in ANEW (bit INO) begin
 * without blocks.  Which checkpoints are snapshots is left to the caller.
 */
int inherit_metadata(struct writer *w, struct context *cx,
		     const struct volume *vol,
		     const struct nilfs_checkpoint *cp, unsigned int anew);

/*
 * The same of the ifile alone, which is opened again, and of the counts that
 * CP has.
 */
int inherit_ifile(struct writer *w, struct context *cx,
		  const struct nilfs_checkpoint *cp);

/*
 * The state of VOL (not kept): files, counts, snapshots, and where the next
 * log goes.  -EUCLEAN where logs without a super root lie there.
 */
int inherit_volume(struct writer *w, struct context *cx, struct volume *vol);

#endif
