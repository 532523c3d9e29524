// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Volumes made with a writer, and what they must read like.
 */
#include "log_volume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "disk/dirent.h"
#include "disk/super.h"
#include "log/inodes.h"
#include "log/write/payload.h"
#include "tests/testdev/memory.h"
#include "vol/extent.h"
#include "vol/root.h"

struct filler {
	struct payload payload;
	struct log_file file;
	uint32_t block_size;
};

/* The content of block BLKOFF: its number and the file's seed, mixed. */
static void fill_block(const struct log_file *file, uint64_t blkoff,
		       uint32_t block_size, uint8_t *buf)
{
	uint64_t x = file->seed * 0x9e3779b97f4a7c15u + blkoff + 1;
	uint64_t from = blkoff * block_size;
	uint32_t i;

	for (i = 0; i < block_size; i += 8) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		memcpy(buf + i, &x, 8);
	}
	if (file->size < from + block_size)
		memset(buf + (file->size - from), 0,
		       from + block_size - file->size);
}

/* The block of the file that is block AT of its payload. */
static uint64_t payload_blkoff(const struct log_file *file, uint64_t at)
{
	size_t i;

	for (i = 0; at >= file->runs[i].count; i++)
		at -= file->runs[i].count;
	return file->runs[i].blkoff + at;
}

static int filler_fill(struct payload *p, struct context *cx, uint64_t at,
		       uint32_t count, void *buf)
{
	struct filler *f = (struct filler *)p;
	uint32_t i;

	(void)cx;
	for (i = 0; i < count; i++)
		fill_block(&f->file, payload_blkoff(&f->file, at + i),
			   f->block_size,
			   (uint8_t *)buf + (size_t)i * f->block_size);
	return 0;
}

static void filler_free(struct payload *p)
{
	free(p);
}

static struct payload *make_filler(const struct log_file *file,
				   uint32_t block_size)
{
	static const struct payload_ops ops = {
		.fill = filler_fill, .free = filler_free,
	};
	struct filler *f = calloc(1, sizeof(*f));

	payload_init(&f->payload, &ops);
	f->file = *file;
	f->block_size = block_size;
	return &f->payload;
}

void log_volume_init(struct log_volume *v, const struct log_shape *shape)
{
	struct nilfs_geometry *g = &v->g;
	uint64_t size;

	memset(v, 0, sizeof(*v));
	context_init(&v->cx);
	v->cx.threads = shape->threads;
	g->block_size = shape->block_size;
	g->block_bits = (uint32_t)__builtin_ctz(shape->block_size);
	g->blocks_per_segment = shape->blocks_per_segment;
	g->inode_size = NILFS_MIN_INODE_SIZE;
	g->dat_entry_size = NILFS_MIN_DAT_ENTRY_SIZE;
	g->checkpoint_size = NILFS_MIN_CHECKPOINT_SIZE;
	g->segment_usage_size = shape->live_blks ?
		NILFS_EXT_SEGMENT_USAGE_SIZE : NILFS_MIN_SEGMENT_USAGE_SIZE;
	g->crc_seed = 0x12345678;
	g->first_ino = NILFS_USER_INO;
	g->first_data_block = div_round_up(4096, shape->block_size);
	g->nsegments = shape->nsegments;
	g->has_live_blks = shape->live_blks;
	size = g->nsegments * g->blocks_per_segment * g->block_size;
	if (!shape->covered)
		size += shape->tail ? shape->tail : 4096;
	g->nblocks = size / g->block_size;
	memory_open(&v->dev, &v->cx, NULL, size);
}

void log_volume_fini(struct log_volume *v)
{
	free(v->files);
	dev_close(v->dev);
}

static bool is_odd(void *arg, uint64_t segnum)
{
	(void)arg;
	return segnum % 2;
}

static uint64_t add_spare(void *arg, uint64_t used)
{
	return used + (uintptr_t)arg;
}

struct writer_options log_volume_options(const struct log_shape *shape)
{
	return (struct writer_options){
		.time = LOG_VOLUME_TIME,
		.collect = shape->collect,
		.log_blocks = shape->log_blocks,
		.unusable = shape->odd_unusable ? is_odd : NULL,
		.nsegments = shape->spare ? add_spare : NULL,
		.arg = (void *)(uintptr_t)shape->spare,
	};
}

