// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Findings for people and for scripts.
 *
 * The line begins with the slug, which can be searched for in the manual and
 * stays what it is; after the place comes the text of the rule, then what is
 * particular to this finding.
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

/* "none", "safe", "loses" or "rebuild". */
static const char *findprint_danger(enum rule_danger danger)
{
	switch (danger) {
	case RULE_DANGER_SAFE:
		return "safe";
	case RULE_DANGER_LOSES:
		return "loses";
	case RULE_DANGER_REBUILD:
		return "rebuild";
	case RULE_DANGER_NONE:
		break;
	}
	return "none";
}

/* What is repaired, in one word: "none", "super", "root", "dat", ... */
static const char *findprint_fix(enum rule_fix fix)
{
	static const char *const names[RULE_FIX_COUNT] = {
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

	return names[fix];
}

#define NUMBERS_MAX 80

static void numbers_text(const struct finding *f, char text[NUMBERS_MAX])
{
	*text = '\0';
	if (f->has_want && f->has_got)
		snprintf(text, NUMBERS_MAX,
			 " (wanted %" PRIu64 ", got %" PRIu64 ")", f->want,
			 f->got);
	else if (f->has_got)
		snprintf(text, NUMBERS_MAX, " (got %" PRIu64 ")", f->got);
	else if (f->has_want)
		snprintf(text, NUMBERS_MAX, " (wanted %" PRIu64 ")", f->want);
}

static void print_line(struct report *r, const struct finding *f)
{
	const struct rule_info *rule = rule_info(f->rule);
	char place[PLACE_TEXT_MAX], numbers[NUMBERS_MAX];

	place_text(&f->place, place);
	numbers_text(f, numbers);
	report_text(r, "%s: %s: %s%s%s%s", rule->slug, place, rule->text,
		    numbers, f->detail ? ": " : "",
		    f->detail ? f->detail : "");
}

static struct value number_if(bool present, uint64_t number)
{
	return present ? value_u64(number) : value_absent();
}

void findprint_finding(struct report *r, const struct finding *f)
{
	const struct rule_info *rule = rule_info(f->rule);

	if (report_is_text(r)) {
		print_line(r, f);
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
		     number_if(f->has_want, f->want));
	report_value(r, VALUE_U64, "got", "Got",
		     number_if(f->has_got, f->got));
	report_string(r, "text", "Text", rule->text);
	report_string(r, "detail", "Detail", f->detail);
	report_end(r);
}

/* What was left out, as the lines are not all there are. */
static void print_rest(struct report *r, const struct findings *f)
{
	const struct rule_info *rule;
	uint64_t count;
	size_t i;

	for (i = 0; (rule = rule_at(i)); i++) {
		count = findings_count(f, rule->rule);
		if (count > FINDINGS_SHOWN)
			report_text(r, "%s: %" PRIu64 " more of these",
				    rule->slug, count - FINDINGS_SHOWN);
	}
}

enum { RULE, NUMBER, SEVERITY, COUNT, COUNTS };

static void print_table(struct report *r, const struct findings *f)
{
	static const struct column columns[COUNTS] = {
		[RULE] = { "rule", "RULE", VALUE_PLAIN, 26, NULL },
		[NUMBER] = { "number", "NUMBER", VALUE_U64, 6, NULL },
		[SEVERITY] = { "severity", "SEVERITY", VALUE_PLAIN, 8, NULL },
		[COUNT] = { "count", "COUNT", VALUE_U64, 8, NULL },
	};
	const struct rule_info *rule;
	struct table t;
	size_t i;

	table_begin(&t, r, "counts", columns, COUNTS);
	for (i = 0; (rule = rule_at(i)); i++) {
		uint64_t count = findings_count(f, rule->rule);

		if (!count)
			continue;
		table_row(&t, (struct value[]){
			[RULE] = value_string(rule->slug),
			[NUMBER] = value_u64(rule->rule),
			[SEVERITY] = value_string(
				findprint_severity(rule->severity)),
			[COUNT] = value_u64(count),
		});
	}
	table_end(&t);
}

void findprint_counts(struct report *r, const struct findings *f,
		      bool everything)
{
	if (!report_is_text(r))
		print_table(r, f);
	else if (!everything)
		print_rest(r, f);
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
			[DANGER] = value_string(findprint_danger(rule->danger)),
			[FIX] = value_string(findprint_fix(rule->fix)),
			[TEXT] = value_string(rule->text),
		});
	table_end(&t);
}
