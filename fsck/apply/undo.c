// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Undo files.
 *
 * An undo file is complete and on stable storage before the device is changed.
 * A repair writes to free space except for the superblocks, so the superblocks
 * alone would restore the old volume; the rest restores every byte. The ranges
 * are in the order of the commit, superblocks last, after a header with their
 * number.
 *
 * The superblocks are restored first, each with a flush. With both of them the
 * volume is the old one, whose logs a repair does not change, and the new logs
 * may be overwritten. The file is read twice, first only to compare, and is not
 * held in memory. Changes made after the repair would be lost, so each piece of
 * the device must be as the repair wrote it or as it was before; an interrupted
 * commit or restore leaves a mixture.
 */
#include "fsck/apply/undo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "base/uuidtext.h"
#include "check/damage.h"
#include "dev/devfile.h"
#include "dev/overlay.h"
#include "disk/super.h"

#define CHUNK (64u << 10)
#define SUPERS 2u

/* The smaller one of LEN and LIMIT. */
static size_t limit_size(uint64_t len, size_t limit)
{
	return len < limit ? (size_t)len : limit;
}

struct saver {
	struct dev *file, *under, *overlay;
	const uint64_t *supers;
	uint64_t pos;		/* in the file */
	uint32_t sum;
	unsigned char *chunk;
	uint64_t ranges, bytes;	/* with their checksums, up to now */
};

static int undo_put_bytes(struct saver *s, struct context *cx, const void *buf,
			  size_t len)
{
	int err = dev_write(s->file, cx, s->pos, buf, len);

	s->pos += len;
	s->sum = crc32_le(s->sum, buf, len);
	return err;
}

/* Writes a range: its present content, zeros for unreadable bytes, and
   checksums of the content that a commit writes there. */
static int undo_put_range(struct saver *s, struct context *cx, uint64_t off,
			  uint64_t len)
{
	struct undo_range range = { le64_make(off), le64_make(len) };
	le32 sums[CHUNK / UNDO_PIECE];
	size_t at, n, piece;
	uint64_t done;
	int err = undo_put_bytes(s, cx, &range, sizeof(range));

	for (done = 0; done < len && !err; done += n) {
		n = limit_size(len - done, CHUNK);
		err = dev_read(s->under, cx, off + done, s->chunk, n);
		for (at = 0; at < n && err == -EIO; at += piece) {
			piece = limit_size(n - at, OVERLAY_PAGE_BYTES);
			if (dev_read(s->under, cx, off + done + at,
				     s->chunk + at, piece))
				memset(s->chunk + at, 0, piece);
		}
		err = damage_forgive(cx, err);
		if (!err)
			err = undo_put_bytes(s, cx, s->chunk, n);
	}
	for (done = 0; done < len && !err; done += n) {
		n = limit_size(len - done, CHUNK);
		err = dev_read(s->overlay, cx, off + done, s->chunk, n);
		for (at = 0; at < n; at += piece) {
			piece = limit_size(n - at, UNDO_PIECE);
			sums[at / UNDO_PIECE] =
				le32_make(crc32_le(0, s->chunk + at, piece));
		}
		if (!err)
			err = undo_put_bytes(s, cx, sums, undo_sums_bytes(n));
	}
	return err;
}

/* Counts a range unless it is empty, and writes it if WRITE is set. */
static int undo_take_range(struct saver *s, struct context *cx, bool write,
			   uint64_t off, uint64_t end)
{
	if (off >= end)
		return 0;
	s->ranges++;
	s->bytes += end - off + undo_sums_bytes(end - off);
	return write ? undo_put_range(s, cx, off, end - off) : 0;
}

