// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Restoring from an undo file.
 *
 * The superblocks are written first, each with a flush: with both of them the
 * volume is the old one, whose logs a repair does not change, and the new logs
 * may be overwritten.  In the other order an interruption would leave
 * superblocks that name overwritten logs.  They are the last ranges of the
 * file, so the file is read twice, after a pass that only verifies it; it is
 * not held in memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "dev/devfile.h"
#include "fsck/apply/undo.h"

#define CHUNK (64u << 10)

struct undoing {
	const char *path;
	struct dev *file, *dev;
	struct undo_header h;
	uint64_t nranges, first_super;
	unsigned char *chunk;
	unsigned int nsupers;	/* looked at */
	bool changed;		/* one of them, since the repair */
};

#define SUPERS 2u

static int report_broken(const struct undoing *u, struct context *cx,
			 const char *what)
{
	return fail(cx, -EUCLEAN, "%s: undo file: %s", u->path, what);
}

static int check_header(struct undoing *u, struct context *cx)
{
	int err = u->file->size < sizeof(u->h) + sizeof(le32) ?
			  report_broken(u, cx, "too short") :
			  dev_read(u->file, cx, 0, &u->h, sizeof(u->h));

	if (err)
		return err;
	if (memcmp(u->h.magic, UNDO_MAGIC, sizeof(u->h.magic)))
		return fail(cx, -EINVAL, "%s: is no undo file", u->path);
	if (le32_get(u->h.version) != UNDO_VERSION)
		return fail(cx, -EINVAL, "%s: undo file of version %u",
			    u->path, le32_get(u->h.version));
	if (le64_get(u->h.file_size) != u->file->size)
		return report_broken(u, cx, "not as long as it was");
	if (le64_get(u->h.device_size) != u->dev->size)
		return fail(cx, -EINVAL,
			    "%s: undo file of a device of %llu bytes", u->path,
			    (unsigned long long)le64_get(u->h.device_size));
	u->nranges = le64_get(u->h.nranges);
	if (le32_get(u->h.supers) != SUPERS || u->nranges < SUPERS)
		return report_broken(u, cx, "no superblocks");
	u->first_super = u->nranges - SUPERS;
	return 0;
}

static int check_sum(struct undoing *u, struct context *cx)
{
	uint64_t off, end = u->file->size - sizeof(le32);
	uint32_t sum = 0;
	size_t n;
	le32 want;
	int err = 0;

	for (off = 0; off < end && !err; off += n) {
		n = end - off < CHUNK ? (size_t)(end - off) : CHUNK;
		err = dev_read(u->file, cx, off, u->chunk, n);
		if (!err)
			sum = crc32_le(sum, u->chunk, n);
	}
	if (!err)
		err = dev_read(u->file, cx, end, &want, sizeof(want));
	if (!err && le32_get(want) != sum)
		err = report_broken(u, cx, "its checksum does not match");
	return err;
}

/* What to do with LEN bytes at OFF of the device, at POS of the file. */
typedef int undoing_visit(struct undoing *u, struct context *cx, uint64_t off,
			  uint64_t len, uint64_t pos);

/* Calls VISIT for the ranges [FIRST, END). */
static int walk_records(struct undoing *u, struct context *cx, uint64_t first,
			uint64_t end, undoing_visit *visit)
{
	uint64_t limit = u->file->size - sizeof(le32), pos = sizeof(u->h), i;
	struct undo_range range;
	uint64_t off, len;
	int err = 0;

	for (i = 0; i < end && !err; i++) {
		if (limit - pos < sizeof(range))
			return report_broken(u, cx, "ends before its ranges");
		err = dev_read(u->file, cx, pos, &range, sizeof(range));
		if (err)
			return err;
		pos += sizeof(range);
		off = le64_get(range.offset);
		len = le64_get(range.length);
		if (len > limit - pos || off > u->dev->size ||
		    len > u->dev->size - off)
			return report_broken(u, cx, "a range that cannot be");
		if (i >= first)
			err = visit(u, cx, off, len, pos);
		pos += len;
	}
	return err;
}

static int check_range(struct undoing *u, struct context *cx, uint64_t off,
		       uint64_t len, uint64_t pos)
{
	(void)u;
	(void)off;
	(void)len;
	(void)pos;
	return context_cancelled(cx);
}

/* Is a superblock of the device the one before the repair, or after it? */
static int look_at_super(struct undoing *u, struct context *cx, uint64_t off,
			 uint64_t len, uint64_t pos)
{
	uint32_t before, now;
	int err;

	if (len > CHUNK)
		return report_broken(u, cx, "a superblock that cannot be");
	err = dev_read(u->file, cx, pos, u->chunk, (size_t)len);
	if (err)
		return err;
	before = crc32_le(0, u->chunk, (size_t)len);
	err = dev_read(u->dev, cx, off, u->chunk, (size_t)len);
	if (err)
		return err;
	now = crc32_le(0, u->chunk, (size_t)len);
	u->changed |= now != before &&
		      now != le32_get(u->h.supers_sum[u->nsupers]);
	u->nsupers++;
	return 0;
}

static int write_range(struct undoing *u, struct context *cx, uint64_t off,
		       uint64_t len, uint64_t pos)
{
	size_t n;
	int err = 0;

	for (; len && !err; off += n, pos += n, len -= n) {
		n = len < CHUNK ? (size_t)len : CHUNK;
		err = dev_read(u->file, cx, pos, u->chunk, n);
		if (!err)
			err = dev_write(u->dev, cx, off, u->chunk, n);
	}
	return err;
}

static int write_super(struct undoing *u, struct context *cx, uint64_t off,
		       uint64_t len, uint64_t pos)
{
	int err = write_range(u, cx, off, len, pos);

	return err ? err : dev_flush(u->dev, cx);
}

static int check_all(struct undoing *u, struct context *cx, bool force)
{
	int err = check_header(u, cx);

	if (!err)
		err = check_sum(u, cx);
	if (!err)
		err = walk_records(u, cx, 0, u->nranges, check_range);
	if (!err)
		err = walk_records(u, cx, u->first_super, u->nranges,
				   look_at_super);
	if (err || force || !u->changed)
		return err;
	return fail(cx, -ESTALE, "%s: the volume was changed after %s was "
		    "written; --force goes back nevertheless", u->dev->name,
		    u->path);
}

int undo_restore(struct context *cx, const char *path, struct dev *dev,
		 bool force)
{
	struct undoing u = { .path = path, .dev = dev };
	int err;

	u.chunk = malloc(CHUNK);
	if (!u.chunk)
		return fail(cx, -ENOMEM, "%s: undo file", path);
	err = devfile_open(&u.file, cx, path, DEVFILE_READ);
	if (!err)
		err = check_all(&u, cx, force);
	if (!err)
		err = walk_records(&u, cx, u.first_super, u.nranges,
				   write_super);
	if (!err)
		err = walk_records(&u, cx, 0, u.first_super, write_range);
	if (!err)
		err = dev_flush(dev, cx);
	dev_close(u.file);
	free(u.chunk);
	return err;
}
