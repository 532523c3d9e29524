/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The findings of a check, in a report. */
#ifndef NILFS2_DUMP_REPORT_CHECK_H
#define NILFS2_DUMP_REPORT_CHECK_H

#include "cli/tool.h"
#include "dev/dev.h"

/*
 * Checks the volume on DEV as `fsck.nilfs2 -n` does, and reports the findings
 * and their number.  -ENOMEM, -EINTR.
 */
int report_check_put(struct tool *tool, struct dev *dev);

#endif
