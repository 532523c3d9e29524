/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings and rules, put on a report. */
#ifndef NILFS2_FIND_FINDPRINT_H
#define NILFS2_FIND_FINDPRINT_H

#include "find/finding.h"
#include "out/report.h"

/* By enum rule_severity: "warning", "error", "fatal". */
extern const char *const findprint_severities[];

/*
 * The place in words: "superblock 2", "segment 7", "checkpoint 5: inode 12:
 * block 40", "DAT: group 3".  Ends with NUL.
 */
void findprint_place(const struct place *place, char text[PLACE_TEXT_MAX]);

/*
 * Puts one finding on R: in text the line
 *	SLUG: PLACE: text of the rule (expected E, found F): detail
 * otherwise the section "finding" with the members rule, number, severity, place, wanted,
 * got, text and detail.
 */
void findprint_finding(struct report *r, const struct finding *f);

/*
 * Puts the counts of rules of which not all findings were shown: in text a line per
 * rule, otherwise the table "counts" of all broken rules.
 */
void findprint_counts(struct report *r, const struct findings *f,
		      bool everything);

/* Puts the table "rules" of all rules. */
void findprint_rules(struct report *r);

#endif
