// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The direct writer as a repair uses it.  A volume with files and a snapshot is
 * damaged, its metadata repaired by hand from copies made before, one more
 * checkpoint written: it must be as sound as one that was never damaged.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"
#include "disk/checkpoint.h"
#include "disk/segsum.h"
#include "disk/segusage.h"
#include "log/directwriter.h"
#include "log/inodes.h"
#include "log_volume.h"
#include "vol/blockscan.h"
#include "vol/root.h"
#include "vol/sutable.h"

#include "tap.h"

#define BLOCKS_MAX 64

struct bench {
	struct log_volume v;
	struct bitmap used;	/* segments with something in them */
	struct recovery before;
	struct volume *vol;	/* as the writer has it */
	struct writer *w;
	/* Blocks of a metadata file, from before any damage. */
	uint64_t blkoff[BLOCKS_MAX];
	uint8_t *copy[BLOCKS_MAX];
	size_t n;
};

static const struct log_shape with_counts = { 1024, 128, 300, .threads = 1,
					      .live_blks = true };
static const struct log_shape without = { 4096, 64, 100, .threads = 1 };

static int layer(struct bench *b, struct writer *w, bool first)
{
	const struct newfile_run runs[] = { { 0, 3 }, { 0, 90 }, { 7, 1 } };
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 3 && !ret; i++)
		ret = log_volume_place(&b->v, w,
				       log_volume_add(&b->v, &runs[i], 1));
	if (!ret && !first)
		ret = log_volume_replace(&b->v, w, &b->v.files[1], runs, 1);
	return ret ? ret : log_volume_place_root(&b->v, w, !first);
}

static int commit(struct bench *b)
{
	int ret = b->w ? writer_commit(b->w, &b->v.cx, &b->v.end) : -EINVAL;

	if (!ret)
		ret = log_volume_write_super(&b->v);
	writer_close(b->w);
	volume_close(b->vol);
	b->w = NULL;
	b->vol = NULL;
	return ret;
}

static void note_used(struct bench *b)
{
	struct nilfs_segment_usage_ext su;
	uint64_t i;

	volume_open(&b->vol, &b->v.cx, b->v.dev, NULL);
	bitmap_init(&b->used, &b->v.cx, b->v.g.nsegments);
	for (i = 0; i < b->v.g.nsegments; i++)
		if (!sutable_read(b->vol, &b->v.cx, i, &su) &&
		    le32_get(su.su.su_nblocks))
			bitmap_set(&b->used, i);
	b->before = b->vol->latest;
	volume_close(b->vol);
}

/* Three checkpoints, the second of them a snapshot. */
static void make(struct bench *b, const struct log_shape *shape)
{
	struct writer_options o = log_volume_options(shape);
	struct context *cx = &b->v.cx;
	int i, ret;

	memset(b, 0, sizeof(*b));
	log_volume_init(&b->v, shape);
	ret = writer_create(&b->w, cx, b->v.dev, &b->v.g, &o);
	for (i = 0; i < 3 && !ret; i++) {
		ret = layer(b, b->w, !i);
		if (!ret)
			ret = commit(b);
		o.snapshot = !i;
		if (!ret && i < 2)
			ret = volume_open(&b->vol, cx, b->v.dev, NULL);
		if (!ret && i < 2)
			ret = writer_open(&b->w, cx, b->vol, &o);
	}
	if (ret)
		printf("Bail out! %s\n", cx->failure);
	note_used(b);
}

static void fini(struct bench *b)
{
	while (b->n)
		free(b->copy[--b->n]);
	bitmap_fini(&b->used);
	log_volume_fini(&b->v);
}

static bool is_used(void *arg, uint64_t segnum)
{
	return bitmap_test(arg, segnum);
}

static int open_repair(struct bench *b, struct directwriter_known known)
{
	const struct writer_options o = { .time = LOG_VOLUME_TIME + 9 };
	int ret = volume_open(&b->vol, &b->v.cx, b->v.dev, NULL);

	known.unusable = is_used;
	known.arg = &b->used;
	if (!ret)
		ret = directwriter_open(&b->w, &b->v.cx, b->vol, &o, &known);
	if (ret)
		printf("# %s\n", b->v.cx.failure);
	return ret;
}

