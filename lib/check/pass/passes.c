// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of passes.
 *
 * The order is that of trust: what a pass needs has been checked by one
 * before it.  What is done after each is a guess at most volumes: the DAT and
 * the logs are read once, and the trees take as long as both.
 */
#include "check/pass/passes.h"

static const struct pass table[] = {
	{ "segments", "checking segments", pass_segments,
	  pass_segments_work, 2, true },
	{ "dat", "checking the DAT", pass_dat, pass_dat_work, 20, true },
	{ "zones", "checking zones", pass_zones, pass_zones_work, 22, true },
	{ "logs", "checking logs", pass_logs, pass_logs_work, 40, true },
	{ "checkpoints", "checking checkpoints", pass_checkpoints,
	  pass_checkpoints_work, 42, true },
	{ "tree", "checking files", pass_tree, pass_tree_work, 80, false },
	{ "names", "checking names", pass_names, NULL, 95, false },
	{ "counts", "checking counts", pass_counts, NULL, 98, false },
	{ NULL, NULL, NULL, NULL, 0, false },
};

const struct pass *passes_at(size_t i)
{
	return table[i].run ? &table[i] : NULL;
}
