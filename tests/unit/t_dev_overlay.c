// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The overlay: what it shows, what it brings to its device, what it costs, in
 * memory, partly in a temporary file, and wholly there; and that threads that read while
 * one writes see no half of a write.  Built with -fsanitize=thread the last
 * says more.
 */
#include "tests/testdev/memory.h"
#include "dev/overlay.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "tap.h"

#define SIZE 65536
#define CHUNK (256u << 10)	/* what the overlay takes memory by */

static void init(struct context *cx, uint64_t budget)
{
	const char *dir = getenv("TMPDIR");

	context_init(cx);
	cx->max_memory = budget * OVERLAY_SHARE;
	cx->scratch_dir = dir ? dir : "/tmp";
}

/* The overlay against a copy of what it should show. */
static void test_random(uint64_t budget, size_t size, bool commit, bool last,
			bool trial)
{
	unsigned char disk_bytes[SIZE], model[SIZE], before[SIZE], got[3000];
	struct dev *disk, *dev;
	const uint64_t late[] = { size - 1, 1024 };
	unsigned int i, wrong = 0;
	struct context cx;
	uint32_t x = 11;

	init(&cx, budget);
	for (i = 0; i < size; i++)
		disk_bytes[i] = (unsigned char)(i * 31 >> 4);
	memcpy(model, disk_bytes, size);
	memcpy(before, disk_bytes, size);
	memory_open(&disk, &cx, disk_bytes, size);
	is_int(overlay_open(&dev, &cx, disk, trial), 0, "an overlay");
	for (i = 0; i < 2000; i++) {
		size_t off, len;

		x = x * 1103515245 + 12345;
		off = (x >> 8) % size;
		len = (x >> 3) % sizeof(got);
		if (len > size - off)
			len = size - off;
		if (x >> 28 == 0)
			dev_flush(dev, &cx);
		if (x >> 30 == 1) {
			memset(got, (int)i, len);
			memset(model + off, (int)i, len);
			wrong += dev_write(dev, &cx, off, got, len) != 0;
		}
		wrong += dev_read(dev, &cx, off, got, len) != 0;
		wrong += memcmp(got, model + off, len) != 0;
	}
	is_int(wrong, 0, "shows what was written over what was there");
	is_int(memcmp(disk_bytes, before, size), 0,
	       "and the disk is as it was");
	ok(overlay_is_changed(dev), "there is something to commit");
	if (last)
		is_int(overlay_commit_last(dev, &cx, late, 2), 0,
		       "commit of the last state");
	else if (commit)
		is_int(overlay_commit_last(dev, &cx, NULL, 0), 0, "commit");
	if (trial)
		is_int(overlay_commit_last(dev, &cx, NULL, 0), -EOPNOTSUPP,
		       "a trial is not committed");
	if (!commit)
		overlay_drop(dev);
	is_int(memcmp(disk_bytes, commit ? model : before, size), 0,
	       commit ? "brings it to the disk" : "dropping forgets it");
	ok(!overlay_is_changed(dev), "and leaves nothing to commit");
	is_int(dev_read(dev, &cx, 100, got, 1000), 0, "the overlay then");
	ok(!memcmp(got, disk_bytes + 100, 1000), "shows the disk");
	dev_close(dev);
	dev_close(disk);
}

/* Each byte that was written is in one range; the others are in none. */
static void test_ranges(uint64_t budget)
{
	static unsigned char bytes[SIZE];
	uint64_t off, sum = 0;
	struct dev *disk, *dev;
	struct context cx;
	size_t cursor = 0, len;
	unsigned int n;

	init(&cx, budget);
	memory_open(&disk, &cx, bytes, SIZE);
	overlay_open(&dev, &cx, disk, false);
	ok(!overlay_next_range(dev, &cursor, &off, &len), "no ranges yet");
	for (n = 0; n < 3; n++) {
		dev_write(dev, &cx, 4096, "xyz", 3);
		dev_write(dev, &cx, 8192, bytes, 3000);
		dev_flush(dev, &cx);
	}
	for (n = 0; overlay_next_range(dev, &cursor, &off, &len); n++)
		sum += off ^ len;
	is_int(n, 2, "two ranges, however often they were written");
	is_int(sum, (4096 ^ 1024) + (8192 ^ 3072), "in whole pages");
	dev_close(dev);
	dev_close(disk);
}

