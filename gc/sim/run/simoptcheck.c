// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the options of gcsim.nilfs2 may be: whatever the volume and the trace.
 */
#include "gc/sim/run/simsetup.h"

#include <errno.h>
#include <inttypes.h>

/* No time is longer, in blocks: sums of some do not overflow. */
#define BLOCKS_MAX (UINT64_MAX / 8)

static int check_times(struct context *cx, const struct simoptions *o)
{
	const uint64_t times[] = {
		o->writes, o->warm_up.blocks, o->run.flush_every, o->run.snapshot_every,
		o->run.protect, o->run.check_every,
	};
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (times[i] > BLOCKS_MAX)
			return fail(cx, -EINVAL, "options: %" PRIu64 " are "
				    "more blocks than can be counted",
				    times[i]);
	return 0;
}

static int check_sizes(struct context *cx, const struct simoptions *o)
{
	if (o->block_size & (o->block_size - 1))
		return fail(cx, -EINVAL, "--block-size: %" PRIu64 " is no power "
			    "of two", o->block_size);
	if (o->segment_size % o->block_size ||
	    o->segment_size / o->block_size > UINT32_MAX / 2)
		return fail(cx, -EINVAL, "--segment-size: %" PRIu64 " is no "
			    "number of blocks of %" PRIu64, o->segment_size,
			    o->block_size);
	return 0;
}

static int check_conditions(struct context *cx, const struct simoptions *o)
{
	bool past = o->run.snapshot_every || o->snapshot_seconds ||
		    o->run.protect;
	const struct {
		bool is_wrong;
		const char *text;
	} checks[] = {
		{ o->vol.summary_span == 1,
		  "--summaries: a block of them describes itself only" },
		{ o->work.trims == 100,
		  "--trims: nothing would be written" },
		{ !o->fill && !o->vol.data, "--fill: a volume that is empty" },
		{ o->cleaner.choice.garbage == 100,
		  "--garbage-threshold: nothing lives" },
		/* f2fs has nothing of these. */
		{ o->vol.holes && (o->vol.summary_span || past),
		  "--fill-holes excludes --summaries, snapshots and "
		  "--protect" },
		{ o->vol.holes && o->cleaner.choice.garbage,
		  "--fill-holes and --garbage-threshold exclude each other" },
		{ o->run.syncs && (!o->vol.node_fanout || o->run.dirty_pages),
		  "--sync needs --nodes, without --dirty-pages" },
	};
	size_t i;

	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (checks[i].is_wrong)
			return fail(cx, -EINVAL, "%s", checks[i].text);
	return 0;
}

static int check_cleaner(struct context *cx, const struct simoptions *o)
{
	if (o->cleaner.low && o->cleaner.high && o->cleaner.high < o->cleaner.low)
		return fail(cx, -EINVAL, "--high: %" PRIu32 " is less than "
			    "--low", o->cleaner.high);
	return 0;
}

static int check_placement(struct context *cx, const struct simoptions *o)
{
	const struct simplace_kind *k = o->vol.placement;
	uint32_t most = k->most ? k->most : SIMPLACE_CLASSES;

	if (o->vol.classes && !k->least)
		return fail(cx, -EINVAL, "--classes: the placement %s has a "
			    "given number of them", k->name);
	if (o->vol.classes && (o->vol.classes < k->least || o->vol.classes > most))
		return fail(cx, -EINVAL, "--classes: the placement %s has %"
			    PRIu32 " to %" PRIu32, k->name, k->least, most);
	if (k->ahead && o->run.dirty_pages)
		return fail(cx, -EINVAL, "--dirty-pages: the placement %s "
			    "knows what is written only without them",
			    k->name);
	return 0;
}

int simoptcheck_policy(struct context *cx, const struct simoptions *o,
		       const struct simchoice_policy *p)
{
	const char *wrong = NULL;

	if (o->cleaner.env.max_search && p->kind)
		wrong = "--max-search";
	if (o->cleaner.choice.ties && (o->cleaner.env.max_search || p->policy->data_first))
		wrong = "--ties";
	if (o->cleaner.choice.garbage && (o->cleaner.env.max_search || p->policy->data_first))
		wrong = "--garbage-threshold";
	if (o->ages && (o->cleaner.env.max_search || !p->policy->ages))
		wrong = "--ages";
	if (o->vol.second && p->policy != policy_find("timestamp"))
		wrong = "--second";
	return wrong ? fail(cx, -EINVAL, "%s is not for the policy %s%s", wrong,
			    p->name, o->cleaner.env.max_search ? " with --max-search" :
						     "") : 0;
}

int simoptcheck_options(struct context *cx, const struct simoptions *o)
{
	int err = check_sizes(cx, o);

	if (!err)
		err = check_conditions(cx, o);
	if (!err)
		err = simsetup_work(cx, o,
				    &(struct simwork_config){ .data = 1 });
	if (!err)
		err = check_cleaner(cx, o);
	if (!err)
		err = check_times(cx, o);
	return err ? err : check_placement(cx, o);
}
