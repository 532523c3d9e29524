/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tar archive, compressed or not, as the source of a layer. */
#ifndef NILFS2_MKFS_TARSOURCE_H
#define NILFS2_MKFS_TARSOURCE_H

#include "mkfs/populate/populate.h"

/*
 * Adds all members of the archive PATH ("-": standard input) to P, in the order of the
 * archive, reading it once.  -EOPNOTSUPP without libarchive, in the build or on the
 * machine; -EINVAL if PATH is not an archive or is damaged, or, before anything is
 * added, if it is what differs from another state than the latest one of BASE (NULL:
 * no matter).
 */
int tarsource_run(struct context *cx, const char *path,
		  const struct entry_rules *rules, struct volume *base,
		  struct populate *p);

#endif
