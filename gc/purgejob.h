/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job of purging: no unused block can be read any more. */
#ifndef NILFS2_GC_PURGEJOB_H
#define NILFS2_GC_PURGEJOB_H

#include "gc/job.h"

extern const struct job purgejob;

#endif
