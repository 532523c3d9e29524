/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device in memory and virtual block numbers, for metadata files under test.
 *
 * It keeps account: which number was given, where its block is, whether it
 * ended, and what the DAT's blocks were superseded.
 */
#ifndef NILFS2_TESTS_LOG_FAKEDAT_H
#define NILFS2_TESTS_LOG_FAKEDAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/meta/metafile.h"

struct fakedat {
	struct metafile_env env;
	uint32_t block_size;
	uint64_t next_vblocknr, next_blocknr;
	uint64_t room;			/* numbers of either kind are below it */
	uint64_t *blocknr;		/* of a virtual block, 0: none */
	uint8_t *given;			/* whether a number is */
	uint8_t *ended;			/* how often */
	uint8_t *superseded;		/* how often, of a device's block */
	uint8_t *written;		/* whether a device's block is */
	bool rewritten;			/* a number was written twice */
	uint8_t *device;
	unsigned int reads;
	unsigned int calls_left;	/* after as many, all fail; 0: never */
};

void fakedat_init(struct fakedat *f, uint32_t block_size);
void fakedat_fini(struct fakedat *f);

/* The next place on the device. */
uint64_t fakedat_place(struct fakedat *f);

/* BLOCK of a file of KIND is written at BLOCKNR. */
void fakedat_write(struct fakedat *f, enum metafile_kind kind,
		   const struct metafile_block *block, uint64_t blocknr);

/* The block with pointer PTR as it is on the device, NULL: nothing is. */
const void *fakedat_block(const struct fakedat *f, enum metafile_kind kind,
			  uint64_t ptr);

/*
 * Blocks that belong to a file by this account: numbers not ended and places
 * not superseded.  UINT64_MAX where one ended or was superseded twice, or two
 * blocks were written with one number.
 */
uint64_t fakedat_live(const struct fakedat *f, enum metafile_kind kind);

#endif
