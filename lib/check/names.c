// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Findings of the pass over names.
 *
 * Most blocks belong to many checkpoints.  These are checked newest first, so a
 * finding names the newest one with the block.
 *
 * Damage that was already reported.
 *
 * A set of 64-bit hashes of fixed size: on a volume with more damage some is
 * reported more than once, which hardly matters.
 */
#include "check/names.h"

#include <stdlib.h>

#define SLOTS (1u << 16)
#define USED_MAX (SLOTS / 4 * 3)

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdULL;
	return h ^ h >> 32;
}

bool reported_add(struct reported *reported, const struct reported_key *key)
{
	uint64_t h = mix(mix(mix(1, key->what), key->where), key->which) | 1;
	size_t i = (size_t)(h >> 40) & (SLOTS - 1);

	if (!reported->slots)
		reported->slots = calloc(SLOTS, sizeof(*reported->slots));
	if (!reported->slots || reported->used >= USED_MAX)
		return true;
	while (reported->slots[i] && reported->slots[i] != h)
		i = (i + 1) & (SLOTS - 1);
	if (reported->slots[i])
		return false;
	reported->slots[i] = h;
	reported->used++;
	return true;
}

void reported_fini(struct reported *reported)
{
	free(reported->slots);
	*reported = (struct reported){ .slots = NULL };
}

void names_report(struct names *n, const struct finding *finding,
		  uint64_t which)
{
	struct reported_key key = { finding->rule, finding->place.ino, which };

	n->doubts++;
	if (!n->trial && reported_add(&n->reported, &key))
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