/* Commits, and looks at everything. */
static void check_result(struct bench *b)
{
	struct volume *vol;
	size_t i, lost = 0;

	is_int(commit(b), 0, "a checkpoint is written");
	if (volume_open(&vol, &b->v.cx, b->v.dev, NULL)) {
		ok(false, "%s", b->v.cx.failure);
		return;
	}
	is_int(vol->latest.cno, b->before.cno + 1, "it is the next one");
	for (i = 0; i < b->v.nfiles; i++)
		lost += !b->v.files[i].gone &&
			!log_volume_reads(&b->v, vol, 0, &b->v.files[i], NULL);
	is_int(lost, 0, "all files read back");
	ok(log_audit(&b->v.cx, vol), "the books agree");
	volume_close(vol);
}

/* The checkpoint for which the counts on the volume are exact. */
static uint64_t exact_cno(struct bench *b)
{
	struct nilfs_sufile_header_ext header;
	struct volume *vol;
	const void *data;

	if (volume_open(&vol, &b->v.cx, b->v.dev, NULL))
		return UINT64_MAX;
	if (file_block(&vol->sufile, &b->v.cx, 0, &data) <= 0)
		return UINT64_MAX;
	memcpy(&header, data, sizeof(header));
	file_put(&vol->sufile, data);
	volume_close(vol);
	return le64_get(header.sh_exact_cno);
}

static struct file *file_of(struct volume *vol, struct root *root,
			    uint64_t ino)
{
	return ino == NILFS_DAT_INO ? &vol->dat :
	       ino == NILFS_CPFILE_INO ? &vol->cpfile :
	       ino == NILFS_SUFILE_INO ? &vol->sufile : &root->ifile;
}

/* Copies the blocks of INO, for a later remedy. */
static void copy_file(struct bench *b, uint64_t ino)
{
	struct context *cx = &b->v.cx;
	struct blockscan scan;
	struct volume *vol;
	struct root root;

	volume_open(&vol, cx, b->v.dev, NULL);
	root_open(&root, cx, vol, 0);
	blockscan_open(&scan, cx, file_of(vol, &root, ino), 0);
	while (blockscan_next(&scan, cx) > 0) {
		b->blkoff[b->n] = scan.blkoff;
		b->copy[b->n] = malloc(b->v.g.block_size);
		memcpy(b->copy[b->n++], scan.block, b->v.g.block_size);
		blockscan_put(&scan);
	}
	blockscan_close(&scan);
	volume_close(vol);
}

/* The latest log, into which the damage went, must be believed still. */
static void sum_log(struct bench *b)
{
	struct context *cx = &b->v.cx;
	uint64_t at = b->before.pseg_start * b->v.g.block_size;
	struct nilfs_segment_summary ss;
	struct segsum_crc crc;
	size_t len;
	uint8_t *log;

	dev_read(b->v.dev, cx, at, &ss, sizeof(ss));
	len = (size_t)le32_get(ss.ss_nblocks) * b->v.g.block_size;
	log = malloc(len);
	dev_read(b->v.dev, cx, at, log, len);
	segsum_crc_init(&crc, SEGSUM_DATASUM, &b->v.g, &ss);
	segsum_crc_update(&crc, log, len);
	ss.ss_datasum = le32_make(crc.sum);
	dev_write(b->v.dev, cx, at, &ss, sizeof(ss));
	free(log);
}

/* Changes the LEN bytes at AT of block BLKOFF of INO on the device. */
static void damage(struct bench *b, uint64_t ino, uint64_t blkoff,
		   uint32_t at, const void *bytes, size_t len)
{
	struct volume *vol;
	struct root root;
	uint64_t blocknr;

	volume_open(&vol, &b->v.cx, b->v.dev, NULL);
	root_open(&root, &b->v.cx, vol, 0);
	is_int(file_lookup(file_of(vol, &root, ino), &b->v.cx, blkoff,
			   &blocknr), 1, "the block to be damaged is there");
	dev_write(b->v.dev, &b->v.cx,
		  blocknr * b->v.g.block_size + at, bytes, len);
	volume_close(vol);
	sum_log(b);
}

