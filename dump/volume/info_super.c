// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Both superblocks of a volume.
 *
 * They are written alternately and differ on most volumes; they are shown side
 * by side with a mark where they differ.  An invalid copy is shown if it has the
 * magic number.
 */
#include "dump/volume/info.h"

#include <stdio.h>
#include <string.h>

#include "disk/rule.h"
#include "disk/super.h"
#include "dump/common/fields.h"
#include "out/table.h"
#include "vol/recovery.h"

#define TEXT_MAX (FAILURE_TEXT_MAX + 64)

static const char *const copy_names[2] = { "first", "second" };

void info_super_read(struct info_super *s, const struct context *cx,
		     struct dev *dev)
{
	struct context child;
	bool read[2];
	int i;

	memset(s, 0, sizeof(*s));
	context_child(cx, &child);
	s->offset[0] = NILFS_SB_OFFSET_BYTES;
	s->offset[1] = super_offset2(dev->size);
	for (i = 0; i < 2; i++)
		read[i] = s->offset[i] &&
			  !dev_read(dev, &child, s->offset[i], &s->copy[i],
				    sizeof(s->copy[i]));
	super_choose(read[0] ? &s->copy[0] : NULL,
		     read[1] ? &s->copy[1] : NULL, dev->size, &s->choice);
	for (i = 0; i < 2; i++)
		s->shown[i] = read[i] && s->choice.verdict[i] != RULE_SB_MAGIC;
}

static const char *verdict_text(enum rule rule)
{
	return rule == RULE_OK ? "valid" : rule_info(rule)->text;
}

enum { FIELD, MARK, FIRST, SECOND, COLUMNS };

void info_super_report_fields(const struct info_super *s,
			      struct report *r)
{
	static const struct column columns[COLUMNS] = {
		[FIELD] = { "field", "SUPERBLOCK", VALUE_STRING, 24, NULL },
		[MARK] = { "differs", "", VALUE_STRING, 1, NULL },
		[FIRST] = { "first", "FIRST", VALUE_STRING, 36, NULL },
		[SECOND] = { "second", "SECOND", VALUE_STRING, 0, NULL },
	};
	const struct field_table *fields = field_table_find("super_block");
	char text[2][FIELDS_TEXT_MAX];
	const struct field *f;
	struct value v[2];
	struct table t;
	bool differ;
	int i;

	if (!report_is_text(r)) {
		report_list(r, "superblocks");
		for (i = 0; i < 2; i++) {
			report_begin(r, "superblock", NULL);
			report_string(r, "copy", "Copy", copy_names[i]);
			report_u64(r, "offset", "Byte", s->offset[i]);
			report_string(r, "verdict", "Verdict",
				      verdict_text(s->choice.verdict[i]));
			if (s->shown[i])
				fields_report(r, fields, &s->copy[i]);
			report_end(r);
		}
		report_end(r);
		return;
	}
	table_begin(&t, r, "superblocks", columns, COLUMNS);
	for (f = fields->fields; f < fields->fields + fields->nfields; f++) {
		if (f->kind == FIELD_PAD)
			continue;
		for (i = 0; i < 2; i++)
			v[i] = !s->shown[i] ? value_absent() :
			       value_string(fields_format(f, &s->copy[i],
							  r->out, text[i]));
		differ = s->shown[0] && s->shown[1] && strcmp(text[0], text[1]);
		table_row(&t, (struct value[]){
			[FIELD] = value_string(f->name),
			[MARK] = value_string(differ ? "*" : " "),
			[FIRST] = v[0],
			[SECOND] = v[1],
		});
	}
	table_end(&t);
}

/*
 * Whether the kernel could use copy I instead of the other, with the reason in TEXT:
 * it must be valid and of the same layout, and its log must lead to a super root.
 */
static bool could_take_over(const struct info_super *s,
			    const struct context *cx, struct volume *vol,
			    int i, char text[TEXT_MAX])
{
	struct nilfs_geometry geo = { .nsegments = 0 };
	struct recovery rec;
	struct context child;

	if (s->choice.verdict[i] != RULE_OK) {
		snprintf(text, TEXT_MAX, "no: %s",
			 verdict_text(s->choice.verdict[i]));
		return false;
	}
	/* A failure leaves zeros, which no volume has. */
	super_geometry(&s->copy[i], vol->dev->size, &geo);
	if (geo.block_size != vol->geo.block_size ||
	    geo.blocks_per_segment != vol->geo.blocks_per_segment ||
	    geo.nsegments != vol->geo.nsegments ||
	    geo.crc_seed != vol->geo.crc_seed) {
		snprintf(text, TEXT_MAX, "no: different layout");
		return false;
	}
	context_child(cx, &child);
	if (recovery_search(vol, &child, &s->copy[i], true, &rec)) {
		snprintf(text, TEXT_MAX, "no: %s", child.failure);
		return false;
	}
	snprintf(text, TEXT_MAX, "yes, it leads to checkpoint %llu",
		 (unsigned long long)rec.cno);
	return true;
}

