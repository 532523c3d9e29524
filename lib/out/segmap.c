// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Segments in a picture.
 *
 * Each segment belongs to one class; its shade shows how much of it a cleaner would
 * keep.  The picture shows where the next writes go, which segments are worth
 * cleaning, and which ones are held by snapshots.
 */
#include "out/segmap.h"

#include <stdio.h>

#include "base/size.h"

#define FULL_PERCENT 90
#define FEW_COLUMNS 32u		/* in an SVG, where there are few segments */
#define FEW_CELL 24u		/* pixels */
#define MANY_COLUMNS 96u
#define MANY_CELL 8u

/* Only classes that are partly kept have shades. */
const struct picture_kind segmap_kinds[SEGMAP_CLASSES] = {
	[SEGMAP_CLEAN] = { "clean", ".", SVG_NONE, false, true,
			   SVG_NONE_DARK, "none" },
	[SEGMAP_DEAD] = { "dead, nothing to keep", "x", SVG_VERMILION, false,
			  true },
	[SEGMAP_PARTLY] = { "partly live", "123456789", SVG_ORANGE, false,
			    false },
	[SEGMAP_FULL] = { "full, at least 90 % live", "#", SVG_BLUE, false,
			  false },
	[SEGMAP_SNAPSHOT] = { "mostly held by snapshots", "s", SVG_SKY, false,
			      false },
	[SEGMAP_UNKNOWN] = { "in use, contents unknown", "?", SVG_GRAY, false,
			     true },
	[SEGMAP_ERROR] = { "erroneous", "E", SVG_PURPLE, true, true },
	[SEGMAP_ACTIVE] = { "active, being written or next", "A", SVG_INK,
			    true, true, SVG_INK_DARK,
			    "ink" },
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

void segmap_titles(const struct segmap_volume *v, char title[SEGMAP_TITLE_MAX],
		   char subtitle[SEGMAP_TITLE_MAX])
{
	char size[SIZE_TEXT_MAX];

	snprintf(title, SEGMAP_TITLE_MAX, "%.400s, %s",
		 v->label && *v->label ? v->label : "NILFS2 volume",
		 size_format(v->device_bytes, size));
	snprintf(subtitle, SEGMAP_TITLE_MAX,
		 "%llu segments of %s, at checkpoint %llu",
		 (unsigned long long)v->segments,
		 size_format(v->segment_bytes, size),
		 (unsigned long long)v->checkpoint);
}

struct picture_labels segmap_labels(const struct segmap_volume *v)
{
	return (struct picture_labels){
		.thing = "segment",
		.bytes = v->segment_bytes,
		.share = "to keep",
	};
}

void segmap_svg(const struct picture *p, struct out *out, unsigned int cell,
		const struct segmap_volume *v)
{
	char title[SEGMAP_TITLE_MAX], subtitle[SEGMAP_TITLE_MAX];
	struct picture_labels labels = segmap_labels(v);
	unsigned int width, height;
	struct svg s;

	picture_svg_size(p, cell, &width, &height);
	segmap_titles(v, title, subtitle);
	svg_begin(&s, out, width, height, title, subtitle);
	picture_svg(p, &s, NULL, cell, &labels);
	svg_end(&s);
}

unsigned int segmap_svg_size(uint64_t total, unsigned int *width,
			     unsigned int *height)
{
	bool few = total <= (uint64_t)FEW_COLUMNS * FEW_COLUMNS;

	*width = *height = few ? FEW_COLUMNS : MANY_COLUMNS;
	if (*height > (total + *width - 1) / *width)
		*height = (unsigned int)((total + *width - 1) / *width);
	return few ? FEW_CELL : MANY_CELL;
}
