// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dump.nilfs2 image: the metadata of a volume as a sparse image, for a report of
 * a bug, without the content of files.
 *
 * Kept is what the logs list as nodes, as blocks of metadata files, directories
 * and symbolic links, and what a check reads besides, as a damaged volume has
 * metadata that no log lists.  What a log lists as data of a regular file is
 * never kept.  Whether an inode number is that of a directory is what all blocks
 * of ifiles say that are still on the device; where it was a regular file's as
 * well a block is kept only if it is one of a directory.
 *
 * The checksums of logs that lost something are set, if they were right, so that
 * dump.nilfs2, fsck.nilfs2 and gc.nilfs2 find in the image what they find in the
 * original.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sparse.h"
#include "check/check.h"
#include "check/damage.h"
#include "dev/devfile.h"
#include "dev/qcow2.h"
#include "disk/dirent.h"
#include "disk/super.h"
#include "dump/common/commands.h"
#include "dump/common/image.h"
#include "dump/common/seal.h"
#include "dump/export/tar_stream.h"
#include "dump/past/logitems.h"
#include "dump/scramble.h"
#include "vol/logcheck.h"

struct metaimage_options {
	bool force;
	bool scramble;
};

static const struct cli_option metaimage_rows[] = {
	{ 0, "force", NULL, "replace NEW if it exists", OPTION_FLAG,
	  offsetof(struct metaimage_options, force) },
	{ 0, "scramble-names", NULL,
	  "replace names and targets by others of the same length",
	  OPTION_FLAG, offsetof(struct metaimage_options, scramble) },
	{ 0 },
};

/* A device that notes which blocks are read one by one. */
struct recorder {
	struct dev dev;
	struct sparse *blocks;
	unsigned int block_bits;
};

struct metaimage {
	struct tool *tool;
	struct volume *vol;
	struct dev *file, *out;	/* OUT may be a disk in FILE */
	bool scrambled;
	struct scramble scramble;
	/* Inode numbers, as ifiles have them: what they were at some time. */
	struct sparse dirs, links, files;
	/* Blocks that are kept; of these, those of directories and links; and
	   those that hold the content of files. */
	struct sparse kept, names, targets, content;
	char *block;
	uint64_t nblocks;	/* copied */
};

static int recorder_read(struct dev *dev, struct context *cx, uint64_t off,
			 void *buf, size_t len)
{
	struct recorder *r = (struct recorder *)dev;
	uint64_t block = off >> r->block_bits;
	int ret = 0;

	if (len <= (size_t)1 << r->block_bits && block < r->blocks->bits)
		ret = sparse_add(r->blocks, cx, block);
	return ret < 0 ? ret : dev_read(dev->under, cx, off, buf, len);
}

static const struct dev_ops recorder_ops = { .read = recorder_read };

static void ignore_finding(void *arg, const struct finding *f)
{
	(void)arg;
	(void)f;
}

/* Adds what a check reads to SET; by one thread. */
static int record_check(struct metaimage *m, struct context *cx,
			struct sparse *set)
{
	struct recorder r = { .blocks = set,
			      .block_bits = m->vol->geo.block_bits };
	struct check c = { .dev = &r.dev };
	const struct check_run run = { .counters = false };
	unsigned int threads = cx->threads;
	int ret;

	dev_init_over(&r.dev, &recorder_ops, m->vol->dev);
	ret = findings_open(&c.findings, cx, ignore_finding, NULL, false);
	cx->threads = 1;
	if (!ret)
		ret = check_volume(&c, cx, &run);
	cx->threads = threads;
	findings_close(c.findings);
	check_fini(&c);
	return ret < 0 ? ret : 0;
}

