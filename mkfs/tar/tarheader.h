/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The attributes of a file from the header of its member. */
#ifndef NILFS2_MKFS_TARHEADER_H
#define NILFS2_MKFS_TARHEADER_H

#include "arc/libarchive.h"
#include "mkfs/tar/tarreader.h"

/*
 * Sets M's entry, all but the size, and its losses by the header E.  NULL, or
 * a text that says what no file can have.
 */
const char *tarheader_take(const struct libarchive *la,
			   struct archive_entry *e, struct tarmember *m);

#endif
