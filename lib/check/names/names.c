// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Findings of the pass over names.
 *
 * Most blocks belong to many checkpoints.  These are checked newest first, so a
 * finding names the newest one with the block.  Damage that was reported is in a
 * table of limited size: on a volume with more damage some is reported more than
 * once, which hardly matters.
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

void names_lose(struct names *n, uint64_t ino)
{
	n->doubts++;
	if (!n->lost++)
		n->first_lost = ino;
}

void names_unjudged(struct names *n, uint64_t ino, const char *why)
{
	names_report(n, &(struct finding){
		.rule = RULE_INODE_LINKS_UNKNOWN,
		.place = place_inode(n->root.cno, ino),
		.detail = why && *why ? why : NULL,
	}, 0);
}
