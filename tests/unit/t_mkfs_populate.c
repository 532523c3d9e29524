// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Limits of what goes on a volume, and what a source leaves out.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/pairtable.h"
#include "filled.h"
#include "tap.h"

#define LINK_MAX 32000		/* of the kernel: nilfs.h */
#define MOST_SUBDIRS (LINK_MAX - 2)

static const struct log_shape shape = { 1024, 256, 60, 0, 0, 1, false };

/* A layer under construction, with the root begun. */
struct layer_test {
	struct filled f;
	struct writer *w;
	struct populate *p;
};

static void begin(struct layer_test *t)
{
	const struct writer_options options = { .time = LOG_VOLUME_TIME };
	uint64_t root;

	ok(!writer_create(&t->w, &t->f.v.cx, t->f.v.dev, &t->f.v.g,
			  &options) &&
	   !populate_open(&t->p, &t->f.v.cx, t->w, NULL, &t->f.populate) &&
	   !populate_begin_dir(t->p, &t->f.v.cx, 0, NULL, 0, &root) &&
	   root == NILFS_ROOT_INO, "a layer begins");
}

/* Ends it with NAMES in the root, and opens the volume. */
static void end(struct layer_test *t, struct root *root,
		const struct populate_name *names, size_t n)
{
	struct context *cx = &t->f.v.cx;
	int err;

	err = populate_end_dir(t->p, cx, NILFS_ROOT_INO, NILFS_ROOT_INO, NULL,
			       POPULATE_ALL, names, n);
	if (!err)
		err = populate_finish(t->p, cx);
	populate_add_counts(t->p, &t->f.counts);
	if (!err)
		err = writer_commit(t->w, cx, &t->f.v.end);
	if (!err)
		err = log_volume_write_super(&t->f.v);
	if (!err)
		err = volume_open(&t->f.vol, cx, t->f.v.dev, NULL);
	if (!ok(!err && !filled_look(&t->f, root), "and ends"))
		printf("# %s\n", cx->failure);
}

static void drop(struct layer_test *t)
{
	writer_close(t->w);
	populate_close(t->p);
	filled_fini(&t->f);
}

/* A directory with N subdirectories without attributes. */
static int many_subdirs(struct layer_test *t, size_t n)
{
	struct populate_name *names = calloc(n, sizeof(*names));
	char (*text)[24] = calloc(n, sizeof(*text));
	struct context *cx = &t->f.v.cx;
	int err = 0;
	size_t i;

	for (i = 0; !err && i < n; i++) {
		snprintf(text[i], sizeof(text[i]), "%zu", i);
		names[i].name = text[i];
		names[i].len = (uint8_t)strlen(text[i]);
		names[i].type = NILFS_FT_DIR;
		err = populate_begin_dir(t->p, cx, NILFS_ROOT_INO, text[i],
					 names[i].len, &names[i].ino);
	}
	if (!err)
		err = populate_end_dir(t->p, cx, NILFS_ROOT_INO,
				       NILFS_ROOT_INO, NULL, POPULATE_ALL,
				       names, n);
	free(names);
	free(text);
	return err;
}

static void test_subdirs(void)
{
	struct layer_test t = { .w = NULL };

	filled_init(&t.f, &shape);
	begin(&t);
	ok(!many_subdirs(&t, MOST_SUBDIRS), "%d subdirectories",
	   MOST_SUBDIRS);
	drop(&t);
	filled_init(&t.f, &shape);
	begin(&t);
	is_int(many_subdirs(&t, MOST_SUBDIRS + 1), -EMLINK, "and no more");
	drop(&t);
}

