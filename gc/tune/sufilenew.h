/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The segment usage file rebuilt, with entries of another size. */
#ifndef NILFS2_GC_SUFILENEW_H
#define NILFS2_GC_SUFILENEW_H

#include <stdint.h>

#include "base/context.h"
#include "log/writer.h"
#include "vol/liveness.h"
#include "vol/volume.h"

/*
 * Fills the SUFILE of W, which repairwriter_open() began without blocks, from
 * OLD: the same volume, opened with the old entry size, whose blocks end.  If
 * the entries of W have counts of live blocks these are those of LIVE, as of
 * TIME, and exact.  -EUCLEAN, -EIO, -ENOMEM.
 */
int sufilenew_fill(struct writer *w, struct context *cx, struct volume *old,
		   const struct liveness *live, uint64_t time);

#endif
