/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every change that gc.nilfs2 makes is one more log, and ends with its name. */
#ifndef NILFS2_GC_ONELOG_H
#define NILFS2_GC_ONELOG_H

#include <stdint.h>

#include "base/context.h"
#include "log/writer.h"
#include "vol/volume.h"

/*
 * Commits W, a writer of VOL, and writes superblocks of TIME (seconds) that
 * name its last log.  Until then nothing has changed.  Fails as
 * writer_commit() and newsupers_name().
 */
int onelog_commit(struct writer *w, struct context *cx, struct volume *vol,
		  uint64_t time, struct writer_end *end);

#endif
