/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Policies: those of gc.nilfs2, and some that make sense only while a volume is
 * written.
 */
#ifndef NILFS2_GC_SIM_SIMPOLICY_H
#define NILFS2_GC_SIM_SIMPOLICY_H

#include <stddef.h>
#include <stdint.h>

#include "gc/plan/policy.h"

struct simchoice;

/* A policy that gc.nilfs2 does not have. */
struct simpolicy_kind {
	struct policy policy;	/* by which segments are compared */
	uint32_t parameter;	/* the default; 0: it has none */
	bool has_parameter;
	bool data_ages;		/* needs ages of data */
	/* The number of the next victim, or -1. */
	int64_t (*pick)(struct simchoice *c);
};

/* A policy as requested. */
struct simpolicy {
	const char *name;
	const struct policy *policy;
	const struct simpolicy_kind *kind;	/* NULL: of gc.nilfs2 */
	uint32_t parameter;	/* weight, percent; of KIND, what that has */
};

/* The name of the I-th policy of all, or NULL past the last one. */
const char *simpolicy_word(size_t i);

/* Takes "NAME" or "NAME:NUMBER".  -EINVAL: there is no such policy. */
int simpolicy_parse(struct simpolicy *p, const char *text);

#endif
