/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sources of the content of new blocks.
 *
 * A log is laid out before its content is read: blocks of a file elsewhere,
 * blocks that are moved, blocks of metadata in memory.  The writer requests
 * content when it has a buffer, from any thread and in any order, and only once
 * for each block.
 */
#ifndef NILFS2_LOG_PAYLOAD_H
#define NILFS2_LOG_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"

struct payload;

struct payload_ops {
	/*
	 * Writes blocks [AT, AT + COUNT) of the payload to BUF, whole blocks:
	 * bytes after the end of a file are zero.  Each block is requested
	 * once.  The failure text names the source.  NULL: for a forecast,
	 * whose content is neither read nor written.
	 */
	int (*fill)(struct payload *p, struct context *cx, uint64_t at,
		    uint32_t count, void *buf);
	/*
	 * Frees P after the last payload_put(), in any thread; NULL: free(P).
	 */
	void (*free)(struct payload *p);
};

/* Embedded as the first member of each kind of payload. */
struct payload {
	const struct payload_ops *ops;
	uint32_t refs;	/* counted atomically; initially 1 */
};

void payload_init(struct payload *p, const struct payload_ops *ops);
struct payload *payload_hold(struct payload *p);
void payload_put(struct payload *p);	/* NULL is accepted */

/*
 * COUNT blocks of BLOCK_SIZE bytes copied from BUF (NULL: zeros, to be filled
 * in at *DATAP until the log is submitted; otherwise DATAP may be NULL).  NULL
 * if there is no memory.
 */
struct payload *payload_memory(const void *buf, uint32_t count,
			       uint32_t block_size, void **datap);

/*
 * COUNT blocks of BLOCK_SIZE bytes, each in separate memory.  payload_give()
 * passes that of block AT, at DATA within OWN, before its log is submitted; OWN
 * is free()d when the content was copied.  NULL if there is no memory.
 */
struct payload *payload_given(size_t count, uint32_t block_size);
void payload_give(struct payload *p, size_t at, void *own, const void *data);

/*
 * Blocks of DEV (borrowed), from block BLOCKNR on: blocks that are moved.  NULL
 * if there is no memory.
 */
struct payload *payload_device(struct dev *dev, uint64_t blocknr,
			       uint32_t block_size);

#endif
