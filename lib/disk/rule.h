/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The registry of all rules for a volume (rules.def). */
#ifndef NILFS2_DISK_RULE_H
#define NILFS2_DISK_RULE_H

#include <stdbool.h>
#include <stddef.h>

/* A verdict: RULE_OK, or the number of the first broken rule. */
enum rule {
	RULE_OK = 0,
#define RULE(name, number, slug, severity, danger, fix, ...) \
	RULE_##name = (number),
#include "disk/rules.def"
#undef RULE
};

enum rule_severity {
	RULE_WARNING,		/* the kernel tolerates it */
	RULE_ERROR,		/* the kernel refuses it, or damages the volume */
	RULE_FATAL,		/* the structure cannot be decoded */
};

/* The possible loss by a repair. */
enum rule_danger {
	RULE_DANGER_NONE,	/* there is no repair */
	RULE_DANGER_SAFE,
	RULE_DANGER_LOSES,	/* part of a file, a name, a state */
	RULE_DANGER_REBUILD,	/* a metadata file may differ from the original */
};

/* Kinds of repair, in the order in which they are done. */
enum rule_fix {
	RULE_FIX_NONE,
	RULE_FIX_BITS,		/* flipped bits located by a checksum */
	RULE_FIX_SUPER,		/* superblocks, from each other or from logs */
	RULE_FIX_ROOT,		/* another super root becomes the latest */
	RULE_FIX_DAT,		/* the DAT: map, entries, bitmaps, counts */
	RULE_FIX_SEGMENTS,	/* SUFILE */
	RULE_FIX_CHECKPOINTS,	/* cpfile */
	RULE_FIX_IFILE,		/* bitmaps and counts of an ifile */
	RULE_FIX_INODES,	/* inodes, and the blocks that hold them */
	RULE_FIX_MAPS,		/* block maps of files */
	RULE_FIX_NAMES,		/* directories and links */
	RULE_FIX_MOVES,		/* live blocks that a log lists wrongly */
	RULE_FIX_COUNTS,	/* unreferenced blocks; live-block counts */
	RULE_FIX_LOG,		/* items that any new log corrects */
	RULE_FIX_ZONES,		/* zones that must be empty or full */
	RULE_FIX_COUNT
};

/* The subject of a rule: the thousands of its number. */
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
	RULE_SCOPE_GROUP,	/* of an allocator: DAT or ifile */
	RULE_SCOPE_ENTRY,	/* of entries of an allocator: DAT or inodes */
	RULE_SCOPE_PLACE,	/* any: that of the structure at the place */
};

/*
 * The time of a repair.  A finding of a stage may be caused by damage of an earlier
 * stage, so each stage takes precedence over all later ones.
 */
enum rule_stage {
	RULE_STAGE_OF_FIX,	/* the stage of the rule's repair */
	RULE_STAGE_BITS,	/* flipped bits: in place, before all other repairs */
	RULE_STAGE_DEVICE,	/* superblocks; no log is written */
	RULE_STAGE_NUMBERS,	/* virtual block numbers that the next log
				   would reuse: nothing else is written */
	RULE_STAGE_DAT,		/* required by all later stages */
	RULE_STAGE_METADATA,	/* SUFILE, cpfile */
	RULE_STAGE_TREE,	/* ifiles, inodes, maps */
	RULE_STAGE_NAMES,
	RULE_STAGE_MOVES,	/* moves blocks out of segments unsafe to clean */
	RULE_STAGE_COUNTS,
	RULE_STAGE_ZONES,	/* zones that are no longer needed; no log */
	RULE_STAGE_COUNT
};

/* Consequences of a finding, and how it is treated; bits. */
enum rule_trait {
	/* Superblock: segments can still be found and read. */
	RULE_READABLE = 1 << 0,
	/* Is reset when no error is left, by any repair. */
	RULE_CLEARED_LAST = 1 << 1,
	/* Some log may be missing in the logs that were read. */
	RULE_HIDES_LOGS = 1 << 2,
	/* Some blocks of an allocator may be missing in the counts. */
	RULE_HIDES_GROUPS = 1 << 3,
	/* Some blocks of cpfile or SUFILE may be missing in the counts. */
	RULE_HIDES_BLOCKS = 1 << 4,
	/* The DAT may contain foreign blocks. */
	RULE_DOUBTS_DAT = 1 << 5,
	/* Blocks of the state were overwritten: an older state may be complete. */
	RULE_OVERWRITTEN = 1 << 6,
	/* The next log cannot be written to the place given by the latest one. */
	RULE_NEXT_LOG = 1 << 7,
	/* A metadata file has lost a part, and is restarted without blocks. */
	RULE_LOSES_PART = 1 << 8,
	/* Two files share a block. */
	RULE_CONTESTED = 1 << 9,
	/* Belongs to no checkpoint. */
	RULE_UNOWNED = 1 << 10,
	/* Counts as an error in the judgement of a repair. */
	RULE_AS_ERROR = 1 << 11,
	/* The map of the file (or of the ifile) may be the cause. */
	RULE_DOUBTS_MAP = 1 << 12,
	RULE_DOUBTS_IFILE = 1 << 13,
	/* The repair follows an inode, and releases content or overwrites the directory
	   entry that contradicts it. */
	RULE_RELEASES = 1 << 14,
	/* Is ignored in the judgement of a repair: no repair removes it, and a trial
	   may hide it temporarily. */
	RULE_UNJUDGED = 1 << 15,
	/* Of cpfile or SUFILE: causes no later finding. */
	RULE_STANDALONE = 1 << 16,
	/* A count over files, which is wrong again after their repair. */
	RULE_COUNTS_FILES = 1 << 17,
	/* The SUFILE may record a segment in use as clean. */
	RULE_DOUBTS_CLEAN = 1 << 18,
	/* A pointer leads to no block, which hides what is there: of the ifile,
	   inodes and the damage of their files. */
	RULE_HIDES_CONTENT = 1 << 19,
	/* A directory entry contradicts its inode: the directory cannot be merged with
	   another one. */
	RULE_MISNAMES = 1 << 20,
	/* Says in one of several ways that a pointer leads to no block, or that the
	   SUFILE does not know the blocks of a segment: in the judgement of a repair
	   those of an area count together. */
	RULE_COUNTS_TOGETHER = 1 << 21,
};

struct rule_info {
	enum rule rule;		/* the stable number */
	const char *slug;
	enum rule_severity severity;
	enum rule_danger danger;
	enum rule_fix fix;
	enum rule_area area;
	const char *text;
	enum rule_fix second;	/* used if FIX leaves the finding; or NONE */
	enum rule_scope scope;
	enum rule_stage stage;	/* see rule_stage() */
	unsigned int traits;	/* enum rule_trait */
};

/* Rule number I in ascending order of numbers, or NULL after the last one. */
const struct rule_info *rule_at(size_t i);

/* The row of RULE, or NULL if there is no such rule (RULE_OK). */
const struct rule_info *rule_info(enum rule rule);

/* Whether RULE has one of TRAITS; false for RULE_OK. */
bool rule_has(enum rule rule, unsigned int traits);

/* The stage of each kind of repair; RULE_STAGE_OF_FIX for none. */
extern const enum rule_stage rule_fix_stages[RULE_FIX_COUNT];

/* The stage of a rule. */
enum rule_stage rule_stage(const struct rule_info *info);

#endif