/* Whatever is written after a mark, a rewind shows what was there then. */
static void test_rewind(uint64_t budget)
{
	static unsigned char bytes[SIZE], model[SIZE], got[SIZE];
	struct dev *disk, *dev;
	struct context cx;
	unsigned int i, wrong = 0;
	uint32_t x = 5;
	size_t mark = 0;

	init(&cx, budget);
	memory_open(&disk, &cx, bytes, SIZE);
	overlay_open(&dev, &cx, disk, false);
	for (i = 0; i < 600; i++) {
		x = x * 1103515245 + 12345;
		if (i % 30 == 0) {
			overlay_rewind(dev, mark);
			dev_read(dev, &cx, 0, got, SIZE);
			wrong += memcmp(got, model, SIZE) != 0;
		}
		memset(got, (int)i, 2000);
		dev_write(dev, &cx, (x >> 8) % (SIZE - 2000), got, 2000);
		if (i % 30 == 9) {
			mark = overlay_mark(dev);
			dev_read(dev, &cx, 0, model, SIZE);
		}
	}
	is_int(wrong, 0, "a rewind brings back what was there at the mark");
	overlay_rewind(dev, mark);
	is_int(overlay_commit_last(dev, &cx, NULL, 0), 0, "which can be committed");
	ok(!memcmp(bytes, model, SIZE), "and is what is on the device then");
	dev_close(dev);
	dev_close(disk);
}

/* What is hidden is what was written, as long as it is. */
static void test_hides(void)
{
	static unsigned char bytes[SIZE];
	struct dev *disk, *dev;
	struct context cx;
	size_t mark;

	init(&cx, 32u << 20);
	memory_open(&disk, &cx, bytes, SIZE);
	overlay_open(&dev, &cx, disk, false);
	ok(!overlay_hides(dev, 0, SIZE), "nothing is hidden");
	mark = overlay_mark(dev);
	dev_write(dev, &cx, 5000, "x", 1);
	ok(overlay_hides(dev, 0, SIZE) && overlay_hides(dev, 4096, 1024),
	   "what was written to is");
	ok(!overlay_hides(dev, 0, 4096) && !overlay_hides(dev, 6144, SIZE - 6144),
	   "and what is beside it is not");
	ok(!overlay_hides(disk, 0, SIZE), "a device hides nothing");
	overlay_rewind(dev, mark);
	ok(!overlay_hides(dev, 0, SIZE), "nor does an overlay after a rewind");
	dev_close(dev);
	dev_close(disk);
}

static void test_limits(void)
{
	static char buf[SIZE];
	struct dev *disk, *dev;
	struct context cx;
	unsigned int i, wrong = 0;

	context_init(&cx);
	cx.max_memory = CHUNK * OVERLAY_SHARE;
	memory_open_const(&disk, &cx, buf, sizeof(buf));
	overlay_open(&dev, &cx, disk, false);
	for (i = 0; i < CHUNK / SIZE; i++) {
		overlay_mark(dev);
		wrong += dev_write(dev, &cx, 0, buf, SIZE) != 0;
	}
	is_int(wrong, 0, "as much as the budget");
	is_int(dev_write(dev, &cx, 100, buf, 100), 0, "the same place again");
	overlay_mark(dev);
	is_int(dev_write(dev, &cx, 100, buf, 100), -ENOMEM,
	       "a version past the budget, and no place for a file");
	cx.scratch_dir = "/nowhere/at/all";
	is_int(dev_write(dev, &cx, 100, buf, 100), -ENOMEM,
	       "nor can there be one");
	ok(strstr(cx.failure, "/nowhere/at/all"), "the text says where");
	is_int(overlay_commit_last(dev, &cx, NULL, 0), -EROFS,
	       "a read-only device takes no commit");
	ok(overlay_is_changed(dev), "and the overlay keeps its bytes");
	dev_close(dev);
	dev_close(disk);
}

/* A temporary file that cannot grow past LIMIT, as where there is no room. */
static void limit_files(rlim_t limit)
{
	const struct rlimit rlimit = { limit, RLIM_INFINITY };

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &rlimit);
}

static void test_full(void)
{
	static unsigned char bytes[SIZE], buf[SIZE], got[SIZE];
	struct dev *disk, *dev;
	struct context cx;
	size_t mark;

	init(&cx, CHUNK - 1);
	memory_open(&disk, &cx, bytes, SIZE);
	overlay_open(&dev, &cx, disk, false);
	memset(buf, 'a', SIZE);
	limit_files(SIZE);
	is_int(dev_write(dev, &cx, 0, buf, SIZE), 0, "as much as has room");
	mark = overlay_mark(dev);
	memset(buf, 'b', SIZE);
	is_int(dev_write(dev, &cx, 0, buf, SIZE), -ENOMEM, "and more");
	limit_files(RLIM_INFINITY);
	overlay_rewind(dev, mark);
	is_int(dev_read(dev, &cx, 0, got, SIZE), 0, "what was there before");
	ok(got[0] == 'a' && !memcmp(got, got + 1, SIZE - 1), "is there still");
	is_int(bytes[0], 0, "and nothing reached the disk");
	is_int(overlay_commit_last(dev, &cx, NULL, 0), 0, "but for a commit");
	is_int(bytes[SIZE - 1], 'a', "which does as always");
	dev_close(dev);
	dev_close(disk);
}

#define READERS 4
#define WRITES 600
#define PIECE 5000	/* over page borders */

