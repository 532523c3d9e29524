// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dat: entries of the DAT, and the checkpoints that keep their blocks.
 *
 * A single entry is printed in full, with its position; ranges and the whole DAT
 * are a table.  The whole DAT is read as a stream, since a volume of some
 * terabytes has a thousand million entries.
 */
#include "dump/common/commands.h"

#include <errno.h>
#include <inttypes.h>

#include "cli/range.h"
#include "disk/dat.h"
#include "dump/blocks/held.h"
#include "dump/blocks/mapwalk.h"
#include "dump/common/fields.h"
#include "dump/common/image.h"
#include "dump/common/position.h"
#include "out/table.h"
#include "vol/datscan.h"

struct dat_options {
	bool all, free;
};

static const struct cli_option dat_rows[] = {
	{ 'a', "all", NULL, "every entry in use", OPTION_FLAG,
	  offsetof(struct dat_options, all) },
	{ 'f', "free", NULL, "in ranges, show entries not in use too",
	  OPTION_FLAG, offsetof(struct dat_options, free) },
	{ 0 },
};

enum { COL_VBLOCK, COL_BLOCK, COL_START, COL_END, COL_STATE, COL_COUNT };

static const struct column columns[] = {
	[COL_VBLOCK] = { "vblocknr", "VBLOCK", VALUE_U64, 10 },
	[COL_BLOCK] = { "de_blocknr", "BLOCK", VALUE_U64, 10 },
	[COL_START] = { "de_start", "START", VALUE_U64, 8 },
	[COL_END] = { "de_end", "END", VALUE_U64, 8 },
	[COL_STATE] = { "state", "STATE", VALUE_STRING, 0 },
};

struct dat {
	struct tool *tool;
	struct volume *vol;
	struct held held;
	struct table table;
	bool free;
};

static void dat_print_row(struct dat *d, uint64_t vblocknr,
		    const struct nilfs_dat_entry *de, enum held_state state)
{
	struct value v[COL_COUNT] = {
		[COL_VBLOCK] = value_u64(vblocknr),
		[COL_BLOCK] = value_u64(le64_get(de->de_blocknr)),
		[COL_START] = value_u64(le64_get(de->de_start)),
		[COL_STATE] = value_string(held_names[state]),
	};

	if (!dat_is_current(de))
		v[COL_END] = value_u64(le64_get(de->de_end));
	table_row(&d->table, v);
}

static int print_block_entries(void *arg, struct context *cx,
			       unsigned int worker,
			       const struct datscan_block *block)
{
	struct dat *d = arg;
	uint32_t i;

	(void)worker;
	for (i = 0; i < block->count; i++) {
		const struct nilfs_dat_entry *de = datscan_entry(block, i);

		if (datscan_is_used(block, i))
			dat_print_row(d, block->first + i, de,
				      held_state(&d->held, de));
	}
	return context_cancelled(cx);
}

/* By one worker, so that the rows are in order. */
static int dat_print_all(struct dat *d)
{
	const struct datscan_visitor visitor = {
		.entries = print_block_entries,
		.arg = d,
	};
	struct context single;
	int err;

	context_child(&d->tool->cx, &single);
	single.threads = 1;
	table_begin(&d->table, &d->tool->report, "entries", columns,
		    COL_COUNT);
	err = datscan_run(d->vol, &single, &visitor);
	table_end(&d->table);
	context_adopt(&d->tool->cx, &single);
	return err;
}

/* Sets *LAST to the last entry in the blocks of the DAT; -ENOENT if FIRST is after
   it. */
static int last_entry(struct dat *d, uint64_t first, uint64_t *last)
{
	struct context *cx = &d->tool->cx;
	struct palloc_block what = { .count = 0 };
	uint64_t key;
	int ret;

	ret = mapwalk_last(&d->vol->dat.map, cx, &key);
	if (ret < 0)
		return ret;
	if (ret)
		palloc_locate(&d->vol->dat_palloc, key, &what);
	if (!what.count)
		return fail_said(cx, -ENOENT, "the DAT has no entries");
	*last = what.first + what.count - 1;
	if (first > *last)
		return fail_said(cx, -ENOENT, "virtual block %" PRIu64
				 ": the DAT ends with %" PRIu64, first, *last);
	return 0;
}

