// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dump.nilfs2 image: the metadata of a volume as a sparse image, for a report of
 * a bug, without the content of files.
 *
 * The image has the blocks that logs list as nodes and as blocks of metadata
 * files, directories and symbolic links, and all other blocks that a check reads,
 * except those that any log lists as data of a regular file.  All ifile blocks on
 * the device give the types of inodes; where a number was used for a regular file
 * and for a directory, a block is kept only if it has valid directory entries.
 *
 * The checksums of incomplete logs are set, if they were right, so that the tools
 * find the same state in the image as in the original.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
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
#include "dump/history/logitems.h"

/*
 * Replacing names by meaningless ones of the same length.
 *
 * Each byte is added to the previous replaced one, and looked up in a random
 * permutation; then the same from the end.  Each step can be reversed, so
 * different names stay different, and each byte depends on all others.  A result
 * of "." or ".." is replaced again until it is another name; this loop ends
 * because the replacement is a permutation of the names.
 */

#define SCRAMBLE_BYTES 254u	/* values in names: all but 0 and '/' */

struct scramble {
	uint8_t table[SCRAMBLE_BYTES];	/* a permutation */
};

/* Makes a random permutation.  Fails as getrandom(2). */
static int scramble_init(struct scramble *s, struct context *cx)
{
	uint32_t random[SCRAMBLE_BYTES];
	unsigned int i, j;
	uint8_t swap;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return fail(cx, -errno, "random numbers");
	for (i = 0; i < SCRAMBLE_BYTES; i++)
		s->table[i] = (uint8_t)i;
	for (i = SCRAMBLE_BYTES - 1; i; i--) {
		j = random[i] % (i + 1);
		swap = s->table[i];
		s->table[i] = s->table[j];
		s->table[j] = swap;
	}
	return 0;
}

static bool is_dots(const uint8_t *name, size_t len)
{
	return name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.'));
}

static void scramble_name(const struct scramble *s, uint8_t *name, size_t len)
{
	unsigned int number, last = 0;
	uint8_t *byte;
	size_t i;

	if (is_dots(name, len))
		return;
	do {
		/* To the end and back. */
		for (i = 0; i < 2 * len; i++) {
			byte = &name[i < len ? i : 2 * len - 1 - i];
			if (i % len == 0)
				last = (unsigned int)len;
			/* Bytes of names as numbers without a gap, and back. */
			number = *byte - 1u - (*byte > '/');
			last = s->table[(number + last) % SCRAMBLE_BYTES];
			*byte = (uint8_t)(last + 1 + (last >= '/' - 1u));
		}
	} while (is_dots(name, len));
}

/*
 * Replaces all names in a block of a directory, as far as its entries can be followed.
 * The bytes between a name and the next entry may be of a removed entry.
 */
static void scramble_names(const struct scramble *s, void *block,
			   uint32_t block_size)
{
	struct dirent_entry entry;
	struct dirent_iter it;
	uint8_t *name, *end;

	dirent_iter_init(&it, block, block_size);
	while (dirent_iter_next(&it, &entry)) {
		name = (uint8_t *)(uintptr_t)entry.name;
		end = (uint8_t *)block + entry.offset + entry.rec_len;
		if (entry.name_len && !memchr(name, 0, entry.name_len) &&
		    !memchr(name, '/', entry.name_len))
			scramble_name(s, name, entry.name_len);
		if (name + entry.name_len < end)
			memset(name + entry.name_len, 0,
			       (size_t)(end - name) - entry.name_len);
	}
}

/* Replaces each byte of the symbolic link target in BLOCK, except '/', by "x". */
static void scramble_target(char *block, uint32_t block_size)
{
	uint32_t i;

	for (i = 0; i < block_size && block[i]; i++)
		if (block[i] != '/')
			block[i] = 'x';
}

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

/* A device that records the blocks of reads of at most one block. */
struct recorder {
	struct dev dev;
	struct sparse *blocks;
	unsigned int block_bits;
};

