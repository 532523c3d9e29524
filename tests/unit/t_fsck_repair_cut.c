// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fsck -y under power cuts: at every write and flush of its commit, torn or
 * reordered up to a flush.
 *
 * A file of a volume has a wrong number of links, which is mended by one more
 * log.  Whenever the power goes off, what is left is the old state or the new
 * one: a second check finds what the first one found, or nothing, and all files
 * read back.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dev/fault.h"
#include "dev/memory.h"
#include "fsck/session.h"
#include "log/inodes.h"

#include "log_volume.h"
#include "tap.h"

#define FILES 5u

static const struct log_shape shape = {
	.block_size = 1024, .blocks_per_segment = 32, .nsegments = 24,
	.log_blocks = 32, .collect = 8, .threads = 1,
};

struct rig {
	struct log_volume v;
	char *before, *bytes;	/* the device, damaged; and to be worked on */
	size_t size;
};

/* The damage. */
static int miscount(struct log_volume *v, struct writer *w, unsigned int i)
{
	struct nilfs_inode inode;
	int err = inodes_read(w, &v->cx, v->files[i].ino, &inode);

	inode.i_links_count = le16_make(7);
	return err ? err : inodes_write(w, &v->cx, v->files[i].ino, &inode);
}

static int fill(struct log_volume *v)
{
	const struct newfile_run run = { 0, 3 };
	struct writer_options options = log_volume_options(&shape);
	struct writer *w = NULL;
	unsigned int i;
	int err = writer_create(&w, &v->cx, v->dev, &v->g, &options);

	for (i = 0; i < FILES; i++)
		log_volume_add(v, &run, 1);
	for (i = 0; i < FILES && !err; i++)
		err = log_volume_place(v, w, &v->files[i]);
	if (!err)
		err = log_volume_place_root(v, w, false);
	if (!err)
		err = miscount(v, w, 2);
	if (!err)
		err = writer_commit(w, &v->cx, &v->end);
	writer_close(w);
	return err ? err : log_volume_write_super(v);
}

static void rig_open(struct rig *r)
{
	log_volume_init(&r->v, &shape);
	is_int(fill(&r->v), 0, "a volume");
	r->size = r->v.dev->size;
	r->before = malloc(r->size);
	r->bytes = malloc(r->size);
	dev_read(r->v.dev, &r->v.cx, 0, r->before, r->size);
}

static void rig_close(struct rig *r)
{
	free(r->before);
	free(r->bytes);
	log_volume_fini(&r->v);
}

/* One run of the tool on DEV. */
static int run_tool(struct rig *r, struct dev *dev, int mode)
{
	char *argv[] = { (char[]){ "image" }, NULL };
	struct tool tool = { .argc = 1, .argv = argv, .quiet = true };
	struct options options = { .mode = mode };
	int ret;

	context_child(&r->v.cx, &tool.cx);
	tool.cx.now = LOG_VOLUME_TIME + 1;
	out_open_memory(&tool.cx, &tool.out);
	report_init(&tool.report, tool.out, REPORT_TEXT);
	progress_init(&tool.progress, -1, true);
	ret = session_run(&tool, &options, dev);
	out_close(tool.out, &tool.cx);
	return ret;
}

/* What is left on the device: the files as they were, and the verdict. */
static int judge(struct rig *r)
{
	struct volume *vol = NULL;
	struct dev *disk;
	unsigned int i;
	int ret;

	memory_open(&disk, &r->v.cx, r->bytes, r->size);
	ret = run_tool(r, disk, OPTIONS_NO);
	if (volume_open(&vol, &r->v.cx, disk, NULL))
		ret = -EIO;
	for (i = 0; i < FILES && ret >= 0; i++)
		if (!log_volume_reads(&r->v, vol, 0, &r->v.files[i], NULL))
			ret = -EIO;
	volume_close(vol);
	dev_close(disk);
	return ret;
}

struct outcome {
	int ret, left;
	uint64_t counted;
	bool happened;
};

/* Mends a fresh copy while PLAN is carried out, then turns the power off. */
static struct outcome run(struct rig *r, const struct fault_plan *plan)
{
	struct dev *disk, *dev;
	struct outcome outcome;

	memcpy(r->bytes, r->before, r->size);
	memory_open(&disk, &r->v.cx, r->bytes, r->size);
	fault_open(&dev, &r->v.cx, disk, plan);
	outcome.ret = run_tool(r, dev, OPTIONS_YES);
	outcome.counted = fault_counted(dev);
	outcome.happened = fault_happened(dev);
	fault_power_off(dev);
	dev_close(dev);
	dev_close(disk);
	outcome.left = judge(r);
	return outcome;
}

static void test_cuts(struct rig *r, enum fault_kind kind, bool reorder,
		      const char *how)
{
	struct fault_plan plan = {
		.kind = kind, .reorder = reorder,
		.counted = FAULT_WRITES | FAULT_FLUSHES,
	};
	unsigned int old = 0, new = 0, bad = 0;
	struct outcome o;

	do {
		plan.at++;
		plan.seed = plan.at;
		o = run(r, &plan);
		if (!o.happened)
			break;
		if (o.ret >= 0 || (o.left && o.left != SESSION_UNCORRECTED)) {
			printf("# cut %llu: %d, then %d\n",
			       (unsigned long long)plan.at, o.ret, o.left);
			bad++;
		} else if (o.left) {
			old++;
		} else {
			new++;
		}
	} while (plan.at < 1000);
	is_int(bad, 0, how);
	ok(old && new, "the old state %u times, the new one %u times", old,
	   new);
	is_int(o.ret, SESSION_MENDED, "without a cut it is mended");
	is_int(o.left, 0, "and clean");
}

static void test_untouched(struct rig *r)
{
	struct fault_plan plan = { .kind = FAULT_NONE,
				   .counted = FAULT_WRITES | FAULT_FLUSHES };
	struct outcome o = run(r, &plan);
	char *mended = malloc(r->size);

	is_int(o.ret, SESSION_MENDED, "a repair");
	memcpy(mended, r->bytes, r->size);
	memcpy(r->before, r->bytes, r->size);
	o = run(r, &plan);
	is_int(o.ret, 0, "a second one has nothing to do");
	is_int(o.counted, 0, "and writes nothing");
	ok(!memcmp(r->bytes, mended, r->size), "and changes nothing");
	free(mended);
}

int main(void)
{
	struct rig r;

	rig_open(&r);
	test_cuts(&r, FAULT_CUT, false, "cut before each write and flush");
	test_cuts(&r, FAULT_CUT, true, "the same, writes reordered");
	test_cuts(&r, FAULT_TEAR, false, "torn in each write");
	test_untouched(&r);
	rig_close(&r);
	return tap_done();
}
