// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dump.nilfs2 segments: live and dead blocks of every segment.
 *
 * A list in the order of the segments is a stream and keeps nothing.  A sorted
 * one reads the segments twice: first only the value to sort by is kept,
 * sixteen bytes a segment, then rows are printed in that order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "cli/range.h"
#include "dump/common/commands.h"
#include "dump/common/image.h"
#include "dump/volume/segment.h"
#include "dump/volume/segment_column.h"

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
	struct segment_columns columns;
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

static int add_state(struct context *cx, const char *word, size_t len,
		     unsigned int *states)
{
	size_t i;

	for (i = 0; i < STATE_NAMES; i++) {
		if (strlen(state_names[i].name) != len ||
		    memcmp(state_names[i].name, word, len) != 0)
			continue;
		*states |= state_names[i].bit;
		return 0;
	}
	return fail(cx, -EINVAL, "--state: '%.*s' is none of active, dirty, "
		    "error, protected, clean", (int)len, word);
}

static int parse_states(struct context *cx, const char *arg, void *where)
{
	unsigned int *states = where;
	int err;

	for (;;) {
		size_t len = strcspn(arg, ",");

		err = add_state(cx, arg, len, states);
		if (err || !arg[len])
			return err;
		arg += len + 1;
	}
}

static bool is_clean(const struct segment *s)
{
	return !(s->state & ~(unsigned int)SEGMENT_PROTECTED);
}

/* PART is at least PERCENT of the blocks of S. */
static bool is_share(const struct segment *s, uint32_t part, uint32_t percent)
{
	return (uint64_t)part * 100 >= (uint64_t)percent * s->blocks;
}

static bool is_wanted(const struct listing *l, const struct segment *s)
{
	const struct segments_options *o = l->o;
	unsigned int state = s->state | (is_clean(s) ? STATE_CLEAN : 0);

	if (o->states && !(state & o->states))
		return false;
	return is_share(s, segment_dead(s), o->min_dead) &&
	       is_share(s, segment_kept(s), o->min_live);
}

/* Clean ones are listed if requested. */
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

static int show_segment(struct listing *l, struct segment *s)
{
	int err = 0;

	if (!l->left)
		return 0;
	l->left--;
	if (l->columns.data)
		err = count_data(l, s);
	if (err)
		return err;
	segment_column_row(&l->columns, &l->table, s);
	return out_error(l->tool->out);
}

static int remember(struct listing *l, const struct segment *s)
{
	if (array_reserve(&l->tool->cx, &l->keys, &l->room, l->nkeys + 1))
		return -ENOMEM;
	l->keys[l->nkeys++] = (struct sort_key){
		.key = segment_column_key(l->sort_column, s),
		.segnum = s->segnum,
	};
	return 0;
}

/* Takes the next segment in order. */
static int take_segment(struct listing *l, uint64_t segnum,
			const struct nilfs_segment_usage_ext *su)
{
	bool data = l->sorted ? segment_column_needs_data(l->sort_column) :
		false;
	struct segment s;
	int err;

	if (!range_has(&l->ranges, segnum))
		return 0;
	err = segment_describe(&l->src, &l->tool->cx, segnum, su, &s);
	err = image_note(l->tool, &l->status, err);
	if (err || !is_wanted(l, &s))
		return err;
	if (data || (l->o->totals && l->columns.data))
		err = count_data(l, &s);
	if (err)
		return err;
	segment_total_add(&l->total, &s);
	if (is_clean(&s) && !lists_clean(l))
		return 0;
	return l->sorted ? remember(l, &s) : show_segment(l, &s);
}

static int walk_segments(struct listing *l)
{
	bool clean = lists_clean(l) || (l->o->totals && !l->o->states);
	struct volume *vol = l->src.vol;
	struct tool *tool = l->tool;
	struct nilfs_segment_usage_ext su;
	struct sutable_cursor cur;
	uint64_t segnum;
	int ret;

	progress_begin(&tool->progress, "segments", vol->geo.nsegments, false);
	ret = sutable_cursor_open(&cur, &tool->cx, vol, clean);
	while (!ret &&
	       (ret = sutable_cursor_next(&cur, &tool->cx, &segnum, &su)) > 0) {
		ret = context_cancelled(&tool->cx);
		if (!ret)
			ret = take_segment(l, segnum, &su);
		progress_update(&tool->progress, segnum);
	}
	sutable_cursor_close(&cur);
	progress_end(&tool->progress);
	return ret;
}

static int compare_keys(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->segnum < y->segnum ? -1 : x->segnum > y->segnum;
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
		/* A failure here was already reported. */
		if (segment_describe(&l->src, cx, l->keys[at].segnum, &su, &s))
			fail_clear(cx);
		err = show_segment(l, &s);
	}
	return err;
}

static int list_segments(struct listing *l)
{
	struct report *report = &l->tool->report;
	struct column columns[SEGMENT_COLUMNS_MAX];
	int err;

	segment_column_describe(&l->columns, columns);
	table_begin(&l->table, report, "segments", columns, l->columns.count);
	err = image_note(l->tool, &l->status, walk_segments(l));
	if (!err && l->sorted)
		err = show_sorted(l);
	table_end(&l->table);
	if (!err && l->o->totals)
		segment_total_report(&l->total, report,
				     l->src.vol->geo.block_size);
	if (!err && l->o->histogram)
		segment_total_report_use(&l->total, report);
	return err ? err : l->status;
}

static int prepare_listing(struct listing *l)
{
	const struct segments_options *o = l->o;
	struct tool *tool = l->tool;
	struct context *cx = &tool->cx;
	int err;

	l->sorted = o->sort || o->reverse;
	l->left = o->lines;
	segment_total_init(&l->total);
	err = segment_column_parse(cx, o->columns, o->period != 0,
				   &l->columns);
	if (!err)
		err = segment_column_find(cx, o->sort ? o->sort : "segment",
					  &l->sort_column);
	if (!err)
		err = range_parse_set(cx, "segments", tool->argc - 1,
				      tool->argv + 1, &l->ranges);
	if (err)
		tool->bad_usage = err == -EINVAL;
	return err;
}

static int segments_run(struct tool *tool, const void *options)
{
	struct listing l = { .tool = tool, .o = options };
	struct dump_image im = { .dev = NULL };
	int err;

	err = prepare_listing(&l);
	if (!err)
		err = image_open(&im, tool, tool->argv[0], NULL);
	if (!err)
		err = image_note(l.tool, &l.status,
				 segment_open(&l.src, &tool->cx, im.vol,
					      l.o->period));
	if (!err)
		err = list_segments(&l);
	if (!err && (l.sorted || l.left))
		err = range_check_met(&tool->cx, "segment", &l.ranges);
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
	  OPTION_STRING, AT(columns), 0, 0, NULL, NULL, segment_column_word },
	{ 's', "sort", "COLUMN", "sort by this column", OPTION_STRING, AT(sort),
	  0, 0, NULL, NULL, segment_column_word },
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
