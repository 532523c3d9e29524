// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the repair of a map reports.
 *
 * Blocks that are given up, or older than they were, are reported range by
 * range; those that were found as they were are counted.  The account of losses
 * does not depend on any of this.
 */
#include "fsck/maps/mapreport.h"

#include <inttypes.h>
#include <stdio.h>

#define RANGE_MAX 64

static const char *const fates[] = {
	[MAPREPORT_LOST] = "lost, a hole now",
	[MAPREPORT_FILLED] = "lost, with the names in it",
};

static void range_text(uint64_t from, uint64_t end, char text[RANGE_MAX])
{
	if (end - from == 1)
		snprintf(text, RANGE_MAX, "block %" PRIu64, from);
	else
		snprintf(text, RANGE_MAX, "blocks %" PRIu64 " to %" PRIu64,
			 from, end - 1);
}

static void flush(struct mapreport *s)
{
	char range[RANGE_MAX];

	if (s->fate == MAPREPORT_NOTHING)
		return;
	range_text(s->from, s->end, range);
	if (s->fate == MAPREPORT_OLD)
		fixers_tell(s->job, "inode %" PRIu64 ": %s: the content of "
			    "checkpoint %" PRIu64, s->ino, range, s->cno);
	else
		fixers_tell(s->job, "inode %" PRIu64 ": %s: %s", s->ino, range,
			    fates[s->fate]);
	s->fate = MAPREPORT_NOTHING;
}

static void add(struct mapreport *s, enum mapreport_fate fate, uint64_t blkoff,
		uint64_t cno)
{
	if (s->fate == fate && s->cno == cno && s->end == blkoff) {
		s->end++;
		return;
	}
	flush(s);
	s->fate = fate;
	s->cno = cno;
	s->from = blkoff;
	s->end = blkoff + 1;
}

void mapreport_begin(struct mapreport *s, struct fixer_job *job, uint64_t ino)
{
	*s = (struct mapreport){ .job = job, .ino = ino };
}

void mapreport_lost(struct mapreport *s, uint64_t blkoff)
{
	add(s, MAPREPORT_LOST, blkoff, 0);
}

void mapreport_filled(struct mapreport *s, uint64_t blkoff)
{
	add(s, MAPREPORT_FILLED, blkoff, 0);
}

void mapreport_found(struct mapreport *s, uint64_t blkoff,
		     const struct mapfound_run *run)
{
	if (run->vblocknr || !run->cno)
		s->found++;
	else
		add(s, MAPREPORT_OLD, blkoff, run->cno);
}

void mapreport_past(struct mapreport *s)
{
	s->past++;
}

void mapreport_resized(struct mapreport *s, uint64_t size)
{
	s->resized = true;
	s->size = size;
}

void mapreport_removed(struct mapreport *s)
{
	s->removed = true;
}

void mapreport_end(struct mapreport *s)
{
	flush(s);
	fixers_tell(s->job, "inode %" PRIu64 ": map rebuilt, %" PRIu64
		    " block%s restored from the logs", s->ino, s->found,
		    s->found == 1 ? "" : "s");
	if (s->past)
		fixers_tell(s->job, "inode %" PRIu64 ": %" PRIu64 " block%s "
			    "past its size dropped", s->ino, s->past,
			    s->past == 1 ? "" : "s");
	if (s->resized)
		fixers_tell(s->job, "inode %" PRIu64 ": its size is %" PRIu64
			    " now", s->ino, s->size);
	if (s->removed)
		fixers_tell(s->job, "inode %" PRIu64 ": the target of this "
			    "symbolic link is lost; the link is removed",
			    s->ino);
	if (s->unsure)
		fixers_tell(s->job, "inode %" PRIu64 ": there may be holes "
			    "where it had blocks, as not all logs can be read",
			    s->ino);
}
