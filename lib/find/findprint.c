// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Findings and their places for people and for scripts.
 *
 * Both forms of a place contain the checkpoint and the file, then the position in it.
 * Copies of the superblock are numbered from 1; all other numbers are those of the
 * structures.
 *
 * The line begins with the slug, which is stable and can be searched for in the
 * manual.  After the place follow the text of the rule and the details of the
 * finding.
 */
#include "find/findprint.h"

#include <inttypes.h>
#include <stdio.h>

#include "disk/ondisk.h"
#include "out/table.h"

const char *const findprint_severities[] = {
	[RULE_WARNING] = "warning",
	[RULE_ERROR] = "error",
	[RULE_FATAL] = "fatal",
};

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

static const char *const kinds[] = {
	[PLACE_VOLUME] = "volume",
	[PLACE_SUPER] = "superblock",
	[PLACE_BLOCK] = "block",
	[PLACE_SEGMENT] = "segment",
	[PLACE_LOG] = "log",
	[PLACE_CHECKPOINT] = "checkpoint",
	[PLACE_VBLOCK] = "virtual block",
	[PLACE_GROUP] = "group",
	[PLACE_INODE] = "inode",
	[PLACE_MAP] = "map",
	[PLACE_NAME] = "name",
};

/* Names of metadata files. */
static const char *const files[] = {
	[NILFS_DAT_INO] = "DAT",
	[NILFS_CPFILE_INO] = "cpfile",
	[NILFS_SUFILE_INO] = "sufile",
	[NILFS_IFILE_INO] = "ifile",
};

void findprint_place(const struct place *place, char text[PLACE_TEXT_MAX])
{
	size_t nfiles = sizeof(files) / sizeof(*files), used = 0;
	const char *file = place->ino < nfiles ? files[place->ino] : NULL;

	if (place->kind < PLACE_IN_FILE) {
		used = (size_t)snprintf(text, PLACE_TEXT_MAX, "%s",
					kinds[place->kind]);
		if (place->kind != PLACE_VOLUME)
			snprintf(text + used, PLACE_TEXT_MAX - used,
				 " %" PRIu64, place->number +
				 (place->kind == PLACE_SUPER));
		return;
	}
	if (place->cno)
		used = (size_t)snprintf(text, PLACE_TEXT_MAX,
					"checkpoint %" PRIu64 ": ", place->cno);
	used += (size_t)(file ? snprintf(text + used, PLACE_TEXT_MAX - used,
					 "%s", file) :
				snprintf(text + used, PLACE_TEXT_MAX - used,
					 "inode %" PRIu64, place->ino));
	text += used;
	used = PLACE_TEXT_MAX - used;
	if (place->kind == PLACE_GROUP)
		snprintf(text, used, ": group %" PRIu64, place->number);
	else if (place->kind == PLACE_NAME)
		snprintf(text, used, ": block %" PRIu64 ": byte %" PRIu32,
			 place->blkoff, place->offset);
	else if (place->kind == PLACE_MAP && place->level)
		snprintf(text, used, ": node of level %u at block %" PRIu64,
			 place->level, place->blkoff);
	else if (place->kind == PLACE_MAP)
		snprintf(text, used, ": block %" PRIu64, place->blkoff);
}

void findprint_finding(struct report *r, const struct finding *f)
{
	const struct rule_info *rule = rule_info(f->rule);
	const struct place *place = &f->place;
	char text[PLACE_TEXT_MAX], numbers[80] = "";

	if (report_is_text(r)) {
		findprint_place(place, text);
		if (f->has_want && f->has_got)
			snprintf(numbers, sizeof(numbers),
				 " (expected %" PRIu64 ", found %" PRIu64 ")",
				 f->want, f->got);
		else if (f->has_want || f->has_got)
			snprintf(numbers, sizeof(numbers), " (%s %" PRIu64 ")",
				 f->has_got ? "found" : "expected",
				 f->has_got ? f->got : f->want);
		report_text(r, "%s: %s: %s%s%s%s", rule->slug, text,
			    rule->text, numbers, f->detail ? ": " : "",
			    f->detail ? f->detail : "");
		return;
	}
	report_begin(r, "finding", NULL);
	report_string(r, "rule", "Rule", rule->slug);
	report_u64(r, "number", "Number", rule->rule);
	report_string(r, "severity", "Severity",
		      findprint_severities[rule->severity]);
	/* The same numbers as in findprint_place(). */
	report_begin(r, "place", NULL);
	report_string(r, "kind", "Kind", kinds[place->kind]);
	if (place->kind >= PLACE_IN_FILE) {
		report_value(r, VALUE_U64, "checkpoint", "Checkpoint",
			     place->cno ? value_u64(place->cno) :
					  value_absent());
		report_u64(r, "inode", "Inode", place->ino);
	} else if (place->kind != PLACE_VOLUME) {
		report_u64(r, "number", "Number",
			   place->number + (place->kind == PLACE_SUPER));
	}
	if (place->kind == PLACE_GROUP)
		report_u64(r, "group", "Group", place->number);
	if (place->kind == PLACE_MAP || place->kind == PLACE_NAME)
		report_u64(r, "block", "Block", place->blkoff);
	if (place->kind == PLACE_MAP)
		report_u64(r, "level", "Level", place->level);
	if (place->kind == PLACE_NAME)
		report_u64(r, "offset", "Byte", place->offset);
	report_end(r);
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
				findprint_severities[rule->severity]),
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
				findprint_severities[rule->severity]),
			[DANGER] = value_string(dangers[rule->danger]),
			[FIX] = value_string(fixes[rule->fix]),
			[TEXT] = value_string(rule->text),
		});
	table_end(&t);
}
