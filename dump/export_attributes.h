/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Owner, mode and times of files in the directory of an export. */
#ifndef NILFS2_DUMP_EXPORT_ATTRIBUTES_H
#define NILFS2_DUMP_EXPORT_ATTRIBUTES_H

#include "dump/export_sink.h"

/*
 * Sets owner, mode and times of NAME in FD, or of FD itself where NAME is
 * empty, in this order: a change of the owner takes the set-ID bits away.
 * What is not allowed or does not fit is counted in TALLY.  Returns as the
 * ops of a sink do.
 */
int export_attributes_set(struct export_tally *tally, struct context *cx,
			  int fd, const char *name,
			  const struct nilfs_inode *inode);

/* The errno of a call on a file of the target, as the ops of a sink return. */
int export_attributes_failed(struct context *cx, const char *what);

#endif
