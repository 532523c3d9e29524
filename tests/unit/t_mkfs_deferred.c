// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where files go in small segments: none is cut but where much of a segment
 * would stay unused, and what is left over at the ends of segments is little.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "base/crc.h"
#include "log_volume.h"
#include "mkfs/populate/populate.h"
#include "tap.h"
#include "vol/extent.h"
#include "vol/root.h"
#include "vol/sutable.h"

#define FILES 400

struct mix {
	const char *name;
	struct log_shape shape;
	bool later;
	unsigned int percent;	/* of blocks that may be left over */
	bool may_cut;		/* one at the end of each segment */
	uint32_t (*nblocks)(const struct log_shape *shape, unsigned int i);
};

/*
 * What a segment needs for a log with one file in it, by the format: 64 bytes
 * of the summary's header, 24 for the file, 16 for each block.
 */
static bool fits_alone(const struct log_shape *shape, uint64_t nblocks)
{
	return nblocks + div_round_up(64 + 24 + 16 * nblocks,
				      shape->block_size) <=
	       shape->blocks_per_segment;
}

static uint32_t small(const struct log_shape *shape, unsigned int i)
{
	(void)shape;
	return 1 + i * 2654435761u % 7;
}

/* As large as a segment can hold. */
static uint32_t largest(const struct log_shape *shape, unsigned int i)
{
	uint32_t n = shape->blocks_per_segment;

	(void)i;
	while (!fits_alone(shape, n))
		n--;
	return n;
}

/* Two of them do not fit. */
static uint32_t half(const struct log_shape *shape, unsigned int i)
{
	(void)i;
	return shape->blocks_per_segment / 2 + 2;
}

/* Everything up to what a segment holds, and sometimes more. */
static uint32_t any(const struct log_shape *shape, unsigned int i)
{
	uint32_t x = i * 2654435761u >> 8;

	if (i % 3)
		return 1 + x % 4;
	if (i % 50 == 1)
		return shape->blocks_per_segment + x % 100;
	return 1 + x % largest(shape, i);
}

static const struct mix mixes[] = {
	{ "small files", { 4096, 32, 70, 0, 0, 1, false }, true, 1, false, small },
	{ "any files", { 4096, 64, 120, 0, 0, 1, false }, true, 3, false, any },
	{ "any files in small segments", { 1024, 16, 180, 0, 0, 1, false },
	  true, 5, false, any },
	{ "large files", { 1024, 64, 450, 0, 0, 1, false }, true, 2, true,
	  largest },
	{ "half of a segment", { 1024, 64, 300, 0, 0, 1, false }, true, 2, true,
	  half },
	{ "files that cannot wait", { 4096, 64, 130, 0, 0, 1, false },
	  false, 2, true, any },
};

static int add_file(struct populate *p, struct context *cx,
		    const struct mix *mix, unsigned int i, uint64_t *ino)
{
	struct newfile_run run = { .count = mix->nblocks(&mix->shape, i) };
	uint32_t block_size = mix->shape.block_size;
	struct entry e = {
		.mode = S_IFREG | 0644,
		.size = run.count * block_size - i % 100,
	};
	void *data;
	struct payload *payload = payload_memory(NULL, (uint32_t)run.count,
						 block_size, &data);

	memset(data, (int)i + 1, e.size);
	memset((char *)data + e.size, 0, run.count * block_size - e.size);
	return populate_file(p, cx, &e, &run, 1, payload, mix->later, ino);
}

static int fill(struct log_volume *v, const struct mix *mix, uint64_t *inos)
{
	struct writer_options options = log_volume_options(&mix->shape);
	struct populate_options no_options = { .rules = NULL };
	struct populate *p = NULL;
	struct writer *w;
	unsigned int i;
	uint64_t root;
	int err;

	err = writer_create(&w, &v->cx, v->dev, &v->g, &options);
	if (!err)
		err = populate_open(&p, &v->cx, w, NULL, &no_options);
	if (!err)
		err = populate_begin_dir(p, &v->cx, 0, NULL, 0, &root);
	for (i = 0; !err && i < FILES; i++)
		err = add_file(p, &v->cx, mix, i, &inos[i]);
	if (!err)
		err = populate_end_dir(p, &v->cx, root, root, NULL,
				       POPULATE_ALL, NULL, 0);
	if (!err)
		err = populate_finish(p, &v->cx);
	if (!err)
		err = writer_commit(w, &v->cx, &v->end);
	if (!err)
		err = log_volume_write_super(v);
	writer_close(w);
	populate_close(p);
	return err;
}

