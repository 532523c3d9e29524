/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names in layers of container images that remove names of lower layers. */
#ifndef NILFS2_MKFS_WHITEOUT_H
#define NILFS2_MKFS_WHITEOUT_H

#include <stddef.h>

#define WHITEOUT_PREFIX ".wh."
#define WHITEOUT_PREFIX_LEN 4u

enum whiteout {
	WHITEOUT_NONE,		/* a file as any other */
	WHITEOUT_NAME,		/* of the rest after the prefix */
	WHITEOUT_OPAQUE,	/* of all that the directory had */
	WHITEOUT_OTHER,		/* aufs's own; to be passed over */
	WHITEOUT_BAD,		/* of the directory itself, or the one above */
};

/* The meaning of NAME (LEN bytes, without slashes) in such a layer. */
enum whiteout whiteout_of(const char *name, size_t len);

#endif
