/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directory entries that a checkpoint has and a newer one has not. */
#ifndef NILFS2_DUMP_REMOVED_H
#define NILFS2_DUMP_REMOVED_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "vol/root.h"

/* An entry; the name is not ended by a zero byte. */
struct removed_entry {
	uint64_t dir, ino;
	const char *name;
	size_t len;
};

struct removed_sink {
	/* A negative errno ends the comparison. */
	int (*found)(void *arg, struct context *cx,
		     const struct removed_entry *entry);
	/* Directory DIR cannot be read whole: the failure text says why. */
	void (*broken)(void *arg, uint64_t dir, int err);
	void *arg;
};

/*
 * Finds the entries, by name and inode number, that are in OLDER and not in
 * NEWER; "." and ".." are left out.  Blocks of the ifile and of directories
 * that both share are not read.  -EUCLEAN, -EIO if an ifile cannot be read,
 * -ENOMEM if the entries that changed in one directory are past the memory
 * budget, -EINTR; failures of FOUND.
 */
int removed_run(struct context *cx, struct root *older, struct root *newer,
		const struct removed_sink *sink);

/* A hash of LEN bytes of a name or path. */
uint64_t removed_hash(const char *name, size_t len);

#endif