/* Brings the copies back. */
static int restore(struct bench *b, uint64_t ino)
{
	void *data;
	size_t i;
	int ret = 0;

	for (i = 0; i < b->n && !ret; i++) {
		ret = metafile_change(directwriter_file(b->w, ino), &b->v.cx,
				      b->blkoff[i], &data, NULL);
		if (!ret)
			memcpy(data, b->copy[i], b->v.g.block_size);
	}
	return ret ? ret : directwriter_changed(b->w, &b->v.cx);
}

static void check_plain(void)
{
	struct bench b;

	make(&b, &with_counts);
	is_int(open_repair(&b, (struct directwriter_known){ 0 }), 0, "it opens");
	check_result(&b);
	is_int(b.v.end.seq, b.before.seq, "it goes on in the same segment");
	is_int(exact_cno(&b), b.before.cno + 1, "counts stay exact");
	fini(&b);
}

/* A mount finds the super root before the superblocks name it, or not at all. */
static void check_unnamed(uint64_t seq)
{
	const struct directwriter_known known = { .fresh_segment = seq, .seq = seq };
	struct volume *vol = NULL;
	struct bench b;

	make(&b, &with_counts);
	is_int(open_repair(&b, known), 0, "it opens");
	is_int(writer_commit(b.w, &b.v.cx, &b.v.end), 0, "a log is written");
	is_int(volume_open(&vol, &b.v.cx, b.v.dev, NULL), 0, "a mount");
	is_int(vol->latest.cno, b.before.cno + !seq,
	       seq ? "finds nothing of it" : "finds it");
	volume_close(vol);
	writer_close(b.w);
	volume_close(b.vol);
	b.w = NULL;
	b.vol = NULL;
	fini(&b);
}

/* More than a kernel uses before it has rewritten all segments, and another number for
   each second of an attempt. */
static uint64_t off_chain(const struct bench *b, uint64_t time)
{
	return (b->v.g.nsegments + 1) * (1 + time % 1024);
}

static void check_fresh(uint64_t seq)
{
	const struct directwriter_known known = { .fresh_segment = true, .seq = seq };
	struct metafile *m;
	struct bench b;
	size_t dirty = 0;
	uint64_t ino;

	make(&b, &with_counts);
	is_int(open_repair(&b, known), 0, "it opens for a new segment");
	for (ino = NILFS_DAT_INO; ino <= NILFS_IFILE_INO; ino++)
		dirty += (m = directwriter_file(b.w, ino)) ? metafile_dirty(m)
							   : 1;
	is_int(dirty, 0, "to open it changes nothing");
	check_result(&b);
	is_int(b.v.end.seq, seq ? seq : b.before.seq + 1 + off_chain(&b, LOG_VOLUME_TIME + 9),
	       "it has the number it should have");
	is_int(b.v.end.segnum, b.before.nextnum, "what was next is used");
	is_int(b.v.end.pseg, b.before.nextnum * b.v.g.blocks_per_segment,
	       "from its beginning");
	fini(&b);
}

static void check_next_unusable(void)
{
	struct bench b;

	make(&b, &with_counts);
	bitmap_set(&b.used, b.before.nextnum);
	is_int(open_repair(&b, (struct directwriter_known){ 0 }), 0,
	       "it opens where the next segment has something in it");
	check_result(&b);
	ok(!bitmap_test(&b.used, b.v.end.segnum) &&
	   !bitmap_test(&b.used, b.v.end.nextnum),
	   "it and those with something in them are not used");
	is_int(b.v.end.seq, b.before.seq + 1 + off_chain(&b, LOG_VOLUME_TIME + 9),
	       "a new segment is begun");
	fini(&b);
}

static void check_orphans(bool go)
{
	const struct writer_options o = { .time = LOG_VOLUME_TIME };
	struct bench b;

	make(&b, &with_counts);
	volume_open(&b.vol, &b.v.cx, b.v.dev, NULL);
	b.vol->latest.orphans_start = b.before.pseg_start + 1;
	b.vol->latest.last_seq += 2;
	is_int(directwriter_open(
		       &b.w, &b.v.cx, b.vol, &o,
		       &(struct directwriter_known){.orphans_go = go}),
	       0, "logs after the latest: it opens");
	check_result(&b);
	is_int(b.v.end.seq, b.before.seq + 4 + off_chain(&b, LOG_VOLUME_TIME),
	       "it leaves numbers out");
	is_int(b.v.end.segnum == b.before.nextnum, go, "they are spared or not");
	fini(&b);
}

