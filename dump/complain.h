/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reporting a file of the volume that could not be read, before continuing. */
#ifndef NILFS2_DUMP_COMPLAIN_H
#define NILFS2_DUMP_COMPLAIN_H

#include "cli/tool.h"

/*
 * Warns that PATH (LEN bytes, from the disk) failed with ERR, a negative
 * errno, and the failure text, which is then forgotten.
 */
void complain(struct tool *tool, const char *path, size_t len, int err);

#endif
