// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The device to be checked.
 *
 * A device that is mounted read-only does not change, so it can be checked: at
 * boot the root file system is checked in this way. The zones of a device, or
 * of an image file, are respected.
 *
 * A directory is the volume mounted there. Data in memory is written first.
 * The kernel overwrites only segments that a cleaner has freed, so the state
 * that is checked does not change while the lock of the cleaner is held.
 *
 * Each read of a failing device takes long and may be the last one that works.
 * So the device is read once, in large pieces, and in small ones where these
 * fail; all later work uses the copy. If ddrescue made the copy already, its
 * map file lists the missing areas.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/zeros.h"
#include "check/beyond.h"
#include "dev/badareas.h"
#include "dev/devfile.h"
#include "dev/probe.h"
#include "dev/qcow2.h"
#include "dev/zoned.h"
#include "disk/super.h"
#include "fsck/session.h"
#include "vol/owner.h"

#define PIECE (1u << 20)
#define SMALL_PIECE 4096u

/* Seconds to wait for a cleaner, which holds its lock for one batch. */
#define CLEANER_WAIT 60

/* Reads the number at *TEXT, in C notation, and advances *TEXT. */
static bool target_take_number(char **text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(*text, &end, 0);
	if (end == *text || errno || strchr(*text, '-') == *text)
		return false;
	*text = end + strspn(end, " \t");
	return true;
}

/* Adds [FROM, END), up to the end of the device. */
static int add_area(struct dev *bad, struct context *cx, uint64_t from,
		    uint64_t end)
{
	if (end > bad->size)
		end = bad->size;
	return from < end ? badareas_add(bad, cx, from, end - from) : 0;
}

/*
 * Adds to BAD the areas that the map file PATH of GNU ddrescue does not list as
 * rescued, including those that it does not mention. -EBADMSG if PATH is not a
 * map file.
 */
static int read_map(struct dev *bad, struct context *cx, const char *path)
{
	uint64_t end = 0, pos, size, next;	/* end of the last area */
	FILE *f = fopen(path, "re");
	bool begun = false, good = true;
	char *text = NULL, *at;
	unsigned int line = 0;
	size_t room = 0;
	int err = 0;

	if (!f)
		return fail(cx, -errno, "%s", path);
	while (!err && good && getline(&text, &room, f) >= 0) {
		line++;
		at = text + strspn(text, " \t");
		if (!*at || *at == '#' || *at == '\n')
			continue;
		good = target_take_number(&at, &pos);
		/* The line "POSITION STATUS ..." of ddrescue comes before the
		   areas, "POSITION SIZE STATUS", ascending. */
		if (!begun) {
			begun = true;
			good = good && *at && strchr("?*/-FG+", *at);
			continue;
		}
		good = good && target_take_number(&at, &size) && *at &&
		       strchr("?*/-+", *at) && pos >= end &&
		       !__builtin_add_overflow(pos, size, &next);
		if (!good)
			break;
		err = add_area(bad, cx, end, pos);
		if (!err && *at != '+')
			err = add_area(bad, cx, pos, next);
		end = next;
	}
	free(text);
	if (!err && ferror(f))
		err = fail(cx, -EIO, "%s", path);
	if (!err && !(good && begun))
		err = fail(cx, -EBADMSG, "%s: line %u: not a ddrescue map "
			   "file", path, line);
	fclose(f);
	return err ? err : add_area(bad, cx, end, UINT64_MAX);
}

struct copying {
	struct dev *source, *copy, *bad;
	char *buf;		/* PIECE bytes */
};

/* The end of a run of small pieces that are all zero, or all non-zero. */
static size_t end_of_run(const char *buf, size_t at, size_t len, bool zero)
{
	size_t n;

	for (; at < len; at += n) {
		n = len - at < SMALL_PIECE ? len - at : SMALL_PIECE;
		if (zeros_only(buf + at, n) != zero)
			break;
	}
	return at;
}

/* Copies LEN bytes, in small pieces if some bytes cannot be read, and records
   the unreadable pieces. */
static int copy_piece(struct copying *c, struct context *cx, uint64_t off,
		      size_t len)
{
	size_t at, n;
	int err = -EIO;

	if (!badareas_have(c->bad, off, len))
		err = dev_read(c->source, cx, off, c->buf, len);
	/* Zeros become holes. */
	for (at = 0; !err; at += n) {
		at = end_of_run(c->buf, at, len, true);
		n = end_of_run(c->buf, at, len, false) - at;
		if (!n)
			return 0;
		err = dev_write(c->copy, cx, off + at, c->buf + at, n);
		if (err)
			return err;
	}
	if (err != -EIO)
		return err;
	fail_clear(cx);
	if (len <= SMALL_PIECE)
		return badareas_add(c->bad, cx, off, len);
	for (at = 0, err = 0; at < len && !err; at += n) {
		n = len - at < SMALL_PIECE ? len - at : SMALL_PIECE;
		err = copy_piece(c, cx, off + at, n) ?:
		      context_cancelled(cx);
	}
	return err;
}

