// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding the bytes of STRUCTURE:INDEX on the device, for the command "set".
 *
 * The table of kinds has for each the function that finds it, and the part of
 * the volume that has to be opened.  That part is as small as possible, as damage
 * elsewhere must not prevent a repair by hand: nothing for superblocks, the
 * geometry for logs, a super root for all others.
 */
#include "dump/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum need { NEED_DEVICE, NEED_GEOMETRY, NEED_VOLUME };

enum parts {
	PARTS_NONE,	/* no index */
	PARTS_FREE,	/* the finder reads the text */
	PARTS_ONE,	/* as many numbers */
	PARTS_TWO,
};

static const struct kind {
	const char *name;
	enum need need;
	enum parts parts;
	target_finder *find;
} kinds[] = {
	{ "super", NEED_DEVICE, PARTS_ONE, target_super },
	{ "log", NEED_GEOMETRY, PARTS_ONE, target_log },
	{ "finfo", NEED_GEOMETRY, PARTS_TWO, target_log_finfo },
	{ "binfo", NEED_GEOMETRY, PARTS_TWO, target_log_binfo },
	{ "superroot", NEED_GEOMETRY, PARTS_FREE, target_log_superroot },
	{ "node", NEED_GEOMETRY, PARTS_ONE, target_log_node },
	{ "block", NEED_GEOMETRY, PARTS_ONE, target_log_block },
	{ "inode", NEED_VOLUME, PARTS_FREE, target_file_inode },
	{ "bmap", NEED_VOLUME, PARTS_FREE, target_file_bmap },
	{ "dat", NEED_VOLUME, PARTS_ONE, target_file_dat },
	{ "checkpoint", NEED_VOLUME, PARTS_ONE, target_file_checkpoint },
	{ "cpheader", NEED_VOLUME, PARTS_NONE, target_file_cpheader },
	{ "segment", NEED_VOLUME, PARTS_ONE, target_file_segment },
	{ "suheader", NEED_VOLUME, PARTS_NONE, target_file_suheader },
	{ "group", NEED_VOLUME, PARTS_FREE, target_file_group },
	{ "bitmap", NEED_VOLUME, PARTS_FREE, target_file_bitmap },
	{ "dirent", NEED_VOLUME, PARTS_FREE, target_file_dirent },
};

/* Parses numbers separated by slashes; false if TEXT is anything else. */
static bool parse_numbers(struct target_index *index)
{
	const char *p = index->text;
	char *end;

	index->count = 0;
	while (index->count < TARGET_PARTS_MAX && *p >= '0' && *p <= '9') {
		errno = 0;
		index->numbers[index->count++] = strtoull(p, &end,
							text_base(p));
		if (errno || (*end && *end != '/'))
			return false;
		if (!*end)
			return true;
		p = end + 1;
	}
	return false;
}

int target_find(struct target *t, struct target_source *source,
		const char *text)
{
	size_t len = strcspn(text, ":"), i;
	struct target_index index = { .text = text + len + (text[len] == ':') };
	const struct kind *kind = NULL;
	bool numbers = parse_numbers(&index);
	int err = 0;

	*t = (struct target){ .bit = -1 };
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !kind; i++)
		if (strlen(kinds[i].name) == len &&
		    !memcmp(kinds[i].name, text, len))
			kind = &kinds[i];
	if (!kind || (kind->parts == PARTS_NONE && *index.text) ||
	    (kind->parts == PARTS_ONE && !(numbers && index.count == 1)) ||
	    (kind->parts == PARTS_TWO && !(numbers && index.count == 2)))
		return fail(source->cx, -EINVAL,
			    "'%s' names no structure (see --help)", text);
	if (kind->need == NEED_GEOMETRY && !source->vol)
		err = volume_open_bare(&source->vol, source->cx, source->dev);
	else if (kind->need == NEED_VOLUME)
		err = target_need_volume(source);
	return err ? err : kind->find(t, source, &index);
}
