// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps of segments: which class wins, how dark, in which form; axes of charts. */
#include "out/segmap.h"

#include <errno.h>
#include <stdlib.h>

#include "out/chart.h"
#include "tap.h"

enum { FREE, LIVE, BAD, INK };

static struct context cx;

static struct segmap *open_map(uint64_t total, unsigned int width,
			       unsigned int height)
{
	const struct segmap_volume v = {
		.segment_bytes = 1 << 20, .segments = total,
	};
	struct segmap *m;

	if (segmap_open(&cx, &v, width, height, &m))
		exit(99);
	return m;
}

static void add(struct segmap *m, uint64_t segnum, int kind, uint32_t percent)
{
	segmap_add(m, segnum, &(struct segmap_segment){
		.error = kind == BAD, .active = kind == INK, .dirty = kind != FREE,
		.counted = true, .blocks = 100, .kept = percent, .live = percent,
	});
}

static void is_drawn(struct segmap *m, enum segmap_colour colour,
		     const char *want, const char *name)
{
	struct out *out;

	if (out_open_memory(&cx, &out))
		exit(99);
	segmap_text(m, out, colour);
	is_str(out_memory(out, NULL), want, name);
	out_close(out, &cx);
	free(m);
}

#define FREE_LINE "         .  clean                        "
#define DEAD_LINE "         x  dead, nothing to keep        "
#define PARTLY_LINE " 123456789  partly live                  "
#define FULL_LINE "         #  full, at least 90 % live     "
#define BAD_LINE "         E  erroneous                    "
#define ONE "\none cell: 1 segment (1 MiB)\n"

static void test_plain(void)
{
	struct segmap *m = open_map(6, 4, 4);

	add(m, 0, LIVE, 0);
	add(m, 1, LIVE, 30);
	add(m, 2, LIVE, 100);
	add(m, 3, FREE, 0);
	add(m, 5, BAD, 700);
	add(m, 6, BAD, 0);	/* past the end */
	is_drawn(m, SEGMAP_PLAIN, "0 x3#.\n4  E\n" ONE FREE_LINE "1\n" DEAD_LINE
		 "1\n" PARTLY_LINE "1\n" FULL_LINE "1\n" BAD_LINE "1\n",
		 "a cell per segment, a blank for what is not known");
	is_drawn(open_map(0, 4, 4), SEGMAP_PLAIN, ONE,
		 "nothing to show: the scale alone");
}

static void test_aggregate(void)
{
	struct segmap *m = open_map(1000, 2, 2);
	unsigned int i;

	for (i = 0; i < 250; i++)
		add(m, i, i % 3 ? LIVE : FREE, i % 3 ? 100 : 0);
	for (; i < 500; i++)
		add(m, i, i % 3 ? FREE : LIVE, 0);
	for (; i < 750; i++)
		add(m, i, i == 600 ? BAD : FREE, 0);
	for (; i < 1000; i++)
		add(m, i, LIVE, i == 999 ? 89 : 1);
	is_drawn(m, SEGMAP_PLAIN, "   0 #.\n 500 E1\n"
		 "\none cell: 250 segments (250 MiB)\n" FREE_LINE "500\n"
		 DEAD_LINE "83\n" PARTLY_LINE "250\n" FULL_LINE "166\n"
		 BAD_LINE "1\n",
		 "the commonest class wins, an important one always");
}

static void test_colour(void)
{
	struct segmap *m = open_map(3, 3, 1);

	add(m, 0, LIVE, 100);
	add(m, 1, LIVE, 100);
	add(m, 2, LIVE, 50);
	is_drawn(m, SEGMAP_TRUECOLOR,
		 "0 \033[48;2;0;114;178m  \033[48;2;153;106;0m \033[0m\n" ONE
		 "        \033[48;2;230;159;0m  \033[0m"
		 "  partly live                  1\n"
		 "        \033[48;2;0;114;178m  \033[0m"
		 "  full, at least 90 % live     2\n",
		 "an escape where the colour changes; emptier is darker");
	m = open_map(1, 1, 1);
	add(m, 0, BAD, 0);
	is_drawn(m, SEGMAP_256,
		 "0 \033[48;5;175m \033[0m\n" ONE
		 "        \033[48;5;175m  \033[0m"
		 "  erroneous                    1\n",
		 "the nearest of the palette is 175; flat is never darker");
	m = open_map(1, 1, 1);
	add(m, 0, INK, 0);
	is_drawn(m, SEGMAP_TRUECOLOR,
		 "0 \033[48;2;240;243;246m \033[0m\n" ONE
		 "        \033[48;2;240;243;246m  \033[0m"
		 "  active, being written or next 1\n",
		 "a terminal has the colours of a dark page");
}

