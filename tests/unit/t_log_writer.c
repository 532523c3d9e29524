// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A new volume with files of many sizes, for each shape of volume: it reads
 * back, each file that can has one extent, and the books agree.
 */
#include "log_volume.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "disk/segusage.h"
#include "vol/sutable.h"

#include "tap.h"

static const uint64_t sizes[] = {
	1, 2, 0, 5, 6, 7, 8, 3, 62, 63, 64, 65, 1, 1, 127, 128, 10, 255, 256,
	257, 4, 4, 4, 511, 1, 300, 700, 2, 2, 2, 2, 1, 1,
};

static const struct newfile_run sparse[][LOG_VOLUME_RUNS] = {
	{ { 0, 1 }, { 3, 2 } },
	{ { 5, 1 } },
	{ { 6, 1 } },
	{ { 2, 70 }, { 100, 3 }, { 100000, 1 } },
	{ { 0, 1 }, { 63, 1 }, { 4096, 200 }, { 1u << 30, 5 } },
};

/* Adds the files of a volume: ROUNDS times the sizes, then the sparse ones. */
static void add_files(struct log_volume *v, unsigned int rounds)
{
	unsigned int i, r;

	for (r = 0; r < rounds; r++) {
		for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			struct newfile_run run = { 0, sizes[i] };

			log_volume_add(v, &run, 1);
		}
	}
	for (i = 0; i < sizeof(sparse) / sizeof(*sparse); i++)
		log_volume_add(v, sparse[i], LOG_VOLUME_RUNS);
}

static int write_volume(struct log_volume *v, const struct log_shape *shape)
{
	const struct writer_options options = log_volume_options(shape);
	struct writer *w;
	size_t i;
	int ret = writer_create(&w, &v->cx, v->dev, &v->g, &options);

	for (i = 0; i < v->nfiles && !ret; i++)
		ret = log_volume_place(v, w, &v->files[i]);
	if (!ret)
		ret = log_volume_place_root(v, w, false);
	if (!ret)
		ret = writer_commit(w, &v->cx, &v->end);
	if (!ret) {
		v->g = *writer_geometry(w);
		ret = log_volume_write_super(v);
	}
	if (ret)
		printf("# %s\n", v->cx.failure);
	writer_close(w);
	return ret;
}

static uint64_t blocks_of(const struct log_file *file)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < file->nruns; i++)
		n += file->runs[i].count;
	return n;
}

/* True where every file reads back, in one extent for each run if it can. */
static bool read_files(struct log_volume *v, struct volume *vol,
		       const struct log_shape *shape)
{
	uint32_t most = shape->blocks_per_segment / 8 * 7, limit;
	uint64_t extents;
	bool good = true;
	size_t i;

	limit = shape->log_blocks ? shape->log_blocks / 8 * 7 : most;
	for (i = 0; i < v->nfiles; i++) {
		const struct log_file *f = &v->files[i];

		if (!log_volume_reads(v, vol, 0, f, &extents)) {
			printf("# file %zu: %s\n", i, v->cx.failure);
			good = false;
		} else if (blocks_of(f) < limit && extents != f->nruns) {
			printf("# file %zu of %llu blocks: %llu extents\n", i,
			       (unsigned long long)blocks_of(f),
			       (unsigned long long)extents);
			good = false;
		}
	}
	return good;
}

/* Odd segments have an error and nothing else. */
static bool avoids_odd(struct log_volume *v, struct volume *vol)
{
	struct nilfs_segment_usage_ext su;
	uint64_t segnum;

	for (segnum = 0; segnum < vol->geo.nsegments; segnum++) {
		if (sutable_read(vol, &v->cx, segnum, &su) ||
		    segusage_is_error(&su.su) != segnum % 2 ||
		    (segnum % 2 && segusage_is_dirty(&su.su)))
			return false;
	}
	return true;
}

