// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The search for logs on a disk with a bad place, wherever that is: all the rest is
 * read, few reads fail, and none is longer than the memory that it is for.
 */
#include "fsck/super/rootsearch.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

#define SIZE (8u << 20)
#define UNIT 1024u
#define LONGEST (1u << 20)

struct disk {
	struct dev dev;
	uint64_t bad;			/* the byte that cannot be read */
	unsigned char seen[SIZE / UNIT];
	size_t longest;
	unsigned int failed;
};

static int disk_read(struct dev *dev, struct context *cx, uint64_t off,
		     void *buf, size_t len)
{
	struct disk *disk = (struct disk *)dev;

	if (len > disk->longest)
		disk->longest = len;
	if (len > LONGEST)
		return fail(cx, -EINVAL, "no room for that");
	if (disk->bad - off < len) {
		disk->failed++;
		return fail(cx, -EIO, "medium");
	}
	memset(buf, 0, len);
	memset(disk->seen + off / UNIT, 1, len / UNIT);
	return 0;
}

static void test_place(uint64_t bad)
{
	static const struct dev_ops ops = {.read = disk_read};
	static struct disk disk;
	struct volscan q = {.nvolumes = 0};
	struct context cx;
	uint32_t i, unread = 0;

	memset(&disk, 0, sizeof(disk));
	disk.dev = (struct dev){.ops = &ops, .name = "disk", .size = SIZE,
				.sector_size = 512};
	disk.bad = bad;
	context_init(&cx);
	is_int(volscan_run(&q, &cx, &disk.dev), 0, "a search");
	ok(disk.longest <= LONGEST, "reads %zu bytes at most", disk.longest);
	for (i = 0; i < SIZE / UNIT; i++)
		unread += !disk.seen[i];
	is_int(unread, 1, "and all but the bad place");
	ok(!disk.seen[bad / UNIT] && disk.failed > 0 && disk.failed < 20,
	   "where %u reads fail", disk.failed);
	ok(!q.nvolumes, "of a disk without logs");
}

int main(void)
{
	static const uint64_t places[] = {
		0, 700000, 1 << 20, (3 << 20) + 130000, (4 << 20) - 1, SIZE - 1,
	};
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		test_place(places[i]);
	return tap_done();
}