/* Visits all ranges of the overlay, without the pages of superblocks. */
static int visit_ranges(struct saver *s, struct context *cx, bool write)
{
	size_t cursor = 0, len;
	uint64_t off, end, page;
	unsigned int i;
	int err = 0;

	while (!err && overlay_next_range(s->overlay, &cursor, &off, &len)) {
		end = off + len;
		for (i = 0; i < SUPERS && !err; i++) {
			page = s->supers[i] &
			       ~(uint64_t)(OVERLAY_PAGE_BYTES - 1);
			if (page < off || page >= end)
				continue;
			err = undo_take_range(s, cx, write, off, page);
			off = page + OVERLAY_PAGE_BYTES;
		}
		if (!err)
			err = undo_take_range(s, cx, write, off, end);
	}
	return err;
}

int undo_save(struct context *cx, const char *path, struct dev *overlay,
	      struct dev *under, const struct undo_volume *volume)
{
	struct saver s = {
		.under = under, .overlay = overlay,
		.supers = volume->supers,
		.ranges = SUPERS,
		.bytes = SUPERS * (OVERLAY_PAGE_BYTES +
				   undo_sums_bytes(OVERLAY_PAGE_BYTES)),
	};
	const struct output_how how = { .volume = true };
	struct undo_header h = {
		.magic = UNDO_MAGIC,
		.version = le32_make(UNDO_VERSION),
		.supers = le32_make(SUPERS),
		.device_size = le64_make(under->size),
		.block_size = le32_make(volume->block_size),
		.piece = le32_make(UNDO_PIECE),
	};
	struct output *file;
	unsigned int i;
	le32 sum;
	int err;

	s.chunk = malloc(CHUNK);
	if (!s.chunk)
		return fail(cx, -ENOMEM, "%s: undo file", path);
	err = output_open(&file, cx, path, &how);
	if (!err)
		err = devfile_create(&s.file, cx, file);
	if (!err)
		err = visit_ranges(&s, cx, false);
	s.bytes += sizeof(h) + sizeof(sum) +
		   s.ranges * sizeof(struct undo_range);
	memcpy(h.uuid, volume->uuid, sizeof(h.uuid));
	h.nranges = le64_make(s.ranges);
	h.file_size = le64_make(s.bytes);
	if (!err)
		err = devfile_resize(s.file, cx, s.bytes);
	if (!err)
		err = undo_put_bytes(&s, cx, &h, sizeof(h));
	if (!err)
		err = visit_ranges(&s, cx, true);
	for (i = 0; i < SUPERS && !err; i++)
		err = undo_put_range(&s, cx, s.supers[i], OVERLAY_PAGE_BYTES);
	sum = le32_make(s.sum);
	if (!err)
		err = undo_put_bytes(&s, cx, &sum, sizeof(sum));
	if (!err)
		err = output_commit(file, cx);
	dev_close(s.file);
	output_close(file);
	free(s.chunk);
	return err;
}

struct undoing {
	const char *path;
	struct dev *file, *dev;
	struct undo_header h;
	uint64_t nranges, first_super;
	unsigned char *chunk, *now;	/* bytes of the file, and of the device */
	uint64_t block;		/* the last changed block */
	uint64_t nchanged;	/* blocks */
	char first[64];		/* the name of the first one */
	bool known;		/* a superblock has the UUID of the file */
	bool foreign;		/* a superblock has the UUID below */
	uint8_t uuid[16];
};

static int undo_report_broken(const struct undoing *u, struct context *cx,
			      const char *what)
{
	return fail(cx, -EUCLEAN, "%s: undo file: %s", u->path, what);
}

