/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings and rules, put on a report. */
#ifndef NILFS2_FIND_FINDPRINT_H
#define NILFS2_FIND_FINDPRINT_H

#include "find/finding.h"
#include "out/report.h"

/* "warning", "error" or "fatal". */
const char *findprint_severity(enum rule_severity severity);

/*
 * Puts one finding on R: the line
 *	SLUG: PLACE: what is wrong (wanted W, got G): detail
 * in text, else the section "finding" with the members rule, number, severity,
 * place, wanted, got, text and detail.
 */
void findprint_finding(struct report *r, const struct finding *f);

/*
 * Puts, of each rule of which not all findings were shown, how many there are:
 * a line in text, else the table "counts" of all rules that were broken.
 */
void findprint_counts(struct report *r, const struct findings *f,
		      bool everything);

/* Puts the table "rules" of all there are. */
void findprint_rules(struct report *r);

#endif
