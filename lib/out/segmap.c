// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Segments in a picture.
 *
 * Each segment is of one class, and how dark it is tells how much of it a
 * cleaner would keep.  What is there to be seen at a glance: where writing goes
 * on, what is worth cleaning, what snapshots hold.
 */
#include "out/segmap.h"

#define FULL_PERCENT 90
#define SVG_PIXELS 1024		/* a side, at most */
#define SVG_CELL 8		/* pixels; more where there are few segments */
#define SVG_CELL_MAX 32

/* How much is kept shades only the classes where it is the question. */
const struct picture_kind segmap_kinds[SEGMAP_CLASSES] = {
	[SEGMAP_CLEAN] = { "clean", ".", 0x404850, false, true },
	[SEGMAP_DEAD] = { "dead, nothing to keep", "x", 0xd05050, false, true },
	[SEGMAP_PARTLY] = { "partly live", "123456789", 0xe0b040, false,
			    false },
	[SEGMAP_FULL] = { "full, at least 90 % live", "#", 0x40b060, false,
			  false },
	[SEGMAP_SNAPSHOT] = { "mostly held by snapshots", "s", 0x5090e0, false,
			      false },
	[SEGMAP_UNKNOWN] = { "in use, contents unknown", "?", 0xa0a0a0, false,
			     true },
	[SEGMAP_ERROR] = { "erroneous", "E", 0xff00c0, true, true },
	[SEGMAP_ACTIVE] = { "active, being written or next", "A", 0xf0f0f0,
			    true, true },
};

const char *const segmap_keys[SEGMAP_CLASSES] = {
	[SEGMAP_CLEAN] = "clean",	[SEGMAP_DEAD] = "dead",
	[SEGMAP_PARTLY] = "partly",	[SEGMAP_FULL] = "full",
	[SEGMAP_SNAPSHOT] = "snapshot", [SEGMAP_UNKNOWN] = "unknown",
	[SEGMAP_ERROR] = "error",	[SEGMAP_ACTIVE] = "active",
};

enum segmap_class segmap_class_of(const struct segmap_segment *s)
{
	if (s->error)
		return SEGMAP_ERROR;
	if (s->active)
		return SEGMAP_ACTIVE;
	if (!s->dirty)
		return SEGMAP_CLEAN;
	if (!s->counted)
		return SEGMAP_UNKNOWN;
	if (!s->kept)
		return SEGMAP_DEAD;
	if (s->snapshot > s->live)
		return SEGMAP_SNAPSHOT;
	return (uint64_t)s->kept * 100 >= (uint64_t)s->blocks * FULL_PERCENT ?
		       SEGMAP_FULL :
		       SEGMAP_PARTLY;
}

void segmap_add(struct picture *p, uint64_t segnum,
		const struct segmap_segment *s)
{
	picture_add(p, segnum, segmap_class_of(s),
		    (double)s->kept / (double)s->blocks);
}

unsigned int segmap_svg_size(uint64_t total, unsigned int *width,
			     unsigned int *height)
{
	uint64_t side = SVG_PIXELS / SVG_CELL_MAX;
	unsigned int cell = total <= side * side ? SVG_CELL_MAX : SVG_CELL;

	*width = *height = SVG_PIXELS / cell;
	if (*height > (total + *width - 1) / *width)
		*height = (unsigned int)((total + *width - 1) / *width);
	return cell;
}
