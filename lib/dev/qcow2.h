/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Images in the format qcow2: they contain only written clusters, so their size
 * follows from the content, not from the size of the disk.
 */
#ifndef NILFS2_DEV_QCOW2_H
#define NILFS2_DEV_QCOW2_H

#include "dev/dev.h"

/*
 * Creates a device of SIZE bytes, all zeros, whose content is written to FILE, an
 * empty image file (borrowed), as a qcow2 image, version 3.  The image is complete
 * after qcow2_finish(), and must not be written after that.  For one thread.  -EFBIG
 * if the disk is larger than QEMU's limit, -ENOMEM.
 */
int qcow2_create(struct dev **devp, struct context *cx, struct dev *file,
		 uint64_t size);

/* Writes the tables of the image.  -EIO, -ENOSPC, -ENOMEM. */
int qcow2_finish(struct dev *dev, struct context *cx);

/*
 * If FILE (borrowed) is a qcow2 image, *DEVP is a device over it that reads as the
 * disk in the image; otherwise it is FILE.  -EOPNOTSUPP for an image with a backing
 * file, encryption or unknown features, -EUCLEAN for an inconsistent header,
 * -ENOMEM.
 */
int qcow2_open(struct dev **devp, struct context *cx, struct dev *file);

#endif