static void test_links(void)
{
	struct layer_test t = { .w = NULL };
	struct entry e = { .mode = S_IFREG | 0644 };
	struct populate_name name = { "f", 1, NILFS_FT_REG_FILE, 0 };
	struct nilfs_inode inode;
	struct root root;
	int i, err = 0;

	filled_init(&t.f, &shape);
	begin(&t);
	populate_file(t.p, &t.f.v.cx, &e, NULL, 0, NULL, true, &name.ino);
	for (i = 1; i < LINK_MAX && !err; i++)
		err = populate_link(t.p, &t.f.v.cx, name.ino);
	is_int(err, 0, "a file with 32000 names");
	is_int(populate_link(t.p, &t.f.v.cx, name.ino), -EMLINK,
	       "and no more");
	end(&t, &root, &name, 1);
	ok(!root_inode(&root, &t.f.v.cx, name.ino, &inode), "it is there");
	is_int(le16_get(inode.i_links_count), LINK_MAX, "with 32000 links");
	drop(&t);
}

static struct payload *one_block(int byte)
{
	void *data;
	struct payload *p = payload_memory(NULL, 1, 1024, &data);

	memset(data, byte, 1024);
	return p;
}

/* The last byte that any file can have, and one more. */
static void test_size(void)
{
	struct newfile_run run = { INT64_MAX / 1024, 1 };
	struct entry e = { .mode = S_IFREG | 0644, .size = INT64_MAX };
	struct populate_name name = { "f", 1, NILFS_FT_REG_FILE, 0 };
	struct layer_test t = { .w = NULL };
	struct context *cx = &t.f.v.cx;
	const void *block;
	struct file file;
	struct root root;
	uint64_t ino;

	filled_init(&t.f, &shape);
	begin(&t);
	ok(!populate_file(t.p, cx, &e, &run, 1, one_block('z'), true,
			  &name.ino), "the largest file");
	e.size++;
	is_int(populate_file(t.p, cx, &e, &run, 1, one_block('z'), true,
			     &ino), -EFBIG, "and none larger");
	end(&t, &root, &name, 1);
	ok(!root_file(&root, cx, name.ino, &file) &&
	   le64_get(file.inode.i_size) == INT64_MAX, "its size");
	if (ok(file_block(&file, cx, run.blkoff, &block) == 1,
	       "its last block")) {
		is_int(*(const char *)block, 'z', "has its content");
		file_put(&file, block);
	}
	is_int(file_block(&file, cx, run.blkoff - 1, &block), 0,
	       "all before is a hole");
	drop(&t);
}

static void test_symlinks(void)
{
	struct entry e = { .mode = S_IFLNK | 0777 };
	struct layer_test t = { .w = NULL };
	char target[1024];
	uint64_t ino;

	memset(target, 't', sizeof(target));
	e.target = target;
	filled_init(&t.f, &shape);
	begin(&t);
	e.target_len = 1024;
	is_int(populate_special(t.p, &t.f.v.cx, &e, &ino), -ENAMETOOLONG,
	       "a target as long as a block");
	e.target_len = 0;
	is_int(populate_special(t.p, &t.f.v.cx, &e, &ino), -EINVAL,
	       "an empty target");
	e.target_len = 1023;
	ok(!populate_special(t.p, &t.f.v.cx, &e, &ino), "the longest target");
	drop(&t);
}

/* Attributes that no source gives, and those that rules change. */
static void test_attributes(void)
{
	struct entry_rules rules = {
		.set_uid = true, .uid = 5, .clamp_mtime = true, .mtime = 1000,
	};
	struct entry e = { .mode = S_IFIFO | 0600, .uid = 7, .gid = 8,
			   .mtime = 2000, .mtime_nsec = 5 };
	struct populate_name name = { "f", 1, NILFS_FT_FIFO, 0 };
	struct layer_test t = { .w = NULL };
	struct nilfs_inode inode;
	struct root root;

	filled_init(&t.f, &shape);
	t.f.populate.rules = &rules;
	t.f.populate.time = 900;
	begin(&t);
	ok(!populate_special(t.p, &t.f.v.cx, &e, &name.ino), "a FIFO");
	end(&t, &root, &name, 1);
	ok(!root_inode(&root, &t.f.v.cx, name.ino, &inode), "is there");
	ok(le32_get(inode.i_uid) == 5 && le32_get(inode.i_gid) == 8 &&
	   le64_get(inode.i_mtime) == 1000 && !le32_get(inode.i_mtime_nsec) &&
	   le64_get(inode.i_ctime) == 1000, "as the rules want it");
	ok(!root_inode(&root, &t.f.v.cx, NILFS_ROOT_INO, &inode) &&
	   le16_get(inode.i_mode) == (S_IFDIR | 0755) &&
	   le64_get(inode.i_mtime) == 900 && le32_get(inode.i_uid) == 5,
	   "a directory without given attributes");
	drop(&t);
}

