/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inodes that are marked free although they have blocks that live. */
#ifndef NILFS2_FSCK_OWNERS_H
#define NILFS2_FSCK_OWNERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "fsck/plan/fixers.h"

/*
 * Lists them, each once and ascending, N in *INOS, which the caller frees, after
 * a failure too.  Marks are those of the ifile of JOB's writer.  Reads the
 * summaries of all logs.  0, -ENOMEM, -EINTR.
 */
int owners_find(struct fixer_job *job, struct context *cx, uint64_t **inos,
		size_t *n);

#endif
