// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All logs on the device, and the blocks that they list.
 *
 * A segment is written from its beginning, so logs of an earlier use follow those
 * of the current one, and a clean segment contains its former logs.  Commands
 * read the lists several times; the log index (check/logs/logindex.h) searches
 * each segment once, block by block, so that a damaged summary hides only its own
 * log.  A segment that is not in use and does not begin with a log was never
 * written, or was discarded, and is not searched.
 */
#include "dump/history/logitems.h"

#include <errno.h>
#include <string.h>

#include "check/damage.h"
#include "vol/logcheck.h"
#include "vol/sutable.h"
#include "vol/translate.h"
#include "vol/volume.h"

/* Values of the table of proven logs. */
enum { PROVEN = 1, NOT_PROVEN };

int logitems_open(struct logitems *l, struct context *cx, struct volume *vol)
{
	*l = (struct logitems){ .vol = vol };
	return logindex_open(&l->ix, cx, &vol->geo, NULL);
}

void logitems_close(struct logitems *l)
{
	logindex_close(l->ix);
	pairtable_fini(&l->proven);
	memset(l, 0, sizeof(*l));
}

void logitems_rewind(struct logitems *l)
{
	l->segnum = 0;
	l->segment.n = l->nlogs = 0;
	l->at = (struct logindex_cursor){ .block = 0 };
}

int logitems_next_log(struct logitems *l, struct context *cx)
{
	struct volume *vol = l->vol;
	struct nilfs_segment_usage_ext su;
	struct context quiet;
	int err = context_cancelled(cx);

	context_child(cx, &quiet);
	for (; !err && l->nlogs == l->segment.n &&
	       l->segnum < vol->geo.nsegments; l->segnum++) {
		l->segment.n = l->nlogs = 0;
		/* Without metadata the use of segments is unknown. */
		if (logindex_begins(l->ix, cx, vol, l->segnum) ||
		    !vol->sufile.vol ||
		    sutable_read(vol, &quiet, l->segnum, &su) ||
		    !segusage_is_clean(&su.su))
			err = logindex_segment(l->ix, cx, vol, l->segnum,
					       &l->segment);
	}
	if (err || l->nlogs == l->segment.n)
		return err;
	l->at = (struct logindex_cursor){ .block = 0 };
	err = logindex_log(l->segment.ix, cx, l->segment.first + l->nlogs++,
			   &l->at.log);
	return err ? err : 1;
}

int logitems_next_block(struct logitems *l, struct context *cx,
			struct segsum_block *b)
{
	return logindex_next_block(l->segment.ix, cx, &l->at, b);
}

int logitems_next(struct logitems *l, struct context *cx,
		  struct segsum_block *b)
{
	int ret;

	do {
		while ((ret = logitems_next_block(l, cx, b)) > 0)
			if (b->is_virtual)
				return 1;
		if (!ret)
			ret = logitems_next_log(l, cx);
	} while (ret > 0);
	return ret;
}

int logitems_check(struct volume *vol, struct context *cx, uint64_t pseg)
{
	struct nilfs_segment_summary ss;
	int err = dev_read(vol->dev, cx, pseg << vol->geo.block_bits, &ss,
			   sizeof(ss));

	if (!err && segsum_check(&vol->geo, &ss, pseg) != RULE_OK)
		return 0;
	if (!err)
		err = logcheck_payload(vol, cx, pseg, &ss);
	return err ? damage_forgive(cx, err) : 1;
}

int logitems_is_proven(struct logitems *l, struct context *cx, uint64_t pseg)
{
	struct pairtable_entry *known = pairtable_find(&l->proven, 0, pseg);
	int ret;

	if (known)
		return known->value == PROVEN;
	ret = logitems_check(l->vol, cx, pseg);
	if (ret >= 0 && pairtable_add(&l->proven, cx, 0, pseg,
				      ret ? PROVEN : NOT_PROVEN))
		return -ENOMEM;
	return ret;
}

bool logitems_may_have(struct volume *vol, struct context *cx,
		       uint64_t vblocknr, uint64_t blocknr, uint64_t cno)
{
	struct nilfs_dat_entry entry;
	struct context quiet;

	context_child(cx, &quiet);
	return translate_entry(vol, &quiet, vblocknr, &entry) ||
	       !le64_get(entry.de_blocknr) ||
	       (le64_get(entry.de_blocknr) == blocknr &&
		le64_get(entry.de_start) <= cno && cno < le64_get(entry.de_end));
}
