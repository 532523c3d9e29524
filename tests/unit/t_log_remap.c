// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files changed block by block, checkpoint after checkpoint: each of them must
 * read as the model says, the older ones too, and the books must agree.
 *
 * The model of a file is a tag for each block, 0 for a hole; the tag is what
 * the block is filled with.
 */
#include "log_volume.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "log/directwriter.h"
#include "log/inodes.h"
#include "log/remap.h"
#include "vol/root.h"

#include "tap.h"

#define ROUNDS 12
#define FILES 4
#define SPARSE_AT 90000u	/* where the last quarter of a file begins */

/* How many blocks the files have room for. */
static const uint32_t sizes[FILES] = { 5, 8, 400, 3000 };

struct model {
	uint32_t *tags[FILES];
};

struct remaps {
	struct log_volume v;
	struct log_shape shape;
	struct recovery at;
	struct model models[ROUNDS];
	uint32_t last_tag;
	uint64_t state;
	uint64_t inos[FILES];
};

static uint64_t chance(uint64_t *state, uint64_t n)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (*state >> 33) % n;
}

/* The offset of block I of file FILE: large ones have a gap. */
static uint64_t blkoff_of(unsigned int file, uint32_t i)
{
	uint32_t n = sizes[file];

	return n > 8 && i >= n / 4 * 3 ? SPARSE_AT + i : i;
}

static void fill(uint32_t tag, void *block, uint32_t size)
{
	uint32_t i;

	for (i = 0; i < size; i += sizeof(tag))
		memcpy((char *)block + i, &tag, sizeof(tag));
}

static int put(struct remaps *m, struct remap *r, uint64_t blkoff,
	       uint32_t *tag)
{
	uint32_t size = m->v.g.block_size;
	void *block = malloc(size);
	int ret;

	*tag = ++m->last_tag;
	fill(*tag, block, size);
	ret = remap_put(r, &m->v.cx, blkoff, block);
	free(block);
	return ret;
}

/* Keeps, changes or drops a block that may be there, or puts a new one. */
static int change_block(struct remaps *m, struct writer *w, struct remap *r,
			const struct blockmap *old, uint64_t blkoff,
			uint32_t *tag)
{
	uint64_t what = chance(&m->state, 8), vblocknr;
	int ret = old ? blockmap_lookup(old, &m->v.cx, blkoff, &vblocknr) : 0;

	if (ret < 0)
		return ret;
	if (ret && what > 2)
		return remap_keep(r, &m->v.cx, blkoff, vblocknr);
	if (ret)
		ret = directwriter_end(w, &m->v.cx, vblocknr, METAFILE_MULTI);
	*tag = 0;
	return !ret && what != 1 ? put(m, r, blkoff, tag) : ret;
}

static int end_nodes(struct remaps *m, struct writer *w,
		     const struct blockmap *old)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret = blockmap_cursor_open(&cur, &m->v.cx, old, 0, true);

	while (!ret &&
	       (ret = blockmap_cursor_next(&cur, &m->v.cx, &item)) > 0)
		ret = item.level ? directwriter_end(w, &m->v.cx, item.ptr,
						    METAFILE_MULTI) : 0;
	blockmap_cursor_close(&cur);
	return ret;
}

static int change_map(struct remaps *m, struct writer *w, unsigned int file,
		      uint32_t *tags, const struct blockmap *old,
		      struct nilfs_inode *inode)
{
	struct remap *r;
	uint32_t i;
	int ret = remap_open(&r, &m->v.cx, w, m->inos[file]);

	for (i = 0; i < sizes[file] && !ret; i++)
		ret = change_block(m, w, r, old, blkoff_of(file, i), &tags[i]);
	if (!ret && old)
		ret = end_nodes(m, w, old);
	if (!ret)
		ret = remap_finish(r, &m->v.cx, inode);
	remap_close(r);
	return ret;
}

/* Changes FILE, or makes it where there is no volume BELOW. */
static int change_file(struct remaps *m, struct writer *w,
		       struct volume *below, unsigned int file, uint32_t *tags)
{
	struct nilfs_inode inode = {
		.i_size = le64_make(2 * SPARSE_AT * 4096ull),
		.i_mode = le16_make(S_IFREG | 0644),
		.i_links_count = le16_make(1),
	};
	struct blockmap old;
	int ret;

	if (!below) {
		ret = inodes_alloc(w, &m->v.cx, &m->inos[file]);
	} else {
		ret = inodes_read(w, &m->v.cx, m->inos[file], &inode);
		if (!ret)
			ret = blockmap_init(&old, &m->v.cx, below,
					    m->inos[file], &inode);
	}
	if (!ret)
		ret = change_map(m, w, file, tags, below ? &old : NULL,
				 &inode);
	return ret ? ret : inodes_write(w, &m->v.cx, m->inos[file], &inode);
}

static int open_writer(struct remaps *m, struct writer **w,
		       struct volume **below)
{
	struct writer_options options = log_volume_options(&m->shape);
	struct log_volume *v = &m->v;
	int ret;

	options.time += m->at.cno;
	options.snapshot = m->at.cno % 3 == 1;
	if (!m->at.cno)
		return writer_create(w, &v->cx, v->dev, &v->g, &options);
	ret = volume_open_at(below, &v->cx, v->dev, &v->g, &m->at);
	return ret ? ret : writer_open(w, &v->cx, *below, &options);
}

