// SPDX-License-Identifier: GPL-2.0-or-later
/* The map of cells: which kind wins, how dark, in which form. */
#include "out/picture.h"

#include <errno.h>
#include <stdlib.h>

#include "tap.h"

enum { FREE, LIVE, BAD };
static const struct picture_kind kinds[] = {
	[FREE] = { "free", ".", 0x303030, false, false },
	[LIVE] = { "live", "1234", 0x00ff00, false, false },
	[BAD] = { "bad", "!", 0xff0000, true, true },
};

static struct context cx;

static struct picture *open_picture(uint64_t total, unsigned int width,
				    unsigned int height)
{
	struct picture *p;

	if (picture_open(&cx, kinds, 3, total, width, height, &p))
		exit(99);
	return p;
}

static void is_drawn(struct picture *p, enum picture_colour colour,
		     const char *want, const char *name)
{
	struct out *out;

	if (out_open_memory(&cx, &out))
		exit(99);
	picture_text(p, out, colour);
	is_str(out_memory(out, NULL), want, name);
	out_close(out, &cx);
	picture_close(p);
}

#define LEGEND ". free\n1234 live\n! bad\n"

static void test_plain(void)
{
	struct picture *p = open_picture(6, 4, 4);

	picture_add(p, 0, LIVE, 0);
	picture_add(p, 1, LIVE, 0.3);
	picture_add(p, 2, LIVE, 1);
	picture_add(p, 3, FREE, 0);
	picture_add(p, 5, BAD, 7);
	picture_add(p, 6, BAD, 0);	/* past the end */
	is_drawn(p, PICTURE_PLAIN, "124.\n !\n" LEGEND,
		 "a cell per thing, a blank for what nobody told");
	is_drawn(open_picture(0, 4, 4), PICTURE_PLAIN, LEGEND,
		 "nothing to show: the legend alone");
}

static void test_aggregate(void)
{
	struct picture *p = open_picture(1000, 2, 2);
	unsigned int i;

	for (i = 0; i < 250; i++)
		picture_add(p, i, i % 3 ? LIVE : FREE, i % 3 ? 1 : 0);
	for (; i < 500; i++)
		picture_add(p, i, i % 3 ? FREE : LIVE, 0);
	for (; i < 750; i++)
		picture_add(p, i, i == 600 ? BAD : FREE, 0);
	for (; i < 1000; i++)
		picture_add(p, i, LIVE, i == 999);
	is_drawn(p, PICTURE_PLAIN, "3.\n!1\n" LEGEND "one cell: 250\n",
		 "the commonest kind wins, an important one always");
}

static void test_colour(void)
{
	struct picture *p = open_picture(3, 3, 1);

	picture_add(p, 0, LIVE, 1);
	picture_add(p, 1, LIVE, 1);
	picture_add(p, 2, LIVE, 0);
	is_drawn(p, PICTURE_TRUECOLOR,
		 "\033[48;2;0;255;0m  \033[48;2;0;85;0m \033[0m\n"
		 "\033[48;2;48;48;48m  \033[0m free\n"
		 "\033[48;2;0;255;0m  \033[0m live\n"
		 "\033[48;2;255;0;0m  \033[0m bad\n",
		 "an escape where the colour changes; empty is darker");
	p = open_picture(1, 1, 1);
	picture_add(p, 0, BAD, 0);
	is_drawn(p, PICTURE_256,
		 "\033[48;5;196m \033[0m\n"
		 "\033[48;5;59m  \033[0m free\n"
		 "\033[48;5;46m  \033[0m live\n"
		 "\033[48;5;196m  \033[0m bad\n",
		 "the palette's red is 196, its green 46; flat is never darker");
}

static void test_svg(void)
{
	struct picture *p = open_picture(4, 2, 2);
	struct out *out;
	const char *text;
	unsigned int i;

	if (out_open_memory(&cx, &out))
		exit(99);
	for (i = 0; i < 3; i++)
		picture_add(p, i, LIVE, 1);
	picture_add(p, 3, BAD, 1);
	picture_svg(p, out, 10);
	text = out_memory(out, NULL);
	ok(strstr(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
			"width=\"20\" height=\"78\""),
	   "an SVG of the cells and the legend");
	ok(strstr(text, "<rect x=\"0\" y=\"0\" width=\"20\" height=\"10\" "
			"fill=\"#00ff00\"/>"),
	   "equal neighbours are one rectangle");
	ok(strstr(text, "<rect x=\"10\" y=\"10\" width=\"10\" height=\"10\" "
			"fill=\"#ff0000\"/>"),
	   "the second line is under the first");
	ok(strstr(text, ">live</text>"), "the legend names the kinds");
	out_close(out, &cx);
	picture_close(p);
}

static void test_limits(void)
{
	struct picture *p = NULL;

	is_int(picture_open(&cx, kinds, 3, 1, 0, 5, &p), -EINVAL,
	       "no cells");
	is_int(picture_open(&cx, kinds, 3, 1, 1u << 31, 1u << 31, &p),
	       -EINVAL, "too many cells");
	picture_close(NULL);
}

int main(void)
{
	context_init(&cx);
	test_plain();
	test_aggregate();
	test_colour();
	test_svg();
	test_limits();
	return tap_done();
}
