// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dump.nilfs2 map: the segments of a volume as a picture.
 *
 * Each segment is put into one class, and how dark it is tells how much of it
 * a cleaner would keep.  What is there to be seen at a glance: where writing
 * goes on, what is worth cleaning, what snapshots hold.  JSON gets the same
 * classes as runs of neighbours that are alike.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "cli/terminal.h"
#include "dump/commands.h"
#include "dump/image.h"
#include "dump/segment.h"
#include "out/picture.h"
#include "out/table.h"

#define FULL_PERCENT 90
#define SVG_PIXELS 1024		/* a side, at most */
#define SVG_CELL 8		/* pixels; more where there are few segments */
#define SVG_CELL_MAX 32
#define FILE_LINES 64		/* of a picture that is not for a terminal */

enum { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

static const char *const colour_choices[] = { "auto", "always", "never",
					      NULL };

struct map_options {
	const char *svg;
	uint32_t width;
	int colour;
};

enum { CLEAN, DEAD, PARTLY, FULL, SNAPSHOT, UNKNOWN, ERRONEOUS, ACTIVE,
       CLASSES };

/* How much is kept shades only the classes where it is the question. */
static const struct picture_kind classes[CLASSES] = {
	[CLEAN] = { "clean", ".", 0x404850, false, true },
	[DEAD] = { "dead, nothing to keep", "x", 0xd05050, false, true },
	[PARTLY] = { "partly live", "123456789", 0xe0b040, false, false },
	[FULL] = { "full, at least 90 % live", "#", 0x40b060, false, false },
	[SNAPSHOT] = { "mostly held by snapshots", "s", 0x5090e0, false,
		       false },
	[UNKNOWN] = { "in use, contents unknown", "?", 0xa0a0a0, false, true },
	[ERRONEOUS] = { "erroneous", "E", 0xff00c0, true, true },
	[ACTIVE] = { "active, being written or next", "A", 0xf0f0f0, true,
		     true },
};

/* The same in the words of scripts. */
static const char *const class_keys[CLASSES] = {
	[CLEAN] = "clean",	 [DEAD] = "dead",
	[PARTLY] = "partly",	 [FULL] = "full",
	[SNAPSHOT] = "snapshot", [UNKNOWN] = "unknown",
	[ERRONEOUS] = "error",	 [ACTIVE] = "active",
};

enum { FIRST, LAST, CLASS, KEPT, BLOCKS, COLUMNS };

static const struct column columns[COLUMNS] = {
	[FIRST] = { "first", "FIRST", VALUE_U64, 8, NULL },
	[LAST] = { "last", "LAST", VALUE_U64, 8, NULL },
	[CLASS] = { "class", "CLASS", VALUE_STRING, 8, NULL },
	[KEPT] = { "kept", "KEPT", VALUE_U64, 8, NULL },
	[BLOCKS] = { "blocks", "BLOCKS", VALUE_U64, 8, NULL },
};

/* Neighbours of one class. */
struct run {
	unsigned int class;
	uint64_t first, next;		/* segments, NEXT not included */
	uint64_t kept, blocks;
};

struct map {
	struct tool *tool;
	const struct map_options *o;
	struct segment_source src;
	struct picture *picture;	/* NULL: JSON */
	unsigned int cell;		/* pixels */
	struct table table;
	struct run run;
	uint64_t counts[CLASSES];
	int status;
};

static int note(struct map *m, int err)
{
	if (!err)
		return 0;
	m->status = image_complain(m->tool, err);
	return m->status < 0 ? m->status : 0;
}

static unsigned int class_of(const struct segment *s)
{
	uint32_t kept = segment_kept(s);

	if (s->state & SEGMENT_ERROR)
		return ERRONEOUS;
	if (s->state & SEGMENT_ACTIVE)
		return ACTIVE;
	if (!(s->state & SEGMENT_DIRTY))
		return CLEAN;
	if (!s->has_counts)
		return UNKNOWN;
	if (!kept)
		return DEAD;
	if (s->snapshot > s->live)
		return SNAPSHOT;
	return (uint64_t)kept * 100 >= (uint64_t)s->blocks * FULL_PERCENT ?
		FULL : PARTLY;
}

static void end_run(struct map *m)
{
	const struct run *run = &m->run;

	if (run->next == run->first)
		return;
	table_row(&m->table, (struct value[]){
		[FIRST] = value_u64(run->first),
		[LAST] = value_u64(run->next - 1),
		[CLASS] = value_string(class_keys[run->class]),
		[KEPT] = value_u64(run->kept),
		[BLOCKS] = value_u64(run->blocks),
	});
}

static void add_to_run(struct map *m, unsigned int class,
		       const struct segment *s)
{
	struct run *run = &m->run;

	if (run->class != class || run->next != s->segnum) {
		end_run(m);
		*run = (struct run){
			.class = class,
			.first = s->segnum,
		};
	}
	run->next = s->segnum + 1;
	run->kept += segment_kept(s);
	run->blocks += s->blocks;
}

static int take(struct map *m, uint64_t segnum,
		const struct nilfs_segment_usage_ext *su)
{
	struct segment s;
	unsigned int class;
	int err;

	segment_outline(&m->src, segnum, su, &s);
	class = class_of(&s);
	m->counts[class]++;
	if (m->picture)
		picture_add(m->picture, segnum, class,
			    (double)segment_kept(&s) / (double)s.blocks);
	else
		add_to_run(m, class, &s);
	err = context_cancelled(&m->tool->cx);
	return err ? err : out_error(m->tool->out);
}

static int walk(struct map *m)
{
	struct context *cx = &m->tool->cx;
	struct nilfs_segment_usage_ext su;
	struct sutable_cursor cur;
	uint64_t segnum;
	int ret;

	ret = sutable_cursor_open(&cur, cx, m->src.vol, true);
	while (!ret && (ret = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0)
		ret = take(m, segnum, &su);
	sutable_cursor_close(&cur);
	return ret;
}

static enum picture_colour colour_of(const struct map_options *o)
{
	enum picture_colour colour = terminal_colour(STDOUT_FILENO);

	if (o->colour == COLOUR_NEVER)
		return PICTURE_PLAIN;
	if (o->colour == COLOUR_ALWAYS && colour == PICTURE_PLAIN)
		return PICTURE_256;
	return colour;
}

static void say_counts(struct map *m)
{
	struct report *r = &m->tool->report;
	unsigned int i;

	report_begin(r, "segments", "Segments");
	for (i = 0; i < CLASSES; i++)
		if (m->counts[i] || !report_is_text(r))
			report_u64(r, class_keys[i], class_keys[i],
				   m->counts[i]);
	report_end(r);
}

/* Never over the image itself, whatever it is called. */
static int check_target(struct map *m, const char *path, int fd)
{
	struct stat image, target;

	if (stat(m->tool->argv[0], &image) || fstat(fd, &target) ||
	    image.st_dev != target.st_dev || image.st_ino != target.st_ino)
		return 0;
	return fail(&m->tool->cx, -EINVAL, "%s: is the image itself", path);
}

static int write_svg_to(struct map *m, int fd)
{
	struct context *cx = &m->tool->cx;
	struct out *out;
	int err = out_open(cx, fd, m->o->svg, &out);

	if (err)
		return err;
	picture_svg(m->picture, out, m->cell);
	return out_close(out, cx);
}

static int write_svg(struct map *m)
{
	struct context *cx = &m->tool->cx;
	const char *path = m->o->svg;
	int fd, err;

	if (!strcmp(path, "-")) {
		picture_svg(m->picture, m->tool->out, m->cell);
		return 0;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return fail(cx, -errno, "%s: cannot be written", path);
	err = check_target(m, path, fd);
	if (!err && ftruncate(fd, 0) && errno != EINVAL)
		err = fail(cx, -errno, "%s: cannot be emptied", path);
	if (!err)
		err = write_svg_to(m, fd);
	if (close(fd) && !err)
		err = fail(cx, -errno, "%s: write", path);
	return err;
}

/* Cells on a line and lines of a picture for a terminal, or a file of text. */
static void size_for_text(unsigned int *width, unsigned int *height)
{
	terminal_size(STDOUT_FILENO, width, height);
	if (!terminal_is(STDOUT_FILENO))
		*height = FILE_LINES;
	else if (*height > 2 * CLASSES)
		*height -= CLASSES + CLASSES;
}

static void size_for_svg(struct map *m, uint64_t total, unsigned int *width,
			 unsigned int *height)
{
	uint64_t side = SVG_PIXELS / SVG_CELL_MAX;

	m->cell = SVG_CELL;
	if (total <= side * side)
		m->cell = SVG_CELL_MAX;
	*width = *height = SVG_PIXELS / m->cell;
}

static int open_picture(struct map *m)
{
	uint64_t total = m->src.vol->geo.nsegments;
	unsigned int width, height;

	if (m->o->svg)
		size_for_svg(m, total, &width, &height);
	else
		size_for_text(&width, &height);
	if (m->o->width)
		width = m->o->width;
	if (height > div_round_up(total, width))
		height = (unsigned int)div_round_up(total, width);
	return picture_open(&m->tool->cx, classes, CLASSES, total, width,
			    height, &m->picture);
}

static int draw(struct map *m)
{
	int err = open_picture(m);

	if (!err)
		err = note(m, walk(m));
	if (!err && m->o->svg)
		err = write_svg(m);
	if (!err && !m->o->svg) {
		picture_text(m->picture, m->tool->out, colour_of(m->o));
		out_char(m->tool->out, '\n');
		say_counts(m);
	}
	picture_close(m->picture);
	return err ? err : m->status;
}

static int list_runs(struct map *m)
{
	int err;

	table_begin(&m->table, &m->tool->report, "map", columns, COLUMNS);
	err = note(m, walk(m));
	end_run(m);
	table_end(&m->table);
	if (!err)
		say_counts(m);
	return err ? err : m->status;
}

static int map_run(struct tool *tool, const void *options)
{
	struct map m = { .tool = tool, .o = options };
	struct dump_image im;
	int err;

	err = image_open(&im, tool, tool->argv[0], NULL);
	if (!err)
		err = note(&m, segment_open(&m.src, &tool->cx, im.vol, 0));
	if (!err && report_is_text(&tool->report))
		err = draw(&m);
	else if (!err)
		err = list_runs(&m);
	segment_close(&m.src);
	image_close(&im);
	return err;
}

#define AT(member) offsetof(struct map_options, member)

static const struct cli_option map_rows[] = {
	{ 0, "svg", "FILE", "draw it into this file ('-': standard output)",
	  OPTION_STRING, AT(svg), 0, 0, NULL, NULL },
	{ 'w', "width", "CELLS", "cells on a line", OPTION_U32, AT(width), 0,
	  0, NULL, NULL },
	{ 0, "color", "WHEN", "auto, always or never", OPTION_CHOICE,
	  AT(colour), 1, 0, colour_choices, NULL },
	{ 0, "no-color", NULL, "the same as --color=never", OPTION_SET,
	  AT(colour), 1, COLOUR_NEVER, NULL, NULL },
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
