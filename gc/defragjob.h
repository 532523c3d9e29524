/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job of defragmentation: files in pieces are made contiguous. */
#ifndef NILFS2_GC_DEFRAGJOB_H
#define NILFS2_GC_DEFRAGJOB_H

#include "gc/job.h"

extern const struct job defragjob;

#endif
