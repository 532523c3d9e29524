// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One more log, for damage that ends with it: the writer of the repair writes
 * it, and with it a new super root.
 */
#include "fsck/plan/fixers.h"

int fix_log(struct fixer_job *job, struct context *cx, const struct fix *fixes,
	    size_t n)
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
