// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The options of mkfs.nilfs2.
 *
 * Short options and defaults are those of mkfs.nilfs2 of nilfs-utils 2.3.  The
 * long options, -U, --size and the options that fill the volume are additions.
 * plan.c checks whether values fit each other and the device.
 */
#include "mkfs/plan/options.h"

#include <errno.h>
#include <string.h>

#include "base/uuidtext.h"
#include "disk/super.h"
#include "log/writer.h"
#include "mkfs/source/walk.h"

#define AT(member) offsetof(struct mkfs_options, member)

static const char *const snapshots[] = {
	[OPTIONS_SNAPSHOT_NONE] = "none",
	[OPTIONS_SNAPSHOT_EACH] = "each",
	[OPTIONS_SNAPSHOT_LAST] = "last",
	NULL
};

static const char *const orders[] = {
	[WALK_NAME] = "name",
	[WALK_NONE] = "none",
	[WALK_INODE] = "inode",
	[WALK_SIZE] = "size",
	NULL
};

/* "auto", "auto+SLACK" or "+SLACK" (with that much free space), or a size. */
static int parse_size(struct context *cx, const char *arg, void *where)
{
	struct options_size *size = where;

	size->bytes = 0;
	size->kind = OPTIONS_SIZE_AUTO;
	if (!strcmp(arg, "auto"))
		return 0;
	if (!strncmp(arg, "auto+", 5))
		arg += 4;
	if (*arg == '+')
		arg++;
	else
		size->kind = OPTIONS_SIZE_BYTES;
	return option_size(cx, "--size", arg, &size->bytes);
}

/* "SECONDS" or "@SECONDS", as in touch -d and tar --mtime. */
static int parse_mtime(struct context *cx, const char *arg, void *where)
{
	const char *digits = arg + (*arg == '@');
	bool negative = *digits == '-';
	struct options_mtime *mtime = where;
	uint64_t v;
	int err = option_number(cx, "--mtime", digits + negative, INT64_MAX,
				&v);

	if (err)
		return err;
	mtime->given = true;
	mtime->seconds = negative ? -(int64_t)v : (int64_t)v;
	return 0;
}

static const char *const zoned_choices[] = {
	[OPTIONS_ZONED_AUTO] = "auto",
	[OPTIONS_ZONED_REQUIRE] = "require",
	[OPTIONS_ZONED_OFF] = "off",
	NULL
};

/* Rows that give the volume a layout or an identity are against this group. */
enum { GROUP_ADD = 1 };

const struct cli_option options_rows[] = {
	{ 0, "add", NULL, "add the sources to an existing volume", OPTION_FLAG,
	  AT(add), GROUP_ADD,
	  .why = "the volume exists, and keeps its layout and name" },
	{ 'b', "block-size", "SIZE", "bytes in a block, 1024 to 65536 (4096)",
	  OPTION_SIZE, AT(block_size),
	  .against = GROUP_ADD },
	{ 'B', "blocks-per-segment", "N",
	  "blocks in a segment, a power of 2, at least 16 (2048)", OPTION_U32,
	  AT(blocks_per_segment),
	  .against = GROUP_ADD },
	{ 0, "clamp-mtime", NULL, "apply --mtime to younger files only",
	  OPTION_FLAG, AT(clamp_mtime) },
	{ 0, "collect", "BLOCKS",
	  "metadata blocks collected before writing (512)", OPTION_U32,
	  AT(collect) },
	{ 'c', "check", NULL,
	  "read the whole device first; twice: write and compare", OPTION_COUNT,
	  AT(check),
	  .against = GROUP_ADD },
	{ 0, "conventional-zones", "N[+M]",
	  "the first N and last M zones are conventional (1)", OPTION_CALL,
	  AT(conventional), 0, 0, NULL, options_zone_ends,
	  .against = GROUP_ADD },
	{ 'd', "root", "SOURCE",
	  "fill the volume from a directory, a tar file or - (standard "
	  "input); may be repeated for layers",
	  OPTION_LIST, AT(roots) },
	{ 0, "exclude", "PATTERN",
	  "leave out matching files, as tar does; may be repeated", OPTION_LIST,
	  AT(exclude) },
	{ 'f', "force", NULL, "overwrite existing content of the device",
	  OPTION_FLAG, AT(force),
	  .against = GROUP_ADD },
	{ 0, "gid-map", "MAP", "change groups: FROM:TO[:COUNT],...",
	  OPTION_STRING, AT(gid_map) },
	{ 'K', "keep", NULL, "do not discard the device's blocks", OPTION_FLAG,
	  AT(keep),
	  .against = GROUP_ADD },
	{ 'L', "label", "LABEL", "name of the volume, up to 80 bytes",
	  OPTION_STRING, AT(label),
	  .against = GROUP_ADD },
	{ 'm', "reserved", "PERCENT",
	  "segments kept for the garbage collector (5)", OPTION_U32,
	  AT(reserved),
	  .against = GROUP_ADD },
	{ 0, "mtime", "SECONDS",
	  "give all files this time, in seconds since 1970", OPTION_CALL,
	  AT(mtime), 0, 0, NULL, parse_mtime },
	{ 'n', "dry-run", NULL, "check and report, but write nothing",
	  OPTION_FLAG, AT(dry_run) },
	{ 'O', "features", "LIST",
	  "features to set, ^NAME to clear, none (block_count)", OPTION_STRING,
	  AT(features), 0, 0, NULL, NULL, super_feature_name,
	  .against = GROUP_ADD },
	{ 0, "oci", NULL, "archives are container layers: apply whiteouts",
	  OPTION_FLAG, AT(oci) },
	{ 0, "one-file-system", NULL, "leave mount points empty", OPTION_FLAG,
	  AT(one_file_system) },
	{ 0, "owner", "UID[:GID]", "owner of all files", OPTION_STRING,
	  AT(owner) },
	{ 'P', "creation-time", "SECONDS",
	  "time to record, in seconds since 1970", OPTION_I64, AT(created) },
	{ 0, "redundant", NULL,
	  "write inodes and names twice, as two checkpoints, for repairs",
	  OPTION_FLAG, AT(redundant) },
	{ 0, "size", "SIZE",
	  "create or enlarge the image file; auto or auto+SLACK: as needed "
	  "for the content",
	  OPTION_CALL, AT(size), 0, 0, NULL, parse_size,
	  .against = GROUP_ADD },
	{ 0, "snapshot", "[=WHICH]",
	  "keep the checkpoint of each layer, or of the last (each)",
	  OPTION_CHOICE, AT(snapshot), 0, OPTIONS_SNAPSHOT_EACH, snapshots },
	{ 0, "sort", "ORDER",
	  "lay out a directory by name, inode, size or as read: none (name)",
	  OPTION_CHOICE, AT(order), 0, 0, orders },
	{ 0, "sparse", NULL, "make holes of blocks of zeros", OPTION_FLAG,
	  AT(sparse) },
	{ 0, "strict", NULL,
	  "fail if NILFS2 cannot store an attribute of a file", OPTION_FLAG,
	  AT(strict) },
	{ 'U', "uuid", "UUID",
	  "a UUID, or random, time, clear, content (random)", OPTION_STRING,
	  AT(uuid),
	  .against = GROUP_ADD },
	{ 0, "uid-map", "MAP", "change owners: FROM:TO[:COUNT],...",
	  OPTION_STRING, AT(uid_map) },
	{ 0, "zone-capacity", "SIZE",
	  "capacity of sequential zones (their size)", OPTION_SIZE,
	  AT(zone_capacity),
	  .against = GROUP_ADD },
	{ 0, "zone-size", "SIZE", "give the image file zones of SIZE",
	  OPTION_SIZE, AT(zone_size),
	  .against = GROUP_ADD },
	{ 0, "zoned", "WHEN", "follow the device's zones: auto, require, off",
	  OPTION_CHOICE, AT(zoned), 0, 0, zoned_choices,
	  .against = GROUP_ADD },
	{ 0 },
};

