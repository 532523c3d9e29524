/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device that is to be checked. */
#ifndef NILFS2_FSCK_TARGET_H
#define NILFS2_FSCK_TARGET_H

#include "cli/tool.h"
#include "dev/dev.h"
#include "fsck/options.h"

/*
 * Opens the device PATH for what O asks: to be read, or to be written to, where
 * that can be.  One that is mounted is only read, and refused (-EBUSY) with -y;
 * one that is mounted and may be written to is refused unless O says that
 * nothing is to be changed; the user is then warned.  *DEVP is closed with
 * dev_close().  Fails as devfile_open() too.
 */
int target_open(struct dev **devp, struct tool *tool, const char *path,
		const struct options *o);

#endif
