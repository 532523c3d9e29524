/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Content of a file that comes out of an archive.
 *
 * An archive is read once, from front to back.  As long as a member is the
 * current one, whoever fills a chunk with a part of it reads the archive;
 * before the next member begins the rest is read into memory.
 */
#ifndef NILFS2_MKFS_TARPAYLOAD_H
#define NILFS2_MKFS_TARPAYLOAD_H

#include "log/payload.h"
#include "mkfs/tarreader.h"

/* The content of M, the current member of R; NULL where there is no memory. */
struct payload *tarpayload_make(struct tarreader *r, const struct tarmember *m,
				uint32_t block_size);

/*
 * Reads what nobody has asked for yet, so that the next member can be looked
 * at.  The payload then has no more to do with the archive, also where this
 * fails.
 */
int tarpayload_finish(struct payload *p, struct context *cx);

/* Gives up what was not read: who asks for it gets a failure. */
void tarpayload_drop(struct payload *p);

#endif
