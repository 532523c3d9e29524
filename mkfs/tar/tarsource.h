/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tar archive, compressed or not, as the source of a layer. */
#ifndef NILFS2_MKFS_TARSOURCE_H
#define NILFS2_MKFS_TARSOURCE_H

#include "mkfs/populate/populate.h"

/*
 * Puts all members of the archive PATH ("-": standard input) into P, in the
 * order of the archive, reading it once.  -EOPNOTSUPP in a build or on a
 * machine without libarchive, -EINVAL for no archive or a broken one.
 */
int tarsource_run(struct context *cx, const char *path,
		  const struct entry_rules *rules, struct populate *p);

#endif