static uint64_t count_extents(struct log_volume *v, struct volume *vol,
			      uint64_t ino)
{
	struct extent_cursor cursor;
	struct extent extent;
	struct root root;
	struct file file;
	uint64_t n = 0;

	if (root_open(&root, &v->cx, vol, 0) ||
	    root_file(&root, &v->cx, ino, &file) ||
	    extent_cursor_open(&cursor, &v->cx, &file, 0))
		return 0;
	while (extent_cursor_next(&cursor, &v->cx, UINT64_MAX, &extent) > 0)
		n++;
	extent_cursor_close(&cursor);
	return n;
}

/* Blocks that are no part of a log, in segments that the volume has left. */
static uint64_t count_unused(struct log_volume *v, struct volume *vol,
			     uint64_t *total)
{
	struct nilfs_segment_usage_ext su;
	uint64_t segnum, unused = 0;

	*total = 0;
	for (segnum = 1; segnum < v->end.segnum; segnum++) {
		if (sutable_read(vol, &v->cx, segnum, &su))
			return UINT64_MAX;
		*total += v->g.blocks_per_segment;
		unused += v->g.blocks_per_segment - le32_get(su.su.su_nblocks);
	}
	return unused;
}

static void look(struct log_volume *v, const struct mix *mix,
		 const uint64_t *inos)
{
	unsigned int i, cut = 0, lost = 0;
	uint64_t unused, total, extents;
	struct volume *vol;

	if (!ok(!volume_open(&vol, &v->cx, v->dev, NULL), "it opens"))
		return;
	for (i = 0; i < FILES; i++) {
		extents = count_extents(v, vol, inos[i]);
		lost += !extents;
		if (fits_alone(&mix->shape, mix->nblocks(&mix->shape, i)))
			cut += extents > 1;
	}
	is_int(lost, 0, "every file is there");
	ok(cut <= (mix->may_cut ? v->end.segnum : 0),
	   "no file is cut that fits, but for the rest of a segment");
	unused = count_unused(v, vol, &total);
	printf("# %llu of %llu blocks unused\n", (unsigned long long)unused,
	       (unsigned long long)total);
	ok(unused * 100 <= total * mix->percent, "not more than %u %% unused",
	   mix->percent);
	ok(log_audit(&v->cx, vol), "the volume is whole");
	volume_close(vol);
}

static uint32_t device_sum(const struct log_volume *v)
{
	size_t size = v->dev->size;
	uint8_t *bytes = malloc(size);
	struct context cx;
	uint32_t sum;

	context_init(&cx);
	sum = dev_read(v->dev, &cx, 0, bytes, size) ? 0 :
	      crc32_le(1, bytes, size);
	free(bytes);
	return sum;
}

static uint32_t test_mix(const struct mix *mix)
{
	static uint64_t inos[FILES];
	struct log_volume v;
	uint32_t sum;
	int err;

	log_volume_init(&v, &mix->shape);
	err = fill(&v, mix, inos);
	if (ok(!err, "%s, %u threads", mix->name, mix->shape.threads))
		look(&v, mix, inos);
	else
		printf("# %d: %s\n", err, v.cx.failure);
	sum = device_sum(&v);
	log_volume_fini(&v);
	return sum;
}

int main(void)
{
	uint32_t one, four;
	struct mix mix;
	size_t i;

	for (i = 0; i < sizeof(mixes) / sizeof(mixes[0]); i++) {
		mix = mixes[i];
		one = test_mix(&mix);
		mix.shape.threads = 4;
		four = test_mix(&mix);
		ok(one && one == four, "the bytes are the same");
	}
	return tap_done();
}
