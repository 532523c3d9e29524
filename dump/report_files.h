/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The largest and the most fragmented files, in a report. */
#ifndef NILFS2_DUMP_REPORT_FILES_H
#define NILFS2_DUMP_REPORT_FILES_H

#include "cli/tool.h"
#include "dump/image.h"

/*
 * Reports the files of the latest state, of which every block map is read.  A
 * file that cannot be read is reported and in the exit status that is
 * returned; failures as root_open() and tree_open().
 */
int report_files_put(struct tool *tool, const struct dump_image *im);

#endif
