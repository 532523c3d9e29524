/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job of comparing policies by what they would do. */
#ifndef NILFS2_GC_COMPAREJOB_H
#define NILFS2_GC_COMPAREJOB_H

#include "gc/job.h"

extern const struct job comparejob;

#endif
