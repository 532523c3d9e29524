/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A piece of memory as a device. */
#ifndef NILFS2_TESTDEV_MEMORY_H
#define NILFS2_TESTDEV_MEMORY_H

#include "dev/dev.h"

/*
 * A device over the SIZE bytes at BUF, which the caller keeps and frees after
 * dev_close(); BUF == NULL makes a zeroed buffer that the device owns.
 */
int memory_open(struct dev **devp, struct context *cx, void *buf, size_t size);

/* The same over bytes that must not change: writes fail with -EROFS. */
int memory_open_const(struct dev **devp, struct context *cx, const void *buf,
		      size_t size);

#endif
