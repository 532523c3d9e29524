/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many cases ended how. */
#ifndef NILFS2_TESTS_DAMAGE_TABLE_H
#define NILFS2_TESTS_DAMAGE_TABLE_H

#include "verdict.h"

struct table {
	unsigned long counts[TARGET_KINDS][SPOIL_KINDS][2][VERDICTS];
};

void table_add(struct table *t, const struct damage_case *c,
	       enum verdict verdict);
void table_merge(struct table *t, const struct table *other);

/* Prints a line for each kind, damage and treatment of checksums. */
void table_print(const struct table *t, const char *title);

/*
 * Prints a line for each kind, one for all, and how many cases differ in
 * silence, or not at all although a loss is listed.
 */
void table_print_totals(const struct table *t);

/* How many cases ended with VERDICT. */
unsigned long table_count(const struct table *t, enum verdict verdict);

#endif