static int dat_print_range(struct dat *d, struct range range)
{
	struct context *cx = &d->tool->cx;
	struct held_entry e;
	uint64_t v, last;
	int err;

	err = last_entry(d, range.first, &last);
	if (err)
		return err;
	if (range.last > last)
		range.last = last;
	table_begin(&d->table, &d->tool->report, "entries", columns,
		    COL_COUNT);
	for (v = range.first; !err && v <= range.last; v++) {
		err = held_read(&e, cx, d->vol, &d->held, v);
		if (!err && e.exists && (e.used || d->free))
			dat_print_row(d, v, &e.de, e.state);
		if (!err)
			err = context_cancelled(cx);
	}
	table_end(&d->table);
	return err;
}

static int dat_print_one(struct dat *d, uint64_t vblocknr)
{
	struct report *r = &d->tool->report;
	struct position place = { .ino = 0 };
	struct held_entry e;
	uint64_t last;
	int err;

	err = held_read(&e, &d->tool->cx, d->vol, &d->held, vblocknr);
	if (!err && !e.exists)
		err = last_entry(d, vblocknr, &last);
	if (!err && !e.exists)
		err = fail_said(&d->tool->cx, -ENOENT, "virtual block %" PRIu64
				": its block of the DAT was never written",
				vblocknr);
	if (!err)
		err = position_of_dat_entry(&place, &d->tool->cx, d->vol,
					 vblocknr);
	if (err)
		return err;
	report_begin(r, "entry", NULL);
	report_u64(r, "vblocknr", "Virtual block", vblocknr);
	fields_report(r, field_table_find("dat_entry"), &e.de);
	report_string(r, "state", "State", held_names[e.state]);
	report_bool(r, "allocated", "Marked in the bitmap", e.used);
	report_u64(r, "group", "Group", e.group);
	if (e.used)
		held_report(r, &d->held, &e.de);
	position_report(r, &place);
	report_end(r);
	return 0;
}

static int dat_run(struct tool *tool, const void *options)
{
	const struct dat_options *o = options;
	struct dat d = { .tool = tool, .free = o->free };
	struct dump_image im;
	struct range range;
	int i, err;

	if (o->all == (tool->argc > 1))
		return tool_usage(tool, "give either virtual blocks or --all");
	err = image_open(&im, tool, tool->argv[0], NULL);
	if (!err) {
		d.vol = im.vol;
		err = held_load(&d.held, &tool->cx, im.vol);
	}
	if (!err && o->all)
		err = dat_print_all(&d);
	for (i = 1; i < tool->argc && !err; i++) {
		err = range_parse(&tool->cx, "VBLOCK", tool->argv[i], &range);
		if (!err)
			err = range.first == range.last
				      ? dat_print_one(&d, range.first)
				      : dat_print_range(&d, range);
	}
	held_free(&d.held);
	image_close(&im);
	return err;
}

const struct cli_command dat_command = {
	.name = "dat",
	.summary = "virtual blocks, where they are and what holds them",
	.synopsis = "IMAGE VBLOCK|FIRST..LAST...",
	.about =
	"Shows entries of the DAT.  A single one is shown in full, ranges and\n"
	"--all are a table.  The state of a virtual block is current (in the\n"
	"latest state), snapshot (kept by a snapshot only), checkpoint (only in\n"
	"checkpoints that a cleaner may remove), dead, unwritten or free.",
	.options = dat_rows,
	.options_size = sizeof(struct dat_options),
	.min_args = 1,
	.max_args = TOOL_ANY_ARGS,
	.run = dat_run,
};
