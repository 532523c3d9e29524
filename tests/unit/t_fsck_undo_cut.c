// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Undo files and power cuts: while one is written, and while a repair is taken
 * back.
 *
 * Taking back is cut at every write and flush, torn or reordered up to a flush.
 * What is left is the old state or the mended one, with all files; a second try
 * brings back every byte.  An undo file that is not whole brings back nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dev/fault.h"
#include "dev/memory.h"
#include "fsck/undo.h"

#include "fsck_rig.h"
#include "tap.h"

#define SECTOR 512u

struct bench {
	struct rig r;
	char dir[64], path[80];		/* of the undo file */
	char *after;			/* the device, mended */
	char *undo;			/* what is in the file */
	size_t undo_size;
};

/* Mends a fresh copy through DEV, with an undo file. */
static int mend(struct bench *b, const struct fault_plan *plan,
		uint64_t *counted)
{
	const struct options o = {
		.mode = OPTIONS_YES, .undo_file = b->path,
	};
	struct dev *disk, *dev;
	int ret;

	memcpy(b->r.bytes, b->r.before, b->r.size);
	memory_open(&disk, &b->r.v.cx, b->r.bytes, b->r.size);
	fault_open(&dev, &b->r.v.cx, disk, plan);
	ret = rig_run(&b->r, dev, &o);
	*counted = fault_counted(dev);
	fault_power_off(dev);
	dev_close(dev);
	dev_close(disk);
	return ret;
}

static void read_undo(struct bench *b)
{
	int fd = open(b->path, O_RDONLY);

	b->undo_size = (size_t)lseek(fd, 0, SEEK_END);
	b->undo = malloc(b->undo_size);
	if (pread(fd, b->undo, b->undo_size, 0) != (ssize_t)b->undo_size)
		printf("Bail out! undo file\n");
	close(fd);
}

