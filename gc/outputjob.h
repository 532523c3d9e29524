/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job of writing a compact copy. */
#ifndef NILFS2_GC_OUTPUTJOB_H
#define NILFS2_GC_OUTPUTJOB_H

#include "gc/job.h"

extern const struct job outputjob;

#endif