static uint32_t device_sum(struct log_volume *v)
{
	size_t size = v->dev->size;
	uint8_t *buf = malloc(size);
	uint32_t sum;

	dev_read(v->dev, &v->cx, 0, buf, size);
	sum = crc32_le(0, buf, size);
	free(buf);
	return sum;
}

/* Makes a volume of SHAPE and looks at all of it; its checksum. */
static uint32_t check_shape(const struct log_shape *shape, unsigned int rounds)
{
	struct volume *vol = NULL;
	struct log_volume v;
	uint32_t sum;

	printf("# blocks of %u, %u a segment, logs of %u, collect %u, "
	       "%u threads, live %d\n", shape->block_size,
	       shape->blocks_per_segment, shape->log_blocks, shape->collect,
	       shape->threads, shape->live_blks);
	log_volume_init(&v, shape);
	add_files(&v, rounds);
	is_int(write_volume(&v, shape), 0, "it is written");
	is_int(volume_open(&vol, &v.cx, v.dev, NULL), 0, "it opens");
	if (vol) {
		is_int(vol->geo.nsegments,
		       shape->spare ? v.end.used_segments + shape->spare :
				      shape->nsegments,
		       "it has as many segments as it should");
		ok(!shape->odd_unusable || avoids_odd(&v, vol),
		   "unusable segments are not used");
		ok(read_files(&v, vol, shape), "the files read back");
		ok(log_audit(&v.cx, vol), "its books agree");
	} else {
		printf("# %s\n", v.cx.failure);
	}
	sum = device_sum(&v);
	volume_close(vol);
	log_volume_fini(&v);
	return sum;
}

static void check_shapes(void)
{
	static const struct log_shape shapes[] = {
		{ 1024, 16, 2000, 0, 0, 1, true },
		{ 1024, 16, 2000, 2, 3, 1, true },
		{ 1024, 64, 500, 0, 1, 1, false },
		{ 1024, 64, 500, 33, 8, 1, true },
		{ 1024, 2048, 20, 0, 0, 1, true },
		{ 4096, 16, 1200, 0, 4, 1, true },
		{ 4096, 2048, 10, 0, 2, 1, false },
		{ 4096, 2048, 10, 256, 16, 1, true },
		{ 4096, 256, 64, 0, 0, 1, true },
		{ 4096, 128, 250, 64, 8, 2, true, .odd_unusable = true },
		{ 4096, 16, 3000, 0, 0, 1, true, .spare = 9 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		check_shape(&shapes[i], 2);
}

static void check_threads(void)
{
	struct log_shape shape = { 4096, 256, 64, 0, 4, 1, true };
	uint32_t one = check_shape(&shape, 2), more;

	for (shape.threads = 2; shape.threads <= 4; shape.threads *= 2) {
		more = check_shape(&shape, 2);
		ok(one == more, "%u threads write the same bytes",
		   shape.threads);
	}
}

/* A volume too small for its files. */
static void check_full(void)
{
	const struct log_shape shape = { 1024, 16, 40, 0, 0, 2, true };
	struct log_volume v;

	log_volume_init(&v, &shape);
	add_files(&v, 1);
	is_int(write_volume(&v, &shape), -ENOSPC, "a full volume is reported");
	log_volume_fini(&v);
}

/* After a cancellation there is no volume. */
static void check_cancelled(void)
{
	const struct log_shape shape = { 1024, 64, 500, 0, 0, 2, true };
	const volatile sig_atomic_t cancel = 1;
	struct log_volume v;

	log_volume_init(&v, &shape);
	add_files(&v, 1);
	v.cx.cancel = &cancel;
	is_int(write_volume(&v, &shape), -EINTR, "a writer can be stopped");
	v.cx.cancel = NULL;
	log_volume_fini(&v);
}

static void check_empty(void)
{
	const struct log_shape shape = { 4096, 2048, 10, 0, 0, 1, true };

	check_shape(&shape, 0);
}

int main(void)
{
	check_empty();
	check_shapes();
	check_threads();
	check_full();
	check_cancelled();
	return tap_done();
}