int target_copy(struct dev **copy, struct dev **bad, struct tool *tool,
		struct dev *source, const struct output *file,
		const char *map)
{
	struct context *cx = &tool->cx;
	struct copying c = { .source = source };
	uint64_t size = source->size, wanted = beyond_wanted(source);
	uint64_t off, len, bytes;
	int err = devfile_create(copy, cx, file);
	size_t n;

	if (err)
		return err;
	/* Blocks beyond the end of the source count as unreadable. */
	err = devfile_resize(*copy, cx, wanted > size ? wanted : size);
	if (!err)
		err = badareas_open(bad, cx, *copy);
	if (!err && map)
		err = read_map(*bad, cx, map);
	if (err)
		return err;
	c.copy = *copy;
	c.bad = *bad;
	c.buf = malloc(PIECE);
	if (!c.buf)
		return fail(cx, -ENOMEM, "%s: buffer", source->name);
	progress_begin(&tool->progress, "copying", size, true);
	for (off = 0; off < size && !err; off += len) {
		len = size - off < PIECE ? size - off : PIECE;
		err = copy_piece(&c, cx, off, (size_t)len);
		progress_update(&tool->progress, off + len);
		if (!err)
			err = context_cancelled(cx);
	}
	progress_end(&tool->progress);
	free(c.buf);
	if (!err)
		err = dev_flush(*copy, cx);
	n = err ? 0 : badareas_count(*bad, &bytes);
	if (n)
		tool_warn(tool, "%s: %" PRIu64 " bytes in %zu area%s could not "
			  "be read; they are zeros in %s", tool->argv[0],
			  bytes, n, n == 1 ? "" : "s", file->path);
	if (err || wanted <= size)
		return err;
	tool_note(tool, "%s: has %" PRIu64 " bytes, and its volume %" PRIu64
		  ", the size of %s", tool->argv[0], size, wanted, file->path);
	return add_area(*bad, cx, size, wanted);
}

#define SUPER_BYTES 1024u

/* Access to the device: write, write if possible, or read. */
enum need { NEED_WRITE, NEED_MAYBE, NEED_READ };

/* Finds the access that O needs; a mounted device is not written to. */
static int find_need(struct tool *tool, const char *path,
		     const struct options *o, enum need *need)
{
	struct context *cx = &tool->cx;
	struct probe_use use;

	*need = NEED_MAYBE;
	if (!o->output && (o->undo || o->rollback.wanted ||
			   o->mode == OPTIONS_COUNTERS))
		*need = NEED_WRITE;
	else if (o->output || o->quick ||
		 session_mode(tool, o) == DECISION_MODE_NO)
		*need = NEED_READ;
	/* If the probe of PATH fails, opening it fails with the reason. */
	if (probe_mounted(cx, path, NULL, &use)) {
		fail_clear(cx);
		return 0;
	}
	if (use.kind != PROBE_MOUNTED)
		return 0;
	if (*need == NEED_WRITE || (o->mode == OPTIONS_YES && !o->output))
		return fail(cx, -EBUSY, "%s: mounted on %s", path, use.where);
	*need = NEED_READ;
	if (use.read_only)
		return 0;
	if (o->mode != OPTIONS_NO)
		return fail(cx, -EBUSY, "%s: mounted on %s; to check it, give "
			    "-n and this directory", path, use.where);
	tool_warn(tool, "%s: mounted on %s: it may change while it is checked, "
		  "findings may be wrong; give this directory to check one "
		  "state of it", path, use.where);
	return 0;
}

/* Opens the volume mounted on the directory PATH, holds its cleaner off, and writes
   what is in memory. */
static int open_mounted(struct target *t, struct tool *tool, const char *path,
			const struct options *o)
{
	struct context *cx = &tool->cx;
	int err = live_open(&t->live, cx, path);

	if (err)
		return err;
	if (o->mode != OPTIONS_NO || o->rebuild || o->state || o->give_up.n)
		return fail_said(cx, -EBUSY, "%s: a mounted volume can only be "
				 "checked, with -n and in its latest state; "
				 "unmount it to repair %s", path,
				 t->live->device);
	if (!o->share)
		err = cleanerlock_take(&t->lock, cx, t->live, CLEANER_WAIT);
	if (err == -EACCES) {
		tool_failed(tool, NULL, err);
		tool_warn(tool, "%s: a cleaner may run meanwhile; %s", path,
			  o->quick ? "then findings may be wrong" :
				     "as with --share, only findings of two checks "
				     "are reported");
		err = 0;
	}
	err = err ? err : live_sync(t->live, cx, &t->synced);
	/* The latest checkpoint of a full or failing device can be checked. */
	if (err == -ENOSPC || err == -EIO || err == -EROFS) {
		tool_failed(tool, NULL, err);
		tool_warn(tool, "%s: changes that are only in memory are not checked",
			  path);
		t->synced = 1;
		err = 0;
	}
	return err;
}

static int target_open_file(struct target *t, struct context *cx, const char *path,
			    enum need need)
{
	int err;

