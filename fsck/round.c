// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One round of repairs.
 *
 * Superblocks are mended in their place.  All else is one more log: the fixers
 * change the files of a new checkpoint, and superblocks that name it are the
 * end.  Where the fixers changed nothing there is no log.
 */
#include "fsck/round.h"

#include <errno.h>

#include "disk/super.h"
#include "log/mend.h"
#include "log/newsupers.h"

uint64_t round_offset2(const struct volume *vol)
{
	uint64_t offset = vol->super_offset[1];

	return super_bad_offset2(volume_super(vol), offset) ? 0 : offset;
}

static int apply(struct round *round, struct context *cx)
{
	const struct plan *plan = round->job.plan;
	const struct fixer *fixer;
	size_t i;
	int err = 0;

	for (i = 0; i < RULE_FIX_COUNT && !err; i++) {
		fixer = fixers_of((enum rule_fix)i);
		if (!fixer || fixer->floor != round->floor ||
		    !plan->kinds[i].n || round->given_up[i])
			continue;
		err = fixer->apply(&round->job, cx, plan->kinds[i].fixes,
				   plan->kinds[i].n);
	}
	return err;
}

static int finish_log(struct round *round, struct context *cx)
{
	const struct volume *vol = round->job.vol;
	struct nilfs_super_block sb = *volume_super(vol);
	struct writer_end end;
	int err = writer_commit(round->job.writer, cx, &end);

	if (err)
		return err;
	newsupers_fill(&sb, &vol->geo, &end, round->job.time,
		       le16_get(sb.s_state));
	return newsupers_write(cx, round->job.dev, &sb, round_offset2(vol));
}

static int run_log(struct round *round, struct context *cx)
{
	const struct writer_options options = { .time = round->job.time };
	int err = writer_open(&round->job.writer, cx, round->job.vol,
			      &options);

	if (!err)
		err = apply(round, cx);
	if (!err)
		err = finish_log(round, cx);
	writer_close(round->job.writer);
	round->job.writer = NULL;
	return err;
}

int round_run(struct round *round, struct context *cx)
{
	if (round->floor == FIXER_DEVICE)
		return apply(round, cx);
	if (!round->job.vol)
		return 0;
	return run_log(round, cx);
}