/* Checks the header and the checksum. */
static int check_file(struct undoing *u, struct context *cx)
{
	uint64_t off, end = u->file->size - sizeof(le32);
	uint32_t sum = 0;
	size_t n;
	le32 want;
	int err;

	if (u->file->size < sizeof(u->h) + sizeof(le32))
		return undo_report_broken(u, cx, "too short");
	err = dev_read(u->file, cx, 0, &u->h, sizeof(u->h));
	if (err)
		return err;
	if (memcmp(u->h.magic, UNDO_MAGIC, sizeof(u->h.magic)))
		return fail(cx, -EINVAL, "%s: not an undo file", u->path);
	if (le32_get(u->h.version) != UNDO_VERSION)
		return fail(cx, -EINVAL, "%s: undo file version %u is not "
			    "supported, expected %u; use the fsck.nilfs2 that "
			    "wrote it", u->path, le32_get(u->h.version),
			    UNDO_VERSION);
	if (le64_get(u->h.file_size) != u->file->size)
		return undo_report_broken(u, cx, "wrong length");
	if (le64_get(u->h.device_size) != u->dev->size)
		return fail(cx, -EINVAL,
			    "%s: undo file of a device of %llu bytes", u->path,
			    (unsigned long long)le64_get(u->h.device_size));
	u->nranges = le64_get(u->h.nranges);
	if (le32_get(u->h.supers) != SUPERS || u->nranges < SUPERS)
		return undo_report_broken(u, cx, "it has no superblocks");
	if (le32_get(u->h.piece) != UNDO_PIECE)
		return undo_report_broken(u, cx, "invalid piece size");
	u->first_super = u->nranges - SUPERS;
	for (off = 0; off < end && !err; off += n) {
		n = limit_size(end - off, CHUNK);
		err = dev_read(u->file, cx, off, u->chunk, n);
		if (!err)
			sum = crc32_le(sum, u->chunk, n);
	}
	if (!err)
		err = dev_read(u->file, cx, end, &want, sizeof(want));
	if (!err && le32_get(want) != sum)
		err = undo_report_broken(u, cx, "its checksum does not match");
	return err;
}

/*
 * Compares LEN bytes at OFF of the device, of range N, with u->chunk and with
 * the SUMS of the bytes that the repair wrote. A piece that cannot be read
 * counts as changed.
 */
static int compare_pieces(struct undoing *u, struct context *cx, uint64_t n,
			  uint64_t off, size_t len, const le32 *sums)
{
	uint32_t size = le32_get(u->h.block_size);
	int err = dev_read(u->dev, cx, off, u->now, len);
	bool whole = err != -EIO;
	uint64_t block;
	size_t at, piece;

	if (err && whole)
		return err;
	for (at = 0; at < len; at += piece) {
		unsigned char *now = u->now + at;

		piece = limit_size(len - at, UNDO_PIECE);
		fail_clear(cx);
		if ((whole || !dev_read(u->dev, cx, off + at, now, piece)) &&
		    (!memcmp(now, u->chunk + at, piece) ||
		     crc32_le(0, now, piece) ==
			     le32_get(sums[at / UNDO_PIECE])))
			continue;
		block = size ? (off + at) / size : off + at;
		if (u->nchanged && block == u->block)
			continue;
		u->block = block;
		if (u->nchanged++)
			continue;
		if (n >= u->first_super)
			snprintf(u->first, sizeof(u->first), "superblock %u",
				 (unsigned int)(n - u->first_super) + 1);
		else
			snprintf(u->first, sizeof(u->first), "%s %llu",
				 size ? "block" : "byte",
				 (unsigned long long)block);
	}
	fail_clear(cx);
	return 0;
}

/* Writes or compares range N: LEN bytes at OFF of the device, at POS of the
   file, with the checksums after it. Superblocks are flushed. */
