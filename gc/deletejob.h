/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job of deleting checkpoints, as rmcp(8) does. */
#ifndef NILFS2_GC_DELETEJOB_H
#define NILFS2_GC_DELETEJOB_H

#include "gc/job.h"

extern const struct job deletejob;

#endif
