/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether the kernel would mount a volume for writing, and lose nothing. */
#ifndef NILFS2_VOL_WRITABLE_H
#define NILFS2_VOL_WRITABLE_H

#include "base/context.h"
#include "vol/volume.h"

/*
 * -EUCLEAN if VOL must be recovered or repaired before logs are appended; otherwise
 * logs after its latest one can be dropped.  -EIO, -ENOMEM.
 */
int writable_check(struct context *cx, struct volume *vol);

#endif
