// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Findings about names, once for all checkpoints.
 *
 * Reported damage is stored in a table of limited size: beyond that, damage may
 * be reported more than once.
 */
#include "check/names/names.h"

#define REPORTED_MAX 49152u

void names_report(struct names *n, const struct finding *finding,
		  uint64_t which)
{
	uint64_t what = which * 0xff51afd7ed558ccdULL ^ finding->rule;
	uint64_t ino = finding->place.ino;
	struct context quiet;

	n->doubts++;
	if (n->trial || pairtable_find(&n->reported, what, ino))
		return;
	context_init(&quiet);
	if (n->reported.used < REPORTED_MAX)
		pairtable_add(&n->reported, &quiet, what, ino, 1);
	findings_add(n->c->findings, finding);
}
