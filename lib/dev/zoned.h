/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file or block device with whatever zones it has. */
#ifndef NILFS2_DEV_ZONED_H
#define NILFS2_DEV_ZONED_H

#include "dev/dev.h"

/*
 * The name of the file beside the image file PATH that says which zones it has,
 * to be freed.  -ENOMEM.
 */
int zoned_side(char **side, struct context *cx, const char *path);

/*
 * UNDER, a devfile of PATH (borrowed), with its zones: those that the file
 * beside an image describes, or those of a host-managed device; a host-aware
 * one needs none.  *DEVP is UNDER itself where there are no zones, and after a
 * failure.  Fails as zonefile_load() and zonedisk_open().
 */
int zoned_open(struct dev **devp, struct context *cx, struct dev *under,
	       const char *path);

#endif