static int write_round(struct remaps *m, struct model *model)
{
	struct volume *below = NULL;
	struct writer *w = NULL;
	unsigned int file;
	int ret = open_writer(m, &w, &below);

	for (file = 0; file < FILES && !ret; file++)
		ret = change_file(m, w, below, file, model->tags[file]);
	if (!ret && !below)
		ret = log_volume_place_root(&m->v, w, false);
	if (!ret)
		ret = writer_commit(w, &m->v.cx, &m->v.end);
	if (!ret)
		writer_recovery(w, &m->v.end, &m->at);
	else
		printf("# %s\n", m->v.cx.failure);
	writer_close(w);
	volume_close(below);
	return ret;
}

/* The model of a round begins as that of the one before. */
static void begin_model(struct remaps *m, unsigned int round)
{
	struct model *model = &m->models[round];
	unsigned int i;

	for (i = 0; i < FILES; i++) {
		size_t bytes = sizes[i] * sizeof(uint32_t);

		model->tags[i] = calloc(1, bytes);
		if (round)
			memcpy(model->tags[i], m->models[round - 1].tags[i],
			       bytes);
	}
}

static bool reads_block(struct remaps *m, struct file *file, uint64_t blkoff,
			uint32_t tag)
{
	uint32_t size = m->v.g.block_size;
	void *want = malloc(size);
	const void *got;
	int ret = file_block(file, &m->v.cx, blkoff, &got);
	bool good = ret == (tag != 0);

	fill(tag, want, size);
	if (ret > 0) {
		good = good && !memcmp(want, got, size);
		file_put(file, got);
	}
	if (!good)
		printf("# inode %llu, block %llu\n",
		       (unsigned long long)file->ino,
		       (unsigned long long)blkoff);
	free(want);
	return good;
}

static bool reads(struct remaps *m, struct volume *vol, unsigned int round)
{
	struct root root;
	struct file file;
	unsigned int f;
	bool good = true;
	uint32_t i;

	if (root_open(&root, &m->v.cx, vol, round + 1))
		return false;
	for (f = 0; f < FILES && good; f++) {
		good = !root_file(&root, &m->v.cx, m->inos[f], &file);
		for (i = 0; i < sizes[f] && good; i++)
			good = reads_block(m, &file, blkoff_of(f, i),
					   m->models[round].tags[f][i]);
	}
	return good;
}

static void look(struct remaps *m)
{
	struct volume *vol;
	unsigned int i;
	bool good = true;

	if (volume_open_at(&vol, &m->v.cx, m->v.dev, &m->v.g, &m->at)) {
		ok(false, "%s", m->v.cx.failure);
		return;
	}
	for (i = 0; i < ROUNDS; i++)
		good = reads(m, vol, i) && good;
	ok(good, "all checkpoints read as they were");
	ok(log_audit(&m->v.cx, vol), "the books agree");
	volume_close(vol);
}

static void check_rounds(const struct log_shape *shape)
{
	struct remaps m = { .shape = *shape, .state = 7 };
	unsigned int round, i;
	int ret = 0;

	printf("# blocks of %u, collect %u\n", shape->block_size,
	       shape->collect);
	log_volume_init(&m.v, shape);
	for (round = 0; round < ROUNDS; round++) {
		begin_model(&m, round);
		if (!ret)
			ret = write_round(&m, &m.models[round]);
	}
	is_int(ret, 0, "all rounds are written");
	if (!ret)
		look(&m);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < FILES; i++)
			free(m.models[round].tags[i]);
	}
	log_volume_fini(&m.v);
}

/* What callers must not do is refused. */
static void check_misuse(void)
{
	const struct log_shape shape = { 1024, 64, 500, 0, 0, 1, true };
	struct writer_options options = log_volume_options(&shape);
	struct log_volume v;
	struct writer *w;
	struct remap *r;

	log_volume_init(&v, &shape);
	is_int(writer_create(&w, &v.cx, v.dev, &v.g, &options), 0, "a writer");
	is_int(remap_open(&r, &v.cx, w, 12), 0, "a map");
	is_int(remap_keep(r, &v.cx, 4, 1000), 0, "a block");
	is_int(remap_keep(r, &v.cx, 4, 1001), -EINVAL, "the same once more");
	is_int(remap_keep(r, &v.cx, 3, 1001), -EINVAL, "one before it");
	is_int(remap_keep(r, &v.cx, 5, 0), -EUCLEAN, "none");
	is_int(remap_keep(r, &v.cx, UINT64_MAX, 1001), -EUCLEAN,
	       "one that no file can have");
	is_int(remap_keep(r, &v.cx, 5, 1001), 0, "the next");
	remap_close(r);
	remap_close(NULL);
	writer_close(w);
	log_volume_fini(&v);
}

int main(void)
{
	static const struct log_shape shapes[] = {
		{ 1024, 64, 2000, 0, 0, 1, true },
		{ 1024, 64, 2000, 20, 3, 2, false },
		{ 4096, 256, 200, 0, 0, 1, true },
	};
	unsigned int i;

	for (i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		check_rounds(&shapes[i]);
	check_misuse();
	return tap_done();
}
