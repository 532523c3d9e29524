/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A name that a directory does not have yet. */
#ifndef NILFS2_FSCK_NEWNAME_H
#define NILFS2_FSCK_NEWNAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "check/names/nameset.h"
#include "disk/ondisk.h"

/* Room for the tag of a name past its end. */
#define NEWNAME_ROOM (NILFS_NAME_LEN + 9)

struct newname {
	char name[NEWNAME_ROOM];
	uint8_t len;
};

/*
 * Makes NAME (LEN bytes) of inode INO one that can be: without '/' and zero
 * bytes, not empty, not "." or "..".
 */
void newname_repair(struct newname *out, const char *name, uint8_t len,
		    uint64_t ino);

/*
 * Changes NAME until its tag is not in TAGS, and adds it; with CHANGE in any
 * case.  TAGS is NULL where the directory has more names than could be kept:
 * then it is made a name that hardly anybody has given.  -ENOMEM.
 */
int newname_find(struct newname *name, struct context *cx,
		 struct nameset *tags, bool change, uint64_t ino);

#endif
