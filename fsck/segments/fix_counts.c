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
#include <stdlib.h>

#include "base/array.h"
#include "disk/dat.h"
#include "fsck/plan/fixers.h"
#include "log/exactcounts.h"
#include "log/repairwriter.h"
#include "vol/datscan.h"
#include "vol/translate.h"

/* Entries that nothing refers to. */
struct leaks {
	const struct check *c;
	bool past;		/* of snapshots, not of the latest state */
	uint64_t *numbers;
	size_t n, room;
};

static int find_leak(void *arg, struct context *cx, unsigned int worker,
		     uint64_t vblocknr, const struct nilfs_dat_entry *de)
{
	struct leaks *l = arg;

	(void)worker;
	if (l->past ? !check_is_unmapped(l->c, vblocknr, de) :
		      !dat_is_current(de) || !check_is_leaked(l->c, vblocknr))
		return 0;
	return array_push(cx, &l->numbers, &l->n, &l->room, vblocknr);
}

static int end_leaks(struct fixer_job *job, struct context *cx, bool past)
{
	struct leaks l = { .c = job->check, .past = past };
	const struct datscan_visitor visitor = {
		.used = find_leak,
		.unreadable = check_skip_unreadable,
		.arg = &l,
	};
	struct nilfs_dat_entry de;
	uint64_t ended = 0;
	size_t i;
	int err;

	if (job->check->tree_broken || job->check->dat_broken)
		return 0;
	err = datscan_run_alone(job->vol, cx, &visitor);
	for (i = 0; i < l.n && !err; i++) {
		uint64_t number = l.numbers[i];
		/* A file that no checkpoint has is of no known kind: no
		   snapshot saw it. */
		bool seen = sparse_test(&job->check->lingering, number);

		if (!past)
			err = repairwriter_end(job->writer, cx, number,
					       seen ? METAFILE_MULTI :
						      METAFILE_SINGLE);
		else
			err = translate_entry(job->vol, cx, number, &de);
		if (!err && past)
			err = repairwriter_set_end(job->writer, cx, number,
						   le64_get(de.de_start));
		ended += !err;
		if (err == -EUCLEAN) {
			fail_clear(cx);
			err = 0;
		}
	}
	free(l.numbers);
	if (!err)
		fixers_note(job, "DAT: %llu virtual blocks given up",
			    (unsigned long long)ended);
	return err;
}

int fix_counts(struct fixer_job *job, struct context *cx,
	       const struct finding *fixes, size_t n)
{
	bool leaks = false, past = false, counts = false;
	uint64_t changed = 0;
	size_t i;
	int err = 0;

	for (i = 0; i < n; i++) {
		leaks |= fixes[i].rule == RULE_DAT_LEAKED;
		past |= fixes[i].rule == RULE_BMAP_UNMAPPED;
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
	return err || !past ? err : end_leaks(job, cx, true);
}