/* What the block of an ifile says of the types of its inodes. */
static int note_types(struct metaimage *m, struct context *cx,
		      const struct palloc_block *what)
{
	const struct palloc *p = &m->vol->ifile_palloc;
	const struct nilfs_inode *inode;
	struct sparse *set;
	uint64_t ino;
	uint16_t mode;
	int ret = 0;

	for (ino = what->first; ino < what->first + what->count && ret >= 0;
	     ino++) {
		inode = (const void *)(m->block + palloc_entry_offset(p, ino));
		mode = le16_get(inode->i_mode);
		set = S_ISDIR(mode) ? &m->dirs : S_ISLNK(mode) ? &m->links :
		      S_ISREG(mode) ? &m->files : NULL;
		if (set && ino < set->bits)
			ret = sparse_add(set, cx, ino);
	}
	return ret < 0 ? ret : 0;
}

static int read_block(struct metaimage *m, struct context *cx,
		      uint64_t blocknr)
{
	int err = volume_read_blocks(m->vol, cx, blocknr, 1, m->block);

	return err ? damage_forgive(cx, err) : 1;
}

static int visit_types(struct metaimage *m, struct context *cx,
		       const struct segsum_block *b, uint64_t blocknr)
{
	const struct palloc *p = &m->vol->ifile_palloc;
	struct palloc_block what;
	int ret;

	if (b->ino != NILFS_IFILE_INO || b->is_node ||
	    !palloc_has_block(p, b->blkoff))
		return 0;
	palloc_locate(p, b->blkoff, &what);
	if (what.kind != PALLOC_ENTRIES)
		return 0;
	ret = read_block(m, cx, blocknr);
	return ret > 0 ? note_types(m, cx, &what) : ret;
}

/* Whether data block B of a file may be kept, and in which set: 1, 0. */
static int classify_data(struct metaimage *m, struct context *cx,
			 const struct segsum_block *b, uint64_t blocknr,
			 struct sparse **set)
{
	bool file = sparse_test(&m->files, b->ino);
	int ret;

	*set = NULL;
	if (b->ino == NILFS_ROOT_INO || sparse_test(&m->dirs, b->ino)) {
		*set = &m->names;
		ret = file ? read_block(m, cx, blocknr) : 1;
		return ret > 0 && file ?
			       dirent_check_block(m->block,
						  m->vol->geo.block_size) ==
				       RULE_OK : ret;
	}
	if (b->ino < NILFS_USER_INO)
		return 1;
	*set = &m->targets;
	return sparse_test(&m->links, b->ino) && !file;
}

static int visit_kept(struct metaimage *m, struct context *cx,
		      const struct segsum_block *b, uint64_t blocknr)
{
	struct sparse *set = NULL;
	int ret = b->is_node ? 1 : classify_data(m, cx, b, blocknr, &set);

	if (ret < 0)
		return ret;
	if (!ret)
		return sparse_add(&m->content, cx, blocknr);
	ret = set ? sparse_add(set, cx, blocknr) : 0;
	return ret < 0 ? ret : sparse_add(&m->kept, cx, blocknr);
}

static int visit_all(struct metaimage *m, struct context *cx, const char *doing,
		     logitems_log *visit)
{
	uint64_t n = m->vol->geo.nsegments, segnum;
	int err = 0;

	progress_begin(&m->tool->progress, doing, n, false);
	for (segnum = 0; segnum < n && !err; segnum++) {
		err = logitems_segment(m->vol, cx, segnum, visit, m);
		progress_update(&m->tool->progress, segnum + 1);
	}
	progress_end(&m->tool->progress);
	return err;
}

static int note_log(void *arg, struct context *cx, struct logsearch *search,
		    const struct log *log)
{
	struct segsum_block b;
	int err = 0;

	while (!err && segsum_iter_next(&search->summary.iter, &b))
		err = visit_types(arg, cx, &b, log->pseg + b.index);
	return err;
}

