// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of fixers.
 *
 * The order is that of dependence: a number for a new block needs the DAT, a
 * place for it the segments, a file its ifile, a name its file.
 */
#include "fsck/plan/fixers.h"

#include <stdarg.h>
#include <stdio.h>

#define NOTE_MAX 512

/* One more log, for damage that ends with it: the writer of the repair writes
   it, and with it a new super root. */
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
		fixers_note(job, "latest log: one more begins an empty zone");
	if (fields)
		fixers_note(job, "super root: rewritten");
	return 0;
}

static const struct fixer table[RULE_FIX_COUNT] = {
	[RULE_FIX_BITS] = { fix_bits, "correct flipped bits in place",
	  "where the damage only looks like a flipped bit, that bit" },
	[RULE_FIX_SUPER] = { fix_super, "repair the superblocks",
	  "what only a lost superblock knew, as the label" },
	[RULE_FIX_ROOT] = { fix_root,
	  "take the newest state that can be repaired",
	  "what was written after that state" },
	[RULE_FIX_DAT] = { fix_dat,
	  "set entries of the DAT to what the logs say",
	  "blocks that no log lists" },
	[RULE_FIX_SEGMENTS] = { fix_segments,
	  "set entries of segments to what the DAT and the logs say", NULL },
	[RULE_FIX_CHECKPOINTS] = { fix_checkpoints,
	  "make the checkpoint file right", NULL },
	[RULE_FIX_IFILE] = { fix_ifile, "count the inodes in use",
	  NULL },
	[RULE_FIX_INODES] = { fix_inodes,
	  "repair inodes and the files of inodes",
	  "what is left of an inode may be older, or nothing" },
	[RULE_FIX_MAPS] = { fix_maps, "rebuild the maps of files",
	  "blocks of files that cannot be found" },
	[RULE_FIX_NAMES] = { fix_names,
	  "repair directories, names and links",
	  "names that lead to nothing, or are there twice" },
	[RULE_FIX_MOVES] = { fix_moves,
	  "move what lives in segments whose logs list it wrong", NULL },
	[RULE_FIX_COUNTS] = { fix_counts,
	  "give up blocks that nothing refers to, count live blocks", NULL },
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
