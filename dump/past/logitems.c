// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What all logs list.
 *
 * A segment is written from its beginning, so what is left of a former use is
 * after the logs of the present one, and a clean segment has the logs that it
 * had.  Segments are searched block by block: a damaged summary hides its own
 * log only.  One that is not in use and does not begin with a log was never
 * written, or was discarded, and is not searched.
 */
#include "dump/past/logitems.h"

#include <errno.h>

#include "check/damage.h"
#include "vol/logcheck.h"
#include "vol/sutable.h"
#include "vol/volume.h"

/* Values of a table of logs. */
enum { PROVEN = 1, NOT_PROVEN };

/* Nothing is known of its use where the volume was opened without metadata. */
static bool may_have_logs(struct volume *vol, struct context *cx,
			  uint64_t segnum)
{
	const uint64_t start = geometry_segment_start(&vol->geo, segnum);
	struct nilfs_segment_usage_ext su;
	struct nilfs_segment_summary ss;
	struct context quiet;

	context_child(cx, &quiet);
	if (!dev_read(vol->dev, &quiet, start << vol->geo.block_bits, &ss,
		      sizeof(ss)) &&
	    segsum_check(&vol->geo, &ss, start) == RULE_OK)
		return true;
	return !vol->sufile.vol || sutable_read(vol, &quiet, segnum, &su) ||
	       !segusage_is_clean(&su.su);
}

int logitems_segment(struct volume *vol, struct context *cx, uint64_t segnum,
		     logitems_log *visit, void *arg)
{
	struct logsearch search;
	struct log log;
	int ret;

	if (!may_have_logs(vol, cx, segnum))
		return 0;
	ret = logsearch_open(&search, cx, vol, segnum,
			     geometry_segment_start(&vol->geo, segnum));
	while (!ret && (ret = logsearch_next(&search, cx, &log))) {
		if (ret > 0) {
			ret = context_cancelled(cx);
			if (!ret)
				ret = visit(arg, cx, &search, &log);
		} else if (!damage_is_fatal(ret)) {
			fail_clear(cx);
			search.next++;
			ret = 0;
		}
	}
	logsearch_close(&search);
	return ret;
}

struct items {
	logitems_visit *visit;
	void *arg;
};

static int visit_items(void *arg, struct context *cx, struct logsearch *search,
		       const struct log *log)
{
	const struct items *items = arg;
	struct segsum_block block;
	int ret = 0;

	while (!ret && segsum_iter_next(&search->summary.iter, &block))
		if (block.is_virtual)
			ret = items->visit(items->arg, cx, log, &block);
	return ret;
}

int logitems_run(struct volume *vol, struct context *cx, logitems_visit *visit,
		 void *arg)
{
	struct items items = { visit, arg };
	uint64_t segnum;
	int err = 0;

	for (segnum = 0; segnum < vol->geo.nsegments && !err; segnum++)
		err = logitems_segment(vol, cx, segnum, visit_items, &items);
	return err;
}

int logitems_is_proven(struct volume *vol, struct context *cx,
		       struct pairtable *proven, uint64_t pseg)
{
	struct pairtable_entry *known = pairtable_find(proven, 0, pseg);
	struct nilfs_segment_summary ss;
	int err;

	if (known)
		return known->value == PROVEN;
	err = dev_read(vol->dev, cx, pseg << vol->geo.block_bits, &ss,
		       sizeof(ss));
	if (!err && segsum_check(&vol->geo, &ss, pseg) != RULE_OK)
		err = -EUCLEAN;
	if (!err)
		err = logcheck_payload(vol, cx, pseg, &ss);
	if (err && !damage_is(err))
		return err;
	if (err)
		fail_clear(cx);
	if (pairtable_add(proven, cx, 0, pseg, err ? NOT_PROVEN : PROVEN))
		return -ENOMEM;
	return !err;
}
