// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The device that is to be checked.
 *
 * What is mounted only to be read does not change, so it can be checked: at
 * boot that is how the root is given to its checker.
 *
 * Zones are kept to, those of an image file, too: a repair leaves an image that
 * can be brought to a device still.
 */
#include "fsck/target.h"

#include <errno.h>
#include <string.h>

#include "dev/badareas.h"
#include "dev/devfile.h"
#include "dev/probe.h"
#include "dev/qcow2.h"
#include "dev/zoned.h"
#include "disk/super.h"
#include "fsck/rescue.h"
#include "fsck/session.h"
#include "vol/owner.h"

#define SUPER_BYTES 1024u

/* What is asked for: to write, to write if that is possible, or to read. */
enum need { NEED_WRITE, NEED_MAYBE, NEED_READ };

static enum need need_of(const struct tool *tool, const struct options *o)
{
	if (o->output)
		return NEED_READ;
	if (o->undo || o->rollback.wanted || o->mode == OPTIONS_COUNTERS)
		return NEED_WRITE;
	if (o->quick || session_mode(tool, o) == DECISION_MODE_NO)
		return NEED_READ;
	return NEED_MAYBE;
}

/* What is mounted is not written to; *NEED is what is left of it. */
static int check_use(struct tool *tool, const char *path,
		     const struct options *o, enum need *need)
{
	struct context *cx = &tool->cx;
	struct probe_use use;

	/* Without an answer on PATH, opening it fails with the reason. */
	if (probe_mounted(cx, path, &use)) {
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
		return fail(cx, -EBUSY, "%s: mounted on %s; -n checks it "
			    "nevertheless", path, use.where);
	tool_warn(tool, "%s: mounted on %s: it may change while it is checked, "
		  "what is found may not be so", path, use.where);
	return 0;
}

/* One that cannot be written to can still be checked. */
static bool is_protected(int err)
{
	return err == -EACCES || err == -EPERM || err == -EROFS;
}

static int open_file(struct target *t, struct context *cx, const char *path,
		     enum need need)
{
	int err;

	if (need != NEED_READ) {
		err = devfile_open(&t->file, cx, path, DEVFILE_WRITE);
		if (need == NEED_WRITE || !is_protected(err))
			return err;
		fail_clear(cx);
	}
	return devfile_open(&t->file, cx, path, DEVFILE_READ);
}

/* A device is read like any other when its zones cannot be read. */
static int do_without_zones(struct target *t, struct tool *tool,
			    const char *path, enum need need)
{
	struct context *cx = &tool->cx;
	int err;

	if (need == NEED_WRITE)
		return -EOPNOTSUPP;
	tool_note(tool, "%s: zones are not checked, and nothing is repaired: "
		  "%s", path, cx->failure);
	fail_clear(cx);
	dev_close(t->file);
	t->file = NULL;
	err = open_file(t, cx, path, NEED_READ);
	t->dev = t->file;
	return err;
}

/* What stood where a zone is now cannot be written there again. */
static int check_undo(struct context *cx, const struct target *t,
		      const char *path, const struct options *o)
{
	if (!t->dev->zones || (!o->undo && !o->undo_file))
		return 0;
	return fail(cx, -EOPNOTSUPP, "%s: --undo%s: has zones, to which what "
		    "was there cannot be written back", path,
		    o->undo ? "" : "-file");
}

/*
 * A device with a foreign signature is read only where a superblock is left to
 * be read, and written only where -y --force says so.
 */
static int check_owner(struct target *t, struct tool *tool,
		       const struct options *o, enum need need)
{
	bool forced = o->force && (o->mode == OPTIONS_YES || o->undo);
	struct context *cx = &tool->cx;
	struct owner owner;

	owner_find(&owner, cx, t->file);
	if (!owner.foreign)
		return 0;
	if (!forced && (need != NEED_READ || !owner.nilfs))
		return owner_fail(cx, t->file, &owner, "; -n looks at it, "
				  "-y --force writes to it nevertheless");
	tool_warn(tool, "%s: %s", t->file->name, owner.what);
	return 0;
}

/* The copy of what was opened takes its place. */
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
		err = output_open(&t->copy, &tool->cx, o->output, &how);
	if (!err)
		err = rescue_copy(&t->file, &t->dev, tool, t->source, t->copy,
				  o->ddrescue_map);
	t->unread = !err && badareas_count(t->dev, &bytes);
	return err;
}

/* With the areas that ddrescue could not read. */
static int add_map(struct target *t, struct context *cx,
		   const struct options *o)
{
	struct dev *bad;
	uint64_t bytes;
	int err = badareas_open(&bad, cx, t->dev);

	if (err)
		return err;
	t->under = t->dev;
	t->dev = bad;
	if (o->ddrescue_map)
		err = rescue_read_map(bad, cx, o->ddrescue_map);
	t->unread = !err && badareas_count(bad, &bytes);
	return err;
}

/* The superblock that is not to be used counts as unreadable. */
static int hide_super(struct target *t, struct context *cx,
		      const struct options *o)
{
	uint64_t off = o->superblock == 1 ? super_offset2(t->dev->size) :
					    NILFS_SB_OFFSET_BYTES;

	return o->superblock ? badareas_add(t->dev, cx, off, SUPER_BYTES) : 0;
}

/* The device below what counts as unreadable. */
static int open_device(struct target *t, struct tool *tool, const char *path,
		       const struct options *o, enum need need)
{
	struct context *cx = &tool->cx;
	int err;

	owner_guard(t->file);
	/* The passes know best, unless they read all there is. */
	if (!o->data)
		devfile_random(t->file);
	err = qcow2_open(&t->dev, cx, t->file);
	if (!err && t->dev == t->file) {
		err = zoned_open(&t->dev, cx, t->file, path);
		if (err && err != -ENOMEM)
			err = do_without_zones(t, tool, path, need);
	} else if (!err && need != NEED_READ) {
		err = fail_said(cx, -EROFS, "%s: a qcow2 image can only be "
				"checked (-n), or repaired in a copy (-y "
				"--output)", path);
	}
	if (!err)
		err = check_undo(cx, t, path, o);
	return err || !(o->ddrescue_map || o->superblock) ?
		       err : add_map(t, cx, o);
}

int target_open(struct target *t, struct tool *tool, const char *path,
		const struct options *o)
{
	enum need need = need_of(tool, o);
	struct context *cx = &tool->cx;
	int err;

	memset(t, 0, sizeof(*t));
	err = check_use(tool, path, o, &need);
	if (!err)
		err = open_file(t, cx, path, need);
	if (!err)
		err = check_owner(t, tool, o, need);
	if (err)
		return err;
	err = o->output ? make_copy(t, tool, o) :
			  open_device(t, tool, path, o, need);
	return err ? err : hide_super(t, cx, o);
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
}
