// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dump.nilfs2 segments: live and dead blocks of every segment.
 *
 * A list in the order of the segments is printed as it is read.  A sorted list
 * reads the segments twice: the first pass keeps only the value to sort by,
 * sixteen bytes a segment, the second prints the rows.  A column is a row of
 * the table all[], and a value in fill_values().
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "cli/range.h"
#include "dump/common/commands.h"
#include "dump/common/image.h"
#include "dump/volume/segment.h"
#include "out/table.h"

enum {
	SEGMENT, STATE, FLAGS, SEQUENCE, MODIFIED, BLOCKS, WRITTEN, LIVE,
	SNAPSHOT, RECENT, DEAD, USE, DATA, METADATA, DATA_SHARE,
	METADATA_SHARE, OVERHEAD, STORED_LIVE, STORED_SNAPSHOT, STORED_TIME,
	COLUMNS
};

static const struct value_flag state_flags[] = {
	{ SEGMENT_ACTIVE, "active" },
	{ SEGMENT_DIRTY, "dirty" },
	{ SEGMENT_ERROR, "error" },
	{ SEGMENT_PROTECTED, "protected" },
	{ 0, NULL },
};

static const struct column all[COLUMNS] = {
	[SEGMENT] = { "segment", "SEGMENT", VALUE_U64, 7 },
	[STATE] = { "state", "STATE", VALUE_STRING, 5 },
	[FLAGS] = { "flags", NULL, VALUE_FLAGS, 0, state_flags },
	[SEQUENCE] = { "sequence", "SEQUENCE", VALUE_U64, 8 },
	[MODIFIED] = { "modified", "MODIFIED", VALUE_TIME, 25 },
	[BLOCKS] = { "blocks", "BLOCKS", VALUE_U64, 7 },
	[WRITTEN] = { "written", "WRITTEN", VALUE_U64, 7 },
	[LIVE] = { "live", "LIVE", VALUE_U64, 7 },
	[SNAPSHOT] = { "snapshot", "SNAPSHOT", VALUE_U64, 8 },
	[RECENT] = { "recent", "RECENT", VALUE_U64, 7 },
	[DEAD] = { "dead", "DEAD", VALUE_U64, 7 },
	[USE] = { "use", "USE", VALUE_PERCENT, 6 },
	[DATA] = { "data", "DATA", VALUE_U64, 7 },
	[METADATA] = { "metadata", "METADATA", VALUE_U64, 8 },
	[DATA_SHARE] = { "data_share", "DATA%", VALUE_PERCENT, 6 },
	[METADATA_SHARE] = { "metadata_share", "META%", VALUE_PERCENT, 6 },
	[OVERHEAD] = { "overhead", "OVERHEAD", VALUE_U64, 8 },
	[STORED_LIVE] = { "su_nlive_blks", "STORED-LIVE", VALUE_U64, 11 },
	[STORED_SNAPSHOT] = { "su_nsnapshot_blks", "STORED-SNAP", VALUE_U64,
			      11 },
	[STORED_TIME] = { "su_nlive_lastmod", "STORED-TIME", VALUE_TIME, 25 },
};

/* The requested columns, as numbers, in order. */
struct columns {
	unsigned int list[TABLE_COLUMNS_MAX];
	unsigned int count;
	bool data;		/* one of them needs segment_count_data() */
};

static const unsigned int usual[] = {
	SEGMENT, STATE, FLAGS, SEQUENCE, MODIFIED, WRITTEN, LIVE, SNAPSHOT,
	RECENT, DEAD, USE,
};

/* Columns from DATA to OVERHEAD need the summaries of all logs. */
static bool needs_data(unsigned int column)
{
	return column >= DATA && column <= OVERHEAD;
}

static const char *column_word(size_t i)
{
	return i < COLUMNS ? all[i].key : NULL;
}

/* Sets *COLUMN to the column of that name, or fails with -EINVAL. */
static int find_column(struct context *cx, const char *name,
		       unsigned int *column)
{
	char names[256] = "";
	unsigned int i;
	size_t used = 0;

	for (i = 0; i < COLUMNS; i++) {
		if (!strcmp(all[i].key, name)) {
			*column = i;
			return 0;
		}
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used,
						 sizeof(names) - used, "%s%s",
						 i ? ", " : "", all[i].key);
	}
	return fail(cx, -EINVAL, "'%s' is not a column; valid are %s", name,
		    names);
}

static int segments_add_column(struct context *cx, struct columns *columns,
			       unsigned int column)
{
	if (columns->count == TABLE_COLUMNS_MAX)
		return fail(cx, -EINVAL, "more than %u columns",
			    TABLE_COLUMNS_MAX);
	columns->list[columns->count++] = column;
	columns->data |= needs_data(column);
	return 0;
}

