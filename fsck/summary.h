/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last word of a check. */
#ifndef NILFS2_FSCK_SUMMARY_H
#define NILFS2_FSCK_SUMMARY_H

#include "find/finding.h"
#include "out/report.h"

/* Puts how many findings there were on PATH, or that it is clean. */
void summary_report(struct report *r, const char *path,
		    const struct findings *findings);

#endif
