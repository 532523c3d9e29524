// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How the pass over names tells what it finds.
 *
 * Most blocks belong to many checkpoints.  These are looked at newest first, so
 * what is told is told of the newest one that has it.
 */
#include "check/names.h"

void names_tell(struct names *n, const struct finding *finding,
		uint64_t which)
{
	struct reported_key key = { finding->rule, finding->place.ino, which };

	n->doubts++;
	if (!n->trial && reported_add(&n->told, &key))
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
	names_tell(n, &(struct finding){
		.rule = RULE_INODE_LINKS_UNKNOWN,
		.place = place_inode(n->root.cno, ino),
		.detail = why && *why ? why : NULL,
	}, 0);
}
