/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job of giving back space that nothing is in: images become sparse. */
#ifndef NILFS2_GC_PUNCHJOB_H
#define NILFS2_GC_PUNCHJOB_H

#include "gc/job.h"

extern const struct job punchjob;

#endif