struct metaimage {
	struct tool *tool;
	struct volume *vol;
	struct dev *file, *out;	/* OUT may be a disk in FILE */
	struct logitems logs;
	bool scrambled;
	struct scramble scramble;
	/* Blocks that are kept; blocks of directories, and of links, among these;
	   blocks with the content of files.  Inode numbers, by the types in any
	   ifile block. */
	union {
		struct {
			struct sparse kept, names, targets, content;
			struct sparse dirs, links, files;
		};
		struct sparse sets[7];
	};
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

static int read_block(struct metaimage *m, struct context *cx,
		      uint64_t blocknr)
{
	int err = volume_read_blocks(m->vol, cx, blocknr, 1, m->block);

	return err ? damage_forgive(cx, err) : 1;
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
		if (!file)
			return 1;
		ret = read_block(m, cx, blocknr);
		return ret <= 0 ? ret :
		       dirent_check_block(m->block, m->vol->geo.block_size) ==
			       RULE_OK;
	}
	if (b->ino < NILFS_USER_INO)
		return 1;
	*set = &m->targets;
	return sparse_test(&m->links, b->ino) && !file;
}

/* Calls VISIT with each log as the current one of m->logs. */
static int visit_logs(struct metaimage *m, struct context *cx,
		      const char *doing,
		      int (*visit)(struct metaimage *m, struct context *cx))
{
	int ret, err = 0;

	progress_begin(&m->tool->progress, doing, m->vol->geo.nsegments, false);
	logitems_rewind(&m->logs);
	while (!err && (ret = logitems_next_log(&m->logs, cx))) {
		err = ret < 0 ? ret : visit(m, cx);
		progress_update(&m->tool->progress, m->logs.segnum);
	}
	progress_end(&m->tool->progress);
	return err;
}

/* Adds the inodes in the ifile blocks of the log to the sets of their types. */
static int note_inodes(struct metaimage *m, struct context *cx)
{
	const struct palloc *p = &m->vol->ifile_palloc;
	const struct nilfs_inode *inode;
	struct palloc_block part;
	struct segsum_block b;
	struct sparse *set;
	uint64_t i;
	uint16_t mode;
	int ret = 0, next;

	while (ret >= 0 && (next = logitems_next_block(&m->logs, cx, &b))) {
		ret = next;
		if (ret < 0 || b.ino != NILFS_IFILE_INO || b.is_node ||
		    !palloc_has_block(p, b.blkoff))
			continue;
		palloc_locate(p, b.blkoff, &part);
		if (part.kind != PALLOC_ENTRIES)
			continue;
		ret = read_block(m, cx, m->logs.at.log.pseg + b.index);
		if (ret <= 0)
			continue;
		for (i = part.first; i < part.first + part.count && ret >= 0;
		     i++) {
			inode = (const void *)(m->block +
					       palloc_entry_offset(p, i));
			mode = le16_get(inode->i_mode);
			set = S_ISDIR(mode) ? &m->dirs :
			      S_ISLNK(mode) ? &m->links :
			      S_ISREG(mode) ? &m->files : NULL;
			if (set && i < set->bits)
				ret = sparse_add(set, cx, i);
		}
	}
	return ret < 0 ? ret : 0;
}

/* Keeps the summary, the super root, and the blocks that classify_data() allows. */
static int keep_log(struct metaimage *m, struct context *cx)
{
	const struct logindex_log *log = &m->logs.at.log;
	struct segsum_block b;
	struct sparse *set;
	uint64_t i;
	int ret = 0, next;

	for (i = 0; i < log->nsumblk && ret >= 0; i++)
		ret = sparse_add(&m->kept, cx, log->pseg + i);
	if (ret >= 0 && log->flags & NILFS_SS_SR)
		ret = sparse_add(&m->kept, cx, log->pseg + log->nblocks - 1);
	while (ret >= 0 && (next = logitems_next_block(&m->logs, cx, &b))) {
		i = log->pseg + b.index;
		set = NULL;
		ret = next < 0 || b.is_node ? next :
		      classify_data(m, cx, &b, i, &set);
		if (!ret) {
			ret = sparse_add(&m->content, cx, i);
			continue;
		}
		if (ret > 0 && set)
			ret = sparse_add(set, cx, i);
		if (ret >= 0)
			ret = sparse_add(&m->kept, cx, i);
	}
	return ret < 0 ? ret : 0;
}

