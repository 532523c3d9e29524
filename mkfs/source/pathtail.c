// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths for messages.
 *
 * A file knows its name and its directory, and that its own name and parent; so
 * a path is built from its end.  Of a long path the end is kept.
 */
#include "mkfs/source/pathtail.h"

#include <string.h>

#include "base/text.h"

static const char cut_mark[] = { '.', '.', '.' };

/* Prepends LEN bytes of TEXT, or the end of them. */
static void put(struct pathtail *tail, const char *text, size_t len)
{
	bool fits = len + sizeof(cut_mark) <= tail->at;

	if (tail->cut)
		return;
	if (!fits) {
		text += len - (tail->at - sizeof(cut_mark));
		len = tail->at - sizeof(cut_mark);
		/* Not within a character. */
		for (; len && (*text & 0xc0) == 0x80; len--)
			text++;
	}
	tail->at -= len;
	memcpy(tail->path + tail->at, text, len);
	if (fits)
		return;
	tail->cut = true;
	tail->at -= sizeof(cut_mark);
	memcpy(tail->path + tail->at, cut_mark, sizeof(cut_mark));
}

void pathtail_begin(struct pathtail *tail, char *path, size_t room)
{
	*tail = (struct pathtail){ .path = path, .room = room,
				   .at = room - 1 };
	path[tail->at] = '\0';
}

void pathtail_name(struct pathtail *tail, const char *name, size_t len)
{
	char text[TEXT_ESCAPED_MAX(255) + 1] = "/";

	if (!tail->cut)
		put(tail, text,
		    1 + text_escape(text + 1, sizeof(text) - 1, name, len));
}

void pathtail_end(struct pathtail *tail, const char *top)
{
	put(tail, top, strlen(top));
	memmove(tail->path, tail->path + tail->at, tail->room - tail->at);
}
