/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A metadata file on a fake device, and an array that knows what it must be.
 *
 * Whatever is not as the array has it is counted in BAD.  A checkpoint walks
 * the file on the device by the functions that read any volume's maps: the
 * blocks and contents must be the array's, no pointer may occur twice, and the
 * blocks met must be all that the account of numbers and places says belong
 * to the file.
 */
#ifndef NILFS2_TESTS_LOG_MODEL_H
#define NILFS2_TESTS_LOG_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/meta/metafile.h"
#include "log_fakedat.h"

#define MODEL_BS 1024
#define MODEL_KEYS 24000

struct model {
	struct context cx;
	struct fakedat f;
	enum metafile_kind kind;
	struct metafile *m;
	struct nilfs_inode inode;
	uint64_t random;
	uint32_t version[MODEL_KEYS];	/* 0: a hole */
	uint32_t spread;	/* block offset of key 1 */
	uint32_t keys;		/* in use */
	uint32_t at;		/* where changes are now */
	unsigned int bad;
};

/* An empty file of KEYS blocks, number n at offset n * SPREAD. */
struct model *model_new(enum metafile_kind kind, uint32_t keys,
			uint32_t spread);
void model_free(struct model *md);

/* A number below BELOW, and a key near the last one or anywhere. */
uint64_t model_draw(struct model *md, uint64_t below);
uint32_t model_some_key(struct model *md);

/* Changes block KEY, fills it again, looks at it. */
void model_change(struct model *md, uint32_t key);
void model_replace(struct model *md, uint32_t key);
void model_look(struct model *md, uint32_t key);

/* Cuts the file: there is no block KEY any more, and none behind. */
void model_truncate(struct model *md, uint32_t key);

/* There is no block KEY any more. */
void model_delete(struct model *md, uint32_t key);

/*
 * Does what a writer does: collects, places, lets what is dirty be changed,
 * copies contents.
 */
void model_write_out(struct model *md, bool all, size_t keep);

/* Writes all and walks the device; returns the level of the root. */
unsigned int model_checkpoint(struct model *md);

/* Closes the file and opens the one that INODE has, NULL: an empty one. */
void model_reopen(struct model *md, const struct nilfs_inode *inode);

#endif
