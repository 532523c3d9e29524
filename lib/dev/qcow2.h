/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Images in the format qcow2: what was written, and where it belongs.  Their size
 * follows from what is in them, not from the size of the disk.
 */
#ifndef NILFS2_DEV_QCOW2_H
#define NILFS2_DEV_QCOW2_H

#include "dev/dev.h"

/*
 * A device of SIZE bytes, all zeros, whose content goes to FILE, an empty image
 * file (borrowed), of which it makes a qcow2 image, version 3.  The image is
 * complete after qcow2_finish(), and is not to be written any more then.  One
 * thread.  -EFBIG where the disk is larger than such an image can be (QEMU's
 * limit), -ENOMEM.
 */
int qcow2_create(struct dev **devp, struct context *cx, struct dev *file,
		 uint64_t size);

/* Writes what leads to the content.  -EIO, -ENOSPC, -ENOMEM. */
int qcow2_finish(struct dev *dev, struct context *cx);

/*
 * Where FILE (borrowed), which can be read, is a qcow2 image, *DEVP is a device over
 * it that reads as the disk in the image, else it is FILE.  -EOPNOTSUPP for an image
 * with a backing file, encryption or other features that are not known, -EUCLEAN for
 * a header that contradicts itself, -ENOMEM.
 */
int qcow2_open(struct dev **devp, struct context *cx, struct dev *file);

#endif
