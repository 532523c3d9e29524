// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of passes.
 *
 * The order is that of trust: what a pass needs has been checked by one
 * before it.
 */
#include "check/passes.h"

static const struct pass table[] = {
	{ "segments", "checking segments", pass_segments,
	  pass_segments_work, true },
	{ "dat", "checking the DAT", pass_dat, pass_dat_work, true },
	{ "zones", "checking zones", pass_zones, pass_zones_work, true },
	{ "logs", "checking logs", pass_logs, pass_logs_work, true },
	{ "checkpoints", "checking checkpoints", pass_checkpoints,
	  pass_checkpoints_work, true },
	{ "tree", "checking files", pass_tree, pass_tree_work, false },
	{ "names", "checking names", pass_names, NULL, false },
	{ "counts", "checking counts", pass_counts, NULL, false },
	{ NULL, NULL, NULL, NULL, false },
};

const struct pass *passes_at(size_t i)
{
	return table[i].run ? &table[i] : NULL;
}