static void check_full(void)
{
	struct bench b;
	uint64_t i;

	make(&b, &with_counts);
	for (i = 0; i < b.v.g.nsegments; i++)
		bitmap_set(&b.used, i);
	is_int(open_repair(&b, (struct directwriter_known){ 0 }), 0,
	       "it opens where no segment can be taken");
	is_int(commit(&b), -ENOSPC, "and then has no space");
	fini(&b);
}

/* A header that is wrong, and entries that call all segments clean. */
static void check_sufile(bool entries)
{
	struct nilfs_sufile_header_ext header;
	struct bench b;
	uint8_t *zeros;

	make(&b, &with_counts);
	zeros = calloc(1, b.v.g.block_size);
	memset(&header, 0x5a, sizeof(header));
	copy_file(&b, NILFS_SUFILE_INO);
	if (entries)
		damage(&b, NILFS_SUFILE_INO, 0, 0, zeros, b.v.g.block_size);
	damage(&b, NILFS_SUFILE_INO, 0, 0, &header, sizeof(header));
	is_int(open_repair(&b,
			   (struct directwriter_known){.fresh_segment = true}),
	       0, "it opens with a wrong SUFILE");
	if (entries)
		is_int(restore(&b, NILFS_SUFILE_INO), 0, "which is repaired");
	check_result(&b);
	is_int(exact_cno(&b), 0, "its counts are not called exact");
	free(zeros);
	fini(&b);
}

/* A program without exact counts has freed a segment, which is taken. */
static void check_former_counts(void)
{
	const struct writer_options o = { .time = LOG_VOLUME_TIME + 9 };
	const struct newfile_run run = { 0, 200 };
	const le32 former = le32_make(100), exact_cno[2] = { 0 };
	struct bench b;

	make(&b, &with_counts);
	damage(&b, NILFS_SUFILE_INO, 0, sizeof(struct nilfs_segment_usage) +
	       segusage_offset(&b.v.g, b.before.nextnum + 1), &former, 4);
	damage(&b, NILFS_SUFILE_INO, 0, sizeof(struct nilfs_sufile_header),
	       exact_cno, sizeof(exact_cno));
	is_int(volume_open(&b.vol, &b.v.cx, b.v.dev, NULL) ||
	       writer_open(&b.w, &b.v.cx, b.vol, &o), 0,
	       "it opens where a clean segment has counts");
	is_int(log_volume_place(&b.v, b.w, log_volume_add(&b.v, &run, 1)) ||
	       layer(&b, b.w, false), 0, "which is filled");
	check_result(&b);
	fini(&b);
}

/* A snapshot that nothing says is one, while a file goes that it has. */
static void check_cpfile(void)
{
	const le32 no_flags = le32_make(0);
	const uint8_t header[sizeof(struct nilfs_cpfile_header)] = { 0xff };
	struct bench b;

	make(&b, &with_counts);
	copy_file(&b, NILFS_CPFILE_INO);
	damage(&b, NILFS_CPFILE_INO, checkpoint_blkoff(&b.v.g, 2),
	       checkpoint_offset(&b.v.g, 2), &no_flags, sizeof(no_flags));
	damage(&b, NILFS_CPFILE_INO, 0, 0, header, sizeof(header));
	is_int(open_repair(&b, (struct directwriter_known){ 0 }), 0,
	       "it opens with a wrong list of snapshots");
	is_int(restore(&b, NILFS_CPFILE_INO), 0, "which is repaired");
	directwriter_exact(b.w);
	is_int(log_volume_remove(&b.v, b.w, &b.v.files[4]), 0,
	       "a file of the snapshot is removed");
	is_int(log_volume_place_root(&b.v, b.w, true), 0, "and its name");
	check_result(&b);
	is_int(exact_cno(&b), b.before.cno + 1, "counts are exact as given");
	fini(&b);
}

