/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job of giving a volume features, or taking them away. */
#ifndef NILFS2_GC_FEATUREJOB_H
#define NILFS2_GC_FEATUREJOB_H

#include "gc/job.h"

extern const struct job featurejob;

#endif
