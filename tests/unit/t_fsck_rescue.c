// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A copy of a device with a bad place: all but the small pieces around that
 * place is the same, these are zeros and cannot be read until they are written
 * to, and what the device has as zeros is a hole.
 */
#include "fsck/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dev/badareas.h"
#include "tests/testdev/fault.h"
#include "tests/testdev/memory.h"
#include "tap.h"

#define SIZE (3u << 20)
#define SMALL 4096u
#define BAD_FROM ((1u << 20) + 5 * SMALL)	/* the pieces with the place */
#define BAD_END (BAD_FROM + 2 * SMALL)
#define DATA_END (2u << 20)			/* zeros from there on */

static unsigned char bytes[SIZE], got[SIZE];

static void fill(void)
{
	unsigned int i;

	for (i = 0; i < DATA_END; i++)
		bytes[i] = (unsigned char)(1 + i % 251);
}

static void check_copy(struct context *cx, struct dev *copy, struct dev *bad)
{
	unsigned char piece[SMALL] = { 1 };
	uint64_t size;

	is_int(badareas_count(bad, &size), 1, "one area is bad");
	is_int(size, BAD_END - BAD_FROM, "of two small pieces");
	is_int(dev_read(bad, cx, 0, got, BAD_FROM), 0, "what is before it");
	ok(!memcmp(got, bytes, BAD_FROM), "is the same");
	is_int(dev_read(bad, cx, BAD_END, got, SIZE - BAD_END), 0,
	       "what is after it");
	ok(!memcmp(got, bytes + BAD_END, SIZE - BAD_END), "is the same");
	is_int(dev_read(bad, cx, BAD_FROM + SMALL, piece, 1), -EIO,
	       "it cannot be read");
	fail_clear(cx);
	is_int(dev_read(copy, cx, BAD_FROM, got, BAD_END - BAD_FROM), 0,
	       "the copy has");
	ok(!got[0] && !memcmp(got, got + 1, BAD_END - BAD_FROM - 1), "zeros");
	is_int(dev_write(bad, cx, BAD_FROM, piece, SMALL), 0, "it is written");
	is_int(dev_read(bad, cx, BAD_FROM, got, SMALL), 0, "and read again");
}

int main(void)
{
	const struct fault_plan plan = {
		.bad_off = BAD_FROM + 100, .bad_bytes = SMALL,
	};
	char path[] = "t_fsck_rescue.XXXXXX";
	static const struct cli_tool cli = { .name = "t_fsck_rescue" };
	char *argv[] = { path, NULL };
	struct tool tool = {
		.cli = &cli, .argc = 1, .argv = argv, .quiet = true,
	};
	const struct output_how how = { .volume = true };
	struct dev *disk, *source, *copy = NULL, *bad = NULL;
	struct output *file;
	struct stat st;

	context_init(&tool.cx);
	progress_init(&tool.progress, -1, true);
	fill();
	memory_open(&disk, &tool.cx, bytes, SIZE);
	is_int(fault_open(&source, &tool.cx, disk, &plan), 0, "a bad disk");
	close(mkstemp(path));
	unlink(path);
	is_int(output_open(&file, &tool.cx, path, &how), 0, "a new file");
	is_int(target_copy(&copy, &bad, &tool, source, file, NULL), 0, "a copy");
	is_int(output_commit(file, &tool.cx), 0, "is complete");
	output_close(file);
	check_copy(&tool.cx, copy, bad);
	ok(!stat(path, &st) && st.st_size == SIZE &&
		   st.st_blocks * 512 <= DATA_END + SMALL,
	   "zeros are a hole");
	dev_close(bad);
	dev_close(copy);
	dev_close(source);
	dev_close(disk);
	unlink(path);
	return tap_done();
}
