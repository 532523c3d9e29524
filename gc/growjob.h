/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job of growing: the volume becomes larger, and an image file first. */
#ifndef NILFS2_GC_GROWJOB_H
#define NILFS2_GC_GROWJOB_H

#include "gc/job.h"

extern const struct job growjob;

#endif
