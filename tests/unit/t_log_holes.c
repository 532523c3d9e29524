// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Holes in DAT and cpfile: a block of which everything was given back goes, and
 * no other, and comes back with the first number that is taken there.
 */
#include "log_volume.h"

#include "disk/checkpoint.h"
#include "disk/dat.h"
#include "log/checkpoints.h"
#include "log/move.h"
#include "log/writer_parts.h"
#include "tap.h"

#define LAYERS 70
#define LARGE 400

/* A layer on the volume: WORK, and a checkpoint. */
typedef int work(struct log_volume *v, struct writer *w);

static int write_layer(struct log_volume *v, const struct log_shape *shape,
		       work *act)
{
	struct writer_options options = log_volume_options(shape);
	struct volume *vol = NULL;
	struct writer *w = NULL;
	bool first = !v->end.cno;
	int ret = first ? 0 : volume_open(&vol, &v->cx, v->dev, NULL);

	if (!ret)
		ret = first ? writer_create(&w, &v->cx, v->dev, &v->g,
					    &options) :
			      writer_open(&w, &v->cx, vol, &options);
	if (!ret)
		ret = act(v, w);
	if (!ret)
		ret = writer_commit(w, &v->cx, &v->end);
	if (!ret)
		ret = log_volume_write_super(v);
	if (ret)
		printf("# %s\n", v->cx.failure);
	writer_close(w);
	volume_close(vol);
	return ret;
}

static int add_file(struct log_volume *v, struct writer *w, uint64_t nblocks)
{
	const struct newfile_run run = { 0, nblocks };

	return log_volume_place(v, w, log_volume_add(v, &run, 1));
}

static int make_files(struct log_volume *v, struct writer *w)
{
	int ret = add_file(v, w, 10);

	if (!ret)
		ret = add_file(v, w, LARGE);
	if (!ret)
		ret = add_file(v, w, 20);
	return ret ? ret : log_volume_place_root(v, w, false);
}

static int remove_large(struct log_volume *v, struct writer *w)
{
	int ret = log_volume_remove(v, w, &v->files[1]);

	return ret ? ret : log_volume_place_root(v, w, true);
}

static int nothing(struct log_volume *v, struct writer *w)
{
	(void)v, (void)w;
	return 0;
}

/* All checkpoints but the last three, and what the first one alone had. */
static int forget(struct log_volume *v, struct writer *w)
{
	const uint64_t end = LARGE + 100;
	struct nilfs_dat_entry de;
	uint64_t cno, nr;
	int ret = 0;

	for (nr = 1; nr < end && !ret; nr++) {
		ret = numbers_test(&w->dat.numbers, &v->cx, nr);
		if (ret <= 0)
			continue;
		ret = dattable_read(&w->dat, &v->cx, nr, &de);
		if (!ret && !dat_is_current(&de) && le64_get(de.de_end) == 2)
			ret = move_forget(w, &v->cx, nr);
	}
	for (cno = 1; cno < w->cno - 3 && !ret; cno++)
		ret = checkpoints_delete(w, &v->cx, cno);
	return ret;
}

static int add_large(struct log_volume *v, struct writer *w)
{
	int ret = add_file(v, w, LARGE);

	return ret ? ret : log_volume_place_root(v, w, true);
}

static bool has_block(struct log_volume *v, struct metafile *m,
		      uint64_t blkoff)
{
	const void *data;

	return metafile_look(m, &v->cx, blkoff, &data) > 0;
}

static bool has_number(struct log_volume *v, struct writer *w,
		       const struct palloc_block *b)
{
	uint64_t i;

	for (i = 0; i < b->count; i++)
		if (numbers_test(&w->dat.numbers, &v->cx, b->first + i))
			return true;
	return false;
}

