// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps of a trace that are kept.
 *
 * A page is written when it is full; each stream knows the numbers of its
 * pages.  Numbers that belong together are never on two pages, and the rest of
 * a page is zeros; a stored group never begins with a zero.
 */
#include "gc/sim/trace/simspool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/tempfile.h"

#define NUMBER_MAX 10u		/* bytes of 64 bits */

void simspool_fini(struct simspool *s)
{
	tempfile_close(s->file - 1);
	*s = (struct simspool){ 0 };
}

void simspool_stream_fini(struct simspool_stream *t)
{
	free(t->page);
	free(t->pages);
	*t = (struct simspool_stream){ 0 };
}

uint64_t simspool_bytes(const struct simspool_stream *t)
{
	return (t->page ? SIMSPOOL_PAGE : 0) + t->room * sizeof(*t->pages);
}

/* The page goes to the file. */
static int put_page(struct simspool *s, struct simspool_stream *t,
		    struct context *cx)
{
	int err = 0, fd = s->file - 1;

	if (fd < 0)
		err = tempfile_open(cx, &fd);
	s->file = fd + 1;
	if (!err)
		err = array_reserve(cx, &t->pages, &t->room,
				    t->npages + 1);
	if (!err)
		err = tempfile_write(cx, fd,
				     (uint64_t)s->pages * SIMSPOOL_PAGE,
				     t->page, SIMSPOOL_PAGE);
	if (err)
		return err;
	t->pages[t->npages++] = s->pages++;
	t->used = 0;
	memset(t->page, 0, SIMSPOOL_PAGE);
	return 0;
}

static uint8_t *put_number(uint8_t *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

int simspool_add(struct simspool *s, struct simspool_stream *t,
		 struct context *cx, const uint64_t *numbers, unsigned int n)
{
	unsigned int i;
	uint8_t *p;
	int err = 0;

	if (!t->page) {
		t->page = calloc(1, SIMSPOOL_PAGE);
		if (!t->page)
			return fail(cx, -ENOMEM, "trace");
	}
	if (t->used + n * NUMBER_MAX > SIMSPOOL_PAGE)
		err = put_page(s, t, cx);
	if (err)
		return err;
	p = t->page + t->used;
	for (i = 0; i < n; i++)
		p = put_number(p, numbers[i]);
	t->used = (size_t)(p - t->page);
	return 0;
}
