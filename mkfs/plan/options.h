/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of mkfs.nilfs2. */
#ifndef NILFS2_MKFS_OPTIONS_H
#define NILFS2_MKFS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/option.h"
#include "dev/zone.h"
#include "mkfs/populate/entry.h"

#define OPTIONS_NO_TIME (-1)

/* The requested size of the volume. */
struct options_size {
	enum {
		OPTIONS_SIZE_ASIS,	/* the size of the device or file */
		OPTIONS_SIZE_BYTES,
		OPTIONS_SIZE_AUTO,	/* the size that the content needs */
	} kind;
	uint64_t bytes;		/* with AUTO: additional free space */
};

/* Which checkpoints become snapshots. */
enum options_snapshot {
	OPTIONS_SNAPSHOT_NONE,
	OPTIONS_SNAPSHOT_EACH,
	OPTIONS_SNAPSHOT_LAST,
};

/* The argument of --mtime. */
struct options_mtime {
	bool given;
	int64_t seconds;	/* since 1970 */
};

enum { OPTIONS_ZONED_AUTO, OPTIONS_ZONED_REQUIRE, OPTIONS_ZONED_OFF };

struct zone_ends {
	uint64_t head, tail;	/* conventional zones at each end */
	bool given;
};

struct mkfs_options {
	uint64_t block_size;		/* bytes */
	uint32_t blocks_per_segment;
	uint32_t reserved;		/* percent of the segments */
	unsigned int check;		/* 1: read test, more: write test */
	bool add;			/* to an existing volume */
	bool force;
	bool keep;			/* no discard */
	bool dry_run;
	const char *label;		/* NULL: none */
	const char *features;		/* NULL: the default ones */
	const char *uuid;		/* NULL: a random one */
	int64_t created;		/* seconds; OPTIONS_NO_TIME: now */
	struct options_size size;
	struct option_list roots;	/* sources, the lowest layer first */
	int snapshot;			/* enum options_snapshot */
	bool redundant;			/* metadata twice */
	const char *owner;		/* NULL: as in the source */
	const char *uid_map, *gid_map;	/* NULL: none */
	struct option_list exclude;	/* patterns */
	struct options_mtime mtime;
	bool clamp_mtime;		/* apply --mtime to younger files only */
	int order;			/* enum walk_order */
	bool strict;			/* a lost attribute is an error */
	bool sparse;			/* zeros become holes */
	bool oci;			/* archives are layers of an image */
	bool one_file_system;
	uint32_t collect;		/* blocks of metadata */
	int zoned;			/* OPTIONS_ZONED_... */
	uint64_t zone_size;		/* bytes; 0: no zones to emulate */
	uint64_t zone_capacity;		/* bytes; 0: the zone's size */
	struct zone_ends conventional;	/* zones to emulate */
};

extern const struct cli_option options_rows[];
extern const struct mkfs_options options_defaults;

/* True if the UUID is derived from the content of the volume. */
bool options_uuid_of_content(const struct mkfs_options *o);

/*
 * Stores the UUID requested by O: "random" (the default), "time", "clear", or 36
 * characters; zeros for "content", which is set later.  -EINVAL with the failure
 * text otherwise.
 */
int options_uuid(struct context *cx, const struct mkfs_options *o,
		 uint8_t uuid[16]);

/*
 * Builds RULES (freed by entry_rules_fini()) from --owner, the maps, the times and
 * --exclude; the patterns stay owned by O.  If CX->now is a SOURCE_DATE, no file is
 * younger than that, unless --mtime was given.  -EINVAL.
 */
int options_entry_rules(struct context *cx, const struct mkfs_options *o,
			bool source_date, struct entry_rules *rules);

/*
 * Parses "N" or "N+M", conventional zones at the beginning and at the end,
 * into a struct zone_ends at WHERE.
 */
int options_zone_ends(struct context *cx, const char *arg, void *where);

#endif
