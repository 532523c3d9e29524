/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of members of an archive as paths on the volume. */
#ifndef NILFS2_MKFS_TARPATH_H
#define NILFS2_MKFS_TARPATH_H

#include <stddef.h>

/*
 * The first component of *PATH, which is moved after it: its length, and the
 * component in *NAME; 0: there is none.
 */
size_t tarpath_next(const char **path, const char **name);

/* What is wrong with PATH, or NULL. */
const char *tarpath_check(const char *path);

/*
 * Writes PATH without what it begins with, and with single slashes, to BUF,
 * which has room for all of it.
 */
void tarpath_plain(const char *path, char *buf);

#endif
