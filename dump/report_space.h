/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The use of space on a volume, in a report. */
#ifndef NILFS2_DUMP_REPORT_SPACE_H
#define NILFS2_DUMP_REPORT_SPACE_H

#include "cli/tool.h"
#include "dump/common/image.h"

/*
 * Reports sums over all segments and their utilization; on a page as drawings, with
 * a map of the segments.  A failure to read is reported and sets the exit status
 * that is returned.  Fails as liveness_count().
 */
int report_space_put(struct tool *tool, const struct dump_image *im);

/*
 * Reports the files of the latest state; every block map is read.  A file that
 * cannot be read is reported and sets the exit status that is returned.  Fails as
 * root_open() and tree_open().
 */
int report_space_files(struct tool *tool, const struct dump_image *im);

#endif
