/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making both superblocks name the latest log. */
#ifndef NILFS2_GC_NAMELATEST_H
#define NILFS2_GC_NAMELATEST_H

#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"

/* Makes it so, at TIME (seconds).  As target_check_volume(), -EIO, -ENOMEM. */
int namelatest_run(struct context *cx, struct dev *dev, uint64_t time);

#endif
