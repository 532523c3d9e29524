// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Emulated zones: what the rules of <linux/blkzoned.h> allow, and the file that
 * keeps the write pointers.
 */

#include <errno.h>
#include <linux/blkzoned.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/testdev/memory.h"
#include "dev/zoned.h"
#include "dev/zonedump.h"

#include "tap.h"

#define ZONE 65536u
#define CAPACITY 40960u
#define ZONES 8u
#define BYTES (ZONE * ZONES)
#define SIDE "image.zones"

static struct context cx;
static unsigned char medium[BYTES], page[2 * ZONE];

static void test_facts(void)
{
	static const struct {
		uint64_t bytes, size, capacity, head, tail;
		int want;
	} cases[] = {
		{ BYTES, ZONE, ZONE, 1, 0, 0 },
		{ BYTES, ZONE, 512, 4, 4, 0 },
		{ BYTES, ZONE, 512, 4, 5, -EINVAL },
		{ BYTES, ZONE, 512, UINT64_MAX, 2, -EINVAL },
		{ BYTES, ZONE, ZONE + 512, 1, 0, -EINVAL },
		{ BYTES, ZONE, 0, 1, 0, -EINVAL },
		{ BYTES, ZONE, 513, 1, 0, -EINVAL },
		{ BYTES + 512, ZONE, ZONE, 1, 0, -EINVAL },
		{ BYTES, 0, 0, 1, 0, -EINVAL },
		{ 3 << 20, 3 << 19, 3 << 19, 1, 0, -EINVAL },
		{ BYTES, 256, 256, 1, 0, -EINVAL },
		{ 512, ZONE, ZONE, 0, 0, -EINVAL },
		{ UINT64_C(1) << 62, 512, 512, 1, 0, -EINVAL },
		{ UINT64_MAX, UINT64_C(1) << 63, 512, 0, 0, -EINVAL },
	};
	struct zones zones;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		is_int(zone_make(&zones, &cx, cases[i].bytes, cases[i].size,
				 cases[i].capacity, cases[i].head,
				 cases[i].tail),
		       cases[i].want, "zones that can be, or cannot");
		zone_fini(&zones);
	}
}

/* Zones of different kinds, one by one as a device reports them. */
static void test_list(void)
{
	struct zone zone = { .size = ZONE, .capacity = ZONE };
	struct zones zones;
	uint64_t n;

	is_int(zone_begin(&zones, &cx, ZONES, ZONE), 0, "a list begins");
	for (n = 0; n < ZONES; n++) {
		zone.start = n * ZONE;
		zone.kind = n < 2  ? ZONE_CONVENTIONAL :
			    n == 4 ? ZONE_UNWRITABLE :
				     ZONE_SEQUENTIAL;
		zone.capacity = n == 5 ? CAPACITY : ZONE;
		is_int(zone_add(&zones, &cx, n, &zone), 0, "a zone more");
	}
	is_int(zones.capacity, CAPACITY, "the least capacity counts");
	is_int(zone_count(&zones, ZONE_SEQUENTIAL), 5, "sequential ones");
	is_int(zone_run_end(&zones, 2), 4, "the end of a run");
	is_int(zone_run_end(&zones, 5), ZONES, "of the last run");
	is_int(zone_add(&zones, &cx, 3, &zone), -EINVAL, "a misplaced zone");
	zone.size = ZONE / 2;
	zone.capacity = ZONE / 2;
	is_int(zone_add(&zones, &cx, ZONES - 1, &zone), 0, "a short last one");
	is_int(zone_at(&zones, ZONES - 1).size, ZONE / 2, "is remembered");
	zone.start = 3 * ZONE;
	is_int(zone_add(&zones, &cx, 3, &zone), -EINVAL, "a short one inside");
	is_int(zone_add(&zones, &cx, ZONES, &zone), -EINVAL, "one too many");
	zone_fini(&zones);
}

/* One conventional zone at either end. */
static struct dev *emulate(uint64_t capacity, const char *side,
			   struct dev **under)
{
	struct zones zones;
	struct dev *dev = NULL;

	memset(medium, 0x55, sizeof(medium));
	memory_open(under, &cx, medium, sizeof(medium));
	zone_make(&zones, &cx, BYTES, ZONE, capacity, 1, 1);
	is_int(zoned_emulate(&dev, &cx, *under, side, &zones), 0, "emulated");
	zone_fini(&zones);
	return dev;
}

static uint64_t pointer_of(struct dev *dev, uint64_t n)
{
	struct zone zone = { 0 };

	dev_zone_report(dev, &cx, n, &zone, 1);
	return zone.pointer;
}

static int put(struct dev *dev, uint64_t off, size_t len)
{
	memset(page, 0xaa, sizeof(page));
	return dev_write(dev, &cx, off, page, len);
}

