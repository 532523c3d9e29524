/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `set` and the shell share: a device that may be changed. */
#ifndef NILFS2_DUMP_SET_H
#define NILFS2_DUMP_SET_H

#include "cli/tool.h"
#include "dev/dev.h"

/*
 * Opens the device PATH for changes of its volume, closed with dev_close(), after a
 * failure too: -EBUSY if it is in use, -EINVAL if it has another signature; fails as
 * devfile_open().
 */
int set_open_device(struct dev **devp, struct tool *tool, const char *path);

/*
 * Writes all changes of OVERLAY to the device underneath, the superblocks last, and
 * drops them.  If that fails, the old content is written back, and the changes stay.
 */
int set_write_all(struct tool *tool, struct dev *overlay);

#endif
