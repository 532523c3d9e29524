// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is right in any new log: the super root's own fields, and that it ends
 * at the write pointer of its zone.
 *
 * There is nothing to change but the checkpoint that a writer makes anyhow; the
 * round writes it even where no fixer has changed a block.
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
		fixers_tell(job, "latest log: one more begins an empty zone");
	if (fields)
		fixers_tell(job, "super root: written anew");
	return 0;
}
