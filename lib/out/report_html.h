/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A report as HTML: the page, and values in it.  All content of a volume passes through
 * svg_escape().
 */
#ifndef NILFS2_OUT_REPORT_HTML_H
#define NILFS2_OUT_REPORT_HTML_H

#include "out/report.h"
#include "out/svg.h"

/*
 * Begins a page with the title TITLE and SUBTITLE below (any bytes): one file
 * without external references, with light and dark colours.  The text
 * REPORT_HTML_END ends it.
 */
void report_html_open(struct out *out, const char *title,
		      const char *subtitle);
#define REPORT_HTML_END "</main>\n</body>\n</html>\n"

/* Puts a value as the content of an element. */
void report_html_value(struct out *out, enum value_kind kind,
		       const struct value_flag *flags, const struct value *v);

#endif
