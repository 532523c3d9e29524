/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job of compaction: all that lives goes to the front. */
#ifndef NILFS2_GC_COMPACTJOB_H
#define NILFS2_GC_COMPACTJOB_H

#include "gc/job.h"

extern const struct job compactjob;

#endif