/* The summary and the super root are kept; so is what visit_kept() says. */
static int keep_log(void *arg, struct context *cx, struct logsearch *search,
		    const struct log *log)
{
	struct metaimage *m = arg;
	uint64_t i, n = segsum_nsumblk(&m->vol->geo, &log->ss);
	struct segsum_block b;
	int ret = 0;

	for (i = 0; i < n && ret >= 0; i++)
		ret = sparse_add(&m->kept, cx, log->pseg + i);
	if (ret >= 0 && segsum_has_super_root(&log->ss))
		ret = sparse_add(&m->kept, cx, log->pseg + log->nblocks - 1);
	while (ret >= 0 && segsum_iter_next(&search->summary.iter, &b))
		ret = visit_kept(m, cx, &b, log->pseg + b.index);
	return ret < 0 ? ret : 0;
}

static void ignore_sum(void *arg, const char *structure, const char *field,
		       uint32_t old, uint32_t new)
{
	(void)arg;
	(void)structure;
	(void)field;
	(void)old;
	(void)new;
}

static bool is_changed(const struct metaimage *m, uint64_t blocknr)
{
	return !sparse_test(&m->kept, blocknr) ||
	       (m->scrambled && (sparse_test(&m->names, blocknr) ||
				 sparse_test(&m->targets, blocknr)));
}

/* Sets the checksum of a log of which something was left out. */
static int seal_rest(void *arg, struct context *cx, struct logsearch *search,
		     const struct log *log)
{
	struct metaimage *m = arg;
	static const struct seal_watcher watcher = { .sum = ignore_sum };
	uint32_t i, first = (uint32_t)segsum_nsumblk(&m->vol->geo, &log->ss);
	int err;

	(void)search;
	for (i = first; i < log->nblocks; i++)
		if (is_changed(m, log->pseg + i))
			break;
	if (i == log->nblocks)
		return 0;
	err = logcheck_payload(m->vol, cx, log->pseg, &log->ss);
	if (err)
		return damage_forgive(cx, err);
	return seal_log(m->out, cx, &m->vol->geo, log->pseg, first, &watcher);
}

static int copy_block(struct metaimage *m, struct context *cx,
		      uint64_t blocknr)
{
	uint32_t size = m->vol->geo.block_size;
	int ret = read_block(m, cx, blocknr);

	if (ret <= 0)
		return ret;
	if (m->scrambled && sparse_test(&m->targets, blocknr))
		scramble_target(m->block, size);
	else if (m->scrambled && (sparse_test(&m->names, blocknr) ||
				  dirent_check_block(m->block, size) ==
					  RULE_OK))
		scramble_names(&m->scramble, m->block, size);
	m->nblocks++;
	return dev_write(m->out, cx, blocknr << m->vol->geo.block_bits,
			 m->block, size);
}

static int copy_supers(struct metaimage *m, struct context *cx)
{
	const uint64_t offset[2] = {
		NILFS_SB_OFFSET_BYTES, super_offset2(m->vol->dev->size)
	};
	char super[1024];
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++) {
		err = dev_read(m->vol->dev, cx, offset[i], super,
			       sizeof(super));
		if (!err)
			err = dev_write(m->out, cx, offset[i], super,
					sizeof(super));
		if (err == -EIO) {
			fail_clear(cx);
			err = 0;
		}
	}
	return err;
}

static int copy_blocks(struct metaimage *m, struct context *cx)
{
	const uint64_t end = m->kept.bits;
	uint64_t b;
	int err = copy_supers(m, cx);

	progress_begin(&m->tool->progress, "copying", end, false);
	for (b = sparse_next(&m->kept, 0, end); b < end && !err;
	     b = sparse_next(&m->kept, b + 1, end)) {
		err = copy_block(m, cx, b);
		if (!err)
			err = context_cancelled(cx);
		progress_update(&m->tool->progress, b);
	}
	progress_end(&m->tool->progress);
	return err;
}

/* What one log lists as content is not kept, whatever another one says of it. */
static void drop_content(struct metaimage *m)
{
	const uint64_t end = m->content.bits;
	uint64_t b;

	for (b = sparse_next(&m->content, 0, end); b < end;
	     b = sparse_next(&m->content, b + 1, end))
		sparse_remove(&m->kept, b);
}

