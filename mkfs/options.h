/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the user of mkfs.nilfs2 can say. */
#ifndef NILFS2_MKFS_OPTIONS_H
#define NILFS2_MKFS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/option.h"

#define OPTIONS_NO_TIME (-1)

struct mkfs_options {
	uint64_t block_size;		/* bytes */
	uint32_t blocks_per_segment;
	uint32_t reserved;		/* percent of the segments */
	unsigned int check;		/* 1: read test, more: write test */
	bool force;
	bool keep;			/* no discard */
	bool dry_run;
	const char *label;		/* NULL: none */
	const char *features;		/* NULL: the default ones */
	const char *uuid;		/* NULL: a random one */
	int64_t created;		/* seconds; OPTIONS_NO_TIME: now */
	uint64_t size;			/* bytes of an image file; 0: as it is */
};

extern const struct cli_option options_rows[];
extern const struct mkfs_options options_defaults;

/*
 * Writes the UUID that O asks for: "random" (also without -U), "time",
 * "clear", or 36 characters.  -EINVAL with the failure text otherwise.
 */
int options_uuid(struct context *cx, const struct mkfs_options *o,
		 uint8_t uuid[16]);

#endif
