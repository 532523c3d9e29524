// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Dirty pages: a bit each, and where the sweep is.
 */
#include "gc/sim/simdirty.h"

int simdirty_open(struct simdirty *d, struct context *cx, uint64_t n)
{
	*d = (struct simdirty){ 0 };
	return bitmap_init(&d->map, cx, n);
}

void simdirty_close(struct simdirty *d)
{
	bitmap_fini(&d->map);
}

void simdirty_add(struct simdirty *d, uint64_t page)
{
	d->count += !bitmap_test(&d->map, page);
	bitmap_set(&d->map, page);
}

void simdirty_drop(struct simdirty *d, uint64_t page)
{
	d->count -= bitmap_test(&d->map, page);
	bitmap_clear(&d->map, page);
}

uint64_t simdirty_take(struct simdirty *d)
{
	uint64_t page = bitmap_next_set(&d->map, d->next);

	if (page == d->map.bits)
		page = bitmap_next_set(&d->map, 0);
	d->next = page + 1;
	simdirty_drop(d, page);
	return page;
}
