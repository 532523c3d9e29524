/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing the metadata of a checkpoint after its data. */
#ifndef NILFS2_LOG_COMMIT_H
#define NILFS2_LOG_COMMIT_H

#include "base/context.h"
#include "log/writer.h"

/* What writer_commit() does. */
int commit_run(struct writer *w, struct context *cx, struct writer_end *end);

#endif
