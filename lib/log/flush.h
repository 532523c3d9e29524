/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks that are listed later than they are made: nodes of files, blocks of
 * directories, changed blocks of metadata files.
 */
#ifndef NILFS2_LOG_FLUSH_H
#define NILFS2_LOG_FLUSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "log/write/loglayout.h"
#include "log/write/payload.h"

struct writer;

/* Blocks of one payload that are listed one after the other. */
struct collected_run {
	struct loglayout_run run;
	struct payload *payload;	/* with a reference */
	uint64_t at;
};

/* Complete blocks that are not listed yet.  All zero is empty. */
struct collected {
	struct collected_run *runs;
	size_t nruns, room;
	size_t first;			/* earlier runs are listed */
	uint64_t nblocks;		/* blocks not yet listed */
	/* The payload that is being filled. */
	struct payload *payload;
	uint8_t *data;
	uint32_t used, size;		/* blocks */
};

/* Collects a copy of BLOCK, to be listed as RUN, whose count is 1. */
int flush_add(struct writer *w, struct context *cx,
	      const struct loglayout_run *run, const void *block);

/* A file whose map is being built. */
struct flush_file {
	struct writer *w;
	uint64_t ino;
};

/*
 * Collects BLOCK of F, of KIND at BLKOFF, under a new number, *VBLOCKNR.
 */
int flush_add_new(const struct flush_file *f, struct context *cx,
		  enum loglayout_kind kind, uint64_t blkoff, const void *block,
		  uint64_t *vblocknr);

/* The same for a node of its map: a bmapbuild_node; ARG is a flush_file. */
int flush_add_node(void *arg, struct context *cx, unsigned int level,
		   uint64_t key, const void *block, uint64_t *vblocknr);

/*
 * Lists all collected blocks.  With HERE it only fills the rest of the open
 * log, if there is one, with them and with older metadata blocks.
 */
int flush_collected(struct writer *w, struct context *cx, bool here);

/* Lists metadata if enough of it is collected or changed. */
int flush_if_due(struct writer *w, struct context *cx);

/* Frees the collected blocks. */
void flush_drop(struct collected *c);

#endif
