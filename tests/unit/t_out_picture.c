// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps of cells: which kind wins, how dark, in which form; axes of charts. */
#include "out/picture.h"

#include <errno.h>
#include <stdlib.h>

#include "out/chart.h"
#include "tap.h"

enum { FREE, LIVE, BAD, INK, KINDS };
static const struct picture_kind kinds[] = {
	[FREE] = { "free", ".", SVG_NONE, false, false },
	[LIVE] = { "live", "1234", SVG_BLUE, false, false },
	[BAD] = { "bad", "!", SVG_VERMILION, true, true },
	[INK] = { "ink", "i", SVG_INK, true, true },
};

static struct context cx;

static struct picture *open_picture(uint64_t total, unsigned int width,
				    unsigned int height)
{
	const struct picture_things things = {
		kinds, KINDS, "thing", "live", 1 << 20, total,
	};
	struct picture *p;

	if (picture_open(&cx, &things, width, height, &p))
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
	free(p);
}

#define FREE_LINE "         .  free                         "
#define LIVE_LINE "      1234  live                         "
#define BAD_LINE "         !  bad                          "
#define ONE "\none cell: 1 thing (1 MiB)\n"

static void test_plain(void)
{
	struct picture *p = open_picture(6, 4, 4);

	picture_add(p, 0, LIVE, 0);
	picture_add(p, 1, LIVE, 0.3);
	picture_add(p, 2, LIVE, 1);
	picture_add(p, 3, FREE, 0);
	picture_add(p, 5, BAD, 7);
	picture_add(p, 6, BAD, 0);	/* past the end */
	is_drawn(p, PICTURE_PLAIN, "0 124.\n4  !\n" ONE FREE_LINE "1\n" LIVE_LINE
		 "3\n" BAD_LINE "1\n",
		 "a cell per thing, a blank for what is not known");
	is_drawn(open_picture(0, 4, 4), PICTURE_PLAIN, ONE,
		 "nothing to show: the scale alone");
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
	is_drawn(p, PICTURE_PLAIN, "   0 3.\n 500 !1\n"
		 "\none cell: 250 things (250 MiB)\n" FREE_LINE "500\n"
		 LIVE_LINE "499\n" BAD_LINE "1\n",
		 "the commonest kind wins, an important one always");
}

static void test_colour(void)
{
	struct picture *p = open_picture(3, 3, 1);

	picture_add(p, 0, LIVE, 1);
	picture_add(p, 1, LIVE, 1);
	picture_add(p, 2, LIVE, 0);
	is_drawn(p, PICTURE_TRUECOLOR,
		 "0 \033[48;2;0;114;178m  \033[48;2;0;38;59m \033[0m\n" ONE
		 "        \033[48;2;0;114;178m  \033[0m"
		 "  live                         3\n",
		 "an escape where the colour changes; empty is darker");
	p = open_picture(1, 1, 1);
	picture_add(p, 0, BAD, 0);
	is_drawn(p, PICTURE_256,
		 "0 \033[48;5;172m \033[0m\n" ONE
		 "        \033[48;5;172m  \033[0m"
		 "  bad                          1\n",
		 "the nearest of the palette is 172; flat is never darker");
	p = open_picture(1, 1, 1);
	picture_add(p, 0, INK, 0);
	is_drawn(p, PICTURE_TRUECOLOR,
		 "0 \033[48;2;240;243;246m \033[0m\n" ONE
		 "        \033[48;2;240;243;246m  \033[0m"
		 "  ink                          1\n",
		 "a terminal has the colours of a dark page");
}

static void has(const char *text, const char *part, const char *name)
{
	ok(strstr(text, part), "%s", name);
}

static void test_svg(void)
{
	struct picture *p = open_picture(4, 2, 2);
	struct svg s = { .page = true };
	struct out *out;
	const char *text;
	unsigned int i;

	if (out_open_memory(&cx, &out))
		exit(99);
	for (i = 0; i < 2; i++)
		picture_add(p, i, LIVE, 0.5);
	picture_add(p, 2, INK, 1);
	picture_add(p, 3, BAD, 1);
	s.out = out;
	picture_svg(p, &s, "A <map>");
	text = out_memory(out, NULL);
	has(text, "<title>A &lt;map&gt;</title>", "a page has its name");
	has(text, "<rect x=\"0\" y=\"0\" width=\"2\" height=\"1\" "
		  "fill=\"#0072b2\" fill-opacity=\"0.57\"><title>things "
		  "0\xe2\x80\x93""1: live, 50 % live</title></rect>",
	    "equal neighbours are one rectangle; opacity is how full");
	has(text, "<rect x=\"1\" y=\"1\" width=\"1\" height=\"1\" "
		  "fill=\"#d55e00\"><title>thing 3: bad</title></rect>",
	    "the second line is under the first");
	has(text, "fill=\"#1f2328\" class=\"ink\"",
	    "a colour that depends on the page has its class");
	has(text, ">live: 2</text>", "the legend names and counts the kinds");
	ok(!strstr(text, ">free:"), "and only those that are there");
	has(text, ">one cell: 1 thing (1 MiB)</text>", "there is a scale");
	out_close(out, &cx);
	free(p);
}

