// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Noticing that somebody else writes to the same file.
 *
 * A lock does not keep out who asks for none, such as a mount by way of a loop
 * device.  Whoever changes a volume changes its superblocks, so these are
 * remembered when the volume is opened and compared before a commit begins, and
 * after each flush in it.
 */
#include "dev/guard.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void guard_init(struct guard *g, int fd, const char *path)
{
	memset(g, 0, sizeof(*g));
	pthread_mutex_init(&g->lock, NULL);
	g->fd = fd;
	g->path = path;
}

static bool read_range(const struct guard *g, uint64_t off,
		       uint8_t bytes[GUARD_BYTES])
{
	return pread(g->fd, bytes, GUARD_BYTES, (off_t)off) == GUARD_BYTES;
}

void guard_set(struct guard *g, const uint64_t offsets[GUARD_RANGES])
{
	unsigned int i;

	for (i = 0; i < GUARD_RANGES; i++) {
		g->ranges[i].off = offsets[i];
		g->ranges[i].known = offsets[i] != GUARD_NOTHING &&
				     read_range(g, offsets[i],
						g->ranges[i].bytes);
	}
	g->on = g->due = true;
}

/* What cannot be read any more, as the end of a file that was cut, is new. */
static bool is_changed(const struct guard *g)
{
	uint8_t bytes[GUARD_BYTES];
	unsigned int i;

	for (i = 0; i < GUARD_RANGES; i++) {
		const struct guard_range *r = &g->ranges[i];

		if (r->known && (!read_range(g, r->off, bytes) ||
				 memcmp(bytes, r->bytes, sizeof(bytes))))
			return true;
	}
	return false;
}

int guard_check(struct guard *g, struct context *cx)
{
	int ret = 0;

	if (!g->on)
		return 0;
	pthread_mutex_lock(&g->lock);
	if (g->due && is_changed(g))
		ret = fail(cx, -ESTALE, "%s: somebody else changed the volume "
			   "meanwhile; nothing%s was written", g->path,
			   g->written ? " more" : "");
	else
		g->due = false;
	g->written |= !ret;
	pthread_mutex_unlock(&g->lock);
	return ret;
}

/* What of [OFF, OFF + LEN) lies in R becomes known as BUF has it. */
static void note_in(struct guard_range *r, uint64_t off, const uint8_t *buf,
		    size_t len)
{
	uint64_t from = off > r->off ? off : r->off;
	uint64_t end = off + len < r->off + GUARD_BYTES ? off + len :
							  r->off + GUARD_BYTES;

	if (from < end)
		memcpy(r->bytes + (from - r->off), buf + (from - off),
		       end - from);
}

void guard_note(struct guard *g, uint64_t off, const void *buf, size_t len)
{
	unsigned int i;

	if (!g->on)
		return;
	pthread_mutex_lock(&g->lock);
	for (i = 0; i < GUARD_RANGES; i++)
		note_in(&g->ranges[i], off, buf, len);
	pthread_mutex_unlock(&g->lock);
}

void guard_forget(struct guard *g, uint64_t off, uint64_t end)
{
	unsigned int i;

	pthread_mutex_lock(&g->lock);
	for (i = 0; i < GUARD_RANGES; i++)
		g->ranges[i].known &= end <= g->ranges[i].off ||
				      off >= g->ranges[i].off + GUARD_BYTES;
	pthread_mutex_unlock(&g->lock);
}

void guard_renew(struct guard *g)
{
	pthread_mutex_lock(&g->lock);
	g->due = true;
	pthread_mutex_unlock(&g->lock);
}
