/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of an archive that are read as a whole before they are placed. */
#ifndef NILFS2_MKFS_SPOOL_H
#define NILFS2_MKFS_SPOOL_H

#include "log/newfile.h"
#include "log/write/payload.h"
#include "mkfs/tar/tarreader.h"

/* An array that grows. */
struct spool_runs {
	struct newfile_run *runs;
	size_t room, n;
};

/*
 * Reads member M of R to its end: its blocks that are not zeros are in *RUNS
 * and, as *PAYLOAD, NULL if there are none.  Fails as tarreader_read() and
 * tempfile_write().
 */
int spool_member(struct context *cx, struct tarreader *r,
		 const struct tarmember *m, uint32_t block_size,
		 struct spool_runs *runs, struct payload **payload);

#endif