static void test_rules(void)
{
	unsigned char before[BYTES];
	struct dev *under, *dev = emulate(CAPACITY, NULL, &under);

	is_int(put(dev, ZONE, 512), -EIO, "before a reset a zone is full");
	is_int(put(dev, 0, 512), 0, "a conventional one takes anything");
	is_int(put(dev, 4096, 512), 0, "anywhere");
	is_int(put(dev, 0, 512), 0, "and again");
	is_int(dev_zone_change(dev, &cx, 0, BYTES, false), 0, "all are reset");
	is_int(medium[0], 0xaa, "the conventional one keeps its data");
	is_int(medium[ZONE], 0, "a sequential one is empty");
	is_int(medium[BYTES - 1], 0x55, "the last one is conventional");

	memcpy(before, medium, BYTES);
	is_int(put(dev, 3 * ZONE + 512, 512), -EIO, "not after the pointer");
	ok(strstr(cx.failure, "zone 3 ") && strstr(cx.failure, "byte 196608"),
	   "zone and pointer are named: %s", cx.failure);
	is_int(put(dev, 3 * ZONE, CAPACITY + 512), -EIO, "not too much");
	is_int(put(dev, ZONE - 512, CAPACITY + 1024), -EIO, "nor from before");
	ok(!memcmp(before, medium, BYTES), "and nothing of it was written");
	is_int(put(dev, ZONE - 512, 1024), 0, "across the beginning");
	is_int(pointer_of(dev, 1), ZONE + 512, "moves the pointer");
	is_int(put(dev, ZONE, 512), -EIO, "not a second time");
	is_int(put(dev, ZONE + 512, CAPACITY - 512), 0, "up to the capacity");
	is_int(put(dev, ZONE + CAPACITY, 512), -EIO, "not past it");
	is_int(dev_discard(dev, &cx, ZONE, 512), 0, "a discard");
	is_int(medium[ZONE], 0xaa, "does nothing there");
	is_int(dev_discard(dev, &cx, 4096, 512), 0, "a discard elsewhere");
	is_int(medium[4096], 0, "is one");
	is_int(dev_zone_change(dev, &cx, ZONE + 512, ZONE, false), -EINVAL,
	       "half a zone");
	is_int(dev_zone_change(dev, &cx, 2 * ZONE, ZONE, false), 0, "another's reset");
	is_int(pointer_of(dev, 1), ZONE + CAPACITY, "changes nothing here");
	is_int(dev_zone_change(dev, &cx, ZONE, ZONE, false), 0, "its own reset");
	is_int(pointer_of(dev, 1), ZONE, "does");
	is_int(put(dev, ZONE, 512), 0, "and it begins again");
	is_int(dev_zone_change(under, &cx, 0, ZONE, false), -EINVAL, "without zones");
	dev_close(dev);
	dev_close(under);
}

static void test_crossing(void)
{
	struct dev *under, *dev = emulate(ZONE, NULL, &under);

	is_int(dev_zone_change(dev, &cx, 0, BYTES, false), 0, "zones without a gap");
	is_int(put(dev, ZONE, 2 * ZONE), 0, "two at once");
	is_int(pointer_of(dev, 1), 2 * ZONE, "the first is full");
	is_int(pointer_of(dev, 2), 3 * ZONE, "and the second");
	is_int(put(dev, 3 * ZONE, 512), 0, "the third is begun");
	is_int(put(dev, 3 * ZONE + 512, ZONE), 0, "and passed");
	is_int(pointer_of(dev, 4), 4 * ZONE + 512, "a bit");
	dev_close(dev);
	dev_close(under);
}

static uint32_t word_at(const char *path, long off)
{
	uint32_t word = UINT32_MAX;
	FILE *file = fopen(path, "r");

	if (!file || fseek(file, off, SEEK_SET) ||
	    fread(&word, sizeof(word), 1, file) != 1)
		ok(false, "read of %s", path);
	if (file)
		fclose(file);
	return word;
}

