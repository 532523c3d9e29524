// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Histograms.
 *
 * A bucket is identified by its smallest number; it ends at the next bucket.  There
 * are few buckets, so the right one is found by a linear search from the end.
 */
#include "out/histogram.h"

#include "base/wide.h"
#include "out/table.h"

void histogram_linear(struct histogram *h, uint64_t max, unsigned int count)
{
	uint64_t width;
	unsigned int i;

	memset(h, 0, sizeof(*h));
	if (count > HISTOGRAM_BUCKETS_MAX)
		count = HISTOGRAM_BUCKETS_MAX;
	if (count < 1)
		count = 1;
	width = max / count + 1;
	h->max = max;
	for (i = 0; i < count && i * width <= max; i++)
		h->from[i] = i * width;
	h->count = i;
}

void histogram_add(struct histogram *h, uint64_t v, uint64_t times)
{
	unsigned int i = h->count - 1;

	while (i && v < h->from[i])
		i--;
	h->hits[i] += times;
}

void histogram_report(const struct histogram *h, struct report *r,
		      const char *name, enum value_kind kind,
		      unsigned int bar)
{
	enum { FROM, TO, COUNT, BAR, COLUMNS };
	const struct column columns[COLUMNS] = {
		[FROM] = { "from", "FROM", kind, 10 },
		[TO] = { "to", "TO", kind, 10 },
		[COUNT] = { "count", "COUNT", VALUE_U64, 10 },
		[BAR] = { "bar", "", VALUE_STRING, 0 },
	};
	uint64_t most = 1, last;
	char marks[256];
	struct table t;
	unsigned int i;

	for (i = 0; i < h->count; i++)
		most = h->hits[i] > most ? h->hits[i] : most;
	if (bar > sizeof(marks))
		bar = sizeof(marks);
	memset(marks, '#', sizeof(marks));
	/* The bar is for people: JSON has no such column. */
	table_begin(&t, r, name, columns, report_is_text(r) ? COLUMNS : BAR);
	for (i = 0; i < h->count; i++) {
		last = i + 1 < h->count ? h->from[i + 1] - 1 : h->max;
		/* A bar is rounded up, so that a small count is visible. */
		table_row(&t, (struct value[]){
			[FROM] = value_u64(h->from[i]),
			[TO] = value_u64(last),
			[COUNT] = value_u64(h->hits[i]),
			[BAR] = value_bytes(marks, wide_mul_div(h->hits[i], bar,
								most - 1, most)),
		});
	}
	table_end(&t);
}
