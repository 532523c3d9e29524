/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The registry of everything that can be wrong (rules.def). */
#ifndef NILFS2_DISK_RULE_H
#define NILFS2_DISK_RULE_H

#include <stdbool.h>
#include <stddef.h>

/* A verdict: RULE_OK, or the number of the first rule that is broken. */
enum rule {
	RULE_OK = 0,
#define RULE(name, number, slug, severity, danger, fix, ...) \
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
	RULE_FIX_BITS,		/* bits that a checksum says were flipped */
	RULE_FIX_SUPER,		/* superblocks, from each other or from logs */
	RULE_FIX_ROOT,		/* another super root becomes the latest */
	RULE_FIX_DAT,		/* the DAT: map, entries, bitmaps, counts */
	RULE_FIX_SEGMENTS,	/* SUFILE */
	RULE_FIX_CHECKPOINTS,	/* cpfile */
	RULE_FIX_IFILE,		/* bitmaps and counts of an ifile */
	RULE_FIX_INODES,	/* inodes, and the blocks that hold them */
	RULE_FIX_MAPS,		/* block maps of files */
	RULE_FIX_NAMES,		/* directories and links */
	RULE_FIX_MOVES,		/* what lives where a log lists it wrong */
	RULE_FIX_COUNTS,	/* what is unreferenced; live-block counts */
	RULE_FIX_LOG,		/* whatever is right in any new log */
	RULE_FIX_ZONES,		/* zones that are to be empty, or full */
	RULE_FIX_COUNT
};

/* What is checked: the thousands of the number of a rule. */
enum rule_area {
	RULE_AREA_SUPER = 1,
	RULE_AREA_LOG,
	RULE_AREA_ROOT,
	RULE_AREA_MAP,
	RULE_AREA_DAT,
	RULE_AREA_ALLOCATOR,
	RULE_AREA_CHECKPOINTS,
	RULE_AREA_SEGMENTS,
	RULE_AREA_INODE,
	RULE_AREA_DIRECTORY,
	RULE_AREA_DEVICE,
};

/* How the kind of repair depends on the place of a finding. */
enum rule_scope {
	RULE_SCOPE_ANY,		/* it does not */
	RULE_SCOPE_FILE,	/* in a metadata file: with that file */
	RULE_SCOPE_FIELD,	/* of the inode of a metadata file: with the
				   entry of the checkpoint, and safe */
	RULE_SCOPE_GROUP,	/* of an allocator: the DAT's, or an ifile's */
	RULE_SCOPE_ENTRY,	/* the same, of entries: DAT's, or inodes */
	RULE_SCOPE_PLACE,	/* any structure: with what is at the place */
};

/*
 * When something is repaired.  What is found at a stage may come of damage that
 * belongs to one before it, so each outweighs all that follow.
 */
enum rule_stage {
	RULE_STAGE_OF_FIX,	/* of a rule: that of its repair */
	RULE_STAGE_BITS,	/* flipped ones: in place, before all else */
	RULE_STAGE_DEVICE,	/* superblocks; no log is written */
	RULE_STAGE_NUMBERS,	/* of virtual blocks, which the next log would
				   give to others: nothing else is written */
	RULE_STAGE_DAT,		/* leads to all the others */
	RULE_STAGE_METADATA,	/* SUFILE, cpfile */
	RULE_STAGE_TREE,	/* ifiles, inodes, maps */
	RULE_STAGE_NAMES,
	RULE_STAGE_MOVES,	/* out of segments that a cleaner must not read */
	RULE_STAGE_COUNTS,
	RULE_STAGE_ZONES,	/* what nothing needs any more; no log */
	RULE_STAGE_COUNT
};

/* What follows from a finding, or how it is to be taken; bits. */
enum rule_trait {
	/* Superblock: segments can be found, and read, all the same. */
	RULE_READABLE = 1 << 0,
	/* Is reset when no error is left, whichever repair removed them. */
	RULE_CLEARED_LAST = 1 << 1,
	/* A log may be missing in what was read of logs. */
	RULE_HIDES_LOGS = 1 << 2,
	/* Blocks of an allocator may be missing in what was counted. */
	RULE_HIDES_GROUPS = 1 << 3,
	/* Blocks of cpfile or SUFILE may be missing in what was counted. */
	RULE_HIDES_BLOCKS = 1 << 4,
	/* The DAT may have blocks that are not its own. */
	RULE_DOUBTS_DAT = 1 << 5,
	/* Blocks of the state were overwritten: an older one may be whole. */
	RULE_OVERWRITTEN = 1 << 6,
	/* The next log cannot go where the latest one says. */
	RULE_NEXT_LOG = 1 << 7,
	/* A metadata file has lost a part, and is begun without blocks. */
	RULE_LOSES_PART = 1 << 8,
	/* Two files have the same block. */
	RULE_CONTESTED = 1 << 9,
	/* Belongs to no checkpoint. */
	RULE_UNOWNED = 1 << 10,
	/* Counts as an error where a repair is judged. */
	RULE_AS_ERROR = 1 << 11,
	/* The map of the file may be what is wrong; that of the ifile. */
	RULE_DOUBTS_MAP = 1 << 12,
	RULE_DOUBTS_IFILE = 1 << 13,
	/* Because of what an inode says its repair releases content, or
	   overwrites the directory entry that says otherwise. */
	RULE_RELEASES = 1 << 14,
	/* No repair is judged by it: none removes it, and one that is tried
	   may hide it for a while. */
	RULE_UNJUDGED = 1 << 15,
	/* Of cpfile or SUFILE: no later finding comes of it. */
	RULE_STANDALONE = 1 << 16,
	/* A count of what files have, which is wrong again after their repair. */
	RULE_COUNTS_FILES = 1 << 17,
	/* The SUFILE may take a segment in use for a clean one. */
	RULE_DOUBTS_CLEAN = 1 << 18,
};

struct rule_info {
	enum rule rule;		/* its value is the stable number */
	const char *slug;
	enum rule_severity severity;
	enum rule_danger danger;
	enum rule_fix fix;
	enum rule_area area;
	const char *text;
	enum rule_fix second;	/* where FIX leaves the finding; or NONE */
	enum rule_scope scope;
	enum rule_stage stage;	/* see rule_stage() */
	unsigned int traits;	/* enum rule_trait */
};

/* Rule number I in ascending order of numbers, or NULL past the last. */
const struct rule_info *rule_at(size_t i);

/* What is known of RULE, or NULL where there is no such rule (RULE_OK). */
const struct rule_info *rule_info(enum rule rule);

/* Whether RULE has one of TRAITS; false for RULE_OK. */
bool rule_has(enum rule rule, unsigned int traits);

/* The stage of a kind of repair, of a rule. */
enum rule_stage rule_stage_of_fix(enum rule_fix fix);
enum rule_stage rule_stage(const struct rule_info *info);

/* The rule of that slug, or NULL. */
const struct rule_info *rule_find(const char *slug);

#endif
