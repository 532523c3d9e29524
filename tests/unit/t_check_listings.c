// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the logs list, against what the DAT and the maps of files say of the
 * same blocks on a volume of several checkpoints.
 */
#include "check/logs/listings.h"

#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/pass/passes.h"
#include "disk/ondisk.h"
#include "log_volume.h"
#include "vol/blockmap.h"
#include "vol/root.h"
#include "vol/translate.h"

#include "tap.h"

#define NUMBERS 12000u		/* more than the volume has given out */

static const struct log_shape shape = {
	.block_size = 1024, .blocks_per_segment = 128, .nsegments = 200,
	.log_blocks = 128, .collect = 8, .threads = 1,
};

struct bench {
	struct log_volume v;
	struct check check;
	struct sparse wanted;
	struct listings l;
};

static int layer(struct log_volume *v, struct writer *w, bool first)
{
	const struct newfile_run runs[] = { { 0, 2500 }, { 3, 40 }, { 0, 2 } };
	unsigned int i;
	int err = 0;

	for (i = 0; i < 3 && !err; i++)
		err = log_volume_place(v, w, log_volume_add(v, &runs[i], 1));
	if (!err && !first)
		err = log_volume_replace(v, w, &v->files[1], &runs[1], 1);
	return err ? err : log_volume_place_root(v, w, !first);
}

/* Three checkpoints; segments after the last one are free. */
static void make(struct log_volume *v)
{
	struct writer_options o = log_volume_options(&shape);
	struct volume *vol = NULL;
	struct writer *w = NULL;
	unsigned int i;
	int err = writer_create(&w, &v->cx, v->dev, &v->g, &o);

	for (i = 0; i < 3 && !err; i++) {
		if (i)
			err = volume_open(&vol, &v->cx, v->dev, NULL);
		if (i && !err)
			err = writer_open(&w, &v->cx, vol, &o);
		if (!err)
			err = layer(v, w, !i);
		if (!err)
			err = writer_commit(w, &v->cx, &v->end);
		if (!err)
			err = log_volume_write_super(v);
		writer_close(w);
		volume_close(vol);
		w = NULL;
		vol = NULL;
	}
	if (err)
		printf("Bail out! %s\n", v->cx.failure);
}

static void ignore(void *arg, const struct finding *f)
{
	(void)arg;
	(void)f;
}

/* Looks at the volume as a repair would, all numbers being wanted. */
static void look(struct bench *b)
{
	struct context *cx = &b->v.cx;
	uint64_t i;

	memset(&b->check, 0, sizeof(b->check));
	b->check.dev = b->v.dev;
	if (volume_open(&b->check.vol, cx, b->v.dev, NULL) ||
	    findings_open(&b->check.findings, cx, ignore, NULL, false) ||
	    pass_segments(&b->check, cx) ||
	    sparse_init(&b->wanted, cx, NUMBERS))
		exit(99);
	for (i = 1; i < NUMBERS; i++)
		sparse_add(&b->wanted, cx, i);
	b->l = (struct listings){ .wanted = &b->wanted };
}

static void look_away(struct bench *b)
{
	listings_fini(&b->l);
	sparse_fini(&b->wanted);
	findings_close(b->check.findings);
	check_fini(&b->check);
}

/* Numbers that the DAT has a block for, and that are listed elsewhere. */
static unsigned int compare_dat(struct bench *b, unsigned int *known)
{
	const struct listing *l;
	struct nilfs_dat_entry de;
	struct context quiet;
	unsigned int bad = 0;
	uint64_t i;

	context_child(&b->v.cx, &quiet);
	*known = 0;
	for (i = 1; i < NUMBERS; i++) {
		l = listings_find(&b->l, i);
		if (translate_entry(b->check.vol, &quiet, i, &de) ||
		    !le64_get(de.de_blocknr)) {
			bad += l != NULL;
			continue;
		}
		++*known;
		bad += !l || l->blocknr != le64_get(de.de_blocknr);
	}
	return bad;
}

/* Blocks of FILE that are listed as another's. */
static unsigned int compare_file(struct bench *b, const struct log_file *f)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	const struct listing *l;
	unsigned int bad = 0, n = 0;
	struct root root;
	struct file file;

	if (root_open(&root, &b->v.cx, b->check.vol, 0) ||
	    root_file(&root, &b->v.cx, f->ino, &file) ||
	    blockmap_cursor_open(&cur, &b->v.cx, &file.map, 0, false))
		return 1;
	while (blockmap_cursor_next(&cur, &b->v.cx, &item) > 0) {
		l = listings_find(&b->l, item.ptr);
		bad += !l || l->ino != f->ino || l->blkoff != item.key ||
		       l->is_node;
		n++;
	}
	blockmap_cursor_close(&cur);
	return bad + (n != f->runs[0].count);
}

