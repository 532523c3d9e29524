// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Restoring from an undo file.
 *
 * The superblocks are written first, each with a flush: with both of them the
 * volume is the old one, whose logs a repair does not change, and the new logs
 * may be overwritten.  In the other order an interruption would leave
 * superblocks that name overwritten logs.  They are the last ranges of the
 * file, so the file is read twice, after passes that only verify it; it is
 * not held in memory.
 *
 * What was written to the volume after the repair would be lost, also where the
 * superblocks do not show it.  So each piece of the device has to be what the
 * repair wrote, or what is to be put there: an interruption of either leaves some
 * of both.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "base/uuidtext.h"
#include "dev/devfile.h"
#include "disk/super.h"
#include "fsck/apply/undo.h"

#define CHUNK (64u << 10)

struct undoing {
	const char *path;
	struct dev *file, *dev;
	struct undo_header h;
	uint64_t nranges, first_super;
	unsigned char *chunk, *now;	/* of the file, and of the device */
	uint64_t block;		/* the last one that is changed */
	uint64_t nchanged;	/* blocks */
	char first[64];		/* of them, by its name */
	bool known;		/* a superblock is that of this volume */
	bool foreign;		/* one is of that with the next UUID */
	uint8_t uuid[16];
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
		return fail(cx, -EINVAL, "%s: is an undo file of version %u, "
			    "and this is version %u; use the fsck.nilfs2 that "
			    "made it", u->path, le32_get(u->h.version),
			    UNDO_VERSION);
	if (le64_get(u->h.file_size) != u->file->size)
		return report_broken(u, cx, "not as long as it was");
	if (le64_get(u->h.device_size) != u->dev->size)
		return fail(cx, -EINVAL,
			    "%s: undo file of a device of %llu bytes", u->path,
			    (unsigned long long)le64_get(u->h.device_size));
	u->nranges = le64_get(u->h.nranges);
	if (le32_get(u->h.supers) != SUPERS || u->nranges < SUPERS)
		return report_broken(u, cx, "no superblocks");
	if (le32_get(u->h.piece) != UNDO_PIECE)
		return report_broken(u, cx, "no such pieces");
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

/*
 * What to do with range N, LEN bytes at OFF of the device, at POS of the file, where
 * the checksums follow.
 */
typedef int undoing_visit(struct undoing *u, struct context *cx, uint64_t n,
			  uint64_t off, uint64_t len, uint64_t pos);

/* Calls VISIT for the ranges [FIRST, END). */
static int walk_records(struct undoing *u, struct context *cx, uint64_t first,
			uint64_t end, undoing_visit *visit)
{
	uint64_t limit = u->file->size - sizeof(le32), pos = sizeof(u->h), i;
	struct undo_range range;
	uint64_t off, len, sums;
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
		sums = undo_sums_bytes(len);
		if (len > limit - pos || sums > limit - pos - len ||
		    off > u->dev->size || len > u->dev->size - off)
			return report_broken(u, cx, "a range that cannot be");
		if (i >= first)
			err = visit(u, cx, i, off, len, pos);
		pos += len + sums;
	}
	return err;
}

static int check_range(struct undoing *u, struct context *cx, uint64_t n,
		       uint64_t off, uint64_t len, uint64_t pos)
{
	(void)n;
	(void)off;
	(void)len;
	(void)pos;
	(void)u;
	return context_cancelled(cx);
}

/* Byte OFF, of range N, is in a block that is neither the old nor the new one. */
static void note_change(struct undoing *u, uint64_t n, uint64_t off)
{
	uint32_t size = le32_get(u->h.block_size);
	uint64_t block = size ? off / size : off;

	if (u->nchanged && block == u->block)
		return;
	u->block = block;
	if (u->nchanged++)
		return;
	if (n >= u->first_super)
		snprintf(u->first, sizeof(u->first), "superblock %u",
			 (unsigned int)(n - u->first_super) + 1);
	else
		snprintf(u->first, sizeof(u->first), "%s %llu",
			 size ? "block" : "byte", (unsigned long long)block);
}

/* Reads what is there now; a piece that cannot be read is noted as changed. */
static int read_now(struct undoing *u, struct context *cx, uint64_t n,
		    uint64_t off, size_t len)
{
	size_t at, piece;
	int err = dev_read(u->dev, cx, off, u->now, len);

	if (err != -EIO)
		return err;
	for (at = 0; at < len; at += piece) {
		piece = len - at < UNDO_PIECE ? len - at : UNDO_PIECE;
		fail_clear(cx);
		if (!dev_read(u->dev, cx, off + at, u->now + at, piece))
			continue;
		note_change(u, n, off + at);
		memcpy(u->now + at, u->chunk + at, piece);
	}
	fail_clear(cx);
	return 0;
}

