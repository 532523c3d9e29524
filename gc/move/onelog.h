/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The common end of all changes: a log and superblocks that name it. */
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

/* Changes the metadata of W: 0, or a failure, which drops all changes. */
typedef int onelog_change(void *arg, struct context *cx, struct writer *w);

/*
 * Appends one log to VOL, with OPTIONS and the changes of CHANGE; *END is its
 * result.  Fails as onelog_commit(), directwriter_open() and CHANGE.
 */
int onelog_append(struct context *cx, struct volume *vol,
		  const struct writer_options *options, onelog_change *change,
		  void *arg, struct writer_end *end);

/*
 * Sets *END for superblocks that name the latest log of VOL.  -EUCLEAN, -EIO.
 */
int onelog_latest(struct writer_end *end, struct context *cx,
		  struct volume *vol);

#endif