static void has(const char *text, const char *part, const char *name)
{
	ok(strstr(text, part), "%s", name);
}

static void test_svg(void)
{
	struct segmap *m = open_map(4, 2, 2);
	struct svg s = { .page = true };
	struct out *out;
	const char *text;
	unsigned int i;

	if (out_open_memory(&cx, &out))
		exit(99);
	for (i = 0; i < 2; i++)
		add(m, i, LIVE, 50);
	add(m, 2, INK, 100);
	add(m, 3, BAD, 100);
	s.out = out;
	segmap_svg(m, &s, "A <map>");
	text = out_memory(out, NULL);
	has(text, "<title>A &lt;map&gt;</title>", "a page has its name");
	has(text, "<rect x=\"0\" y=\"0\" width=\"2\" height=\"1\" "
		  "fill=\"#e69f00\" fill-opacity=\"0.57\"><title>segments "
		  "0\xe2\x80\x93""1: partly live, 50 % to keep</title></rect>",
	    "equal neighbours are one rectangle; opacity is how full");
	has(text, "<rect x=\"1\" y=\"1\" width=\"1\" height=\"1\" "
		  "fill=\"#cc79a7\"><title>segment 3: erroneous</title></rect>",
	    "the second line is under the first");
	has(text, "fill=\"#1f2328\" class=\"ink\"",
	    "a colour that depends on the page has its class");
	has(text, ">partly live: 2</text>", "the legend names and counts the classes");
	ok(!strstr(text, ">clean:"), "and only those that are there");
	has(text, ">one cell: 1 segment (1 MiB)</text>", "there is a scale");
	out_close(out, &cx);
	free(m);
}

/* The number of a line is written beside it: its foot is in the lower half. */
static void test_numbers(void)
{
	struct segmap *m = open_map(8, 2, 4);
	struct svg s = { .page = true };
	const char *text, *at, *y;
	struct out *out;
	unsigned int line, wrong = 0;
	char number[64];
	double foot;

	if (out_open_memory(&cx, &out))
		exit(99);
	s.out = out;
	segmap_svg(m, &s, "map");
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
	free(m);
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
	static const struct chart_point values[] = { { 0, 1 }, { 50, 0 } };
	static const struct chart_point points[] = { { 86388, 1 << 20 },
						     { 86412, 3 << 20 } };
	static const struct chart_point late[] = { { 12345678, 0 }, { 12345680, 1 } };
	static const struct chart_series few = { "few", late, 2, false };
	static const struct chart_series counts = { .points = values, .count = 2 };
	static const struct chart_series series = { "one", points, 2, false };
	const struct chart bars = {
		.title = "bars", .x = { "share", CHART_PERCENT, 0, 100 },
		.y = { "things", CHART_COUNT, 0, 1 }, .series = &counts, .n = 1,
	};
	const struct chart line = {
		.title = "line", .x = { "time", CHART_TIME, 0, 0 },
		.y = { "size", CHART_BYTES, 0, 0 }, .series = &series, .n = 1,
	};
	const struct chart large = {
		.title = "large", .x = { "blocks", CHART_COUNT, 0, 0 },
		.y = { "things", CHART_COUNT, 0, 1 }, .series = &few, .n = 1,
	};
	struct svg s = { .page = true };
	const char *text;

	if (out_open_memory(&cx, &s.out))
		exit(99);
	chart_bars(&s, &bars);
	text = out_memory(s.out, NULL);
	has(text, ">2</text>", "the axis of counts ends at a whole number");
	is_int(count(text, ">0."), 0, "and has no fractions");
	has(text, "<title>0 % to 50 %: 1</title>", "a bar has its number");
	s.out->next = s.out->buffer;
	chart_lines(&s, &line);
	text = out_memory(s.out, NULL);
	has(text, ">2 MiB</text>", "the axis of bytes has powers of two");
	has(text, ">00:00:00</text>", "that of times divides the day");
	is_int(count(text, ">1970-01-01</text>"), 1, "the first date is once");
	is_int(count(text, ">1970-01-02</text>"), 1, "and the next one");
	ok(count(text, "\"dim odd\"") > 1,
	   "a narrow window has every other number");
	has(text, "points=\"0.0,150.0 784.0,50.0\"", "a line ends at both ends");
	s.out->next = s.out->buffer;
	chart_lines(&s, &large);
	has(out_memory(s.out, NULL), ">12345679</text>",
	    "close large counts have all digits");
	out_close(s.out, &cx);
}

static void test_limits(void)
{
	const struct segmap_volume one = { .segments = 1 };
	struct segmap *m;

	is_int(segmap_open(&cx, &one, 1u << 31, 1u << 31, &m), -EINVAL,
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
