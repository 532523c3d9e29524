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
#define FEW 32u			/* cells per line of an SVG of few segments */
#define MANY 96u

/* Only classes that are partly kept have shades. */
static const struct picture_kind kinds[SEGMAP_CLASSES] = {
	[SEGMAP_CLEAN] = { "clean", ".", SVG_NONE, false, true },
	[SEGMAP_DEAD] = { "dead, nothing to keep", "x", SVG_VERMILION, false,
			  true },
	[SEGMAP_PARTLY] = { "partly live", "123456789", SVG_ORANGE, false, false },
	[SEGMAP_FULL] = { "full, at least 90 % live", "#", SVG_BLUE, false, false },
	[SEGMAP_SNAPSHOT] = { "mostly held by snapshots", "s", SVG_SKY, false,
			      false },
	[SEGMAP_UNKNOWN] = { "in use, contents unknown", "?", SVG_GRAY, false,
			     true },
	[SEGMAP_ERROR] = { "erroneous", "E", SVG_PURPLE, true, true },
	[SEGMAP_ACTIVE] = { "active, being written or next", "A", SVG_INK, true,
			    true },
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

int segmap_open(struct context *cx, const struct segmap_volume *v,
		unsigned int width, unsigned int height, struct picture **p)
{
	const struct picture_things things = {
		.kinds = kinds, .count = SEGMAP_CLASSES, .name = "segment",
		.share = "to keep", .bytes = v->segment_bytes, .total = v->segments,
	};
	unsigned int side = v->segments <= (uint64_t)FEW * FEW ? FEW : MANY;
	uint64_t lines;

	width = width ? width : side;
	height = height ? height : side;
	lines = (v->segments + width - 1) / width;
	return picture_open(cx, &things, width,
			    lines < height ? (unsigned int)lines : height, p);
}

void segmap_add(struct picture *p, uint64_t segnum,
		const struct segmap_segment *s)
{
	picture_add(p, segnum, segmap_class_of(s),
		    (double)s->kept / (double)s->blocks);
}

int segmap_svg(struct context *cx, struct out *out, const struct segmap_volume *v,
	       struct picture *const *pictures, const char *const *names,
	       unsigned int n)
{
	char title[SEGMAP_TITLE_MAX], subtitle[SEGMAP_TITLE_MAX];
	struct svg s = { .page = false };
	unsigned int i;
	int err = out_open_memory(cx, &s.out);

	if (err)
		return err;
	for (i = 0; i < n; i++)
		picture_svg(pictures[i], &s, names[i]);
	segmap_titles(v, title, subtitle);
	return svg_close(&s, cx, out, title, subtitle);
}
