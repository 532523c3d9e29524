/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Owners of blocks, as text for messages. */
#ifndef NILFS2_GC_BLAME_H
#define NILFS2_GC_BLAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "gc/move/load.h"

#define BLAME_MAX 380

/* Whether LOAD moves or rewrites BLOCKNR. */
bool blame_has(const struct load *load, uint64_t blocknr);

/*
 * The owner of BLOCKNR, a block of LOAD, as "/dir/file block 12" or "checkpoint
 * 4: /file"; as an inode if no path is found.  1; 0 if LOAD neither moves nor
 * rewrites the block; -ENOMEM, -EINTR.
 */
int blame_block(char text[BLAME_MAX], struct context *cx,
		const struct load *load, uint64_t blocknr);

/*
 * The first few files that LOAD moves out of LOG; "metadata" if there is none.
 * -ENOMEM, -EINTR.
 */
int blame_log(char text[BLAME_MAX], struct context *cx,
	      const struct load *load, const struct load_log *log);

#endif
