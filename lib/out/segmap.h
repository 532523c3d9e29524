/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A picture of a volume's segments: their classes, and the size of the volume. */
#ifndef NILFS2_OUT_SEGMAP_H
#define NILFS2_OUT_SEGMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "out/picture.h"

enum segmap_class {
	SEGMAP_CLEAN,
	SEGMAP_DEAD,
	SEGMAP_PARTLY,
	SEGMAP_FULL,
	SEGMAP_SNAPSHOT,
	SEGMAP_UNKNOWN,
	SEGMAP_ERROR,
	SEGMAP_ACTIVE,
	SEGMAP_CLASSES
};

/* Names of the classes for scripts. */
extern const char *const segmap_keys[SEGMAP_CLASSES];

/* The input for the class of a segment; counts are in blocks. */
struct segmap_segment {
	bool error, active, dirty;
	bool counted;		/* KEPT and the other counts are known */
	uint32_t blocks;
	uint32_t kept;		/* kept by a cleaner */
	uint32_t live;		/* of these, in the latest state */
	uint32_t snapshot;	/* of these, in snapshots only */
};

enum segmap_class segmap_class_of(const struct segmap_segment *s);

/* Properties of the volume for titles. */
struct segmap_volume {
	const char *label;	/* any bytes; NULL or empty: none */
	uint64_t device_bytes, segment_bytes, segments, checkpoint;
};

/* Writes the title of a picture, and the subtitle: label, sizes, checkpoint. */
#define SEGMAP_TITLE_MAX 512
void segmap_titles(const struct segmap_volume *v, char title[SEGMAP_TITLE_MAX],
		   char subtitle[SEGMAP_TITLE_MAX]);

/*
 * Opens a picture of the segments of V with WIDTH cells per line and at most HEIGHT
 * lines; 0: as suits an SVG.  Fails as picture_open().
 */
int segmap_open(struct context *cx, const struct segmap_volume *v,
		unsigned int width, unsigned int height, struct picture **p);

/* Adds segment SEGNUM to a picture of segmap_open(). */
void segmap_add(struct picture *p, uint64_t segnum,
		const struct segmap_segment *s);

/* Puts N pictures of V with their NAMES as one SVG document.  0 or -ENOMEM. */
int segmap_svg(struct context *cx, struct out *out, const struct segmap_volume *v,
	       struct picture *const *pictures, const char *const *names,
	       unsigned int n);

#endif