/* A block of entries is there where one of its numbers is in use. */
static int look_at_dat(struct log_volume *v, struct writer *w)
{
	const struct palloc *p = &w->dat.numbers.p;
	uint64_t end = palloc_entry_blkoff(p, 2 * LARGE), i;
	unsigned int wrong = 0, holes = 0;
	struct palloc_block b;
	bool there;

	for (i = 0; i < end; i++) {
		palloc_locate(p, i, &b);
		if (b.kind != PALLOC_ENTRIES)
			continue;
		there = has_block(v, w->dat_file, i);
		wrong += there != has_number(v, w, &b);
		holes += !there;
	}
	is_int(wrong, 0, "the DAT has blocks where it has numbers");
	printf("# %u holes\n", holes);
	return (int)holes;
}

static bool has_checkpoint(struct log_volume *v, struct writer *w,
			   uint64_t blkoff)
{
	uint64_t cno = checkpoint_first(&w->g, blkoff), i;
	const uint8_t *data;
	const void *block;

	if (metafile_look(w->cpfile, &v->cx, blkoff, &block) <= 0)
		return false;
	data = block;
	for (i = 0; i < checkpoint_count(&w->g, blkoff); i++)
		if (!checkpoint_is_invalid((const void *)(data +
				checkpoint_offset(&w->g, cno + i))))
			return true;
	return false;
}

static void look_at_checkpoints(struct log_volume *v, struct writer *w)
{
	uint64_t end = checkpoint_blkoff(&w->g, LAYERS), i;
	unsigned int wrong = 0, holes = 0;

	for (i = 1; i <= end; i++) {
		wrong += has_block(v, w->cpfile, i) !=
			 has_checkpoint(v, w, i);
		holes += !has_block(v, w->cpfile, i);
	}
	ok(has_block(v, w->cpfile, 0), "the header of the cpfile stays");
	is_int(wrong, 0, "other blocks are there where they have checkpoints");
	ok(holes > 0, "and only there");
}

static int look(struct log_volume *v, struct writer *w)
{
	int holes = look_at_dat(v, w);

	/* The large file had 400 of them, a block has 32 or 128. */
	ok(holes >= LARGE / (int)w->dat.numbers.p.entries_per_block - 1,
	   "and holes where the large file was");
	look_at_checkpoints(v, w);
	return 0;
}

static int look_again(struct log_volume *v, struct writer *w)
{
	look_at_dat(v, w);
	look_at_checkpoints(v, w);
	return 0;
}

static bool reads(struct log_volume *v)
{
	struct volume *vol;
	bool good = true;
	size_t i;

	if (volume_open(&vol, &v->cx, v->dev, NULL))
		return false;
	for (i = 0; i < v->nfiles; i++)
		good = good && (v->files[i].gone ||
				log_volume_reads(v, vol, vol->latest.cno,
						 &v->files[i], NULL));
	volume_close(vol);
	return good;
}

static void check(const struct log_shape *shape)
{
	struct log_volume v;
	unsigned int i;
	int ret;

	printf("# blocks of %u\n", shape->block_size);
	log_volume_init(&v, shape);
	ret = write_layer(&v, shape, make_files);
	if (!ret)
		ret = write_layer(&v, shape, remove_large);
	for (i = 2; i < LAYERS && !ret; i++)
		ret = write_layer(&v, shape, nothing);
	if (!ret)
		ret = write_layer(&v, shape, forget);
	if (!ret)
		ret = write_layer(&v, shape, look);
	ok(!ret && reads(&v), "what is left is read");
	if (!ret)
		ret = write_layer(&v, shape, add_large);
	if (!ret)
		ret = write_layer(&v, shape, look_again);
	ok(!ret && reads(&v), "so is what takes the numbers again");
	log_volume_fini(&v);
}

int main(void)
{
	static const struct log_shape shapes[] = {
		{ 1024, 32, 400, 0, 0, 1, true },
		{ 4096, 64, 100, 0, 0, 1, false },
	};
	unsigned int i;

	for (i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		check(&shapes[i]);
	return tap_done();
}
