// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs of data between holes.
 *
 * The kernel reports bytes, and possibly holes smaller than a block: a block
 * with any data is data, and adjacent runs are merged.  Blocks of zeros that
 * are not holes are found by reading them.
 */
#include "config.h"

#include "mkfs/source/datarun.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/zeros.h"

/* Data from *AT on: its beginning in *AT, its end in *END; 0: no more. */
static int next_data(int fd, uint64_t size, uint64_t *at, uint64_t *end)
{
	off_t data, hole;

	data = lseek(fd, (off_t)*at, SEEK_DATA);
	if (data < 0 && errno == EINVAL)
		data = (off_t)*at;
	if (data < 0)
		return errno == ENXIO ? 0 : -errno;
	hole = lseek(fd, data, SEEK_HOLE);
	if (hole < 0 && errno != EINVAL && errno != ENXIO)
		return -errno;
	*at = (uint64_t)data;
	*end = hole < 0 || (uint64_t)hole > size ? size : (uint64_t)hole;
	return *at < *end;
}

int datarun_find(struct context *cx, int fd, uint64_t size,
		 uint32_t block_size, struct newfile_run **runs, size_t *room,
		 size_t *n)
{
	uint64_t at = 0, end = size, first, behind;
	struct newfile_run *run;
	int found;

	*n = 0;
	for (; at < size; at = end) {
		found = next_data(fd, size, &at, &end);
		if (found <= 0)
			return found;
		if (array_reserve(cx, runs, room, *n + 1))
			return -ENOMEM;
		first = at / block_size;
		behind = div_round_up(end, block_size);
		run = *runs + *n;
		if (*n && first <= run[-1].blkoff + run[-1].count)
			run[-1].count = behind - run[-1].blkoff;
		else
			(*runs)[(*n)++] = (struct newfile_run){
				.blkoff = first,
				.count = behind - first,
			};
	}
	return 0;
}

int datarun_add(struct context *cx, uint64_t blkoff, struct newfile_run **runs,
		size_t *room, size_t *n)
{
	struct newfile_run *run = *n ? *runs + *n - 1 : NULL;

	if (run && run->blkoff + run->count == blkoff) {
		run->count++;
		return 0;
	}
	if (array_reserve(cx, runs, room, *n + 1))
		return -ENOMEM;
	(*runs)[(*n)++] = (struct newfile_run){ blkoff, 1 };
	return 0;
}

/* The runs that are left of WAS. */
struct cut {
	struct newfile_run *runs;
	size_t room, n;
	uint32_t block_size;
	char *buf;		/* of PIECE bytes at least */
};

#define PIECE (256u << 10)

/* Reads BYTES from AT on; what the file does not have is zero. */
static int read_piece(int fd, uint64_t at, char *buf, size_t bytes)
{
	size_t done = 0;
	ssize_t n;

	while (done < bytes) {
		n = pread(fd, buf + done, bytes - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	memset(buf + done, 0, bytes - done);
	return 0;
}

static int cut_run(struct cut *c, struct context *cx, int fd,
		   const struct newfile_run *was)
{
	uint64_t at, i, count, most = PIECE / c->block_size;
	int ret = 0;

	for (at = 0; at < was->count && !ret; at += count) {
		count = was->count - at < most ? was->count - at : most;
		ret = context_cancelled(cx);
		if (!ret)
			ret = read_piece(fd, (was->blkoff + at) * c->block_size,
					 c->buf, (size_t)count * c->block_size);
		for (i = 0; i < count && !ret; i++) {
			if (zeros_only(c->buf + i * c->block_size,
				       c->block_size))
				continue;
			ret = datarun_add(cx, was->blkoff + at + i, &c->runs,
					  &c->room, &c->n);
		}
	}
	return ret;
}

int datarun_make_holes(struct context *cx, int fd, uint32_t block_size,
		       struct newfile_run **runs, size_t *room, size_t *n)
{
	struct cut c = { .block_size = block_size, .buf = malloc(PIECE) };
	size_t i;
	int ret = 0;

	if (!c.buf)
		return fail(cx, -ENOMEM, "file of the source");
	for (i = 0; i < *n && !ret; i++)
		ret = cut_run(&c, cx, fd, &(*runs)[i]);
	free(c.buf);
	if (ret) {
		free(c.runs);
		return ret;
	}
	free(*runs);
	*runs = c.runs;
	*room = c.room;
	*n = c.n;
	return 0;
}