static void test_vblocks(struct bench *b)
{
	unsigned int known, bad = 0;
	size_t i;

	look(b);
	is_int(listings_gather(&b->l, &b->v.cx, &b->check), 0,
	       "what the logs list");
	is_int(compare_dat(b, &known), 0, "is where the DAT has it");
	ok(known > 7500, "of %u blocks", known);
	is_int(b->l.n, known, "each once");
	for (i = 1; i < b->l.n; i++)
		bad += b->l.items[i - 1].number >= b->l.items[i].number;
	is_int(bad, 0, "in ascending order");
	for (i = 0; i < b->v.nfiles; i++)
		bad += compare_file(b, &b->v.files[i]);
	is_int(bad, 0, "and as whose");
	ok(!b->l.partial, "nothing is missing");
	is_int(listings_from(&b->l, 0), 0, "a number before the first");
	is_int(listings_from(&b->l, NUMBERS), b->l.n, "and past the last");
	look_away(b);
}

static void test_wanted(struct bench *b)
{
	look(b);
	sparse_clear(&b->wanted);
	sparse_add(&b->wanted, &b->v.cx, 77);
	sparse_add(&b->wanted, &b->v.cx, 5000);
	sparse_add(&b->wanted, &b->v.cx, NUMBERS - 1);
	is_int(listings_gather(&b->l, &b->v.cx, &b->check), 0,
	       "what some ask for");
	ok(b->l.n == 2 && b->l.items[0].number == 77 &&
	   b->l.items[1].number == 5000, "is what they get, where it is");
	look_away(b);
}

/* Of the DAT's own blocks, which are in the logs over and over, the newest. */
static void test_dat(struct bench *b)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	const struct listing *l;
	unsigned int bad = 0, n = 0;

	look(b);
	b->l = (struct listings){ .of_file = NILFS_DAT_INO };
	is_int(listings_gather(&b->l, &b->v.cx, &b->check), 0,
	       "what the logs list of the DAT");
	blockmap_cursor_open(&cur, &b->v.cx, &b->check.vol->dat.map, 0, false);
	while (blockmap_cursor_next(&cur, &b->v.cx, &item) > 0) {
		l = listings_find(&b->l, item.key);
		bad += !l || l->blocknr != item.ptr ||
		       l->ino != NILFS_DAT_INO;
		n++;
	}
	blockmap_cursor_close(&cur);
	is_int(bad, 0, "is where its map has it");
	is_int(b->l.n, n, "each block once");
	look_away(b);
}

static uint64_t segment_bytes(const struct bench *b)
{
	return (uint64_t)b->v.g.blocks_per_segment * b->v.g.block_size;
}

/* The last segment, which nothing was written to, becomes a copy of SEGNUM. */
static uint64_t copy_segment(struct bench *b, uint64_t segnum)
{
	uint64_t last = b->v.g.nsegments - 1, len = segment_bytes(b);
	char *buf = malloc(len);

	dev_read(b->v.dev, &b->v.cx, segnum * len, buf, len);
	dev_write(b->v.dev, &b->v.cx, last * len, buf, len);
	free(buf);
	return last;
}

static unsigned int count_unused(const struct bench *b, uint64_t segnum)
{
	uint64_t at = segnum * b->v.g.blocks_per_segment;
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < b->l.n; i++)
		n += !b->l.items[i].is_used && b->l.items[i].blocknr >= at &&
		     b->l.items[i].blocknr < at + b->v.g.blocks_per_segment;
	return n;
}

/* Segments that the SUFILE calls clean may hold what is left of old ones. */
static void test_clean(struct bench *b, uint64_t segnum)
{
	unsigned int known;

	look(b);
	ok(bitmap_test(&b->check.used_segments, segnum), "a segment in use");
	bitmap_clear(&b->check.used_segments, segnum);
	listings_gather(&b->l, &b->v.cx, &b->check);
	is_int(compare_dat(b, &known), 0, "is read if it is said to be clean");
	ok(count_unused(b, segnum) > 50, "which is reported");
	look_away(b);
	look(b);
	ok(!bitmap_test(&b->check.used_segments, copy_segment(b, segnum)),
	   "what a clean one has of the same blocks");
	listings_gather(&b->l, &b->v.cx, &b->check);
	is_int(compare_dat(b, &known), 0, "does not count");
	ok(!b->l.partial, "and nothing is missing");
	look_away(b);
}

/* The first log of a segment is not one: what it lists is not known. */
static void test_lost(struct bench *b, uint64_t segnum)
{
	unsigned int all, known, missing;
	uint64_t at = segnum * segment_bytes(b) +
		      offsetof(struct nilfs_segment_summary, ss_magic);
	le32 none = le32_make(0);

	look(b);
	listings_gather(&b->l, &b->v.cx, &b->check);
	all = (unsigned int)b->l.n;
	look_away(b);
	dev_write(b->v.dev, &b->v.cx, at, &none, sizeof(none));
	look(b);
	is_int(listings_gather(&b->l, &b->v.cx, &b->check), 0,
	       "a log that is gone");
	ok(b->l.partial, "is missed");
	missing = compare_dat(b, &known);
	ok(missing > 20, "with what it listed, %u blocks", missing);
	is_int(b->l.n, all - missing, "and no more");
	look_away(b);
}

int main(void)
{
	struct bench b;

	memset(&b, 0, sizeof(b));
	log_volume_init(&b.v, &shape);
	make(&b.v);
	test_vblocks(&b);
	test_wanted(&b);
	test_dat(&b);
	test_clean(&b, 5);
	test_lost(&b, 7);
	log_volume_fini(&b.v);
	return tap_done();
}
