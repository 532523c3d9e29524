/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What was reported already: damage that several checkpoints share is one
 * finding.
 */
#ifndef NILFS2_CHECK_REPORTED_H
#define NILFS2_CHECK_REPORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is the empty set. */
struct reported {
	uint64_t *slots;
	size_t used;
};

/* What makes two findings the same, as three numbers of the caller's choice. */
struct reported_key {
	uint64_t what, where, which;
};

/*
 * Adds KEY: true where it is new, or where nothing can be kept any more (told
 * twice is better than not at all).
 */
bool reported_add(struct reported *told, const struct reported_key *key);
void reported_fini(struct reported *told);

#endif
