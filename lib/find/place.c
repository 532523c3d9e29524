// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Places for people and for scripts.
 *
 * Both forms contain the owner (checkpoint, file) and the place in it.  Copies of
 * the superblock are numbered from 1 in both; all other numbers are those of the
 * structures.
 */
#include "find/place.h"

#include <inttypes.h>
#include <stdbool.h>
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

/* Names of metadata files. */
static const char *const files[] = {
	[NILFS_DAT_INO] = "DAT",
	[NILFS_CPFILE_INO] = "cpfile",
	[NILFS_SUFILE_INO] = "sufile",
	[NILFS_IFILE_INO] = "ifile",
};

/* Kinds of places in a file; the other kinds have a number. */
static bool is_in_file(enum place_kind kind)
{
	return kind >= PLACE_GROUP;
}

void place_text(const struct place *place, char text[PLACE_TEXT_MAX])
{
	size_t nfiles = sizeof(files) / sizeof(*files), used = 0;
	const char *file = place->ino < nfiles ? files[place->ino] : NULL;

	if (!is_in_file(place->kind)) {
		used = (size_t)snprintf(text, PLACE_TEXT_MAX, "%s",
					kinds[place->kind]);
		if (place->kind != PLACE_VOLUME)
			snprintf(text + used, PLACE_TEXT_MAX - used,
				 " %" PRIu64, place->number +
				 (place->kind == PLACE_SUPER));
		return;
	}
	if (place->cno)
		used = (size_t)snprintf(text, PLACE_TEXT_MAX,
					"checkpoint %" PRIu64 ": ", place->cno);
	used += (size_t)(file ? snprintf(text + used, PLACE_TEXT_MAX - used,
					 "%s", file) :
				snprintf(text + used, PLACE_TEXT_MAX - used,
					 "inode %" PRIu64, place->ino));
	text += used;
	used = PLACE_TEXT_MAX - used;
	if (place->kind == PLACE_GROUP)
		snprintf(text, used, ": group %" PRIu64, place->number);
	else if (place->kind == PLACE_NAME)
		snprintf(text, used, ": block %" PRIu64 ": byte %" PRIu32,
			 place->blkoff, place->offset);
	else if (place->kind == PLACE_MAP && place->level)
		snprintf(text, used, ": node of level %u at block %" PRIu64,
			 place->level, place->blkoff);
	else if (place->kind == PLACE_MAP)
		snprintf(text, used, ": block %" PRIu64, place->blkoff);
}

void place_report(const struct place *place, struct report *r)
{
	report_begin(r, "place", NULL);
	report_string(r, "kind", "Kind", kinds[place->kind]);
	if (is_in_file(place->kind)) {
		report_value(r, VALUE_U64, "checkpoint", "Checkpoint",
			     place->cno ? value_u64(place->cno) :
					  value_absent());
		report_u64(r, "inode", "Inode", place->ino);
	} else if (place->kind != PLACE_VOLUME) {
		report_u64(r, "number", "Number",
			   place->number + (place->kind == PLACE_SUPER));
	}
	if (place->kind == PLACE_GROUP)
		report_u64(r, "group", "Group", place->number);
	if (place->kind == PLACE_MAP || place->kind == PLACE_NAME)
		report_u64(r, "block", "Block", place->blkoff);
	if (place->kind == PLACE_MAP)
		report_u64(r, "level", "Level", place->level);
	if (place->kind == PLACE_NAME)
		report_u64(r, "offset", "Byte", place->offset);
	report_end(r);
}
