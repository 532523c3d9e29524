// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Detecting other writers of the same file.
 *
 * A lock does not exclude programs that take none, such as a mount through a
 * loop device.  Any change of a volume changes its superblocks, so these are
 * saved when the volume is opened and compared before a commit begins, and
 * after each flush in it.
 */
#include "dev/guard.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

void guard_init(struct guard *g, int fd, const char *path)
{
	memset(g, 0, sizeof(*g));
	pthread_mutex_init(&g->lock, NULL);
	g->fd = fd;
	g->path = path;
}

/* 1, 0 where the file ends before that, or a failure without a text. */
static int read_range(const struct guard *g, uint64_t off,
		      uint8_t bytes[GUARD_BYTES])
{
	size_t done = 0;

	while (done < GUARD_BYTES) {
		ssize_t n = pread(g->fd, bytes + done, GUARD_BYTES - done,
				  (off_t)(off + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		done += (size_t)n;
	}
	return 1;
}

void guard_set(struct guard *g, const uint64_t offsets[GUARD_RANGES])
{
	unsigned int i;

	for (i = 0; i < GUARD_RANGES; i++) {
		g->ranges[i].off = offsets[i];
		g->ranges[i].known = offsets[i] != GUARD_NOTHING &&
				     read_range(g, offsets[i],
						g->ranges[i].bytes) == 1;
	}
	g->on = g->due = true;
}

/* 1, 0 or a failure.  What is after the end of a file now was cut off. */
static int is_changed(const struct guard *g, struct context *cx)
{
	uint8_t bytes[GUARD_BYTES];
	unsigned int i;

	for (i = 0; i < GUARD_RANGES; i++) {
		const struct guard_range *r = &g->ranges[i];
		int ret = r->known ? read_range(g, r->off, bytes) : 1;

		if (ret < 0)
			return fail(cx, ret, "%s: read at byte %" PRIu64,
				    g->path, r->off);
		if (!ret || (r->known &&
			     memcmp(bytes, r->bytes, sizeof(bytes))))
			return 1;
	}
	return 0;
}

static int check_now(struct guard *g, struct context *cx)
{
	int ret = is_changed(g, cx);

	if (ret <= 0)
		return ret;
	return fail(cx, -ESTALE, "%s: another program changed the volume; "
				 "nothing%s was written", g->path,
		    g->written ? " more" : "");
}

int guard_check(struct guard *g, struct context *cx)
{
	int ret = 0;

	if (!g->on)
		return 0;
	pthread_mutex_lock(&g->lock);
	if (g->due)
		ret = check_now(g, cx);
	if (!ret) {
		g->due = false;
		g->written = true;
	}
	pthread_mutex_unlock(&g->lock);
	return ret;
}

/* Updates the saved bytes of R in [OFF, OFF + LEN) from BUF. */
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
