/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the compiler is asked where the fields of a disk structure stand. */
#ifndef NILFS2_DISK_ONDISK_LAYOUT_H
#define NILFS2_DISK_ONDISK_LAYOUT_H

#include <stddef.h>

#define ONDISK_SIZE(type, bytes) \
	_Static_assert(sizeof(type) == (bytes), "size of " #type)
#define ONDISK_AT(type, field, offset)                  \
	_Static_assert(offsetof(type, field) == (offset), \
		       "offset of " #field " in " #type)

#endif