/* Pointers of four kinds of states, and what the records say of them. */
static void test_side(void)
{
	static const uint32_t types[] = {
		BLK_ZONE_TYPE_CONVENTIONAL, BLK_ZONE_TYPE_SEQWRITE_REQ,
		BLK_ZONE_TYPE_SEQWRITE_REQ, BLK_ZONE_TYPE_SEQWRITE_REQ,
	};
	static const uint32_t conds[] = {
		BLK_ZONE_COND_NOT_WP, BLK_ZONE_COND_FULL,
		BLK_ZONE_COND_CLOSED, BLK_ZONE_COND_EMPTY,
	};
	struct dev *under, *dev = emulate(CAPACITY, SIDE, &under);
	int i;

	dev_zone_change(dev, &cx, 0, BYTES, false);
	is_int(access(SIDE, F_OK), -1, "no file before a flush");
	put(dev, ZONE, CAPACITY);
	put(dev, 2 * ZONE, 1024);
	is_int(dev_flush(dev, &cx), 0, "a flush keeps the pointers");
	dev_close(dev);
	for (i = 0; i < 4; i++) {
		is_int(word_at(SIDE, 192 + 64 * i + 36), types[i], "a type");
		is_int(word_at(SIDE, 192 + 64 * i + 40), conds[i], "a state");
	}
	is_int(zoned_emulate(&dev, &cx, under, SIDE, NULL), 0, "they are loaded");
	is_int(pointer_of(dev, 1), ZONE + CAPACITY, "a full zone");
	is_int(pointer_of(dev, 2), 2 * ZONE + 1024, "a begun one");
	is_int(pointer_of(dev, 3), 3 * ZONE, "an empty one");
	is_int(put(dev, 2 * ZONE + 1024, 512), 0, "which goes on");
	is_int(put(dev, BYTES - 512, 512), 0, "a conventional one");
	dev_close(dev);
	dev_close(under);
	memory_open(&under, &cx, medium, BYTES / 2);
	is_int(zoned_emulate(&dev, &cx, under, SIDE, NULL), -EINVAL,
	       "not for another device");
	is_int(zoned_emulate(&dev, &cx, under, "absent", NULL), -ENOENT, "no file");
	dev_close(under);
}

static void test_beside(void)
{
	struct dev *under, *dev;
	char *side;

	is_int(zoned_side(&side, &cx, "image"), 0, "the name of a file");
	ok(!strcmp(side, SIDE), "%s", side);
	free(side);
	memory_open(&under, &cx, medium, BYTES);
	is_int(zoned_open(&dev, &cx, under, "image"), 0, "with a file beside");
	is_int((int)dev->zones->count, ZONES, "zones");
	dev_close(dev);
	is_int(zoned_open(&dev, &cx, under, "other"), 0, "without one");
	ok(dev == under && !dev->zones, "the device itself");
	dev_close(under);
	memory_open(&under, &cx, medium, BYTES / 2);
	is_int(zoned_open(&dev, &cx, under, "image"), -EINVAL, "one of others");
	ok(dev == under, "the device itself");
	dev_close(under);
}

static void write_file(const char *path, const unsigned char *bytes, size_t len)
{
	FILE *file = fopen(path, "w");

	if (!file || fwrite(bytes, 1, len, file) != len || fclose(file))
		ok(false, "write of %s", path);
}

/* Whatever the file holds, it is read or refused; what is read makes sense. */
static bool read_sensibly(void)
{
	struct zonedump dump;
	uint64_t n;
	int ret = zonedump_read(&cx, "noise", &dump);
	bool good = !ret || ret == -EINVAL;

	for (n = 0; !ret && n < dump.zones.count; n++) {
		struct zone zone = zone_at(&dump.zones, n);
		uint64_t p = dump.pointers[n];

		if (zone.kind == ZONE_SEQUENTIAL)
			good = good && p >= zone.start &&
			       p <= zone.start + zone.size;
	}
	zonedump_fini(&dump);
	return good;
}

static void test_noise(void)
{
	unsigned char bytes[192 + ZONES * 64];
	FILE *file = fopen(SIDE, "r");
	size_t len;
	int bit, refused = 0;
	bool good = true;

	if (!ok(file && fread(bytes, sizeof(bytes), 1, file) == 1, "a file"))
		return;
	fclose(file);
	for (len = 0; len < sizeof(bytes); len += 16) {
		struct zonedump dump;

		write_file("noise", bytes, len);
		refused += zonedump_read(&cx, "noise", &dump) == -EINVAL;
		zonedump_fini(&dump);
	}
	is_int(refused, sizeof(bytes) / 16, "cut short: refused");
	for (bit = 0; bit < (int)sizeof(bytes) * 8; bit++) {
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
		write_file("noise", bytes, sizeof(bytes));
		good = good && read_sensibly();
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	ok(good, "each bit flipped: read with sense, or refused");
}

int main(void)
{
	char dir[] = "t_dev_zone.XXXXXX", command[64];

	context_init(&cx);
	if (!ok(mkdtemp(dir) && !chdir(dir), "a directory for files"))
		return tap_done();
	test_facts();
	test_list();
	test_rules();
	test_crossing();
	test_side();
	test_beside();
	test_noise();
	snprintf(command, sizeof(command), "cd .. && rm -rf %s", dir);
	is_int(system(command), 0, "cleaned up");
	return tap_done();
}
