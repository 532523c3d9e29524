/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks to which the maps of several files lead. */
#ifndef NILFS2_FSCK_CONTESTS_H
#define NILFS2_FSCK_CONTESTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "vol/volume.h"

/*
 * Calls FOUND for each file of checkpoint CNO (0: the latest) with a pointer to
 * one of the N virtual blocks LIST, ascending: the checker blames the second
 * that it meets, which may be the right one.  -ENOMEM, -EINTR, or what FOUND
 * fails with.
 */
int contests_ask(struct volume *vol, struct context *cx, uint64_t cno,
		 const uint64_t *list, size_t n,
		 int (*found)(void *arg, struct context *cx, uint64_t ino),
		 void *arg);

#endif