/* What the undo file says now, and how many bytes of it there are. */
static void put_undo(struct bench *b, const char *bytes, size_t len)
{
	int fd = open(b->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (pwrite(fd, bytes, len, 0) != (ssize_t)len)
		printf("Bail out! undo file\n");
	close(fd);
}

static void bench_open(struct bench *b)
{
	const struct fault_plan none = { .kind = FAULT_NONE };
	const char *tmp = getenv("TMPDIR");
	uint64_t counted;

	memset(b, 0, sizeof(*b));
	snprintf(b->dir, sizeof(b->dir), "%s/undo.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(b->dir))
		printf("Bail out! no directory\n");
	snprintf(b->path, sizeof(b->path), "%s/undo", b->dir);
	rig_open(&b->r);
	is_int(mend(b, &none, &counted), SESSION_MENDED, "a repair");
	is_int(rig_judge(&b->r), 0, "leaves a sound volume");
	b->after = malloc(b->r.size);
	memcpy(b->after, b->r.bytes, b->r.size);
	read_undo(b);
}

static void bench_close(struct bench *b)
{
	unlink(b->path);
	rmdir(b->dir);
	free(b->after);
	free(b->undo);
	rig_close(&b->r);
}

struct outcome {
	int ret, left, again;
	bool happened, whole;
};

/* Takes back what is on the device, as far as PLAN lets it. */
static int restore(struct bench *b, const struct fault_plan *plan,
		   bool *happened)
{
	struct dev *disk, *dev;
	int ret;

	memory_open(&disk, &b->r.v.cx, b->r.bytes, b->r.size);
	fault_open(&dev, &b->r.v.cx, disk, plan);
	ret = undo_restore(&b->r.v.cx, b->path, dev, false);
	*happened = fault_happened(dev);
	fault_power_off(dev);
	dev_close(dev);
	dev_close(disk);
	return ret;
}

static bool is_before(const struct bench *b)
{
	return !memcmp(b->r.bytes, b->r.before, b->r.size);
}

/* Takes a repair back while PLAN is carried out, and once more. */
static struct outcome run(struct bench *b, const struct fault_plan *plan)
{
	const struct fault_plan none = { .kind = FAULT_NONE };
	struct outcome o;
	bool happened;

	memcpy(b->r.bytes, b->after, b->r.size);
	o.ret = restore(b, plan, &o.happened);
	o.left = rig_judge(&b->r);
	o.again = restore(b, &none, &happened);
	o.whole = is_before(b);
	return o;
}

static void test_cuts(struct bench *b, struct fault_plan plan, const char *how)
{
	unsigned int old = 0, new = 0, bad = 0;
	struct outcome o;

	plan.counted = FAULT_WRITES | FAULT_FLUSHES;
	do {
		plan.at++;
		plan.seed += plan.reorder;
		o = run(b, &plan);
		if (!o.happened)
			break;
		old += o.left == SESSION_UNCORRECTED;
		new += o.left == 0;
		if (o.ret < 0 && !o.again && o.whole &&
		    (!o.left || o.left == SESSION_UNCORRECTED))
			continue;
		printf("# cut %llu: %d, then %d, again %d%s\n",
		       (unsigned long long)plan.at, o.ret, o.left, o.again,
		       o.whole ? "" : ", not what it was");
		bad++;
	} while (plan.at < 1000);
	is_int(bad, 0, how);
	ok(old && new, "the old state %u times, the mended one %u times", old,
	   new);
	ok(!o.ret && o.left == SESSION_UNCORRECTED && o.whole,
	   "without a cut it is what it was");
}

/* When the first byte of the device changes the whole file is there. */
static void test_file_first(struct bench *b)
{
	const struct fault_plan cut = {
		.kind = FAULT_CUT, .counted = FAULT_WRITES, .at = 1,
	};
	const struct fault_plan none = { .kind = FAULT_NONE };
	uint64_t counted;
	bool happened;

	unlink(b->path);
	ok(mend(b, &cut, &counted) < 0, "a repair cut before its first write");
	ok(is_before(b), "has changed nothing");
	is_int(restore(b, &none, &happened), 0, "its undo file is whole");
	ok(is_before(b), "and changes nothing either");
	memcpy(b->r.bytes, b->after, b->r.size);
	is_int(restore(b, &none, &happened), 0, "and of a whole repair");
	ok(is_before(b), "takes back all");
}

/* Nothing of a file that is there is written over. */
static void test_file_exists(struct bench *b)
{
	const struct fault_plan none = {
		.kind = FAULT_NONE, .counted = FAULT_WRITES,
	};
	uint64_t counted;

	put_undo(b, "mine", 4);
	is_int(mend(b, &none, &counted), -EEXIST, "a file that is there");
	is_int(counted, 0, "is a reason not to write");
	ok(is_before(b), "and nothing was changed");
}

/* No file is to be longer than LIMIT bytes. */
static int mend_limited(struct bench *b, rlim_t limit, uint64_t *counted)
{
	const struct fault_plan none = {
		.kind = FAULT_NONE, .counted = FAULT_WRITES,
	};
	struct rlimit old, small;
	int ret;

	unlink(b->path);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = limit;
	fflush(stdout);
	setrlimit(RLIMIT_FSIZE, &small);
	ret = mend(b, &none, counted);
	setrlimit(RLIMIT_FSIZE, &old);
	return ret;
}

static void test_file_fails(struct bench *b)
{
	const size_t limits[] = { 0, 64, b->undo_size - 1 };
	uint64_t counted;
	unsigned int i;

	signal(SIGXFSZ, SIG_IGN);
	for (i = 0; i < 3; i++) {
		is_int(mend_limited(b, limits[i], &counted), -EFBIG,
		       "an undo file that cannot be written");
		ok(!counted && is_before(b), "is a reason to change nothing");
	}
	is_int(mend_limited(b, b->undo_size, &counted), SESSION_MENDED,
	       "one that just can is none");
}

/* Tries to go back by BYTES: true where that is refused, and changes nothing. */
static bool is_refused(struct bench *b, const char *bytes, size_t len)
{
	const struct fault_plan none = { .kind = FAULT_NONE };
	bool happened;
	int ret;

	put_undo(b, bytes, len);
	memcpy(b->r.bytes, b->after, b->r.size);
	ret = restore(b, &none, &happened);
	return (ret == -EUCLEAN || ret == -EINVAL || ret == -ENODATA) &&
	       !memcmp(b->r.bytes, b->after, b->r.size);
}

/* What is left of an undo file whose writing was cut. */
static void test_file_cut(struct bench *b)
{
	static const char zeros[SECTOR];
	unsigned int taken = 0, n = 0;
	char *bytes = calloc(1, b->undo_size);
	size_t at, len;

	for (at = 0; at < b->undo_size; at += SECTOR, n++) {
		taken += !is_refused(b, b->undo, at);
		taken += !is_refused(b, bytes, b->undo_size);
		len = b->undo_size - at < SECTOR ? b->undo_size - at : SECTOR;
		memcpy(bytes + at, b->undo + at, len);
	}
	ok(n > 20, "an undo file of %u sectors", n);
	is_int(taken, 0, "is of no use unless it is whole");
	for (at = 0; at < b->undo_size; at += SECTOR) {
		len = b->undo_size - at < SECTOR ? b->undo_size - at : SECTOR;
		if (!memcmp(b->undo + at, zeros, len))
			continue;
		memset(bytes + at, 0, len);
		taken += !is_refused(b, bytes, b->undo_size);
		memcpy(bytes + at, b->undo + at, len);
	}
	is_int(taken, 0, "whatever sector it lacks");
	put_undo(b, b->undo, b->undo_size);
	free(bytes);
}

int main(void)
{
	struct bench b;

	bench_open(&b);
	test_cuts(&b, (struct fault_plan){ .kind = FAULT_CUT },
		  "cut before each write and flush");
	test_cuts(&b, (struct fault_plan){ .kind = FAULT_CUT, .reorder = true },
		  "the same, writes reordered");
	test_cuts(&b, (struct fault_plan){ .kind = FAULT_CUT, .reorder = true,
					   .seed = 1000 },
		  "the same in another order");
	test_cuts(&b, (struct fault_plan){ .kind = FAULT_TEAR },
		  "torn in the middle of each write");
	test_cuts(&b, (struct fault_plan){ .kind = FAULT_TEAR,
					   .tear_bytes = SECTOR },
		  "torn after a sector");
	test_cuts(&b, (struct fault_plan){ .kind = FAULT_FAIL },
		  "a write or flush that fails");
	test_file_cut(&b);
	test_file_first(&b);
	test_file_exists(&b);
	test_file_fails(&b);
	bench_close(&b);
	return tap_done();
}
