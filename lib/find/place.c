// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Places in words and for scripts.
 *
 * The two forms say the same: whose it is (checkpoint, file), then where in
 * it.  Copies of the superblock count from 1 in both, everything else is the
 * number that the structures hold.
 */
#include "find/place.h"

#include <inttypes.h>
#include <stdio.h>

#include "disk/ondisk.h"
#include "out/report.h"

static const char *const kinds[] = {
	[PLACE_VOLUME] = "volume",
	[PLACE_SUPER] = "superblock",
	[PLACE_BLOCK] = "block",
	[PLACE_SEGMENT] = "segment",
	[PLACE_LOG] = "log",
	[PLACE_CHECKPOINT] = "checkpoint",
	[PLACE_VBLOCK] = "virtual block",
	[PLACE_GROUP] = "group",
	[PLACE_INODE] = "inode",
	[PLACE_MAP] = "map",
	[PLACE_NAME] = "name",
};

#define OWNER_MAX 64

/* "checkpoint 5: inode 12", or the name of a metadata file. */
static void owner_text(const struct place *place, char text[OWNER_MAX])
{
	int used = 0;

	if (place->cno)
		used = snprintf(text, OWNER_MAX, "checkpoint %" PRIu64 ": ",
				place->cno);
	text += used;
	switch (place->ino) {
	case NILFS_DAT_INO:
		snprintf(text, OWNER_MAX - (size_t)used, "DAT");
		return;
	case NILFS_CPFILE_INO:
		snprintf(text, OWNER_MAX - (size_t)used, "cpfile");
		return;
	case NILFS_SUFILE_INO:
		snprintf(text, OWNER_MAX - (size_t)used, "sufile");
		return;
	case NILFS_IFILE_INO:
		snprintf(text, OWNER_MAX - (size_t)used, "ifile");
		return;
	default:
		snprintf(text, OWNER_MAX - (size_t)used, "inode %" PRIu64,
			 place->ino);
	}
}

static void map_text(const struct place *place, const char *owner,
		     char text[PLACE_TEXT_MAX])
{
	if (place->level)
		snprintf(text, PLACE_TEXT_MAX,
			 "%s: node of level %u at block %" PRIu64, owner,
			 place->level, place->blkoff);
	else
		snprintf(text, PLACE_TEXT_MAX, "%s: block %" PRIu64, owner,
			 place->blkoff);
}

void place_text(const struct place *place, char text[PLACE_TEXT_MAX])
{
	char owner[OWNER_MAX];

	owner_text(place, owner);
	switch (place->kind) {
	case PLACE_VOLUME:
		snprintf(text, PLACE_TEXT_MAX, "%s", kinds[place->kind]);
		return;
	case PLACE_GROUP:
		snprintf(text, PLACE_TEXT_MAX, "%s: group %" PRIu64, owner,
			 place->number);
		return;
	case PLACE_INODE:
		snprintf(text, PLACE_TEXT_MAX, "%s", owner);
		return;
	case PLACE_MAP:
		map_text(place, owner, text);
		return;
	case PLACE_NAME:
		snprintf(text, PLACE_TEXT_MAX,
			 "%s: block %" PRIu64 ": byte %" PRIu32, owner,
			 place->blkoff, place->offset);
		return;
	default:
		snprintf(text, PLACE_TEXT_MAX, "%s %" PRIu64,
			 kinds[place->kind],
			 place->number + (place->kind == PLACE_SUPER));
	}
}

/* Members that identify a file of a checkpoint; null: as of the super root. */
static void report_owner(const struct place *place, struct report *r)
{
	report_value(r, VALUE_U64, "checkpoint", "Checkpoint",
		     place->cno ? value_u64(place->cno) : value_absent());
	report_u64(r, "inode", "Inode", place->ino);
}

static void report_numbers(const struct place *place, struct report *r)
{
	switch (place->kind) {
	case PLACE_VOLUME:
		return;
	case PLACE_GROUP:
		report_owner(place, r);
		report_u64(r, "group", "Group", place->number);
		return;
	case PLACE_INODE:
		report_owner(place, r);
		return;
	case PLACE_MAP:
		report_owner(place, r);
		report_u64(r, "block", "Block", place->blkoff);
		report_u64(r, "level", "Level", place->level);
		return;
	case PLACE_NAME:
		report_owner(place, r);
		report_u64(r, "block", "Block", place->blkoff);
		report_u64(r, "offset", "Byte", place->offset);
		return;
	default:
		report_u64(r, "number", "Number",
			   place->number + (place->kind == PLACE_SUPER));
	}
}

void place_report(const struct place *place, struct report *r)
{
	report_begin(r, "place", NULL);
	report_string(r, "kind", "Kind", kinds[place->kind]);
	report_numbers(place, r);
	report_end(r);
}
