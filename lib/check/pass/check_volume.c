// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A check of a volume, pass by pass.
 */
#include "check/pass/passes.h"

#define TABLE_MEMORY_MIN (64u << 20)

/*
 * Each pass relies on data checked by the passes before it.  The percentages
 * are estimates for most volumes: the DAT and the logs are read once, and the
 * trees take as long as both.
 */
static const struct pass table[] = {
	{ "segments", "checking segments", pass_segments, 2, true },
	{ "dat", "checking the DAT", pass_dat, 20, true },
	{ "zones", "checking zones", pass_zones, 22, true },
	{ "logs", "checking logs", pass_logs, 40, true },
	{ "checkpoints", "checking checkpoints", pass_checkpoints, 42, true },
	{ "tree", "checking files", pass_tree, 80, false },
	{ "names", "checking names", pass_names, 95, false },
	{ "counts", "checking counts", pass_counts, 98, false },
	{ NULL, NULL, NULL, 0, false },
};

const struct pass *check_volume_pass(size_t i)
{
	return table[i].run ? &table[i] : NULL;
}

static int run_pass(struct check *c, struct context *cx,
		    const struct pass *pass, const struct check_run *run)
{
	int err = context_cancelled(cx);

	if (err)
		return err;
	c->work = 0;
	if (run->begin)
		run->begin(run->arg, pass);
	err = pass->run(c, cx);
	if (run->end)
		run->end(run->arg);
	return err;
}

int check_volume(struct check *c, struct context *cx,
		 const struct check_run *run)
{
	const struct pass *pass;
	uint64_t most;
	size_t i;
	int err = pass_super(c, cx), whole;

	if (!err && c->vol && run->opened)
		err = run->opened(run->arg, c, cx);
	whole = !err && c->vol;
	err = err < 0 ? err : 0;
	if (whole && !c->table_memory) {
		/* A byte for each entry that the DAT may have, and a minimum. */
		most = vblocks_end(c->vol, cx) + TABLE_MEMORY_MIN;
		c->table_memory = most < cx->max_memory ? most :
							  cx->max_memory;
	}
	for (i = 0; whole && (pass = check_volume_pass(i)) && !err; i++)
		if (pass->counters || !run->counters)
			err = run_pass(c, cx, pass, run);
	if (!err && run->extra)
		err = run_pass(c, cx, run->extra, run);
	if (!err)
		err = badreads_report(c, cx);
	return err ? err : whole;
}
