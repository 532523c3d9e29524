/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checker on a device of a test. */
#ifndef NILFS2_TESTS_FSCK_RUN_H
#define NILFS2_TESTS_FSCK_RUN_H

#include "fsck/session.h"

/* One run on DEV as O says, without a word; as session_run(). */
int fsck_run(const struct context *cx, struct dev *dev,
	     const struct options *o);

#endif
