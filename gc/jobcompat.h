/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What may be asked for together. */
#ifndef NILFS2_GC_JOBCOMPAT_H
#define NILFS2_GC_JOBCOMPAT_H

#include "base/context.h"
#include "gc/options.h"

/* -EINVAL, naming them, where two of the OPTIONS exclude each other. */
int jobcompat_check(struct context *cx, const struct options *options);

#endif
