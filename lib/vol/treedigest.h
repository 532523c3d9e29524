/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether two volumes have the same files, by a number for each. */
#ifndef NILFS2_VOL_TREEDIGEST_H
#define NILFS2_VOL_TREEDIGEST_H

#include "base/context.h"
#include "vol/root.h"

#define TREEDIGEST_TEXT 33 /* with the NUL */

/* The comment of the first member of a tar archive with the differences from a state
   begins with this key, before the digest of that state. */
#define TREEDIGEST_KEY "NILFS2.since="

/*
 * Writes the digest of all files of ROOT to TEXT, as hexadecimal digits: names, types,
 * modes, owners, modification times, sizes, device numbers, and which names are one
 * file.  Contents, targets of symbolic links and sockets do not count, nor what differs
 * between two volumes that were made of one archive: inode numbers, times of inodes,
 * sizes of directories.  Reads all directories and inodes.  Fails where one of them
 * cannot be read: -EUCLEAN, -EIO, -ENOMEM, -EINTR.
 */
int treedigest_run(struct context *cx, struct root *root,
		   char text[TREEDIGEST_TEXT]);

#endif
