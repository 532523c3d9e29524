// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pages in versions: the newest version of each is found however many there
 * are, chains stay short, and what is rewound is forgotten.
 */
#include "dev/pages.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define PAGES 50000u
#define NUMBERS 20000u	/* so many places, written 2.5 times each */

/* Of the version I: every place once in turn, from a stride that mixes them. */
static uint64_t place_of(unsigned int i, uint64_t stride)
{
	return (uint64_t)(i * 7919u % NUMBERS) * stride;
}

static void add(struct pages *p, struct context *cx, unsigned int from,
		unsigned int to, uint64_t stride)
{
	unsigned char data[PAGES_BYTES_MAX] = { 0 };
	unsigned int i;

	for (i = from; i < to; i++) {
		memcpy(data, &i, sizeof(i));
		if (pages_add(p, cx, place_of(i, stride), data))
			exit(99);
	}
}

/* The places whose newest version is not the last of COUNT. */
static unsigned int count_wrong(const struct pages *p, struct context *cx,
				unsigned int count, uint64_t stride)
{
	static unsigned int last[NUMBERS];
	unsigned int i, got, wrong = 0;
	size_t page;

	memset(last, 0, sizeof(last));
	for (i = 0; i < count; i++)
		last[place_of(i, stride) / stride] = i + 1;
	for (i = 0; i < NUMBERS; i++) {
		bool found = pages_find(p, i * stride, &page);

		if (found != !!last[i] || (found && page != last[i] - 1))
			wrong++;
		else if (found && (pages_read(p, cx, page, 0, &got,
					      sizeof(got)) ||
				   got != page))
			wrong++;
	}
	return wrong;
}

/* Of the chains that hold the places. */
static unsigned int longest_chain(const struct pages *p, uint64_t stride)
{
	unsigned int i, len, most = 0;
	size_t link, page;

	for (i = 0; i < NUMBERS; i++) {
		if (!pages_find(p, i * stride, &page))
			continue;
		len = 0;
		for (link = page + 1; link; link = p->list[link - 1].next)
			len++;
		most = len > most ? len : most;
	}
	return most;
}

static void test_stride(uint64_t stride, size_t bytes, uint64_t budget)
{
	struct context cx;
	struct pages p;

	context_init(&cx);
	cx.scratch_dir = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	pages_init(&p, "pages", bytes, budget);
	is_int(count_wrong(&p, &cx, 0, stride), 0, "nothing in no pages");
	add(&p, &cx, 0, PAGES, stride);
	is_int(count_wrong(&p, &cx, PAGES, stride), 0,
	       "the newest version of each");
	ok(longest_chain(&p, stride) <= 32, "no chain is longer than 32");
	pages_rewind(&p, 30000);
	is_int(count_wrong(&p, &cx, 30000, stride), 0, "of those left");
	pages_rewind(&p, 700);
	is_int(count_wrong(&p, &cx, 700, stride), 0, "of the few left");
	add(&p, &cx, 700, PAGES, stride);
	is_int(count_wrong(&p, &cx, PAGES, stride), 0, "and of new ones");
	pages_fini(&p);
	is_int(count_wrong(&p, &cx, 0, stride), 0, "none after the end");
}

int main(void)
{
	test_stride(1, PAGES_BYTES, UINT64_C(100) << 20);
	test_stride(4096, PAGES_BYTES, UINT64_C(8) << 20);
	test_stride(1, PAGES_BYTES_MAX, UINT64_C(8) << 20);
	test_stride(UINT64_C(1) << 33, PAGES_BYTES, UINT64_C(8) << 20);
	return tap_done();
}
