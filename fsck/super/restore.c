// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An older super root becomes the latest.
 *
 * To name it in the superblocks is not enough.  The kernel would go on behind
 * its log, where newer ones lie that are given up: they have the sequence
 * number that the next logs would get, so after a crash the next search could
 * walk into one of them.  Therefore one more log is written, into a fresh
 * segment, with a number that no log on the device has; what lies behind it
 * can never be taken for its successor.
 *
 * The superblocks are marked valid: the search of a mount ends at that log.
 *
 * A latest log whose blocks are damaged, but whose state is whole, is followed
 * by such a log too: the kernel asks for the checksum of the log that the
 * superblock names, and of no other.
 */
#include "fsck/super/restore.h"

#include <errno.h>
#include <inttypes.h>

#include "disk/super.h"
#include "find/finding.h"
#include "fsck/damage.h"
#include "fsck/passes.h"
#include "fsck/segments/logdata.h"
#include "fsck/super/rootsearch.h"
#include "log/mend.h"
#include "log/newsupers.h"
#include "vol/summary.h"

static void progress(void *arg, uint64_t done)
{
	check_progress(arg, done);
}

static void ignore(void *arg, const struct finding *f)
{
	(void)arg;
	(void)f;
}

/* Something of the state lives there, whatever its SUFILE says. */
static bool is_alive(void *arg, uint64_t segnum)
{
	const struct check *c = arg;

	return bitmap_test(&c->live_segments, segnum);
}

/* Finds out in which segments something lives. */
static int find_alive(struct check *c, struct context *cx)
{
	int err = findings_open(&c->findings, cx, ignore, NULL, false);

	if (!err)
		err = pass_segments(c, cx);
	if (!err)
		err = pass_dat(c, cx);
	findings_close(c->findings);
	c->findings = NULL;
	return err;
}

static int append(struct fixer_job *job, struct context *cx, struct check *c,
		  uint64_t seq, struct writer_end *end)
{
	const struct writer_options options = { .time = job->time };
	const struct mend_known known = {
		.unusable = is_alive,
		.arg = c,
		.fresh_segment = true,
		.seq = seq,
	};
	struct writer *w;
	int err = mend_open(&w, cx, c->vol, &options, &known);

	if (!err)
		err = writer_commit(w, cx, end);
	writer_close(w);
	return err;
}

static bool is_hopeless(int err)
{
	return !damage_is(err) && err != -ENOSPC;
}

/* Something in the latest log is not what was written, nobody knows what. */
static int tell_hurt(struct fixer_job *job, struct context *cx,
		     struct volume *vol, uint64_t pseg)
{
	struct nilfs_segment_summary ss;
	struct summary summary = { 0 };
	char files[LOGDATA_FILES_MAX];
	int err = dev_read(job->dev, cx, pseg << vol->geo.block_bits, &ss,
			   sizeof(ss));

	if (!err)
		err = summary_read(&summary, cx, vol, pseg, &ss);
	if (!err) {
		logdata_files(&summary, files);
		fixers_tell(job, "log at block %" PRIu64 ": its blocks are "
			    "not what was written: look at %s", pseg, files);
	}
	summary_free(&summary);
	return err;
}

/*
 * Appends to the state of RS: 1, or, where there is no room or too much is
 * damaged, 0, and END is that state.
 */
static int write_log(struct fixer_job *job, struct context *cx,
		     const struct rootsearch *rs, struct writer_end *end)
{
	struct check c = { .dev = job->dev };
	int err = volume_open_at(&c.vol, cx, job->dev, rs->geo, &rs->best);

	if (!err)
		err = find_alive(&c, cx);
	if (!err)
		err = append(job, cx, &c, rs->seq + 1, end);
	if (!err && rs->hurt)
		err = tell_hurt(job, cx, c.vol, rs->best.pseg_start);
	check_fini(&c);
	if (!err || is_hopeless(err))
		return err ? err : 1;
	if (!rs->hurt)
		fixers_tell(job, "superblocks: no log could be added: %s",
			    cx->failure);
	fail_clear(cx);
	*end = (struct writer_end){
		.cno = rs->best.cno,
		.pseg = rs->best.pseg_start,
		.seq = rs->best.seq,
	};
	return 0;
}

static int name(struct fixer_job *job, struct context *cx,
		const struct nilfs_super_block *old,
		const struct nilfs_geometry *geo, const struct writer_end *end)
{
	struct nilfs_super_block sb = *old;
	uint64_t offset2 = super_offset2(job->dev->size);
	unsigned int error = le16_get(sb.s_state) & NILFS_ERROR_FS;

	if (super_bad_offset2(&sb, offset2))
		offset2 = 0;
	newsupers_fill(&sb, geo, end, job->time,
		       (uint16_t)(NILFS_VALID_FS | error));
	return newsupers_write(cx, job->dev, &sb, offset2);
}

/*
 * Finds a state and appends to it: 1, 0 where there is none.  No mount takes the
 * latest log if it is hurt, so without another one behind it its state is lost.
 */
static int search(struct fixer_job *job, struct context *cx,
		  struct rootsearch *rs, struct writer_end *end)
{
	int ret = rootsearch_run(rs, cx);

	if (ret <= 0)
		return ret;
	ret = write_log(job, cx, rs, end);
	if (ret || !rs->hurt)
		return ret < 0 ? ret : 1;
	rs->unhurt = true;
	ret = rootsearch_run(rs, cx);
	if (ret <= 0)
		return ret;
	ret = write_log(job, cx, rs, end);
	return ret < 0 ? ret : 1;
}

int restore_root(struct fixer_job *job, struct context *cx,
		 const struct nilfs_super_block *sb)
{
	struct nilfs_geometry geo;
	struct rootsearch rs = {
		.dev = job->dev,
		.geo = &geo,
		.named_pseg = le64_get(sb->s_last_pseg),
		.named_seq = le64_get(sb->s_last_seq),
		.progress = progress,
		.arg = job->check,
	};
	struct writer_end end;
	int ret;

	super_geometry(sb, job->dev->size, &geo);
	ret = search(job, cx, &rs, &end);
	if (ret <= 0)
		return ret;
	ret = name(job, cx, sb, &geo, &end);
	if (ret)
		return ret;
	fixers_tell(job, "superblocks: lead to checkpoint %" PRIu64
		    " again, the newest that is whole (given up: %" PRIu64
		    ")", rs.best.cno, rs.newer);
	return 1;
}
