// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing an undo file.
 *
 * It is complete and on its disk before the device is changed.  A repair writes
 * to free space except for the superblocks, so these alone would restore the
 * old volume; the rest restores every byte.
 *
 * The ranges are in the order of the commit, superblocks last, after a header
 * with their number: they are counted first.
 */
#include "fsck/apply/undo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "dev/devfile.h"
#include "dev/overlay.h"

#define CHUNK (64u << 10)

struct saver {
	struct dev *file, *under, *overlay;
	const uint64_t *supers;
	uint64_t pos;		/* in the file */
	uint32_t sum;
	unsigned char *chunk;
};

static int put_bytes(struct saver *s, struct context *cx, const void *buf,
		     size_t len)
{
	int err = dev_write(s->file, cx, s->pos, buf, len);

	s->pos += len;
	s->sum = crc32_le(s->sum, buf, len);
	return err;
}

/* Unreadable blocks are saved as zeros. */
static int read_old(struct saver *s, struct context *cx, uint64_t off,
		    size_t len)
{
	size_t at, n;
	int err = dev_read(s->under, cx, off, s->chunk, len);

	if (err != -EIO)
		return err;
	for (at = 0; at < len; at += n) {
		n = len - at < OVERLAY_PAGE_BYTES ? len - at :
						    OVERLAY_PAGE_BYTES;
		fail_clear(cx);
		if (dev_read(s->under, cx, off + at, s->chunk + at, n))
			memset(s->chunk + at, 0, n);
	}
	fail_clear(cx);
	return 0;
}

static int put_old(struct saver *s, struct context *cx, uint64_t off,
		   uint64_t len)
{
	size_t n;
	int err = 0;

	for (; len && !err; off += n, len -= n) {
		n = len < CHUNK ? (size_t)len : CHUNK;
		err = read_old(s, cx, off, n);
		if (!err)
			err = put_bytes(s, cx, s->chunk, n);
	}
	return err;
}

/* The checksums of what a commit writes there. */
static int put_sums(struct saver *s, struct context *cx, uint64_t off,
		    uint64_t len)
{
	le32 sums[CHUNK / UNDO_PIECE];
	size_t at, n, piece;
	int err = 0;

	for (; len && !err; off += n, len -= n) {
		n = len < CHUNK ? (size_t)len : CHUNK;
		err = dev_read(s->overlay, cx, off, s->chunk, n);
		for (at = 0; at < n; at += piece) {
			piece = n - at < UNDO_PIECE ? n - at : UNDO_PIECE;
			sums[at / UNDO_PIECE] =
				le32_make(crc32_le(0, s->chunk + at, piece));
		}
		if (!err)
			err = put_bytes(s, cx, sums, undo_sums_bytes(n));
	}
	return err;
}

static int put_range(struct saver *s, struct context *cx, uint64_t off,
		     uint64_t len)
{
	struct undo_range range = { le64_make(off), le64_make(len) };
	int err = put_bytes(s, cx, &range, sizeof(range));

	if (!err)
		err = put_old(s, cx, off, len);
	return err ? err : put_sums(s, cx, off, len);
}

/* A range of an overlay, less the pages of superblocks in it. */
struct piece {
	uint64_t off, len;
};

static unsigned int cut_range(const struct saver *s, struct piece range,
			      struct piece pieces[3])
{
	uint64_t end = range.off + range.len, page;
	unsigned int i, n = 0;

	for (i = 0; i < 2; i++) {
		page = s->supers[i] & ~(uint64_t)(OVERLAY_PAGE_BYTES - 1);
		if (page < range.off || page >= end)
			continue;
		if (page > range.off)
			pieces[n++] = (struct piece){ range.off,
						      page - range.off };
		range.off = page + OVERLAY_PAGE_BYTES;
	}
	if (range.off < end)
		pieces[n++] = (struct piece){ range.off, end - range.off };
	return n;
}

struct totals {
	uint64_t ranges, bytes;
};

/* Counts all but superblocks, or, with WRITE, writes them. */
static int each_range(struct saver *s, struct context *cx, bool write,
		      struct totals *totals)
{
	struct piece pieces[3];
	size_t cursor = 0, len;
	unsigned int i, n;
	uint64_t off;
	int err = 0;

	while (!err && overlay_next_range(s->overlay, &cursor, &off, &len)) {
		n = cut_range(s, (struct piece){ off, len }, pieces);
		for (i = 0; i < n && !err; i++) {
			totals->ranges++;
			totals->bytes += pieces[i].len +
					 undo_sums_bytes(pieces[i].len);
			if (write)
				err = put_range(s, cx, pieces[i].off,
						pieces[i].len);
		}
	}
	return err;
}

static int put_all(struct saver *s, struct context *cx,
		   const struct undo_volume *volume)
{
	struct totals totals = { 0, 0 }, written = { 0, 0 };
	struct undo_header h = {
		.version = le32_make(UNDO_VERSION),
		.supers = le32_make(2),
		.device_size = le64_make(s->under->size),
		.block_size = le32_make(volume->block_size),
		.piece = le32_make(UNDO_PIECE),
	};
	le32 sum;
	int i, err = each_range(s, cx, false, &totals);

	if (err)
		return err;
	memcpy(h.magic, UNDO_MAGIC, sizeof(h.magic));
	memcpy(h.uuid, volume->uuid, sizeof(h.uuid));
	totals.ranges += 2;
	totals.bytes += 2ull * OVERLAY_PAGE_BYTES +
			2 * undo_sums_bytes(OVERLAY_PAGE_BYTES) + sizeof(h) +
			sizeof(sum) +
			totals.ranges * sizeof(struct undo_range);
	h.nranges = le64_make(totals.ranges);
	h.file_size = le64_make(totals.bytes);
	err = devfile_resize(s->file, cx, totals.bytes);
	if (!err)
		err = put_bytes(s, cx, &h, sizeof(h));
	if (!err)
		err = each_range(s, cx, true, &written);
	for (i = 0; i < 2 && !err; i++)
		err = put_range(s, cx, s->supers[i], OVERLAY_PAGE_BYTES);
	sum = le32_make(s->sum);
	if (!err)
		err = put_bytes(s, cx, &sum, sizeof(sum));
	return err;
}

int undo_check(struct context *cx, const char *path, const char *device)
{
	const char *const inputs[] = { device, NULL };
	const struct output_how how = { .volume = true, .inputs = inputs };

	return output_check(cx, path, &how);
}

int undo_save(struct context *cx, const char *path, struct dev *overlay,
	      struct dev *under, const struct undo_volume *volume)
{
	struct saver s = {
		.under = under, .overlay = overlay,
		.supers = volume->supers,
	};
	const struct output_how how = { .volume = true };
	struct output *file;
	int err;

	s.chunk = malloc(CHUNK);
	if (!s.chunk)
		return fail(cx, -ENOMEM, "%s: undo file", path);
	err = output_open(&file, cx, path, &how);
	if (!err)
		err = devfile_create(&s.file, cx, file);
	if (!err)
		err = put_all(&s, cx, volume);
	if (!err)
		err = output_commit(file, cx);
	dev_close(s.file);
	output_close(file);
	free(s.chunk);
	return err;
}