/* Sets the checksum of a log if blocks of it were omitted or changed. */
static int seal_rest(struct metaimage *m, struct context *cx)
{
	const struct logindex_log *log = &m->logs.at.log;
	uint32_t i;
	int ret;

	for (i = log->nsumblk; i < log->nblocks; i++) {
		if (!sparse_test(&m->kept, log->pseg + i))
			break;
		if (m->scrambled && (sparse_test(&m->names, log->pseg + i) ||
				     sparse_test(&m->targets, log->pseg + i)))
			break;
	}
	if (i == log->nblocks)
		return 0;
	ret = logitems_check(m->vol, cx, log->pseg);
	if (ret <= 0)
		return ret;
	return seal_log(m->out, cx, &m->vol->geo, log->pseg, log->nsumblk,
			NULL);
}

/* Copies the superblocks and the blocks that are kept. */
static int copy_blocks(struct metaimage *m, struct context *cx)
{
	const uint64_t offset[2] = {
		NILFS_SB_OFFSET_BYTES, super_offset2(m->vol->dev->size)
	};
	const uint32_t size = m->vol->geo.block_size;
	const uint64_t end = m->kept.bits;
	char super[1024];
	uint64_t b;
	int i, ret = 0;

	for (i = 0; i < 2 && !ret; i++) {
		ret = dev_read(m->vol->dev, cx, offset[i], super,
			       sizeof(super));
		if (!ret)
			ret = dev_write(m->out, cx, offset[i], super,
					sizeof(super));
		if (ret == -EIO) {
			fail_clear(cx);
			ret = 0;
		}
	}
	progress_begin(&m->tool->progress, "copying", end, false);
	for (b = sparse_next(&m->kept, 0, end); b < end && !ret;
	     b = sparse_next(&m->kept, b + 1, end)) {
		ret = read_block(m, cx, b);
		if (ret > 0) {
			if (m->scrambled && sparse_test(&m->targets, b))
				scramble_target(m->block, size);
			else if (m->scrambled &&
				 (sparse_test(&m->names, b) ||
				  dirent_check_block(m->block, size) == RULE_OK))
				scramble_names(&m->scramble, m->block, size);
			m->nblocks++;
			ret = dev_write(m->out, cx,
					b << m->vol->geo.block_bits, m->block,
					size);
		}
		if (!ret)
			ret = context_cancelled(cx);
		progress_update(&m->tool->progress, b);
	}
	progress_end(&m->tool->progress);
	return ret;
}

/*
 * Keeps the blocks that a check of the volume reads, by one thread.  Blocks that
 * any log lists as content of a file are not kept.
 */
static int keep_read(struct metaimage *m, struct context *cx)
{
	const uint64_t end = m->kept.bits;
	struct sparse read = { 0 };
	struct recorder r = { .blocks = &read,
			      .block_bits = m->vol->geo.block_bits };
	struct check c = { .dev = &r.dev };
	const struct check_run run = { .counters = false };
	unsigned int threads = cx->threads;
	uint64_t b;
	int ret = sparse_init(&read, cx, end);

	for (b = sparse_next(&m->content, 0, end); b < end;
	     b = sparse_next(&m->content, b + 1, end))
		sparse_remove(&m->kept, b);
	dev_init_over(&r.dev, &recorder_ops, m->vol->dev);
	if (!ret)
		ret = findings_open(&c.findings, cx, NULL, NULL, false);
	cx->threads = 1;
	if (!ret)
		ret = check_volume(&c, cx, &run);
	cx->threads = threads;
	findings_close(c.findings);
	check_fini(&c);
	for (b = sparse_next(&read, m->vol->geo.first_data_block, end);
	     b < end && ret >= 0; b = sparse_next(&read, b + 1, end))
		if (!sparse_test(&m->content, b))
			ret = sparse_add(&m->kept, cx, b);
	sparse_fini(&read);
	return ret < 0 ? ret : 0;
}