/*
 * Parses LIST ("segment,live"; "all"; "+data" adds to the default columns).  NULL:
 * the default columns, which include "recent" if RECENT is set.
 */
static int parse_columns(struct context *cx, const char *list, bool recent,
			 struct columns *columns)
{
	unsigned int i, column;
	char name[64];
	size_t len, n;
	int err = 0;

	*columns = (struct columns){ .count = 0 };
	for (i = 0; i < sizeof(usual) / sizeof(usual[0]) && !err; i++)
		if ((!list || *list == '+') && (usual[i] != RECENT || recent))
			err = segments_add_column(cx, columns, usual[i]);
	if (!list)
		return err;
	for (list += *list == '+'; !err; list += len + 1) {
		len = strcspn(list, ",");
		n = len < sizeof(name) ? len : sizeof(name) - 1;
		memcpy(name, list, n);
		name[n] = '\0';
		if (!strcmp(name, "all")) {
			for (i = 0; i < COLUMNS && !err; i++)
				err = segments_add_column(cx, columns, i);
		} else {
			err = find_column(cx, name, &column);
			if (!err)
				err = segments_add_column(cx, columns, column);
		}
		if (!list[len])
			break;
	}
	return err;
}

/* Unknown values of S are absent. */
static void fill_values(struct value v[COLUMNS], const struct segment *s)
{
	uint32_t kept = segment_kept(s);
	uint32_t metadata = kept > s->data ? kept - s->data : 0;

	memset(v, 0, COLUMNS * sizeof(*v));
	v[SEGMENT] = value_u64(s->segnum);
	v[STATE] = v[FLAGS] = value_u64(s->state);
	if (s->has_sequence)
		v[SEQUENCE] = value_u64(s->sequence);
	v[MODIFIED] = value_nonzero(le64_get(s->su.su.su_lastmod));
	v[BLOCKS] = value_u64(s->blocks);
	v[WRITTEN] = value_u64(s->written);
	if (s->has_counts) {
		v[LIVE] = value_u64(s->live);
		v[SNAPSHOT] = value_u64(s->snapshot);
		v[RECENT] = value_u64(s->recent);
		v[DEAD] = value_u64(segment_dead(s));
		v[USE] = value_percent(kept, s->blocks);
	}
	if (s->has_data) {
		v[DATA] = value_u64(s->data);
		v[METADATA] = value_u64(metadata);
		v[DATA_SHARE] = value_percent(s->data, kept);
		v[METADATA_SHARE] = value_percent(metadata, kept);
		v[OVERHEAD] = value_u64(s->overhead);
	}
	if (s->has_stored) {
		v[STORED_LIVE] = value_u64(le32_get(s->su.su_nlive_blks));
		v[STORED_SNAPSHOT] =
			value_u64(le32_get(s->su.su_nsnapshot_blks));
		v[STORED_TIME] = value_nonzero(le64_get(s->su.su_nlive_lastmod));
	}
}

enum {
	STATE_CLEAN = 1 << 4,		/* beside SEGMENT_* */
};

struct segments_options {
	bool all, reverse, totals, histogram;
	const char *columns, *sort;
	unsigned int states;		/* to be shown; 0: any */
	uint32_t min_dead, min_live;	/* percent */
	uint64_t period;		/* seconds */
	uint64_t lines;
};

struct sort_key {
	uint64_t key, segnum;
};

struct listing {
	struct tool *tool;
	const struct segments_options *o;
	struct segment_source src;
	struct range_set ranges;
	struct columns columns;
	bool sorted;
	unsigned int sort_column;
	struct sort_key *keys;
	size_t nkeys, room;
	uint64_t left;			/* rows still to be shown */
	struct table table;
	struct segment_total total;
	int status;
};

static const struct {
	const char *name;
	unsigned int bit;
} state_names[] = {
	{ "active", SEGMENT_ACTIVE },
	{ "dirty", SEGMENT_DIRTY },
	{ "error", SEGMENT_ERROR },
	{ "protected", SEGMENT_PROTECTED },
	{ "clean", STATE_CLEAN },
};

#define STATE_NAMES (sizeof(state_names) / sizeof(state_names[0]))

static const char *state_word(size_t i)
{
	return i < STATE_NAMES ? state_names[i].name : NULL;
}

