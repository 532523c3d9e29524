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
#include "base/zeros.h"

int datarun_find(struct context *cx, int fd, uint64_t size,
		 uint32_t block_size, struct newfile_run **runs, size_t *room,
		 size_t *n)
{
	struct newfile_run *run;
	uint64_t first, last;
	off_t data, hole = 0;

	for (*n = 0; (uint64_t)hole < size;) {
		data = lseek(fd, hole, SEEK_DATA);
		if (data < 0 && errno == EINVAL)
			data = hole;
		if (data < 0)
			return errno == ENXIO ? 0 : -errno;
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole < 0 && errno != EINVAL && errno != ENXIO)
			return -errno;
		if (hole < 0 || (uint64_t)hole > size)
			hole = (off_t)size;
		if (data >= hole)
			return 0;
		if (array_reserve(cx, runs, room, *n + 1))
			return -ENOMEM;
		first = (uint64_t)data / block_size;
		last = ((uint64_t)hole - 1) / block_size;
		run = *runs + *n;
		if (*n && first <= run[-1].blkoff + run[-1].count)
			run[-1].count = last + 1 - run[-1].blkoff;
		else
			(*runs)[(*n)++] = (struct newfile_run){
				.blkoff = first,
				.count = last + 1 - first,
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

#define PIECE (256u << 10)

/* Reads BYTES from AT on; bytes after the end of the file are zero. */
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

int datarun_make_holes(struct context *cx, int fd, uint32_t block_size,
		       struct newfile_run **runs, size_t *room, size_t *n)
{
	uint64_t at, end, j, count, most = PIECE / block_size;
	struct newfile_run *left = NULL;
	size_t i, nleft = 0, left_room = 0;
	char *buf = calloc(1, PIECE);
	int ret = 0;

	if (!buf)
		return fail(cx, -ENOMEM, "file of the source");
	for (i = 0; i < *n && !ret; i++) {
		at = (*runs)[i].blkoff;
		end = at + (*runs)[i].count;
		for (; at < end && !ret; at += count) {
			count = end - at < most ? end - at : most;
			ret = context_cancelled(cx);
			if (!ret)
				ret = read_piece(fd, at * block_size, buf,
						 (size_t)count * block_size);
			for (j = 0; j < count && !ret; j++)
				if (!zeros_only(buf + j * block_size,
						block_size))
					ret = datarun_add(cx, at + j, &left,
							  &left_room, &nleft);
		}
	}
	free(buf);
	if (ret) {
		free(left);
		return ret;
	}
	free(*runs);
	*runs = left;
	*room = left_room;
	*n = nleft;
	return 0;
}
