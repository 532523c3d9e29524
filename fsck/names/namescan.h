/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading all directories for a repair of names. */
#ifndef NILFS2_FSCK_NAMESCAN_H
#define NILFS2_FSCK_NAMESCAN_H

#include "base/context.h"

struct namefix;

/*
 * Reads all directories: counts the names of inodes, finds parents, and marks
 * the directories that must be written again.  -ENOMEM, -EINTR.
 */
int namescan_run(struct namefix *f, struct context *cx);

/*
 * Reads them once more where inodes are missed: looks for names of these where
 * entries should not be, and adds what it finds.  -ENOMEM, -EINTR.
 */
int namescan_search(struct namefix *f, struct context *cx);

#endif
