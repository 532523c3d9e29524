// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * victims POLICY IMAGE: the segments of IMAGE in the order in which gc.nilfs2
 * would choose them, a number a line; for comparison with what the simulator
 * chooses.
 */
#include <inttypes.h>
#include <stdio.h>

#include "dev/devfile.h"
#include "gc/plan/facts.h"
#include "gc/plan/policy.h"
#include "vol/volume.h"

static int list(const struct facts *f, const struct policy *policy)
{
	struct policy_order order;
	int ret = policy_open(&order, policy, &f->env, f->segments, f->n);
	int64_t i;

	while (!ret && (i = policy_next(&order, f->clean)) >= 0)
		printf("%" PRIu64 "\n", f->segments[i].segnum);
	policy_close(&order);
	return ret;
}

int main(int argc, char **argv)
{
	const struct policy *policy = argc == 3 ? policy_find(argv[1]) : NULL;
	struct context cx;
	struct dev *dev = NULL;
	struct volume *vol = NULL;
	struct facts facts = { 0 };
	int ret;

	if (!policy)
		return 2;
	context_init(&cx);
	ret = devfile_open(&dev, &cx, argv[2], DEVFILE_READ);
	if (!ret)
		ret = volume_open(&vol, &cx, dev, NULL);
	if (!ret)
		ret = facts_gather(&facts, &cx, vol, 0, NULL);
	if (!ret && policy->uses_metadata)
		ret = facts_count_metadata(&facts, &cx);
	facts.env.scarce = vol ? vol->geo.nsegments / 20 : 0;
	if (!ret)
		ret = list(&facts, policy);
	if (ret)
		fprintf(stderr, "victims: %s\n", cx.failure);
	facts_fini(&facts);
	volume_close(vol);
	dev_close(dev);
	return ret != 0;
}