/* The number of a line is written beside it: its foot is in the lower half. */
static void test_numbers(void)
{
	struct picture *p = open_picture(8, 2, 4);
	struct svg s = { .page = true };
	const char *text, *at, *y;
	struct out *out;
	unsigned int line, wrong = 0;
	char number[64];
	double foot;

	if (out_open_memory(&cx, &out))
		exit(99);
	s.out = out;
	picture_svg(p, &s, "map");
	text = out_memory(out, NULL);
	for (line = 0; line < 4; line++) {
		snprintf(number, sizeof(number),
			 " class=\"dim\" text-anchor=\"end\">%u</text>",
			 line * 2);
		at = strstr(text, number);
		for (y = at; y && y > text && strncmp(y, "y=\"", 3); y--)
			continue;
		foot = y ? strtod(y + 3, NULL) : -1;
		wrong += foot <= line * 24 + 12 || foot >= line * 24 + 24;
	}
	is_int(wrong, 0, "every line has its number beside it");
	out_close(out, &cx);
	free(p);
}

static void test_hostile(void)
{
	struct out *out;
	const char *text;
	struct svg s = { .page = false };

	if (out_open_memory(&cx, &out) || out_open_memory(&cx, &s.out))
		exit(99);
	svg_close(&s, &cx, out, "</title><script>\x1b\xff&\"", "'");
	text = out_memory(out, NULL);
	has(text, "<title>&lt;/title&gt;&lt;script&gt;\\x1b\\xff&amp;&quot;"
		  "</title>", "a label cannot leave its element");
	has(text, ">&#39;</text>", "nor its attribute");
	out_close(out, &cx);
}

/* How often PART is in TEXT. */
static int count(const char *text, const char *part)
{
	int n = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		n++;
	}
	return n;
}

static void test_axes(void)
{
	static const uint64_t values[] = { 1, 0 };
	static const struct chart_point points[] = { { 86388, 1 << 20 },
						     { 86412, 3 << 20 } };
	static const struct chart_series series = { "one", points, 2, false };
	const struct chart bars = {
		.title = "bars", .x = { "share", CHART_PERCENT, 0, 100 },
		.y = { "things", CHART_COUNT, 0, 1 },
	};
	const struct chart line = {
		.title = "line", .x = { "time", CHART_TIME, 86388, 86412 },
		.y = { "size", CHART_BYTES, 0, 3 << 20 },
	};
	struct svg s = { .page = true };
	const char *text;

	if (out_open_memory(&cx, &s.out))
		exit(99);
	chart_bars(&s, &bars, values, 2);
	text = out_memory(s.out, NULL);
	has(text, ">2</text>", "the axis of counts ends at a whole number");
	is_int(count(text, ">0."), 0, "and has no fractions");
	has(text, "<title>0 % to 50 %: 1</title>", "a bar has its number");
	s.out->next = s.out->buffer;
	chart_lines(&s, &line, &series, 1);
	text = out_memory(s.out, NULL);
	has(text, ">2 MiB</text>", "the axis of bytes has powers of two");
	has(text, ">00:00:00</text>", "that of times divides the day");
	is_int(count(text, ">1970-01-01</text>"), 1, "the first date is once");
	is_int(count(text, ">1970-01-02</text>"), 1, "and the next one");
	ok(count(text, "\"dim odd\"") > 1,
	   "a narrow window has every other number");
	has(text, "points=\"0.0,133.3 768.0,0.0\"", "a line ends at both ends");
	out_close(s.out, &cx);
}

static void test_limits(void)
{
	const struct picture_things one = { kinds, KINDS, "thing", "live", 0, 1 };
	struct picture *p = NULL;

	is_int(picture_open(&cx, &one, 0, 5, &p), -EINVAL, "no cells");
	is_int(picture_open(&cx, &one, 1u << 31, 1u << 31, &p), -EINVAL,
	       "too many cells");
}

int main(void)
{
	context_init(&cx);
	test_plain();
	test_aggregate();
	test_colour();
	test_svg();
	test_numbers();
	test_hostile();
	test_axes();
	test_limits();
	return tap_done();
}