struct reader {
	pthread_t thread;
	struct dev *dev;
	struct context cx;
	unsigned int reads, wrong;
	const atomic_bool *over;	/* nothing is written any more */
};

/* A write is seen as a whole or not at all, and never goes back. */
static void *read_on(void *arg)
{
	unsigned char buf[PIECE], tail[SIZE - PIECE], last = 0;
	struct reader *r = arg;
	struct iovec iov[2] = { { buf, PIECE }, { tail, sizeof(tail) } };

	while (!r->wrong && !atomic_load(r->over)) {
		if (r->reads++ % 2)
			r->wrong += dev_read(r->dev, &r->cx, 0, buf, PIECE) != 0;
		else
			r->wrong += dev_readv(r->dev, &r->cx, 0, iov, 2) != 0;
		r->wrong += buf[0] < last ||
			    memcmp(buf, buf + 1, PIECE - 1) != 0;
		last = buf[0];
	}
	return NULL;
}

/* One writes, which only the overlay's own lock keeps from those that read. */
static void test_readers(uint64_t budget)
{
	static unsigned char bytes[SIZE], piece[PIECE];
	struct reader readers[READERS] = { 0 };
	unsigned int i, wrong = 0;
	atomic_bool over = false;
	struct dev *disk, *dev;
	struct context cx;

	memset(bytes, 0, SIZE);
	init(&cx, budget);
	memory_open(&disk, &cx, bytes, SIZE);
	overlay_open(&dev, &cx, disk, false);
	for (i = 0; i < READERS; i++) {
		readers[i].dev = dev;
		readers[i].over = &over;
		context_child(&cx, &readers[i].cx);
		pthread_create(&readers[i].thread, NULL, read_on, &readers[i]);
	}
	for (i = 1; i <= WRITES; i++) {
		memset(piece, (int)(i / 4), PIECE);
		wrong += dev_write(dev, &cx, 0, piece, PIECE) != 0;
		wrong += dev_write(dev, &cx, PIECE + i * 97 % 50000, piece,
				   PIECE) != 0;
		if (i % 4 == 0)
			dev_flush(dev, &cx);
	}
	atomic_store(&over, true);
	for (i = 0; i < READERS; i++) {
		pthread_join(readers[i].thread, NULL);
		wrong += readers[i].wrong;
	}
	is_int(wrong, 0, "readers see each write as a whole, in its turn");
	dev_close(dev);
	dev_close(disk);
}

/* The digest is one of the content, not of how it was written. */
static void test_digest(uint64_t budget)
{
	static unsigned char bytes[SIZE];
	uint64_t none, one, two, other, end;
	struct dev *disk, *dev;
	struct context cx;
	size_t mark;

	init(&cx, budget);
	memory_open(&disk, &cx, bytes, SIZE);
	overlay_open(&dev, &cx, disk, false);
	is_int(overlay_digest(dev, &cx, &none), 0, "a digest of nothing");
	dev_write(dev, &cx, 3000, "one", 3);
	overlay_digest(dev, &cx, &one);
	ok(one != none, "a change changes it");
	mark = overlay_mark(dev);
	dev_write(dev, &cx, 3000, "two", 3);
	dev_write(dev, &cx, 9000, "more", 4);
	overlay_digest(dev, &cx, &two);
	ok(two != one, "and so does another one");
	overlay_rewind(dev, mark);
	overlay_digest(dev, &cx, &end);
	ok(end == one, "a rewind takes it back");
	overlay_rewind(dev, 0);
	dev_write(dev, &cx, 9000, "more", 4);
	overlay_mark(dev);
	dev_write(dev, &cx, 3000, "two", 3);
	overlay_digest(dev, &cx, &end);
	ok(end == two, "the order of writes is not in it");
	overlay_rewind(dev, 0);
	dev_write(dev, &cx, 9000 + 1024, "more", 4);
	dev_write(dev, &cx, 3000, "two", 3);
	overlay_digest(dev, &cx, &other);
	ok(other != two, "their place is");
	dev_close(dev);
	dev_close(disk);
}

int main(void)
{
	/* In memory; some of it; nothing but the list. */
	static const uint64_t budgets[] = { 32u << 20, CHUNK, CHUNK - 1 };
	unsigned int i;

	for (i = 0; i < sizeof(budgets) / sizeof(budgets[0]); i++) {
		test_random(budgets[i], SIZE, true, false, false);
		test_random(budgets[i], SIZE - 300, true, false, false);
		test_random(budgets[i], SIZE, true, true, false);
		test_random(budgets[i], SIZE - 300, true, true, false);
		test_random(budgets[i], SIZE, false, false, false);
		test_random(budgets[i], SIZE, false, false, true);
		test_random(budgets[i], SIZE - 300, false, false, true);
		test_ranges(budgets[i]);
		test_rewind(budgets[i]);
		test_digest(budgets[i]);
		test_readers(budgets[i]);
	}
	test_hides();
	test_limits();
	test_full();
	return tap_done();
}