/* Adds what a check reads and no log lists as content of a file. */
static int keep_read(struct metaimage *m, struct context *cx)
{
	const uint64_t end = m->kept.bits;
	struct sparse read = { 0 };
	uint64_t b;
	int ret = sparse_init(&read, cx, end);

	if (!ret)
		ret = record_check(m, cx, &read);
	for (b = sparse_next(&read, m->vol->geo.first_data_block, end);
	     b < end && ret >= 0; b = sparse_next(&read, b + 1, end))
		if (!sparse_test(&m->content, b))
			ret = sparse_add(&m->kept, cx, b);
	sparse_fini(&read);
	return ret < 0 ? ret : 0;
}

/* Sets of blocks, and of inode numbers as far as the budget goes. */
static int init_sets(struct metaimage *m, struct context *cx)
{
	const struct nilfs_geometry *g = &m->vol->geo;
	uint64_t blocks = g->nsegments * g->blocks_per_segment;
	uint64_t inos = cx->max_memory / 64 / sizeof(uint64_t) *
			SPARSE_CHUNK_BITS;
	struct sparse *const sets[] = { &m->kept, &m->names, &m->targets,
					&m->content, &m->dirs, &m->links,
					&m->files };
	size_t i, n = sizeof(sets) / sizeof(sets[0]);
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = sparse_init(sets[i], cx, i < 4 ? blocks : inos);
	m->block = err ? NULL : malloc(g->block_size);
	return err || m->block ? err : fail(cx, -ENOMEM, "block");
}

static void free_sets(struct metaimage *m)
{
	sparse_fini(&m->kept);
	sparse_fini(&m->names);
	sparse_fini(&m->targets);
	sparse_fini(&m->content);
	sparse_fini(&m->dirs);
	sparse_fini(&m->links);
	sparse_fini(&m->files);
	free(m->block);
}

static int make_image(struct metaimage *m, struct context *cx)
{
	int err = init_sets(m, cx);

	if (!err && m->scrambled)
		err = scramble_init(&m->scramble, cx);
	if (!err)
		err = visit_all(m, cx, "reading inodes", note_log);
	if (!err)
		err = visit_all(m, cx, "reading logs", keep_log);
	if (!err)
		drop_content(m);
	if (!err)
		err = keep_read(m, cx);
	if (!err)
		err = copy_blocks(m, cx);
	if (!err)
		err = visit_all(m, cx, "setting checksums", seal_rest);
	if (!err)
		err = m->out == m->file ? dev_flush(m->out, cx) :
					  qcow2_finish(m->out, cx);
	return err;
}

/* The file O is an image, or has one. */
static int open_out(struct metaimage *m, struct context *cx,
		    const struct output *o, bool qcow2)
{
	int err = devfile_create(&m->file, cx, o);

	m->out = m->file;
	if (err)
		return err;
	return qcow2 ? qcow2_create(&m->out, cx, m->file, m->vol->dev->size) :
		       devfile_resize(m->file, cx, m->vol->dev->size);
}

#define PIECE (1u << 20)

/* Whether there is anything in [OFF, END) of the image. */
static bool has_content(const struct metaimage *m, uint64_t off, uint64_t end)
{
	unsigned int bits = m->vol->geo.block_bits;
	uint64_t spare = super_offset2(m->vol->dev->size);
	uint64_t behind = (end + (1u << bits) - 1) >> bits;

	return off <= NILFS_SB_OFFSET_BYTES || (spare >= off && spare < end) ||
	       sparse_next(&m->kept, off >> bits, behind) < behind;
}

/* Puts the image, which is complete, as a stream. */
static int put_image(struct metaimage *m, struct context *cx,
		     struct tar_stream *s)
{
	uint64_t size = m->out->size, off, n;
	char *buf = malloc(PIECE);
	int err = buf ? 0 : fail(cx, -ENOMEM, "buffer");

