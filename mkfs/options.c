// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The options of mkfs.nilfs2.
 *
 * Letters and defaults are those of mkfs.nilfs2 of nilfs-utils 2.3; the long
 * names, -U and --size are ours.  Whether values fit each other and the
 * device is not decided here but by the plan.
 */
#include "mkfs/options.h"

#include <errno.h>
#include <string.h>

#include "base/uuidtext.h"

#define AT(member) offsetof(struct mkfs_options, member)

const struct cli_option options_rows[] = {
	{ 'b', "block-size", "SIZE", "bytes in a block, 1024 to 65536 (4096)",
	  OPTION_SIZE, AT(block_size), 0, 0, NULL, NULL },
	{ 'B', "blocks-per-segment", "N",
	  "blocks in a segment, a power of 2, at least 16 (2048)", OPTION_U32,
	  AT(blocks_per_segment), 0, 0, NULL, NULL },
	{ 'c', "check", NULL,
	  "read the whole device first; twice: write and compare",
	  OPTION_COUNT, AT(check), 0, 0, NULL, NULL },
	{ 'f', "force", NULL, "overwrite what the device holds", OPTION_FLAG,
	  AT(force), 0, 0, NULL, NULL },
	{ 'K', "keep", NULL, "do not discard the device's blocks",
	  OPTION_FLAG, AT(keep), 0, 0, NULL, NULL },
	{ 'L', "label", "LABEL", "name of the volume, up to 80 bytes",
	  OPTION_STRING, AT(label), 0, 0, NULL, NULL },
	{ 'm', "reserved", "PERCENT",
	  "segments kept for the garbage collector (5)", OPTION_U32,
	  AT(reserved), 0, 0, NULL, NULL },
	{ 'n', "dry-run", NULL, "check and report, but write nothing",
	  OPTION_FLAG, AT(dry_run), 0, 0, NULL, NULL },
	{ 'O', "features", "LIST",
	  "features to have, ^NAME to lack, none (block_count)",
	  OPTION_STRING, AT(features), 0, 0, NULL, NULL },
	{ 'P', "creation-time", "SECONDS",
	  "time to record, in seconds since 1970", OPTION_I64, AT(created), 0,
	  0, NULL, NULL },
	{ 'U', "uuid", "UUID", "a UUID, or random, time, clear (random)",
	  OPTION_STRING, AT(uuid), 0, 0, NULL, NULL },
	{ 0, "size", "SIZE", "create the image file or make it larger",
	  OPTION_SIZE, AT(size), 0, 0, NULL, NULL },
	{ 0 },
};

const struct mkfs_options options_defaults = {
	.block_size = 4096,
	.blocks_per_segment = 2048,
	.reserved = 5,
	.created = OPTIONS_NO_TIME,
};

int options_uuid(struct context *cx, const struct mkfs_options *o,
		 uint8_t uuid[16])
{
	if (!o->uuid || !strcmp(o->uuid, "random"))
		uuidtext_random(uuid);
	else if (!strcmp(o->uuid, "time"))
		uuidtext_time(uuid);
	else if (!strcmp(o->uuid, "clear"))
		memset(uuid, 0, 16);
	else if (uuidtext_parse(o->uuid, uuid))
		return fail(cx, -EINVAL, "--uuid: '%s' is not a UUID", o->uuid);
	return 0;
}
