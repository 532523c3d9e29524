// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The last word of a check: one line for people, as other checkers have it,
 * and one object for scripts.
 */
#include "fsck/summary.h"

#include <inttypes.h>

struct totals {
	uint64_t fatal, errors, warnings;
};

static struct totals count(const struct findings *f)
{
	struct totals t;

	t.fatal = findings_count_severity(f, RULE_FATAL);
	t.errors = findings_count_severity(f, RULE_ERROR) - t.fatal;
	t.warnings = findings_count_severity(f, RULE_WARNING) - t.errors -
		     t.fatal;
	return t;
}

static void put_line(struct report *r, const char *path,
		     const struct totals *t)
{
	uint64_t errors = t->fatal + t->errors;

	if (!errors && !t->warnings)
		report_text(r, "%s: clean", path);
	else
		report_text(r, "%s: %" PRIu64 " error%s, %" PRIu64
			    " warning%s", path, errors, errors == 1 ? "" : "s",
			    t->warnings, t->warnings == 1 ? "" : "s");
}

void summary_report(struct report *r, const char *path,
		    const struct findings *findings)
{
	struct totals t = count(findings);

	if (report_is_text(r)) {
		put_line(r, path, &t);
		return;
	}
	report_begin(r, "summary", NULL);
	report_string(r, "device", "Device", path);
	report_value(r, VALUE_BOOL, "clean", "Clean",
		     value_bool(!t.fatal && !t.errors));
	report_u64(r, "fatal", "Fatal", t.fatal);
	report_u64(r, "errors", "Errors", t.errors);
	report_u64(r, "warnings", "Warnings", t.warnings);
	report_end(r);
}
