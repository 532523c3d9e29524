// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Undo files and power cuts: while one is written, and while a repair is taken
 * back.
 *
 * Taking back is cut at every write and flush, torn or reordered up to a flush.
 * What is left is the old state or the repaired one, with all files; a second
 * try brings back every byte.  An undo file that is not whole brings back
 * nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fsck/apply/undo.h"
#include "fsck_rig.h"
#include "fsck_run.h"
#include "tap.h"

#define SECTOR 512u

static const struct fault_plan none = {
	.kind = FAULT_NONE, .counted = FAULT_WRITES,
};

struct bench {
	struct rig r;
	char dir[64], path[80];		/* of the undo file */
	char *after;			/* the device, repaired */
	char *undo;			/* what is in the file */
	size_t undo_size;
};

static int run_repair(void *arg, struct context *cx, struct dev *dev)
{
	const struct bench *b = arg;
	const struct options o = {
		.mode = OPTIONS_YES, .undo_file = b->path,
	};

	return fsck_run(cx, dev, &o);
}

/* Repairs a fresh copy, with an undo file. */
static struct cut_end repair(struct bench *b, const struct fault_plan *plan)
{
	const struct cut cut = rig_cut(&b->r, run_repair, NULL, b);

	memcpy(b->r.bytes, b->r.before, b->r.size);
	return cut_run(&cut, plan);
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
	const char *tmp = getenv("TMPDIR");

	memset(b, 0, sizeof(*b));
	snprintf(b->dir, sizeof(b->dir), "%s/undo.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(b->dir))
		printf("Bail out! no directory\n");
	snprintf(b->path, sizeof(b->path), "%s/undo", b->dir);
	rig_open(&b->r);
	is_int(repair(b, &none).ret, SESSION_REPAIRED, "a repair");
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

static int run_restore(void *arg, struct context *cx, struct dev *dev)
{
	const struct bench *b = arg;

	return undo_restore(cx, b->path, dev, false);
}

/* Takes back what is on the device. */
static int restore(struct bench *b)
{
	const struct cut cut = rig_cut(&b->r, run_restore, NULL, b);

	return cut_run(&cut, &none).ret;
}

static bool is_before(const struct bench *b)
{
	return !memcmp(b->r.bytes, b->r.before, b->r.size);
}

/* A second try takes all of it back. */
static enum cut_state judge(void *arg)
{
	struct bench *b = arg;
	int left = rig_judge(&b->r);

	if (restore(b) || !is_before(b))
		return CUT_BAD;
	if (left && left != SESSION_UNCORRECTED)
		return CUT_BAD;
	return left ? CUT_OLD : CUT_NEW;
}

static void test_cuts(struct bench *b, struct fault_plan plan, const char *how)
{
	struct cut cut = rig_cut(&b->r, run_restore, judge, b);
	struct cut_counts c;

	cut.before = b->after;
	c = cut_each(&cut, plan);
	is_int(c.bad, 0, how);
	ok(c.old && c.new, "the old state %u times, the repaired one %u times",
	   c.old, c.new);
	ok(!c.ret && rig_judge(&b->r) == SESSION_UNCORRECTED && is_before(b),
	   "without a cut it is what it was");
}

/* When the first byte of the device changes the whole file is there. */
static void test_file_first(struct bench *b)
{
	const struct fault_plan cut = {
		.kind = FAULT_CUT, .counted = FAULT_WRITES, .at = 1,
	};

	unlink(b->path);
	ok(repair(b, &cut).ret < 0, "a repair cut before its first write");
	ok(is_before(b), "has changed nothing");
	is_int(restore(b), 0, "its undo file is whole");
	ok(is_before(b), "and changes nothing either");
	memcpy(b->r.bytes, b->after, b->r.size);
	is_int(restore(b), 0, "and of a whole repair");
	ok(is_before(b), "takes back all");
}

/* Nothing of a file that is there is written over. */
static void test_file_exists(struct bench *b)
{
	struct cut_end end;

	put_undo(b, "mine", 4);
	end = repair(b, &none);
	is_int(end.ret, -EEXIST, "a file that is there");
	is_int(end.counted, 0, "is a reason not to write");
	ok(is_before(b), "and nothing was changed");
}

/* No file is to be longer than LIMIT bytes. */
static struct cut_end repair_limited(struct bench *b, rlim_t limit)
{
	struct rlimit old, small;
	struct cut_end end;

	unlink(b->path);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = limit;
	fflush(stdout);
	setrlimit(RLIMIT_FSIZE, &small);
	end = repair(b, &none);
	setrlimit(RLIMIT_FSIZE, &old);
	return end;
}

static void test_file_fails(struct bench *b)
{
	const size_t limits[] = { 0, 64, b->undo_size - 1 };
	struct cut_end end;
	unsigned int i;

	signal(SIGXFSZ, SIG_IGN);
	for (i = 0; i < 3; i++) {
		end = repair_limited(b, limits[i]);
		is_int(end.ret, -EFBIG, "an undo file that cannot be written");
		ok(!end.counted && is_before(b),
		   "is a reason to change nothing");
	}
	is_int(repair_limited(b, b->undo_size).ret, SESSION_REPAIRED,
	       "one that just can is none");
}

/* Tries to go back by BYTES: true where that is refused and does nothing. */
static bool is_refused(struct bench *b, const char *bytes, size_t len)
{
	int ret;

	put_undo(b, bytes, len);
	memcpy(b->r.bytes, b->after, b->r.size);
	ret = restore(b);
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