	if (need != NEED_READ) {
		err = devfile_open(&t->file, cx, path, DEVFILE_WRITE);
		/* A read-only device can still be checked. */
		if (need == NEED_WRITE ||
		    (err != -EACCES && err != -EPERM && err != -EROFS))
			return err;
		fail_clear(cx);
	}
	return devfile_open(&t->file, cx, path, DEVFILE_READ);
}

/* Replaces the opened device by a copy. */
static int make_copy(struct target *t, struct tool *tool,
		     const struct options *o)
{
	const char *const inputs[] = {
		tool->argv[0], o->ddrescue_map, NULL,
	};
	const struct output_how how = { .volume = true, .inputs = inputs };
	uint64_t bytes;
	int err;

	err = qcow2_open(&t->source, &tool->cx, t->file);
	if (t->source != t->file)
		t->container = t->file;
	t->file = NULL;
	if (!err)
		err = output_open(&t->copy, &tool->cx, o->output, &how) ?:
		      target_copy(&t->file, &t->dev, tool, t->source, t->copy,
				  o->ddrescue_map);
	t->unread = !err && badareas_count(t->dev, &bytes);
	return err;
}

/* Opens the device, with the areas that ddrescue could not read. */
static int open_device(struct target *t, struct tool *tool, const char *path,
		       const struct options *o, enum need need)
{
	struct context *cx = &tool->cx;
	struct dev *bad;
	uint64_t bytes;
	int err;

	owner_guard(t->file);
	/* Disable readahead, unless the passes read all data. */
	if (!o->data)
		posix_fadvise(devfile_fd(t->file), 0, 0, POSIX_FADV_RANDOM);
	err = qcow2_open(&t->dev, cx, t->file);
	if (!err && t->dev != t->file && need != NEED_READ)
		err = fail_said(cx, -EROFS, "%s: a qcow2 image can only be "
				"checked (-n), or repaired in a copy (-y "
				"--output)", path);
	/* The kernel does not keep write pointers as a check expects them. */
	if (!err && t->dev == t->file && !t->live) {
		err = zoned_open(&t->dev, cx, t->file, path);
		if (err && err != -ENOMEM && need == NEED_WRITE)
			return -EOPNOTSUPP;
		/* If its zones cannot be read, the device is read like any
		   other. */
		if (err && err != -ENOMEM) {
			tool_note(tool, "%s: zones are not checked, and "
				  "nothing is repaired: %s", path,
				  cx->failure);
			fail_clear(cx);
			dev_close(t->file);
			t->file = NULL;
			err = target_open_file(t, cx, path, NEED_READ);
			t->dev = t->file;
		}
	}
	/* The former content of a zone cannot be written back. */
	if (!err && t->dev->zones && (o->undo || o->undo_file))
		err = fail(cx, -EOPNOTSUPP, "%s: --undo%s: a zone cannot be "
			   "restored in place", path,
			   o->undo ? "" : "-file");
	if (err || !(o->ddrescue_map || o->superblock))
		return err;
	err = badareas_open(&bad, cx, t->dev);
	if (err)
		return err;
	t->under = t->dev;
	t->dev = bad;
	if (o->ddrescue_map)
		err = read_map(bad, cx, o->ddrescue_map);
	t->unread = !err && badareas_count(t->dev, &bytes);
	return err;
}

int target_open(struct target *t, struct tool *tool, const char *path,
		const struct options *o)
{
	bool forced = o->force && (o->mode == OPTIONS_YES || o->undo);
	struct context *cx = &tool->cx;
	struct owner owner;
	enum need need;
	int err;

	memset(t, 0, sizeof(*t));
	if (live_is_directory(path)) {
		need = NEED_READ;
		err = open_mounted(t, tool, path, o);
		path = t->live ? t->live->device : path;
	} else {
		err = find_need(tool, path, o, &need);
	}
	if (!err)
		err = target_open_file(t, cx, path, need);
	if (err)
		return err;
	/* A device with a foreign signature is read only if a NILFS2 superblock
	   is left, and written only with -y --force. */
	owner_find(&owner, cx, t->file);
	if (owner.foreign && !forced && (need != NEED_READ || !owner.nilfs))
		return owner_fail(cx, t->file, &owner, "; -n checks it, "
				  "-y --force repairs it regardless");
	if (owner.foreign)
		tool_warn(tool, "%s: %s", t->file->name, owner.what);
	err = o->output ? make_copy(t, tool, o) :
			  open_device(t, tool, path, o, need);
	/* The superblock that must not be used is treated as unreadable. */
	if (!err && o->superblock)
		err = badareas_add(t->dev, cx, o->superblock == 1 ?
				   super_offset2(t->dev->size) :
				   NILFS_SB_OFFSET_BYTES, SUPER_BYTES);
	return err;
}

void target_close(struct target *t)
{
	if (t->dev != t->file)
		dev_close(t->dev);
	if (t->under != t->file)
		dev_close(t->under);
	dev_close(t->file);
	dev_close(t->source);
	dev_close(t->container);
	output_close(t->copy);
	cleanerlock_release(t->lock);
	live_close(t->live);
}
