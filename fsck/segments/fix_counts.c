// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repairing counts.
 *
 * A live entry of the DAT that no checkpoint refers to is ended in the
 * checkpoint where it began: then no checkpoint or snapshot has it, and a
 * cleaner frees its block and number. An entry that was never written is freed
 * at once. An entry of older checkpoints ends now, and stays as long as they
 * do. An entry live in a snapshot that does not refer to it ends where it began
 * too, if the map could not be derived. These entries are known only if all
 * references to blocks could be followed.
 *
 * Counts of live blocks are rebuilt for all segments.
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
		/* The kind of a file that no checkpoint has is unknown: no
		   snapshot has it. */
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
	/* The counts before the leaks are ended; the writer counts these
	   itself. */
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