static int parse_states(struct context *cx, const char *arg, void *where)
{
	unsigned int *states = where;
	size_t len, i;

	for (;; arg += len + 1) {
		len = strcspn(arg, ",");
		for (i = 0; i < STATE_NAMES; i++)
			if (strlen(state_names[i].name) == len &&
			    !memcmp(state_names[i].name, arg, len))
				break;
		if (i == STATE_NAMES)
			return fail(cx, -EINVAL, "--state: '%.*s' is none of "
				    "active, dirty, error, protected, clean",
				    (int)len, arg);
		*states |= state_names[i].bit;
		if (!arg[len])
			return 0;
	}
}

static bool segments_is_clean(const struct segment *s)
{
	return !(s->state & ~(unsigned int)SEGMENT_PROTECTED);
}

/* Whether PART is at least PERCENT of the blocks of S. */
static bool segments_is_share(const struct segment *s, uint32_t part,
			      uint32_t percent)
{
	return (uint64_t)part * 100 >= (uint64_t)percent * s->blocks;
}

/* Clean segments are listed if requested. */
static bool lists_clean(const struct listing *l)
{
	return l->o->all || l->ranges.count || l->o->states & STATE_CLEAN;
}

static int count_data(struct listing *l, struct segment *s)
{
	if (s->has_data)
		return 0;
	return image_note(l->tool, &l->status,
			  segment_count_data(&l->src, &l->tool->cx, s));
}

static int segments_print_row(struct listing *l, struct segment *s)
{
	struct value all_values[COLUMNS], values[TABLE_COLUMNS_MAX];
	char state[SEGMENT_STATE_CHARS];
	unsigned int i;
	int err = 0;

	if (!l->left)
		return 0;
	l->left--;
	if (l->columns.data)
		err = count_data(l, s);
	if (err)
		return err;
	fill_values(all_values, s);
	segment_state_text(s->state, state);
	all_values[STATE] = value_bytes(state, sizeof(state));
	for (i = 0; i < l->columns.count; i++)
		values[i] = all_values[l->columns.list[i]];
	table_row(&l->table, values);
	return l->tool->out->error;
}

/* Prints the segment, or keeps the value by which it is sorted. */
static int list_segment(struct listing *l, uint64_t segnum,
			const struct nilfs_segment_usage_ext *su)
{
	const struct segments_options *o = l->o;
	struct context *cx = &l->tool->cx;
	bool data = l->sorted && needs_data(l->sort_column);
	struct value all_values[COLUMNS], *v = &all_values[l->sort_column];
	struct segment s;
	int err;

	if (!range_has(&l->ranges, segnum))
		return 0;
	err = segment_describe(&l->src, cx, segnum, su, &s);
	err = image_note(l->tool, &l->status, err);
	if (err)
		return err;
	if ((o->states &&
	     !((s.state | (segments_is_clean(&s) ? STATE_CLEAN : 0)) & o->states)) ||
	    !segments_is_share(&s, segment_dead(&s), o->min_dead) ||
	    !segments_is_share(&s, segment_kept(&s), o->min_live))
		return 0;
	if (data || (o->totals && l->columns.data))
		err = count_data(l, &s);
	if (err)
		return err;
	segment_total_add(&l->total, &s);
	if (segments_is_clean(&s) && !lists_clean(l))
		return 0;
	if (!l->sorted)
		return segments_print_row(l, &s);
	/* Absent values are sorted as 0. */
	if (array_reserve(cx, &l->keys, &l->room, l->nkeys + 1))
		return -ENOMEM;
	fill_values(all_values, &s);
	l->keys[l->nkeys++] = (struct sort_key){
		.key = v->present ? v->number : 0,
		.segnum = segnum,
	};
	return 0;
}

static int compare_keys(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;

	return sort_order(x->key, y->key) ?: sort_order(x->segnum, y->segnum);
}

static int show_sorted(struct listing *l)
{
	struct context *cx = &l->tool->cx;
	struct nilfs_segment_usage_ext su;
	struct segment s;
	size_t i, at;
	int err = 0;

	sort_in_place(l->keys, l->nkeys, sizeof(*l->keys), compare_keys);
	for (i = 0; i < l->nkeys && l->left && !err; i++) {
		at = l->o->reverse ? l->nkeys - 1 - i : i;
		err = sutable_read(l->src.vol, cx, l->keys[at].segnum, &su);
		if (!err)
			err = context_cancelled(cx);
		if (err)
			break;
		/* The first pass has reported a failure. */
		if (segment_describe(&l->src, cx, l->keys[at].segnum, &su, &s))
			fail_clear(cx);
		err = segments_print_row(l, &s);
	}
	return err;
}

