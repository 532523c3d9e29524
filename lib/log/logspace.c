// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Space asked for in advance.
 *
 * A file system that has to find space for each of several writes at once does
 * so worse and more slowly than in one go.  Yet it lets all writes to the file
 * end before it gives space, so it must not be asked often either.
 */
#include "log/logspace.h"

void logspace_ask(struct logspace *s, struct context *cx, uint64_t start,
		  uint64_t end)
{
	if (!s->at_once || end <= s->to)
		return;
	if (start < s->to)
		start = s->to;
	if (end < start + s->at_once)
		end = start + s->at_once;
	if (end > s->dev->size)
		end = s->dev->size;
	s->to = end;
	if (dev_allocate(s->dev, cx, start, end - start))
		fail_clear(cx);
}
