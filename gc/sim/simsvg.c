// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A picture of a run: segments as they are in the end, and two curves.
 *
 * The map is a document of its own inside the document, which SVG allows.
 */
#include "gc/sim/simsvg.h"

#include "cli/outfile.h"
#include "out/picture.h"

#define COLUMNS 96u
#define LINES 48u
#define CELL 8u
#define WIDTH (COLUMNS * CELL)
#define HEIGHT 200.0
#define MAP_HEIGHT (LINES * CELL + 100u)

static const struct picture_kind kinds[] = {
	[SIMVOL_CLEAN] = { "clean", ".", 0xffffff, false, true },
	[SIMVOL_OPEN] = { "being written", "o", 0xd62728, true, true },
	[SIMVOL_FULL] = { "in use, by what is needed", ".:x#", 0x1f77b4, false,
			  false },
	[SIMVOL_VICTIM] = { "being cleaned", "v", 0xff7f0e, true, true },
	[SIMVOL_HELD] = { "not to be cleaned", "h", 0x7f7f7f, false, true },
};

static int put_map(struct out *out, struct context *cx,
		   const struct simvol *v)
{
	struct picture *p;
	uint32_t i;
	int ret = picture_open(cx, kinds, sizeof(kinds) / sizeof(kinds[0]),
			       v->config.nsegments, COLUMNS, LINES, &p);

	if (ret)
		return ret;
	for (i = 0; i < v->config.nsegments; i++)
		picture_add(p, i, v->state[i],
			    (double)v->needed[i] / v->config.blocks);
	picture_svg(p, out, CELL);
	picture_close(p);
	return 0;
}

static double clean_at(const struct simrun *run, size_t i)
{
	return (double)run->samples[i].clean / run->vol->config.nsegments;
}

/* Of the blocks between two samples: the user's share of what was written. */
static double share_at(const struct simrun *run, size_t i)
{
	const struct simrun_sample *s = &run->samples[i];
	uint64_t user = s->user - (i ? s[-1].user : 0);
	uint64_t written = s->written - (i ? s[-1].written : 0);

	return written ? (double)user / (double)written : 1;
}

static void put_curve(struct out *out, const struct simrun *run,
		      const char *colour,
		      double (*value)(const struct simrun *run, size_t i))
{
	size_t i;

	out_printf(out, "<polyline fill=\"none\" stroke=\"%s\" points=\"",
		   colour);
	for (i = 0; i < run->nsamples; i++)
		out_printf(out, "%s%.1f,%.1f", i ? " " : "",
			   (double)i * WIDTH / (double)run->nsamples,
			   HEIGHT - HEIGHT * value(run, i));
	out_string(out, "\"/>\n");
}

static void put_curves(struct out *out, const struct simrun *run)
{
	out_printf(out, "<g transform=\"translate(0 %u)\">\n"
		   "<rect width=\"%u\" height=\"%.0f\" fill=\"none\" "
		   "stroke=\"#ccc\"/>\n", MAP_HEIGHT, WIDTH, HEIGHT);
	put_curve(out, run, "#2ca02c", clean_at);
	put_curve(out, run, "#9467bd", share_at);
	out_printf(out, "<text x=\"4\" y=\"%.0f\" fill=\"#2ca02c\">clean "
		   "segments, of all</text>\n<text x=\"4\" y=\"%.0f\" "
		   "fill=\"#9467bd\">blocks of the user, of all that was "
		   "written</text>\n</g>\n", HEIGHT + 16, HEIGHT + 34);
}

static int put_all(struct out *out, struct context *cx,
		   const struct simrun *run)
{
	int ret;

	out_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
		   "width=\"%u\" height=\"%.0f\" font-family=\"sans-serif\" "
		   "font-size=\"13\">\n", WIDTH, MAP_HEIGHT + HEIGHT + 40);
	ret = put_map(out, cx, run->vol);
	put_curves(out, run);
	out_string(out, "</svg>\n");
	return ret;
}

int simsvg_write(struct context *cx, const char *path, const char *input,
		 const struct simrun *run)
{
	struct outfile file;
	int ret = outfile_open(&file, cx, path, input);

	if (ret)
		return ret;
	ret = put_all(file.out, cx, run);
	return outfile_close(&file, cx, ret);
}
