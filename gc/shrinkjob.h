/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job of shrinking: the volume becomes smaller, and an image file too. */
#ifndef NILFS2_GC_SHRINKJOB_H
#define NILFS2_GC_SHRINKJOB_H

#include "gc/job.h"

extern const struct job shrinkjob;

#endif