static int list_segments(struct listing *l)
{
	bool clean = lists_clean(l) || (l->o->totals && !l->o->states);
	struct volume *vol = l->src.vol;
	struct tool *tool = l->tool;
	struct context *cx = &tool->cx;
	struct column columns[TABLE_COLUMNS_MAX];
	struct nilfs_segment_usage_ext su;
	struct sutable_cursor cur;
	uint64_t segnum;
	unsigned int i;
	int err;

	for (i = 0; i < l->columns.count; i++)
		columns[i] = all[l->columns.list[i]];
	table_begin(&l->table, &tool->report, "segments", columns,
		    l->columns.count);
	progress_begin(&tool->progress, "segments", vol->geo.nsegments, false);
	err = sutable_cursor_open(&cur, cx, vol, clean);
	while (!err && (err = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0) {
		err = context_cancelled(cx);
		if (!err)
			err = list_segment(l, segnum, &su);
		progress_update(&tool->progress, segnum);
	}
	sutable_cursor_close(&cur);
	progress_end(&tool->progress);
	err = image_note(tool, &l->status, err);
	if (!err && l->sorted)
		err = show_sorted(l);
	table_end(&l->table);
	if (!err && l->o->totals)
		segment_total_report(&l->total, &tool->report,
				     vol->geo.block_size);
	if (!err && l->o->histogram)
		segment_total_report_use(&l->total, &tool->report);
	return err ? err : l->status;
}

static int segments_run(struct tool *tool, const void *options)
{
	const struct segments_options *o = options;
	struct listing l = {
		.tool = tool,
		.o = o,
		.sorted = o->sort || o->reverse,
		.left = o->lines,
	};
	struct dump_image im = { .dev = NULL };
	struct context *cx = &tool->cx;
	int err;

	segment_total_init(&l.total);
	err = parse_columns(cx, o->columns, o->period != 0, &l.columns);
	if (!err)
		err = find_column(cx, o->sort ? o->sort : "segment",
				  &l.sort_column);
	if (!err)
		err = range_parse_set(cx, "segments", tool->argc - 1,
				      tool->argv + 1, &l.ranges);
	tool->bad_usage = err == -EINVAL;
	if (!err)
		err = image_open(&im, tool, tool->argv[0], NULL);
	if (!err)
		err = image_note(tool, &l.status,
				 segment_open(&l.src, cx, im.vol, o->period));
	if (!err)
		err = list_segments(&l);
	if (!err && (l.sorted || l.left))
		err = range_check_met(cx, "segment", &l.ranges);
	free(l.keys);
	range_set_free(&l.ranges);
	segment_close(&l.src);
	image_close(&im);
	return err;
}

#define AT(member) offsetof(struct segments_options, member)

static const struct cli_option segments_rows[] = {
	{ 'a', "all", NULL, "clean segments too", OPTION_FLAG, AT(all) },
	{ 'o', "columns", "LIST",
	  "these columns; with a leading '+' in addition to the default",
	  OPTION_STRING, AT(columns), 0, 0, NULL, NULL, column_word },
	{ 's', "sort", "COLUMN", "sort by this column", OPTION_STRING, AT(sort),
	  0, 0, NULL, NULL, column_word },
	{ 'r', "reverse", NULL, "reverse the order", OPTION_FLAG, AT(reverse) },
	{ 'n', "lines", "N", "no more than N segments", OPTION_U64, AT(lines) },
	{ 0, "state", "LIST",
	  "only those that are one of active, dirty, error, protected, clean",
	  OPTION_CALL, AT(states), 0, 0, NULL, parse_states, state_word },
	{ 0, "min-dead", "PERCENT", "only those with so many dead blocks",
	  OPTION_U32, AT(min_dead) },
	{ 0, "min-live", "PERCENT", "only those with so many blocks kept",
	  OPTION_U32, AT(min_live) },
	{ 'p', "protection-period", "SECONDS",
	  "count blocks of checkpoints of this period as kept", OPTION_U64,
	  AT(period) },
	{ 0, "totals", NULL, "sums below the list, over clean segments too",
	  OPTION_FLAG, AT(totals) },
	{ 0, "histogram", NULL, "number of segments by how full they are",
	  OPTION_FLAG, AT(histogram) },
	{ 0 },
};

static const struct segments_options segments_defaults = {
	.lines = UINT64_MAX,
};

const struct cli_command segments_command = {
	.name = "segments",
	.summary = "live and dead blocks of segments",
	.synopsis = "IMAGE [SEGMENT | FIRST..LAST]...",
	.about = "Lists the segments in use, or those given, with their live "
		 "blocks.",
	.options = segments_rows,
	.options_size = sizeof(struct segments_options),
	.defaults = &segments_defaults,
	.min_args = 1,
	.max_args = TOOL_ANY_ARGS,
	.run = segments_run,
};