void info_super_report_choice(const struct info_super *s,
			      struct report *r, const struct context *cx,
			      struct volume *vol)
{
	int used = vol ? vol->super_used : s->choice.index;
	char text[TEXT_MAX];
	bool could;
	int i;

	snprintf(text, sizeof(text), "%s%s",
		 super_reasons[s->choice.reason],
		 used == s->choice.index ? "" :
		 ", but leads to no super root");
	report_begin(r, "choice", "Active superblock");
	report_string(r, "used", "Which", used < 0 ? NULL : copy_names[used]);
	report_string(r, "reason", "Why", text);
	for (i = 0; i < 2; i++)
		report_string(r, i ? "second" : "first",
			      i ? "Second" : "First",
			      verdict_text(s->choice.verdict[i]));
	report_u64(r, "first_offset", "First at byte", s->offset[0]);
	report_u64(r, "second_offset", "Second at byte", s->offset[1]);
	if (vol) {
		could = could_take_over(s, cx, vol, !vol->super_used, text);
		report_string(r, "other", "Other usable", text);
		if (!report_is_text(r))
			report_bool(r, "other_could_take_over", "", could);
	}
	report_end(r);
}

static const struct {
	const char *name;
	const char *unknown;	/* effect of an unknown bit on a mount */
} sets[] = {
	[SUPER_COMPAT] = { "compat", "none" },
	[SUPER_COMPAT_RO] = { "compat_ro", "read-only" },
	[SUPER_INCOMPAT] = { "incompat", "refused" },
};

enum { SET, NAME, ALIAS, BIT, ENABLED, EFFECT, FEATURE_COLUMNS };

void info_super_report_features(const struct nilfs_super_block *sb,
				struct report *report)
{
	static const struct column columns[FEATURE_COLUMNS] = {
		[SET] = { "set", "FEATURES", VALUE_STRING, 10, NULL },
		[NAME] = { "name", "NAME", VALUE_STRING, 20, NULL },
		[ALIAS] = { "alias", "ALIAS", VALUE_STRING, 10, NULL },
		[BIT] = { "bits", "BITS", VALUE_HEX, 10, NULL },
		[ENABLED] = { "enabled", "ON", VALUE_BOOL, 3, NULL },
		[EFFECT] = { "mount", "MOUNT", VALUE_STRING, 0, NULL },
	};
	const struct super_feature *f;
	const uint64_t words[] = {
		[SUPER_COMPAT] = le64_get(sb->s_feature_compat),
		[SUPER_COMPAT_RO] = le64_get(sb->s_feature_compat_ro),
		[SUPER_INCOMPAT] = le64_get(sb->s_feature_incompat),
	};
	uint64_t unknown[sizeof(words) / sizeof(words[0])];
	struct table t;
	size_t i;

	memcpy(unknown, words, sizeof(words));
	table_begin(&t, report, "features", columns, FEATURE_COLUMNS);
	for (f = super_features; f->name; f++) {
		unknown[f->set] &= ~f->bit;
		table_row(&t, (struct value[FEATURE_COLUMNS]){
			[SET] = value_string(sets[f->set].name),
			[NAME] = value_string(f->name),
			[ALIAS] = value_string(f->alias),
			[BIT] = value_u64(f->bit),
			[ENABLED] = value_bool(words[f->set] & f->bit),
		});
	}
	/* Bits without a name: one row for each set. */
	for (i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if (unknown[i])
			table_row(&t, (struct value[FEATURE_COLUMNS]){
				[SET] = value_string(sets[i].name),
				[NAME] = value_string("unknown"),
				[BIT] = value_u64(unknown[i]),
				[ENABLED] = value_bool(true),
				[EFFECT] = value_string(sets[i].unknown),
			});
	table_end(&t);
}

void info_super_report_state(const struct nilfs_super_block *sb,
			     struct report *r)
{
	unsigned int state = le16_get(sb->s_state);

	report_begin(r, "state", "State");
	report_bool(r, "clean", "Unmounted cleanly", state & NILFS_VALID_FS);
	report_bool(r, "error", "Errors were found", state & NILFS_ERROR_FS);
	report_bool(r, "resize", "Resize under way", state & NILFS_RESIZE_FS);
	report_time(r, "created", "Created", le64_get(sb->s_ctime));
	report_value(r, VALUE_TIME, "mounted", "Last mounted",
		     value_nonzero(le64_get(sb->s_mtime)));
	report_time(r, "written", "Last written", le64_get(sb->s_wtime));
	report_u64(r, "mounts", "Mounts", le16_get(sb->s_mnt_count));
	report_end(r);
}