static int no_content(struct payload *p, struct context *cx, uint64_t at,
		      uint32_t count, void *buf)
{
	(void)p;
	(void)at;
	(void)count;
	(void)buf;
	return fail(cx, -EIO, "no content");
}

static void gone(struct payload *p)
{
	(void)p;
}

/* Files that wait when their layer is given up are let go. */
static void test_given_up(void)
{
	static const struct payload_ops ops = { no_content, gone };
	struct newfile_run run = { 0, 200 };
	struct entry e = { .mode = S_IFREG | 0644, .size = 200 * 1024 };
	struct layer_test t = { .w = NULL };
	struct payload files[9];
	unsigned int i, held = 0;
	uint64_t ino;
	int err = 0;

	filled_init(&t.f, &shape);
	begin(&t);
	for (i = 0; i < 9; i++) {
		payload_init(&files[i], &ops);
		err = populate_file(t.p, &t.f.v.cx, &e, &run, 1, &files[i],
				    true, &ino);
		if (err)
			break;
	}
	ok(!err || err == -EIO, "files without content");
	drop(&t);
	for (i = 0; i < 9; i++)
		held += files[i].refs;
	is_int(held, 0, "they are not held any more");
}

static void test_table(void)
{
	struct pairtable links = { .slots = NULL };
	struct pairtable_entry *link;
	struct context cx;
	uint64_t i, bad = 0;

	context_init(&cx);
	ok(!pairtable_find(&links, 1, 1), "an empty table");
	for (i = 0; i < 10000; i++)
		bad += pairtable_add(&links, &cx, i % 3, i * 4096, i + 1) != 0;
	for (i = 0; i < 10000; i++) {
		link = pairtable_find(&links, i % 3, i * 4096);
		bad += !link || link->value != i + 1 ||
		       pairtable_find(&links, i % 3 + 1, i * 4096);
	}
	is_int(bad, 0, "10000 files on three devices");
	pairtable_sort(&links);
	for (i = 1; i < links.used; i++)
		bad += links.slots[i - 1].dev > links.slots[i].dev ||
		       (links.slots[i - 1].dev == links.slots[i].dev &&
			links.slots[i - 1].ino >= links.slots[i].ino);
	is_int(bad, 0, "in order");
	pairtable_fini(&links);
}

/* A table where one of both numbers varies is as fast, whichever it is. */
static void test_table_spread(void)
{
	struct pairtable firsts = { .slots = NULL };
	struct context cx;
	uint64_t i, steps = 0;

	context_init(&cx);
	for (i = 0; i < 100000; i++)
		must(pairtable_add(&firsts, &cx, i, 0, i + 1));
	/* Entries in a row, over all of them: what a search walks past. */
	for (i = 1; i < firsts.room; i++)
		steps += firsts.slots[i - 1].value && firsts.slots[i].value;
	ok(steps < firsts.used / 3 * 2, "100000 devices are not in one row");
	pairtable_fini(&firsts);
}

int main(void)
{
	test_subdirs();
	test_links();
	test_size();
	test_symlinks();
	test_attributes();
	test_given_up();
	test_table();
	test_table_spread();
	return tap_done();
}
