/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checksum over all blocks of a log.
 */
#ifndef NILFS2_CHECK_LOGDATA_H
#define NILFS2_CHECK_LOGDATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "disk/geometry.h"
#include "disk/ondisk.h"
#include "vol/summary.h"

/* A buffer of one worker; start with { 0 }. */
struct logdata {
	char *buf;
};

void logdata_free(struct logdata *d);

/*
 * Reads the whole log at block PSEG of DEV, whose header SS fits its segment: 1
 * if its checksum matches, 0 if not, -EIO, -ENOMEM.
 */
int logdata_is_right(struct logdata *d, struct context *cx, struct dev *dev,
		     const struct nilfs_geometry *geo, uint64_t pseg,
		     const struct nilfs_segment_summary *ss);

/* Whether block BLOCKNR can be read: 1, 0, after the above. */
int logdata_can_read(struct logdata *d, struct context *cx, struct volume *vol,
		     uint64_t blocknr);

#define LOGDATA_FILES_MAX 160

/* "inodes 5, 12, 13 and more": the owners of blocks in the log of SUMMARY. */
void logdata_files(const struct summary *summary,
		   char text[LOGDATA_FILES_MAX]);

#endif
