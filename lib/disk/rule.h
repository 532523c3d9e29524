/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The registry of everything that can be wrong (rules.def). */
#ifndef NILFS2_DISK_RULE_H
#define NILFS2_DISK_RULE_H

#include <stddef.h>

/* A verdict: RULE_OK, or the number of the first rule that is broken. */
enum rule {
	RULE_OK = 0,
#define RULE(name, number, slug, severity, text) RULE_##name = (number),
#include "disk/rules.def"
#undef RULE
};

enum rule_severity {
	RULE_WARNING,		/* the kernel lives with it */
	RULE_ERROR,		/* the kernel refuses it, or harm follows */
	RULE_FATAL,		/* the structure cannot be decoded */
};

struct rule_info {
	enum rule rule;		/* its value is the stable number */
	const char *slug;
	const char *text;
	enum rule_severity severity;
};

/* Rule number I in ascending order of numbers, or NULL past the last. */
const struct rule_info *rule_at(size_t i);

/* What is known of RULE, or NULL where there is no such rule (RULE_OK). */
const struct rule_info *rule_info(enum rule rule);

/* The rule of that slug, or NULL. */
const struct rule_info *rule_find(const char *slug);

#endif
