// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repairing counts.
 *
 * An entry of the DAT that lives and that no checkpoint refers to is ended in
 * the checkpoint in which it began: then none has it, snapshots neither, and a
 * cleaner gives its block and its number back.  One that was never written is
 * given back at once.  One that older checkpoints have ends now, and stays for
 * as long as they do.  One that lives in a snapshot which does not refer to it
 * ends where it began as well, if its map could not be derived.  Which entries
 * these are is only known where all that refers to blocks could be followed.
 *
 * Counts of live blocks are rebuilt, of all segments.
 */
#include <errno.h>

#include "base/sparse.h"
#include "disk/ondisk.h"
#include "fsck/plan/fixers.h"
#include "log/exactcounts.h"
#include "log/directwriter.h"
#include "vol/translate.h"

static int end_leaks(struct fixer_job *job, struct context *cx, bool snapshots)
{
	const struct check *c = job->check;
	const struct sparse *set = snapshots ? &c->unmapped : &c->leaked;
	struct nilfs_dat_entry de;
	uint64_t ended = 0, number;
	int err = 0;

	for (number = sparse_next(set, 0, set->bits);
	     number < set->bits && !err;
	     number = sparse_next(set, number + 1, set->bits)) {
		/* A file that no checkpoint has is of no known kind: no
		   snapshot saw it. */
		if (!snapshots)
			err = directwriter_end(job->writer, cx, number,
					       sparse_test(&c->lingering,
							   number) ?
						       METAFILE_MULTI :
						       METAFILE_SINGLE);
		else
			err = translate_entry(job->vol, cx, number, &de);
		if (!err && snapshots)
			err = directwriter_set_end(job->writer, cx, number,
						   le64_get(de.de_start));
		ended += !err;
		if (err == -EUCLEAN) {
			fail_clear(cx);
			err = 0;
		}
	}
	if (!err)
		fixers_note(job, "DAT: %llu virtual blocks given up",
			    (unsigned long long)ended);
	return err;
}

int fix_counts(struct fixer_job *job, struct context *cx,
	       const struct finding *fixes, size_t n)
{
	bool leaks = false, snapshots = false, counts = false;
	uint64_t changed = 0;
	size_t i;
	int err = 0;

	for (i = 0; i < n; i++) {
		leaks |= fixes[i].rule == RULE_DAT_LEAKED;
		snapshots |= fixes[i].rule == RULE_BMAP_UNMAPPED;
		counts |= fixes[i].rule != RULE_DAT_LEAKED &&
			  fixes[i].rule != RULE_BMAP_UNMAPPED;
	}
	/* As of before the leaks end, which the writer counts itself. */
	if (counts)
		err = exactcounts_count(job->writer, cx, job->vol, job->time,
					&changed);
	if (!err && changed)
		fixers_note(job, "live blocks of %llu segments: counted",
			    (unsigned long long)changed);
	if (!err && leaks)
		err = end_leaks(job, cx, false);
	return err || !snapshots ? err : end_leaks(job, cx, true);
}
