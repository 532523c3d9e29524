/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A volume for tests of the checker: a snapshot, and a checkpoint over it. */
#ifndef NILFS2_TESTS_FSCK_VOLUME_H
#define NILFS2_TESTS_FSCK_VOLUME_H

#include "log_volume.h"

#define FSCK_VOLUME_FILES 40u

/*
 * Checkpoint 1, a snapshot, has FSCK_VOLUME_FILES files of 1, 2, 3... blocks;
 * *FIRST, if not NULL, is a copy of what they are then, to be freed.  In
 * checkpoint 2 every fourth has other content, and the second is removed.
 * Opened with log_volume_init() in any case.  0, or a failure.
 */
int fsck_volume_make(struct log_volume *v, struct log_file **first);

#endif
