/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device that is to be checked. */
#ifndef NILFS2_FSCK_TARGET_H
#define NILFS2_FSCK_TARGET_H

#include <stdbool.h>

#include "cli/tool.h"
#include "dev/dev.h"
#include "dev/output.h"
#include "fsck/plan/options.h"

struct target {
	struct dev *dev;	/* with its zones, where it has some */
	struct dev *under;	/* what that is over, or NULL */
	struct dev *file;	/* at the bottom, may be the same as DEV */
	struct dev *source;	/* where FILE is a copy of it; or NULL */
	struct dev *container;	/* the file that SOURCE is a disk in, or NULL */
	struct output *copy;	/* that file, to be committed, or NULL */
	bool unread;		/* some areas are known to be unreadable */
};

/*
 * Opens the device PATH for what O asks: to be read, or to be written to,
 * where that can be.  One that is mounted is only read, and refused (-EBUSY)
 * with -y; one that is mounted and may be written to is refused unless O says
 * that nothing is to be changed; the user is then warned.  Zones are those of
 * a host-managed device, or of the file beside an image; where they cannot be
 * listed the device is only read.  With an output file that is what is opened,
 * a copy of the device, which is only read.  -EOPNOTSUPP for undo files on
 * zones.  Fails as devfile_open() too.  T is closed with target_close(), also
 * after a failure.
 */
int target_open(struct target *t, struct tool *tool, const char *path,
		const struct options *o);
void target_close(struct target *t);

/*
 * Makes the new file FILE a sparse copy of SOURCE, opened to be written as
 * *COPY, with *BAD over it: what SOURCE, or BAD areas of MAP (NULL: none),
 * cannot give is unreadable there.  Prints how much that is.  -ENOSPC, -EINTR,
 * as devfile_create().
 */
int target_copy(struct dev **copy, struct dev **bad, struct tool *tool,
		struct dev *source, const struct output *file,
		const char *map);

#endif