const struct mkfs_options options_defaults = {
	.block_size = 4096,
	.blocks_per_segment = 2048,
	.reserved = 5,
	.created = OPTIONS_NO_TIME,
	.collect = WRITER_COLLECT_DEFAULT,
};

bool options_uuid_of_content(const struct mkfs_options *o)
{
	return o->uuid && !strcmp(o->uuid, "content");
}

int options_uuid(struct context *cx, const struct mkfs_options *o,
		 uint8_t uuid[16])
{
	const char *text = o->uuid ? o->uuid : "random";

	if (options_uuid_of_content(o))
		text = "clear";
	if (uuidtext_make(text, uuid))
		return fail(cx, -EINVAL, "--uuid: '%s' is not a UUID", text);
	return 0;
}

int options_entry_rules(struct context *cx, const struct mkfs_options *o,
			bool source_date, struct entry_rules *rules)
{
	bool timed = o->mtime.given || source_date;
	int err = 0;

	/*
	 * The time of the build is an upper limit for the times of files, so that a
	 * rebuilt tree gives the same volume.
	 */
	*rules = (struct entry_rules){
		.exclude = o->exclude.items,
		.nexclude = o->exclude.count,
		.holes = o->sparse,
		.whiteouts = o->oci,
		.set_mtime = o->mtime.given && !o->clamp_mtime,
		.clamp_mtime = timed && !(o->mtime.given && !o->clamp_mtime),
		.mtime = o->mtime.given ? o->mtime.seconds : cx->now,
	};
	if (o->clamp_mtime && !timed)
		return fail(cx, -EINVAL,
			    "--clamp-mtime: needs a time, by --mtime");
	if (o->owner)
		err = entry_parse_owner(cx, o->owner, rules);
	if (!err && o->uid_map)
		err = entry_parse_map(cx, "--uid-map", o->uid_map,
				      &rules->uid_maps, &rules->nuid_maps);
	if (!err && o->gid_map)
		err = entry_parse_map(cx, "--gid-map", o->gid_map,
				      &rules->gid_maps, &rules->ngid_maps);
	if (err)
		entry_rules_fini(rules);
	return err;
}

#define CONVENTIONAL "--conventional-zones"

int options_zone_ends(struct context *cx, const char *arg, void *where)
{
	const char *plus = strchr(arg, '+');
	size_t len = plus ? (size_t)(plus - arg) : strlen(arg);
	struct zone_ends *ends = where;
	char head[24];
	int ret;

	if (len >= sizeof(head))
		return fail(cx, -EINVAL, CONVENTIONAL ": '%s' is too large",
			    arg);
	memcpy(head, arg, len);
	head[len] = '\0';
	ends->given = true;
	ret = option_number(cx, CONVENTIONAL, head, ZONE_COUNT_MAX, &ends->head);
	if (!ret && plus)
		ret = option_number(cx, CONVENTIONAL, plus + 1, ZONE_COUNT_MAX,
				    &ends->tail);
	return ret;
}
