/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A map of the segments of a volume in few cells, as text and as SVG.
 *
 * Each segment belongs to one class.  A cell represents a run of adjacent segments:
 * it shows the class of most of them, or an important class if any of them has it,
 * with a shade for the mean share of blocks that a cleaner would keep.  Memory is
 * proportional to the number of cells, not of segments.
 */
#ifndef NILFS2_OUT_SEGMAP_H
#define NILFS2_OUT_SEGMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "out/svg.h"

enum segmap_class {
	SEGMAP_CLEAN,
	SEGMAP_DEAD,
	SEGMAP_PARTLY,
	SEGMAP_FULL,
	SEGMAP_SNAPSHOT,
	SEGMAP_UNKNOWN,
	SEGMAP_ERROR,
	SEGMAP_ACTIVE,
	SEGMAP_CLASSES,
	/* Of simulated volumes only. */
	SEGMAP_VICTIM = SEGMAP_CLASSES,
	SEGMAP_HELD,
	SEGMAP_ALL
};

/* Names of the classes of a volume for scripts. */
extern const char *const segmap_keys[SEGMAP_CLASSES];

/* The input for the class of a segment; counts are in blocks. */
struct segmap_segment {
	bool error, active, dirty;
	bool victim, held;	/* being cleaned; not to be cleaned */
	bool counted;		/* KEPT and the other counts are known */
	uint32_t blocks;
	uint32_t kept;		/* kept by a cleaner */
	uint32_t live;		/* of these, in the latest state */
	uint32_t snapshot;	/* of these, in snapshots only */
};

enum segmap_class segmap_class_of(const struct segmap_segment *s);

/* Properties of the volume. */
struct segmap_volume {
	char label[96];		/* any bytes; empty: none */
	uint64_t device_bytes, segments, checkpoint;
	uint64_t segment_bytes;	/* 0: unknown */
};

/* Writes the title of a picture, and the subtitle: label, sizes, checkpoint. */
#define SEGMAP_TITLE_MAX 512
void segmap_titles(const struct segmap_volume *v, char title[SEGMAP_TITLE_MAX],
		   char subtitle[SEGMAP_TITLE_MAX]);

enum segmap_colour {
	SEGMAP_PLAIN,		/* characters only */
	SEGMAP_256,		/* the 256-colour palette of terminals */
	SEGMAP_TRUECOLOR,	/* 24-bit escapes */
};

#define SEGMAP_CELLS_MAX (1u << 20)

struct segmap;

/*
 * Makes a map of the segments of V, in WIDTH cells per line and at most HEIGHT lines (0:
 * as suits an SVG), to be free()d.  0, -EINVAL for more than SEGMAP_CELLS_MAX cells, or
 * -ENOMEM.
 */
int segmap_open(struct context *cx, const struct segmap_volume *v,
		unsigned int width, unsigned int height, struct segmap **m);

/* Adds segment SEGNUM, in any order; ignored beyond the end of the volume. */
void segmap_add(struct segmap *m, uint64_t segnum,
		const struct segmap_segment *s);

/*
 * Puts the map for a terminal, with the number of the first segment before each line,
 * and a legend below.
 */
void segmap_text(const struct segmap *m, struct out *out,
		 enum segmap_colour colour);

/*
 * Puts the map as a panel: numbers at the left, tooltips of cells, a legend and the
 * scale below.
 */
void segmap_svg(const struct segmap *m, struct svg *s, const char *title);

/*
 * Writes N maps with their NAMES as one SVG document, with the title of the last map.
 * 0 or -ENOMEM.
 */
int segmap_document(struct context *cx, struct out *out, struct segmap *const *maps,
		    const char *const *names, unsigned int n);

#endif
