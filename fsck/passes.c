// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of passes.
 *
 * The order is that of trust: what a pass needs has been checked by one
 * before it.
 */
#include "fsck/passes.h"

static const struct pass table[] = {
	{ "segments", "checking segments", pass_segments,
	  pass_segments_work },
	{ "dat", "checking the DAT", pass_dat, pass_dat_work },
	{ "logs", "checking logs", pass_logs, pass_logs_work },
	{ "checkpoints", "checking checkpoints", pass_checkpoints,
	  pass_checkpoints_work },
	{ "tree", "checking files", pass_tree, pass_tree_work },
	{ "names", "checking names", pass_names, NULL },
	{ "counts", "checking counts", pass_counts, NULL },
	{ NULL, NULL, NULL, NULL },
};

const struct pass *passes_at(size_t i)
{
	return table[i].run ? &table[i] : NULL;
}
