/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of the chain of logs. */
#ifndef NILFS2_LOG_LINEEND_H
#define NILFS2_LOG_LINEEND_H

#include "base/context.h"
#include "dev/dev.h"
#include "log/writer.h"

/*
 * Makes sure that no old log on DEV with layout G is taken for the successor of
 * the log of END: neither after it in its segment nor at the beginning of the
 * next segment.  Both areas are free.  0, -EIO.
 */
int lineend_make(struct dev *dev, struct context *cx,
		 const struct nilfs_geometry *g, const struct writer_end *end);

#endif
