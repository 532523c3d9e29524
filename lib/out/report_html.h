/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of a report as HTML; called by "out/report.h" and "out/table.h".
 */
#ifndef NILFS2_OUT_REPORT_HTML_H
#define NILFS2_OUT_REPORT_HTML_H

#include "out/report.h"
#include "out/table.h"

/*
 * Begins and ends a page called TITLE, with SUBTITLE below (any bytes): one
 * file that refers to nothing outside, with light and dark colours.
 */
void report_html_open(struct out *out, const char *title,
		      const char *subtitle);
void report_html_close(struct out *out);

/* A section, with TITLE as a heading (NULL: none), and its end. */
void report_html_begin(struct report *r, const char *title);
void report_html_end(struct report *r);

/* One value, which begins or continues a table of labels and values. */
void report_html_value(struct report *r, enum value_kind kind,
		       const struct value_flag *flags, const char *label,
		       const struct value *v);

/* A paragraph of CLASS: "note" or "problem". */
void report_html_text(struct report *r, const char *class, const char *text);

/* A table: its heads, a row, its end. */
void report_html_table(struct report *r, const struct column *columns,
		       unsigned int count);
void report_html_row(struct report *r, const struct column *columns,
		     unsigned int count, const struct value *values);
void report_html_table_end(struct report *r);

#endif
