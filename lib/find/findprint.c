// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Findings for people and for scripts.
 *
 * The line begins with the slug, which is stable and can be searched for in the
 * manual.  After the place follow the text of the rule and the details of the
 * finding.
 */
#include "find/findprint.h"

#include <inttypes.h>
#include <stdio.h>

#include "out/table.h"

const char *findprint_severity(enum rule_severity severity)
{
	switch (severity) {
	case RULE_WARNING:
		return "warning";
	case RULE_ERROR:
		return "error";
	case RULE_FATAL:
		break;
	}
	return "fatal";
}

static const char *const dangers[] = {
	[RULE_DANGER_NONE] = "none",
	[RULE_DANGER_SAFE] = "safe",
	[RULE_DANGER_LOSES] = "loses",
	[RULE_DANGER_REBUILD] = "rebuild",
};

/* The subject of each kind of repair, in one word. */
static const char *const fixes[RULE_FIX_COUNT] = {
	[RULE_FIX_NONE] = "none",
	[RULE_FIX_BITS] = "bits",
	[RULE_FIX_SUPER] = "super",
	[RULE_FIX_ROOT] = "root",
	[RULE_FIX_DAT] = "dat",
	[RULE_FIX_SEGMENTS] = "segments",
	[RULE_FIX_CHECKPOINTS] = "checkpoints",
	[RULE_FIX_IFILE] = "ifile",
	[RULE_FIX_INODES] = "inodes",
	[RULE_FIX_MAPS] = "maps",
	[RULE_FIX_NAMES] = "names",
	[RULE_FIX_MOVES] = "moves",
	[RULE_FIX_COUNTS] = "counts",
	[RULE_FIX_LOG] = "log",
	[RULE_FIX_ZONES] = "zones",
};

void findprint_finding(struct report *r, const struct finding *f)
{
	const struct rule_info *rule = rule_info(f->rule);
	char place[PLACE_TEXT_MAX], numbers[80] = "";

	if (report_is_text(r)) {
		place_text(&f->place, place);
		if (f->has_want && f->has_got)
			snprintf(numbers, sizeof(numbers),
				 " (expected %" PRIu64 ", found %" PRIu64 ")",
				 f->want, f->got);
		else if (f->has_want || f->has_got)
			snprintf(numbers, sizeof(numbers), " (%s %" PRIu64 ")",
				 f->has_got ? "found" : "expected",
				 f->has_got ? f->got : f->want);
		report_text(r, "%s: %s: %s%s%s%s", rule->slug, place,
			    rule->text, numbers, f->detail ? ": " : "",
			    f->detail ? f->detail : "");
		return;
	}
	report_begin(r, "finding", NULL);
	report_string(r, "rule", "Rule", rule->slug);
	report_u64(r, "number", "Number", rule->rule);
	report_string(r, "severity", "Severity",
		      findprint_severity(rule->severity));
	place_report(&f->place, r);
	report_bool(r, "history", "History", f->history);
	report_value(r, VALUE_U64, "wanted", "Wanted",
		     f->has_want ? value_u64(f->want) : value_absent());
	report_value(r, VALUE_U64, "got", "Got",
		     f->has_got ? value_u64(f->got) : value_absent());
	report_string(r, "text", "Text", rule->text);
	report_string(r, "detail", "Detail", f->detail);
	report_end(r);
}

enum { RULE, NUMBER, SEVERITY, COUNT, COUNTS };

void findprint_counts(struct report *r, const struct findings *f,
		      bool everything)
{
	static const struct column columns[COUNTS] = {
		[RULE] = { "rule", "RULE", VALUE_PLAIN, 26, NULL },
		[NUMBER] = { "number", "NUMBER", VALUE_U64, 6, NULL },
		[SEVERITY] = { "severity", "SEVERITY", VALUE_PLAIN, 8, NULL },
		[COUNT] = { "count", "COUNT", VALUE_U64, 8, NULL },
	};
	bool is_text = report_is_text(r);
	const struct rule_info *rule;
	struct table t;
	uint64_t count;
	size_t i;

	if (!is_text)
		table_begin(&t, r, "counts", columns, COUNTS);
	for (i = 0; (rule = rule_at(i)); i++) {
		count = findings_count(f, rule->rule);
		if (is_text && !everything && count > FINDINGS_SHOWN)
			report_text(r, "%s: %" PRIu64 " more of these",
				    rule->slug, count - FINDINGS_SHOWN);
		if (is_text || !count)
			continue;
		table_row(&t, (struct value[]){
			[RULE] = value_string(rule->slug),
			[NUMBER] = value_u64(rule->rule),
			[SEVERITY] = value_string(
				findprint_severity(rule->severity)),
			[COUNT] = value_u64(count),
		});
	}
	if (!is_text)
		table_end(&t);
}

enum { SLUG, RULE_NUMBER, RULE_SEVERITY, DANGER, FIX, TEXT, RULE_COLUMNS };

void findprint_rules(struct report *r)
{
	static const struct column columns[RULE_COLUMNS] = {
		[SLUG] = { "rule", "RULE", VALUE_PLAIN, 26, NULL },
		[RULE_NUMBER] = { "number", "NUMBER", VALUE_U64, 6, NULL },
		[RULE_SEVERITY] = { "severity", "SEVERITY", VALUE_PLAIN, 8,
				    NULL },
		[DANGER] = { "danger", "DANGER", VALUE_PLAIN, 7, NULL },
		[FIX] = { "repair", "REPAIR", VALUE_PLAIN, 11, NULL },
		[TEXT] = { "text", "TEXT", VALUE_PLAIN, 0, NULL },
	};
	const struct rule_info *rule;
	struct table t;
	size_t i;

	table_begin(&t, r, "rules", columns, RULE_COLUMNS);
	for (i = 0; (rule = rule_at(i)); i++)
		table_row(&t, (struct value[]){
			[SLUG] = value_string(rule->slug),
			[RULE_NUMBER] = value_u64(rule->rule),
			[RULE_SEVERITY] = value_string(
				findprint_severity(rule->severity)),
			[DANGER] = value_string(dangers[rule->danger]),
			[FIX] = value_string(fixes[rule->fix]),
			[TEXT] = value_string(rule->text),
		});
	table_end(&t);
}