/* Ends all blocks of the map of INO as the volume has it. */
static uint64_t end_map(struct bench *b, uint64_t ino)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct root root;
	uint64_t n = 0;

	root_open(&root, &b->v.cx, b->vol, 0);
	blockmap_cursor_open(&cur, &b->v.cx,
			     &file_of(b->vol, &root, ino)->map, 0, true);
	for (; blockmap_cursor_next(&cur, &b->v.cx, &item) > 0; n++)
		if (ino != NILFS_DAT_INO &&
		    directwriter_end(b->w, &b->v.cx, item.ptr,
				     ino == NILFS_IFILE_INO ? METAFILE_MULTI :
						      METAFILE_SINGLE))
			ok(false, "%s", b->v.cx.failure);
	blockmap_cursor_close(&cur);
	if (ino == NILFS_IFILE_INO)
		directwriter_counts(b->w, le64_get(root.cp.cp_inodes_count),
				    le64_get(root.cp.cp_blocks_count) - n);
	return n;
}

static void check_rebuilt(const struct log_shape *shape, uint64_t ino)
{
	struct bench b;
	const void *data;

	printf("# inode %llu again\n", (unsigned long long)ino);
	make(&b, shape);
	copy_file(&b, ino);
	is_int(open_repair(&b,
			   (struct directwriter_known){
				   .rebuilt = DIRECTWRITER_FILE(ino)}),
	       0, "it opens with a new metadata file");
	ok(directwriter_is_rebuilt(b.w, ino) &&
		   !directwriter_is_rebuilt(b.w, NILFS_ROOT_INO) &&
		   !directwriter_is_rebuilt(b.w, ino == NILFS_DAT_INO
						      ? NILFS_IFILE_INO
						      : NILFS_DAT_INO),
	   "it knows which");
	is_int(metafile_look(directwriter_file(b.w, ino), &b.v.cx, b.blkoff[0],
			     &data),
	       0, "which has no blocks");
	is_int(restore(&b, ino), 0, "and gets the old ones' content");
	ok(end_map(&b, ino) >= b.n, "the old blocks are ended");
	check_result(&b);
	fini(&b);
}

/* Numbers that no map should have. */
static void check_end(void)
{
	struct nilfs_inode inode;
	struct bench b;

	make(&b, &with_counts);
	is_int(open_repair(&b, (struct directwriter_known){ 0 }), 0, "it opens");
	is_int(directwriter_end(b.w, &b.v.cx, 0, METAFILE_MULTI), -EUCLEAN,
	       "number 0 cannot end");
	is_int(directwriter_end(b.w, &b.v.cx, 4000, METAFILE_MULTI), -EUCLEAN,
	       "nor one that is free");
	is_int(directwriter_end(b.w, &b.v.cx, UINT64_MAX / 3, METAFILE_MULTI),
	       -EUCLEAN, "nor one past the end of the DAT");
	is_int(log_volume_remove(&b.v, b.w, &b.v.files[0]), 0,
	       "a file is removed");
	is_int(log_volume_place_root(&b.v, b.w, true), 0, "and its name");
	/* The file was the first of the volume to take a number. */
	is_int(directwriter_end(b.w, &b.v.cx, 1, METAFILE_MULTI), -EUCLEAN,
	       "nor one that has ended");
	is_int(inodes_read(b.w, &b.v.cx, b.v.files[3].ino, &inode), 0,
	       "the writer goes on");
	check_result(&b);
	fini(&b);
}

int main(void)
{
	uint64_t ino;

	check_plain();
	check_unnamed(0);
	check_unnamed(5000);
	check_fresh(0);
	check_fresh(1000);
	check_next_unusable();
	check_orphans(false);
	check_orphans(true);
	check_full();
	check_sufile(false);
	check_sufile(true);
	check_former_counts();
	check_cpfile();
	check_end();
	for (ino = NILFS_DAT_INO; ino <= NILFS_IFILE_INO; ino++)
		check_rebuilt(&without, ino);
	check_rebuilt(&with_counts, NILFS_IFILE_INO);
	return tap_done();
}