static int make_image(struct metaimage *m, struct context *cx)
{
	const struct nilfs_geometry *g = &m->vol->geo;
	const uint64_t blocks = g->nsegments * g->blocks_per_segment;
	/* Inode numbers are recorded as far as the memory budget allows. */
	const uint64_t inos = cx->max_memory / 64 / sizeof(uint64_t) *
			      SPARSE_CHUNK_BITS;
	size_t i;
	int err = 0;

	for (i = 0; i < 7 && !err; i++)
		err = sparse_init(&m->sets[i], cx, i < 4 ? blocks : inos);
	m->block = err ? NULL : malloc(g->block_size);
	if (!err && !m->block)
		err = fail(cx, -ENOMEM, "block");
	if (!err && m->scrambled)
		err = scramble_init(&m->scramble, cx);
	if (!err)
		err = logitems_open(&m->logs, cx, m->vol);
	if (!err)
		err = visit_logs(m, cx, "reading inodes", note_inodes);
	if (!err)
		err = visit_logs(m, cx, "reading logs", keep_log);
	if (!err)
		err = keep_read(m, cx);
	if (!err)
		err = copy_blocks(m, cx);
	if (!err)
		err = visit_logs(m, cx, "setting checksums", seal_rest);
	if (!err)
		err = m->out == m->file ? dev_flush(m->out, cx) :
					  qcow2_finish(m->out, cx);
	return err;
}

#define STREAM_BYTES (1u << 20)

/* Whether the bytes [OFF, END) of the image contain a superblock or kept block. */
static bool metaimage_has_content(const struct metaimage *m, uint64_t off,
				  uint64_t end)
{
	unsigned int bits = m->vol->geo.block_bits;
	uint64_t spare = super_offset2(m->vol->dev->size);
	uint64_t last = (end + (1u << bits) - 1) >> bits;

	return off <= NILFS_SB_OFFSET_BYTES || (spare >= off && spare < end) ||
	       sparse_next(&m->kept, off >> bits, last) < last;
}

/* Writes the complete image to a stream. */
static int put_image(struct metaimage *m, struct context *cx,
		     struct tar_stream *s)
{
	uint64_t size = m->out->size, off, n;
	char *buf = malloc(STREAM_BYTES);
	int err = buf ? 0 : fail(cx, -ENOMEM, "buffer");

	progress_begin(&m->tool->progress, "compressing", size, true);
	for (off = 0; off < size && !err; off += n) {
		n = size - off < STREAM_BYTES ? size - off : STREAM_BYTES;
		if (!metaimage_has_content(m, off, off + n))
			err = tar_stream_put_zeroes(s, cx, n);
		else
			err = dev_read(m->out, cx, off, buf, (size_t)n);
		if (!err && metaimage_has_content(m, off, off + n))
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
 * Makes the image in the file PATH.  For a compressed one, the image is first made
 * in an unnamed file in the same directory.
 */
static int metaimage_make_file(struct metaimage *m, struct context *cx,
			       const char *path,
			       const struct output_how *how)
{
	const bool compressed = tar_stream_is_compressed(path);
	const char *end = strrchr(path, '.');
	const bool qcow2 = !compressed && end && !strcmp(end, ".qcow2");
	struct tar_stream *s = NULL;
	struct output *o = NULL;
	int err = 0;

	if (compressed)
		err = tar_stream_open(&s, cx, path, how);
	if (!err)
		err = output_open(&o, cx, path, how);
	if (!err)
		err = devfile_create(&m->file, cx, o);
	if (compressed) {
		output_close(o);
		o = NULL;
	}
	m->out = m->file;
	if (!err && qcow2)
		err = qcow2_create(&m->out, cx, m->file, m->vol->dev->size);
	else if (!err)
		err = devfile_resize(m->file, cx, m->vol->dev->size);
	if (!err)
		err = make_image(m, cx);
	if (!err)
		err = compressed ? put_image(m, cx, s) : output_commit(o, cx);
	output_close(o);
	tar_stream_close(s);
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
	size_t i;
	int err = image_open(&im, tool, tool->argv[0], NULL);

	/* Without a valid super root the volume still has logs. */
	if (err && im.dev && !damage_is_fatal(err)) {
		fail_clear(cx);
		err = volume_open_bare(&im.vol, cx, im.dev);
	}
	m.vol = im.vol;
	if (!err)
		err = metaimage_make_file(&m, cx, path, &how);
	if (m.out != m.file)
		dev_close(m.out);
	dev_close(m.file);
	for (i = 0; i < 7; i++)
		sparse_fini(&m.sets[i]);
	logitems_close(&m.logs);
	free(m.block);
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
		 "compressed.  NEW.qcow2: only used blocks, in\nthe format of "
		 "qemu-img, which the tools read as well.",
	.options = metaimage_rows,
	.options_size = sizeof(struct metaimage_options),
	.min_args = 2,
	.max_args = 2,
	.run = metaimage_run,
};
