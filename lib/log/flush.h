/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When metadata is written before the end of the checkpoint.
 */
#ifndef NILFS2_LOG_FLUSH_H
#define NILFS2_LOG_FLUSH_H

#include "base/context.h"

struct writer;

/* Lists metadata if enough of it is collected or changed. */
int flush_if_due(struct writer *w, struct context *cx);

/* Fills what is left of the open log with what there is. */
int flush_here(struct writer *w, struct context *cx);

/* Lists all that was collected (blocks of files and directories). */
int flush_collected(struct writer *w, struct context *cx);

#endif