static void compare_pieces(struct undoing *u, uint64_t n, uint64_t off,
			   size_t len, const le32 *sums)
{
	size_t at, piece;

	for (at = 0; at < len; at += piece) {
		const unsigned char *now = u->now + at;

		piece = len - at < UNDO_PIECE ? len - at : UNDO_PIECE;
		if (memcmp(now, u->chunk + at, piece) &&
		    crc32_le(0, now, piece) != le32_get(sums[at / UNDO_PIECE]))
			note_change(u, n, off + at);
	}
}

static int compare_range(struct undoing *u, struct context *cx, uint64_t n,
			 uint64_t off, uint64_t len, uint64_t pos)
{
	uint64_t sums_at = pos + len, before = u->nchanged;
	le32 sums[CHUNK / UNDO_PIECE];
	size_t part;
	int err = context_cancelled(cx);

	for (; len && !err; off += part, pos += part, len -= part) {
		part = len < CHUNK ? (size_t)len : CHUNK;
		err = dev_read(u->file, cx, pos, u->chunk, part);
		if (!err)
			err = dev_read(u->file, cx, sums_at, sums,
				       undo_sums_bytes(part));
		if (!err)
			err = read_now(u, cx, n, off, part);
		if (!err)
			compare_pieces(u, n, off, part, sums);
		sums_at += undo_sums_bytes(part);
	}
	u->known |= n >= u->first_super && u->nchanged == before;
	return err;
}

static int look_at_super(struct undoing *u, struct context *cx, uint64_t n,
			 uint64_t off, uint64_t len, uint64_t pos)
{
	struct nilfs_super_block sb;
	int err;

	(void)n;
	(void)pos;
	if (len < sizeof(sb))
		return report_broken(u, cx, "a superblock that cannot be");
	err = dev_read(u->dev, cx, off, &sb, sizeof(sb));
	if (err == -EIO)
		fail_clear(cx);
	if (err || super_check(&sb) != RULE_OK)
		return err == -EIO ? 0 : err;
	if (!memcmp(sb.s_uuid, u->h.uuid, sizeof(u->uuid))) {
		u->known = true;
	} else {
		u->foreign = true;
		memcpy(u->uuid, sb.s_uuid, sizeof(u->uuid));
	}
	return 0;
}

static int write_range(struct undoing *u, struct context *cx, uint64_t n,
		       uint64_t off, uint64_t len, uint64_t pos)
{
	size_t part;
	int err = 0;

	(void)n;
	for (; len && !err; off += part, pos += part, len -= part) {
		part = len < CHUNK ? (size_t)len : CHUNK;
		err = dev_read(u->file, cx, pos, u->chunk, part);
		if (!err)
			err = dev_write(u->dev, cx, off, u->chunk, part);
	}
	return err;
}

static int write_super(struct undoing *u, struct context *cx, uint64_t n,
		       uint64_t off, uint64_t len, uint64_t pos)
{
	int err = write_range(u, cx, n, off, len, pos);

	return err ? err : dev_flush(u->dev, cx);
}

static int check_file(struct undoing *u, struct context *cx)
{
	int err = check_header(u, cx);

	if (!err)
		err = check_sum(u, cx);
	return err ? err : walk_records(u, cx, 0, u->nranges, check_range);
}

/* Whether the volume is the one that was repaired. */
static int check_uuid(const struct undoing *u, struct context *cx)
{
	static const uint8_t unknown[16];
	char is[UUIDTEXT_MAX], was[UUIDTEXT_MAX];

	if (u->known || !u->foreign ||
	    !memcmp(u->h.uuid, unknown, sizeof(unknown)))
		return 0;
	return fail(cx, -EINVAL, "%s: is volume %s, and %s is of volume %s; "
		    "nothing was written", u->dev->name,
		    uuidtext_format(u->uuid, is), u->path,
		    uuidtext_format(u->h.uuid, was));
}

static int check_device(struct undoing *u, struct context *cx, bool force)
{
	char others[64] = "";
	int err = walk_records(u, cx, u->first_super, u->nranges,
			       look_at_super);

	if (!err)
		err = walk_records(u, cx, 0, u->nranges, compare_range);
	if (!err)
		err = check_uuid(u, cx);
	if (err || force || !u->nchanged)
		return err;
	if (u->nchanged > 1)
		snprintf(others, sizeof(others), ", nor are %llu others",
			 (unsigned long long)u->nchanged - 1);
	return fail(cx, -ESTALE, "%s: %s is not what the repair wrote%s: the "
		    "volume was changed after %s was written; --force goes back "
		    "nevertheless", u->dev->name, u->first, others, u->path);
}

int undo_restore(struct context *cx, const char *path, struct dev *dev,
		 bool force)
{
	struct undoing u = { .path = path, .dev = dev };
	int err;

	u.chunk = malloc(2 * CHUNK);
	if (!u.chunk)
		return fail(cx, -ENOMEM, "%s: undo file", path);
	u.now = u.chunk + CHUNK;
	err = devfile_open(&u.file, cx, path, DEVFILE_READ);
	if (!err)
		err = check_file(&u, cx);
	if (!err)
		err = check_device(&u, cx, force);
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
