/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The registry of everything that can be wrong (rules.def). */
#ifndef NILFS2_DISK_RULE_H
#define NILFS2_DISK_RULE_H

#include <stddef.h>

/* A verdict: RULE_OK, or the number of the first rule that is broken. */
enum rule {
	RULE_OK = 0,
#define RULE(name, number, slug, severity, danger, fix, text) \
	RULE_##name = (number),
#include "disk/rules.def"
#undef RULE
};

enum rule_severity {
	RULE_WARNING,		/* the kernel lives with it */
	RULE_ERROR,		/* the kernel refuses it, or harm follows */
	RULE_FATAL,		/* the structure cannot be decoded */
};

/* What a repair may cost the user. */
enum rule_danger {
	RULE_DANGER_NONE,	/* there is no repair */
	RULE_DANGER_SAFE,
	RULE_DANGER_LOSES,	/* part of a file, a name, a state */
	RULE_DANGER_REBUILD,	/* a metadata file may not be what it was */
};

/* What is repaired, in the order in which it is. */
enum rule_fix {
	RULE_FIX_NONE,
	RULE_FIX_SUPER,		/* superblocks, from each other or from logs */
	RULE_FIX_ROOT,		/* another super root becomes the latest */
	RULE_FIX_DAT,		/* the DAT: entries and map */
	RULE_FIX_ALLOCATOR,	/* bitmaps and counts of the DAT */
	RULE_FIX_SEGMENTS,	/* SUFILE */
	RULE_FIX_CHECKPOINTS,	/* cpfile */
	RULE_FIX_IFILE,		/* bitmaps and counts of an ifile */
	RULE_FIX_INODES,	/* inodes, and the blocks that hold them */
	RULE_FIX_MAPS,		/* block maps of files */
	RULE_FIX_NAMES,		/* directories and links */
	RULE_FIX_MOVES,		/* what lives where a log lists it wrong */
	RULE_FIX_COUNTS,	/* what nobody refers to; live-block counts */
	RULE_FIX_LOG,		/* whatever is right in any new log */
	RULE_FIX_ZONES,		/* zones that are to be empty, or full */
	RULE_FIX_COUNT
};

struct rule_info {
	enum rule rule;		/* its value is the stable number */
	const char *slug;
	const char *text;
	enum rule_severity severity;
	enum rule_danger danger;
	enum rule_fix fix;
};

/* Rule number I in ascending order of numbers, or NULL past the last. */
const struct rule_info *rule_at(size_t i);

/* What is known of RULE, or NULL where there is no such rule (RULE_OK). */
const struct rule_info *rule_info(enum rule rule);

/* The rule of that slug, or NULL. */
const struct rule_info *rule_find(const char *slug);

#endif
