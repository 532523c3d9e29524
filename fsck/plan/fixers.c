// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of fixers, in the order of dependence: a new block needs a number
 * from the DAT and a place in a segment, a file needs its ifile, a name needs
 * its file.
 */
#include "fsck/plan/fixers.h"

#include <stdarg.h>
#include <stdio.h>

#define NOTE_MAX 512

/* One more log, for damage that a new log removes. The writer of the repair
   writes it, with a new super root. */
static int write_log(struct fixer_job *job, struct context *cx,
		     const struct finding *fixes, size_t n)
{
	bool place = false, fields = false;
	size_t i;

	(void)cx;
	for (i = 0; i < n; i++) {
		place |= fixes[i].rule == RULE_ZONE_LAST_LOG;
		fields |= fixes[i].rule != RULE_ZONE_LAST_LOG;
	}
	if (place)
		fixers_note(job, "latest log: one more log starts in an empty zone");
	if (fields)
		fixers_note(job, "super root: rewritten");
	return 0;
}

static const struct fixer table[RULE_FIX_COUNT] = {
	[RULE_FIX_BITS] = { fix_bits,
	  "correct flipped bits, and blocks with an equal version, in place",
	  "a correct bit, if the damage only looks like a flipped bit" },
	[RULE_FIX_SUPER] = { fix_super, "repair the superblocks",
	  "fields that only a lost superblock had, such as the label" },
	[RULE_FIX_ROOT] = { fix_root,
	  "take the newest state that can be repaired",
	  "data written after that state" },
	[RULE_FIX_DAT] = { fix_dat,
	  "set entries of the DAT according to the logs",
	  "blocks that no log lists" },
	[RULE_FIX_SEGMENTS] = { fix_segments,
	  "set entries of segments according to the DAT and the logs",
	  NULL },
	[RULE_FIX_CHECKPOINTS] = { fix_checkpoints,
	  "repair the checkpoint file", NULL },
	[RULE_FIX_IFILE] = { fix_ifile, "count the inodes in use",
	  NULL },
	[RULE_FIX_INODES] = { fix_inodes,
	  "repair inodes and the files of inodes",
	  "inodes may become older versions, or be removed" },
	[RULE_FIX_MAPS] = { fix_maps, "rebuild the maps of files",
	  "blocks of files that cannot be found" },
	[RULE_FIX_NAMES] = { fix_names,
	  "repair directories, names and links",
	  "names without an inode, and duplicate names" },
	[RULE_FIX_MOVES] = { fix_moves,
	  "move live blocks out of segments whose logs list them wrong",
	  NULL },
	[RULE_FIX_COUNTS] = { fix_counts,
	  "free unreferenced blocks, count live blocks", NULL },
	[RULE_FIX_LOG] = { write_log, "write one more log", NULL },
	[RULE_FIX_ZONES] = { fix_zones,
	  "empty the zones of clean segments, finish those of full ones",
	  NULL },
};

const struct fixer *fixers_of(enum rule_fix fix)
{
	return table[fix].apply ? &table[fix] : NULL;
}

void fixers_note(struct fixer_job *job, const char *fmt, ...)
{
	char text[NOTE_MAX];
	va_list ap;

	if (!job->note)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	job->note(job->arg, text);
}
