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
		o->writes, o->warm_up.blocks, o->flush_every, o->snapshot_every,
		o->protect, o->check_every,
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
	if (o->summaries == 1)
		return fail(cx, -EINVAL, "--summaries: a block of them "
			    "describes itself only");
	if (o->trims == 100)
		return fail(cx, -EINVAL, "--trims: nothing would be written");
	if (!o->fill && !o->data)
		return fail(cx, -EINVAL, "--fill: a volume that is empty");
	if (o->garbage == 100)
		return fail(cx, -EINVAL, "--garbage-threshold: nothing lives");
	return 0;
}

/* f2fs has nothing of these. */
static int check_holes(struct context *cx, const struct simoptions *o)
{
	if (o->holes && (o->summaries || o->snapshot_every ||
			 o->snapshot_seconds || o->protect))
		return fail(cx, -EINVAL, "--fill-holes excludes --summaries, "
			    "snapshots and --protect");
	if (o->holes && o->garbage)
		return fail(cx, -EINVAL, "--fill-holes and --garbage-threshold "
			    "exclude each other");
	if (o->syncs && (!o->nodes || o->dirty_pages))
		return fail(cx, -EINVAL, "--sync needs --nodes, without "
			    "--dirty-pages");
	return 0;
}

static int check_cleaner(struct context *cx, const struct simoptions *o)
{
	if (o->low && o->high && o->high < o->low)
		return fail(cx, -EINVAL, "--high: %" PRIu32 " is less than "
			    "--low", o->high);
	return 0;
}

static int check_placement(struct context *cx, const struct simoptions *o)
{
	const struct simplace_kind *k = o->placement;
	uint32_t most = k->most ? k->most : SIMPLACE_CLASSES;

	if (o->classes && !k->least)
		return fail(cx, -EINVAL, "--classes: the placement %s has a "
			    "given number of them", k->name);
	if (o->classes && (o->classes < k->least || o->classes > most))
		return fail(cx, -EINVAL, "--classes: the placement %s has %"
			    PRIu32 " to %" PRIu32, k->name, k->least, most);
	if (k->ahead && o->dirty_pages)
		return fail(cx, -EINVAL, "--dirty-pages: the placement %s "
			    "knows what is written only without them",
			    k->name);
	return 0;
}

int simoptcheck_policy(struct context *cx, const struct simoptions *o,
		       const struct simpolicy *p)
{
	const char *wrong = NULL;

	if (o->max_search && p->kind)
		wrong = "--max-search";
	if (o->ties && (o->max_search || p->policy->data_first))
		wrong = "--ties";
	if (o->garbage && (o->max_search || p->policy->data_first))
		wrong = "--garbage-threshold";
	if (o->ages && (o->max_search || !p->policy->ages))
		wrong = "--ages";
	if (o->second && p->policy != policy_find("timestamp"))
		wrong = "--second";
	return wrong ? fail(cx, -EINVAL, "%s is not for the policy %s%s", wrong,
			    p->name, o->max_search ? " with --max-search" :
						     "") : 0;
}

int simoptcheck_options(struct context *cx, const struct simoptions *o)
{
	int err = check_sizes(cx, o);

	if (!err)
		err = simsetup_work(cx, o,
				    &(struct simwork_config){ .data = 1 });
	if (!err)
		err = check_cleaner(cx, o);
	if (!err)
		err = check_holes(cx, o);
	if (!err)
		err = check_times(cx, o);
	return err ? err : check_placement(cx, o);
}
