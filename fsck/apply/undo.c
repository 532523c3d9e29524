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
	uint64_t supers[2];
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

static int put_range(struct saver *s, struct context *cx, uint64_t off,
		     uint64_t len)
{
	struct undo_range range = { le64_make(off), le64_make(len) };
	size_t n;
	int err = put_bytes(s, cx, &range, sizeof(range));

	for (; len && !err; off += n, len -= n) {
		n = len < CHUNK ? (size_t)len : CHUNK;
		err = read_old(s, cx, off, n);
		if (!err)
			err = put_bytes(s, cx, s->chunk, n);
	}
	return err;
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
			totals->bytes += pieces[i].len;
			if (write)
				err = put_range(s, cx, pieces[i].off,
						pieces[i].len);
		}
	}
	return err;
}

/* The superblocks that SUPERS names, as DEV has them, into S->chunk. */
static int read_supers(struct saver *s, struct context *cx, struct dev *dev)
{
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++)
		err = dev_read(dev, cx, s->supers[i],
			       s->chunk + (size_t)i * OVERLAY_PAGE_BYTES,
			       OVERLAY_PAGE_BYTES);
	return err;
}

static int put_all(struct saver *s, struct context *cx,
		   const uint8_t uuid[16])
{
	struct totals totals = { 0, 0 }, written = { 0, 0 };
	struct undo_header h = {
		.version = le32_make(UNDO_VERSION),
		.supers = le32_make(2),
		.device_size = le64_make(s->under->size),
	};
	le32 sum;
	int i, err = each_range(s, cx, false, &totals);

	if (!err)
		err = read_supers(s, cx, s->overlay);
	if (err)
		return err;
	memcpy(h.magic, UNDO_MAGIC, sizeof(h.magic));
	memcpy(h.uuid, uuid, sizeof(h.uuid));
	totals.ranges += 2;
	totals.bytes += 2ull * OVERLAY_PAGE_BYTES + sizeof(h) + sizeof(sum) +
			totals.ranges * sizeof(struct undo_range);
	h.nranges = le64_make(totals.ranges);
	h.file_size = le64_make(totals.bytes);
	for (i = 0; i < 2; i++)
		h.supers_sum[i] = le32_make(crc32_le(0, s->chunk +
						     (size_t)i *
						     OVERLAY_PAGE_BYTES,
						     OVERLAY_PAGE_BYTES));
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
	return err ? err : dev_flush(s->file, cx);
}

int undo_check(struct context *cx, const char *path, const char *device)
{
	const char *const inputs[] = { device, NULL };
	const struct output_how how = { .volume = true, .inputs = inputs };

	return output_check(cx, path, &how);
}

int undo_save(struct context *cx, const char *path, struct dev *overlay,
	      struct dev *under, const uint64_t supers[2],
	      const uint8_t uuid[16])
{
	struct saver s = {
		.under = under, .overlay = overlay,
		.supers = { supers[0], supers[1] },
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
		err = put_all(&s, cx, uuid);
	if (!err)
		err = output_commit(file, cx);
	dev_close(s.file);
	output_close(file);
	free(s.chunk);
	return err;
}