	progress_begin(&m->tool->progress, "compressing", size, true);
	for (off = 0; off < size && !err; off += n) {
		n = size - off < PIECE ? size - off : PIECE;
		if (!has_content(m, off, off + n))
			err = tar_stream_put_zeroes(s, cx, n);
		else
			err = dev_read(m->out, cx, off, buf, (size_t)n);
		if (!err && has_content(m, off, off + n))
			err = tar_stream_put(s, cx, buf, (size_t)n);
		if (!err)
			err = context_cancelled(cx);
		progress_update(&m->tool->progress, off + n);
	}
	progress_end(&m->tool->progress);
	free(buf);
	return err ? err : tar_stream_finish(s, cx);
}

/*
 * The image is made in a file beside PATH, which is never given a name, and
 * compressed.
 */
static int make_compressed(struct metaimage *m, struct context *cx,
			   const char *path, const struct output_how *how)
{
	struct tar_stream *s = NULL;
	struct output *part = NULL;
	int err = tar_stream_open(&s, cx, path, how);

	if (!err)
		err = output_open(&part, cx, path, how);
	if (!err)
		err = open_out(m, cx, part, false);
	output_close(part);
	if (!err)
		err = make_image(m, cx);
	if (!err)
		err = put_image(m, cx, s);
	tar_stream_close(s);
	return err;
}

static int make_plain(struct metaimage *m, struct context *cx,
		      const char *path, const struct output_how *how)
{
	const char *end = strrchr(path, '.');
	struct output *file;
	int err = output_open(&file, cx, path, how);

	if (!err)
		err = open_out(m, cx, file, end && !strcmp(end, ".qcow2"));
	if (!err)
		err = make_image(m, cx);
	if (!err)
		err = output_commit(file, cx);
	output_close(file);
	return err;
}

static int metaimage_run(struct tool *tool, const void *options)
{
	const struct metaimage_options *o = options;
	struct metaimage m = { .tool = tool, .scrambled = o->scramble };
	const char *const inputs[] = { tool->argv[0], NULL };
	const struct output_how how = {
		.there = o->force ? OUTPUT_REPLACE : OUTPUT_ASK,
		.volume = true,
		.inputs = inputs,
	};
	const char *path = tool->argv[1];
	struct context *cx = &tool->cx;
	struct dump_image im;
	int err = image_open(&im, tool, tool->argv[0], NULL);

	/* A volume that leads nowhere has logs. */
	if (err && im.dev && !damage_is_fatal(err)) {
		fail_clear(cx);
		err = volume_open_bare(&im.vol, cx, im.dev);
	}
	m.vol = im.vol;
	if (!err)
		err = tar_stream_is_compressed(path) ?
			      make_compressed(&m, cx, path, &how) :
			      make_plain(&m, cx, path, &how);
	if (m.out != m.file)
		dev_close(m.out);
	dev_close(m.file);
	free_sets(&m);
	if (!err)
		report_u64(&tool->report, "blocks", "Blocks of metadata",
			   m.nblocks);
	image_close(&im);
	return err;
}

const struct cli_command metaimage_command = {
	.name = "image",
	.summary = "the metadata of a volume, for a report of a bug",
	.synopsis = "IMAGE NEW",
	.about = "Writes the metadata to the new file NEW, a sparse image "
		 "without the content\nof files, in which other commands and "
		 "fsck.nilfs2 find the same.\nNEW.zst, .xz, .gz, .bz2, .lz4: "
		 "compressed.  NEW.qcow2: only what there is, in\nthe format of "
		 "qemu-img, which the tools read as well.",
	.options = metaimage_rows,
	.options_size = sizeof(struct metaimage_options),
	.min_args = 2,
	.max_args = 2,
	.run = metaimage_run,
};