static int undo_take_record(struct undoing *u, struct context *cx, bool write,
			    uint64_t n, uint64_t off, uint64_t len, uint64_t pos)
{
	bool super = n >= u->first_super;
	uint64_t sums_at = pos + len, before = u->nchanged;
	le32 sums[CHUNK / UNDO_PIECE];
	struct nilfs_super_block sb;
	size_t part;
	int err = 0;

	/* The volume of the superblock on the device. */
	if (super && !write) {
		if (len < sizeof(sb))
			return undo_report_broken(u, cx, "superblock too short");
		err = dev_read(u->dev, cx, off, &sb, sizeof(sb));
		if (!err && super_check(&sb) == RULE_OK) {
			u->known |= !memcmp(sb.s_uuid, u->h.uuid,
					    sizeof(u->uuid));
			u->foreign |= !u->known;
			memcpy(u->uuid, sb.s_uuid, sizeof(u->uuid));
		}
		err = damage_forgive(cx, err);
	}
	for (; len && !err; off += part, pos += part, len -= part) {
		part = limit_size(len, CHUNK);
		err = dev_read(u->file, cx, pos, u->chunk, part);
		if (!err && !write)
			err = dev_read(u->file, cx, sums_at, sums,
				       undo_sums_bytes(part));
		if (!err)
			err = write ? dev_write(u->dev, cx, off, u->chunk,
						part) :
				      compare_pieces(u, cx, n, off, part, sums);
		sums_at += undo_sums_bytes(part);
	}
	u->known |= super && !write && u->nchanged == before;
	return !err && super && write ? dev_flush(u->dev, cx) : err;
}

/* Compares ranges [FIRST, END), or writes them. Only the comparison can be
   interrupted. */
static int walk_records(struct undoing *u, struct context *cx, bool write,
			uint64_t first, uint64_t end)
{
	uint64_t limit = u->file->size - sizeof(le32), pos = sizeof(u->h), i;
	struct undo_range range;
	uint64_t off, len, sums;
	int err = 0;

	for (i = 0; i < end && !err; i++) {
		if (limit - pos < sizeof(range))
			return undo_report_broken(u, cx, "ends before its ranges");
		err = dev_read(u->file, cx, pos, &range, sizeof(range));
		if (err)
			return err;
		pos += sizeof(range);
		off = le64_get(range.offset);
		len = le64_get(range.length);
		sums = undo_sums_bytes(len);
		if (len > limit - pos || sums > limit - pos - len ||
		    off > u->dev->size || len > u->dev->size - off)
			return undo_report_broken(u, cx, "invalid range");
		if (!write)
			err = context_cancelled(cx);
		if (!err && i >= first)
			err = undo_take_record(u, cx, write, i, off, len, pos);
		pos += len + sums;
	}
	return err;
}

int undo_restore(struct context *cx, const char *path, struct dev *dev,
		 bool force)
{
	static const uint8_t unknown[16];
	struct undoing u = { .path = path, .dev = dev };
	char is[UUIDTEXT_MAX], was[UUIDTEXT_MAX], others[64] = "";
	int err;

	u.chunk = malloc(2ul * CHUNK);
	if (!u.chunk)
		return fail(cx, -ENOMEM, "%s: undo file", path);
	u.now = u.chunk + CHUNK;
	err = devfile_open(&u.file, cx, path, DEVFILE_READ);
	if (!err)
		err = check_file(&u, cx);
	if (!err)
		err = walk_records(&u, cx, false, 0, u.nranges);
	if (!err && !u.known && u.foreign &&
	    memcmp(u.h.uuid, unknown, sizeof(unknown)))
		err = fail(cx, -EINVAL, "%s: is volume %s, and %s is of volume "
			   "%s; nothing was written", dev->name,
			   uuidtext_format(u.uuid, is), path,
			   uuidtext_format(u.h.uuid, was));
	if (u.nchanged > 1)
		snprintf(others, sizeof(others), ", as were %llu others",
			 (unsigned long long)u.nchanged - 1);
	if (!err && !force && u.nchanged)
		err = fail(cx, -ESTALE, "%s: %s was changed after %s was "
			   "written%s; use --force to restore anyway",
			   dev->name, u.first, path, others);
	if (!err)
		err = walk_records(&u, cx, true, u.first_super, u.nranges);
	if (!err)
		err = walk_records(&u, cx, true, 0, u.first_super);
	if (!err)
		err = dev_flush(dev, cx);
	dev_close(u.file);
	free(u.chunk);
	return err;
}