static void set_runs(struct log_volume *v, struct log_file *file,
		     const struct newfile_run *runs, size_t nruns)
{
	size_t i;

	file->nruns = 0;
	file->size = 0;
	file->seed = ++v->seeds;
	for (i = 0; i < nruns; i++) {
		if (!runs[i].count)
			continue;
		file->runs[file->nruns++] = runs[i];
		file->size = (runs[i].blkoff + runs[i].count) *
			     v->g.block_size - v->seeds % 100;
	}
}

struct log_file *log_volume_add(struct log_volume *v,
				const struct newfile_run *runs, size_t nruns)
{
	struct log_file *file;

	v->files = realloc(v->files, (v->nfiles + 1) * sizeof(*v->files));
	file = &v->files[v->nfiles++];
	memset(file, 0, sizeof(*file));
	set_runs(v, file, runs, nruns);
	return file;
}

static struct nilfs_inode make_inode(uint16_t mode, uint16_t links,
				     uint64_t size)
{
	return (struct nilfs_inode){
		.i_size = le64_make(size),
		.i_ctime = le64_make(LOG_VOLUME_TIME),
		.i_mtime = le64_make(LOG_VOLUME_TIME),
		.i_mode = le16_make(mode),
		.i_links_count = le16_make(links),
	};
}

/* Places the blocks of FILE, whose number is known. */
static int place(struct log_volume *v, struct writer *w,
		 struct log_file *file)
{
	struct nilfs_inode inode = make_inode(S_IFREG | 0644, 1, file->size);
	struct payload *payload = NULL;
	int ret;

	if (file->nruns)
		payload = make_filler(file, v->g.block_size);
	ret = newfile_place(w, &v->cx, file->ino, &inode, file->runs,
			    file->nruns, payload);
	return ret ? ret : inodes_write(w, &v->cx, file->ino, &inode);
}

int log_volume_place(struct log_volume *v, struct writer *w,
		     struct log_file *file)
{
	uint64_t nblocks = 0;
	size_t i;
	int ret = 0;

	for (i = 0; i < file->nruns; i++)
		nblocks += file->runs[i].count;
	if (!newfile_fits(w, nblocks))
		ret = newfile_skip(w, &v->cx);
	if (!ret)
		ret = inodes_alloc(w, &v->cx, &file->ino);
	return ret ? ret : place(v, w, file);
}

static int drop(struct log_volume *v, struct writer *w,
		const struct log_file *file)
{
	struct nilfs_inode inode;
	int ret = inodes_read(w, &v->cx, file->ino, &inode);

	return ret ? ret : newfile_drop(w, &v->cx, file->ino, &inode);
}

int log_volume_replace(struct log_volume *v, struct writer *w,
		       struct log_file *file, const struct newfile_run *runs,
		       size_t nruns)
{
	int ret = drop(v, w, file);

	set_runs(v, file, runs, nruns);
	return ret ? ret : place(v, w, file);
}

int log_volume_remove(struct log_volume *v, struct writer *w,
		      struct log_file *file)
{
	int ret = drop(v, w, file);

	file->gone = true;
	return ret ? ret : inodes_free(w, &v->cx, file->ino);
}

struct dir_maker {
	uint32_t block_size;
	uint8_t *buf;
	size_t nblocks;
	uint32_t used;		/* bytes of the last block */
	uint8_t *last;		/* its last entry */
};

/* The last entry of a block reaches to the block's end. */
static void stretch(struct dir_maker *d)
{
	uint8_t *block = d->buf + (d->nblocks - 1) * d->block_size;
	le16 rec_len = dirent_rec_len_encode(
		d->block_size - (uint32_t)(d->last - block));

	memcpy(d->last + offsetof(struct nilfs_dir_entry, rec_len), &rec_len,
	       sizeof(rec_len));
}

static void add_name(struct dir_maker *d, uint64_t ino, const char *name,
		     uint8_t type)
{
	struct nilfs_dir_entry de = { 0 };
	uint32_t len = (uint32_t)strlen(name);
	uint32_t rec_len = dirent_rec_len(len);

	if (!d->nblocks || d->used + rec_len > d->block_size) {
		if (d->nblocks)
			stretch(d);
		d->buf = realloc(d->buf, ++d->nblocks * d->block_size);
		memset(d->buf + (d->nblocks - 1) * d->block_size, 0,
		       d->block_size);
		d->used = 0;
	}
	de.inode = le64_make(ino);
	de.rec_len = dirent_rec_len_encode(rec_len);
	de.name_len = (uint8_t)len;
	de.file_type = type;
	d->last = d->buf + (d->nblocks - 1) * d->block_size + d->used;
	memcpy(d->last, &de, offsetof(struct nilfs_dir_entry, name));
	memcpy(d->last + offsetof(struct nilfs_dir_entry, name), name, len);
	d->used += rec_len;
}

