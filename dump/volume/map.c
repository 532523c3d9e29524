// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dump.nilfs2 map: the segments of a volume as a picture.
 *
 * The picture is drawn by "out/segmap.h".  JSON lists runs of neighbouring
 * segments of one class.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/outfile.h"
#include "cli/terminal.h"
#include "dump/common/commands.h"
#include "dump/common/image.h"
#include "dump/volume/segment.h"
#include "out/number.h"
#include "out/segmap.h"
#include "out/table.h"

#define FILE_LINES 64 /* lines of a text picture that is not for a terminal */

enum { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

static const char *const colour_choices[] = { "auto", "always", "never",
					      NULL };

struct map_options {
	const char *svg;
	bool force;
	uint32_t width;
	int colour;
};

enum { FIRST, LAST, CLASS, KEPT, BLOCKS, COLUMNS };

static const struct column columns[COLUMNS] = {
	[FIRST] = { "first", "FIRST", VALUE_U64, 8 },
	[LAST] = { "last", "LAST", VALUE_U64, 8 },
	[CLASS] = { "class", "CLASS", VALUE_STRING, 8 },
	[KEPT] = { "kept", "KEPT", VALUE_U64, 8 },
	[BLOCKS] = { "blocks", "BLOCKS", VALUE_U64, 8 },
};

/* Neighbouring segments of one class. */
struct run {
	unsigned int class;
	uint64_t first, next;		/* segments, NEXT not included */
	uint64_t kept, blocks;
};

struct map {
	struct tool *tool;
	const struct map_options *o;
	struct segment_source src;
	struct segmap *picture;	/* NULL: JSON */
	struct segmap_volume volume;
	struct table table;
	struct run run;
	uint64_t counts[SEGMAP_CLASSES];
	int status;
};

static void end_run(struct map *m)
{
	const struct run *run = &m->run;

	if (run->next == run->first)
		return;
	table_row(&m->table, (struct value[]){
		[FIRST] = value_u64(run->first),
		[LAST] = value_u64(run->next - 1),
		[CLASS] = value_string(segmap_keys[run->class]),
		[KEPT] = value_u64(run->kept),
		[BLOCKS] = value_u64(run->blocks),
	});
}

/* Adds all segments to the picture, or lists them. */
static int map_walk_segments(struct map *m)
{
	struct context *cx = &m->tool->cx;
	struct nilfs_segment_usage_ext su;
	struct segmap_segment shown;
	struct run *run = &m->run;
	struct sutable_cursor cur;
	unsigned int class;
	struct segment s;
	uint64_t segnum;
	int ret;

	ret = sutable_cursor_open(&cur, cx, m->src.vol, true);
	while (!ret && (ret = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0) {
		segment_outline(&m->src, segnum, &su, &s);
		shown = segment_to_map(&s);
		class = segmap_class_of(&shown);
		m->counts[class]++;
		if (m->picture) {
			segmap_add(m->picture, segnum, &shown);
		} else if (run->class != class || run->next != segnum) {
			end_run(m);
			*run = (struct run){ .class = class, .first = segnum };
		}
		run->next = segnum + 1;
		run->kept += segment_kept(&s);
		run->blocks += s.blocks;
		ret = context_cancelled(cx);
		if (!ret)
			ret = m->tool->out->error;
	}
	sutable_cursor_close(&cur);
	return image_note(m->tool, &m->status, ret);
}

/* Draws the map for an SVG file, a terminal, or a text file. */
static int draw_map(struct map *m)
{
	static const char *const names[] = { "Map of the segments" };
	const char *const inputs[] = { m->tool->argv[0], NULL };
	const struct output_how how = {
		.there = m->o->force ? OUTPUT_REPLACE : OUTPUT_ASK,
		.inputs = inputs,
	};
	unsigned int numbers = number_digits(m->volume.segments) + 1;
	unsigned int width = 0, height = 0;
	char title[SEGMAP_TITLE_MAX], below[SEGMAP_TITLE_MAX];
	struct terminal t = terminal_of(STDOUT_FILENO);
	bool named = m->o->svg && strcmp(m->o->svg, "-");
	struct context *cx = &m->tool->cx;
	struct out *out = m->tool->out;
	struct outfile file = { .out = out };
	struct value v;
	int err;

	if (!m->o->svg) {
		width = t.columns - (t.columns > 2 * numbers ? numbers : 0);
		height = !t.is ? FILE_LINES :
			 t.lines > 2 * SEGMAP_CLASSES ?
				 t.lines - 2 * SEGMAP_CLASSES : t.lines;
	}
	err = segmap_open(cx, &m->volume, m->o->width ? m->o->width : width, height,
			  &m->picture);
	if (!err)
		err = map_walk_segments(m);
	if (!err && named)
		err = outfile_open(&file, cx, m->o->svg, &how);
	if (err)
		goto out;
	if (m->o->svg) {
		err = segmap_document(cx, file.out, &m->picture, names, 1);
		if (named)
			err = outfile_close(&file, cx, err);
		goto out;
	}
	if (m->o->colour == COLOUR_NEVER)
		t.colour = SEGMAP_PLAIN;
	else if (m->o->colour == COLOUR_ALWAYS && t.colour == SEGMAP_PLAIN)
		t.colour = SEGMAP_256;
	segmap_titles(&m->volume, title, below);
	v = value_string(title);
	value_put(out, VALUE_STRING, NULL, &v, 0, false);
	out_printf(out, "\n%s\n\n", below);
	segmap_text(m->picture, out, t.colour);
out:
	free(m->picture);
	return err ? err : m->status;
}

static int map_list_runs(struct map *m)
{
	struct report *r = &m->tool->report;
	unsigned int i;
	int err;

	table_begin(&m->table, r, "map", columns, COLUMNS);
	err = map_walk_segments(m);
	end_run(m);
	table_end(&m->table);
	if (err)
		return err;
	report_begin(r, "segments", NULL);
	for (i = 0; i < SEGMAP_CLASSES; i++)
		report_u64(r, segmap_keys[i], segmap_keys[i], m->counts[i]);
	report_end(r);
	return m->status;
}

static int map_run(struct tool *tool, const void *options)
{
	struct map m = { .tool = tool, .o = options };
	struct dump_image im;
	int err;

	err = image_open(&im, tool, tool->argv[0], NULL);
	if (!err)
		err = image_note(m.tool, &m.status,
				 segment_open(&m.src, &tool->cx, im.vol, 0));
	if (!err)
		image_describe(&im, &m.volume);
	if (!err && report_is_text(&tool->report))
		err = draw_map(&m);
	else if (!err)
		err = map_list_runs(&m);
	segment_close(&m.src);
	image_close(&im);
	return err;
}

#define AT(member) offsetof(struct map_options, member)

static const struct cli_option map_rows[] = {
	{ 0, "force", NULL, "replace FILE of --svg if it exists", OPTION_FLAG,
	  AT(force) },
	{ 0, "svg", "FILE", "draw it into this file ('-': standard output)",
	  OPTION_STRING, AT(svg) },
	{ 'w', "width", "CELLS", "cells on a line", OPTION_U32, AT(width) },
	{ 0, "color", "WHEN", "auto, always or never", OPTION_CHOICE,
	  AT(colour), 1, 0, colour_choices },
	{ 0, "no-color", NULL, "the same as --color=never", OPTION_SET,
	  AT(colour), 1, COLOUR_NEVER },
	{ 0 },
};

const struct cli_command map_command = {
	.name = "map",
	.summary = "a picture of the segments and how full they are",
	.synopsis = "IMAGE",
	.about = "Each character or cell stands for one segment or a run of "
		 "neighbours.",
	.options = map_rows,
	.options_size = sizeof(struct map_options),
	.min_args = 1,
	.max_args = 1,
	.run = map_run,
};
