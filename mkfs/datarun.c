// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs of data between holes.
 *
 * The kernel tells bytes, and may tell holes smaller than our blocks: a block
 * with any data in it is data, and runs that meet in one become one.
 */
#include "config.h"

#include "mkfs/datarun.h"

#include <errno.h>
#include <unistd.h>

#include "base/array.h"
#include "base/checked.h"

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
		run = array_grow(cx, *runs, room, *n + 1, sizeof(*run));
		if (!run)
			return -ENOMEM;
		*runs = run;
		first = at / block_size;
		behind = div_round_up(end, block_size);
		run += *n;
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