int log_volume_place_root(struct log_volume *v, struct writer *w, bool again)
{
	struct dir_maker d = { .block_size = v->g.block_size };
	struct nilfs_inode inode;
	char name[32];
	size_t i;
	int ret;

	add_name(&d, NILFS_ROOT_INO, ".", NILFS_FT_DIR);
	add_name(&d, NILFS_ROOT_INO, "..", NILFS_FT_DIR);
	for (i = 0; i < v->nfiles; i++) {
		snprintf(name, sizeof(name), "f%zu", i);
		if (!v->files[i].gone)
			add_name(&d, v->files[i].ino, name, NILFS_FT_REG_FILE);
	}
	stretch(&d);
	ret = inodes_read(w, &v->cx, NILFS_ROOT_INO, &inode);
	if (!ret && again)
		ret = newfile_drop(w, &v->cx, NILFS_ROOT_INO, &inode);
	inode.i_size = le64_make(d.nblocks * d.block_size);
	if (!ret)
		ret = newfile_collect(w, &v->cx, NILFS_ROOT_INO, &inode, d.buf,
				      d.nblocks);
	free(d.buf);
	return ret ? ret : inodes_write(w, &v->cx, NILFS_ROOT_INO, &inode);
}

static void fill_super(const struct log_volume *v,
		       struct nilfs_super_block *sb)
{
	super_set_geometry(sb, v->dev->size, &v->g);
	sb->s_r_segments_percentage = le32_make(5);
	sb->s_last_cno = le64_make(v->end.cno);
	sb->s_last_pseg = le64_make(v->end.pseg);
	sb->s_last_seq = le64_make(v->end.seq);
	sb->s_free_blocks_count =
		le64_make(v->end.clean_segments * v->g.blocks_per_segment);
	sb->s_state = le16_make(NILFS_VALID_FS);
	sb->s_errors = le16_make(1);
	sb->s_feature_compat = le64_make(v->g.has_live_blks);
	sb->s_feature_compat_ro = le64_make(1);
	sb->s_sum = le32_make(super_checksum(sb));
}

int log_volume_write_super(struct log_volume *v)
{
	struct nilfs_super_block sb = { 0 };
	int ret;

	fill_super(v, &sb);
	ret = dev_write(v->dev, &v->cx, NILFS_SB_OFFSET_BYTES, &sb, sizeof(sb));
	if (ret || super_bad_offset2(&sb, super_offset2(v->dev->size)))
		return ret;
	return dev_write(v->dev, &v->cx, super_offset2(v->dev->size), &sb,
			 sizeof(sb));
}

/* Compares blocks of EXTENT with what FILE has there. */
static bool same(struct log_volume *v, const struct log_file *file,
		 const struct extent *extent)
{
	uint32_t bs = v->g.block_size;
	uint8_t *want = malloc(bs), *got = malloc(bs);
	bool good = true;
	uint64_t i;

	for (i = 0; i < extent->count && good; i++) {
		fill_block(file, extent->blkoff + i, bs, want);
		good = !dev_read(v->dev, &v->cx, (extent->blocknr + i) * bs,
				 got, bs) && !memcmp(want, got, bs);
	}
	free(want);
	free(got);
	return good;
}

bool log_volume_reads(struct log_volume *v, struct volume *vol, uint64_t cno,
		      const struct log_file *file, uint64_t *extents)
{
	struct root root;
	struct file f;
	struct extent_cursor cur;
	struct extent e;
	uint64_t at = 0, n = 0, blocks = 0;
	bool good;
	size_t i;
	int ret;

	for (i = 0; i < file->nruns; i++)
		blocks += file->runs[i].count;
	if (root_open(&root, &v->cx, vol, cno) ||
	    root_file(&root, &v->cx, file->ino, &f) ||
	    extent_cursor_open(&cur, &v->cx, &f, 0))
		return false;
	good = le64_get(f.inode.i_size) == file->size;
	while ((ret = extent_cursor_next(&cur, &v->cx, UINT64_MAX, &e)) > 0) {
		for (i = 0; i < e.count && good; i++, at++)
			good = at < blocks &&
			       payload_blkoff(file, at) == e.blkoff + i;
		good = good && same(v, file, &e);
		n++;
	}
	extent_cursor_close(&cur);
	if (extents)
		*extents = n;
	return good && !ret && at == blocks;
}
