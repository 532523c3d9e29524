// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The device that is to be checked.
 *
 * What is mounted only to be read does not change, so it can be checked: at
 * boot that is how the root is given to its checker.  A zoned device is only
 * checked, whatever was asked for.
 */
#include "fsck/target.h"

#include <errno.h>

#include "dev/devfile.h"
#include "dev/probe.h"
#include "fsck/session.h"

/* What is asked for: to write, to write if that is possible, or to read. */
enum need { NEED_WRITE, NEED_MAYBE, NEED_READ };

static enum need need_of(const struct tool *tool, const struct options *o)
{
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

	/* Where nothing can be said of PATH, opening it tells why. */
	if (probe_mounted(cx, path, &use)) {
		fail_clear(cx);
		return 0;
	}
	if (use.kind != PROBE_MOUNTED)
		return 0;
	if (*need == NEED_WRITE || o->mode == OPTIONS_YES)
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

/* Repairs write where they like, which zones do not take. */
static int check_zones(struct tool *tool, const char *path, enum need *need)
{
	struct context *cx = &tool->cx;
	struct probe_zones zones;

	if (*need == NEED_READ)
		return 0;
	if (probe_zoned(cx, path, &zones)) {
		fail_clear(cx);
		return 0;
	}
	if (zones.model == PROBE_ZONES_NONE)
		return 0;
	if (*need == NEED_WRITE)
		return fail(cx, -EOPNOTSUPP, "%s: has zones, on which nothing "
			    "is repaired", path);
	tool_note(tool, "%s: has zones, on which nothing is repaired", path);
	*need = NEED_READ;
	return 0;
}

/* One that cannot be written to can still be checked. */
static bool is_protected(int err)
{
	return err == -EACCES || err == -EPERM || err == -EROFS;
}

int target_open(struct dev **devp, struct tool *tool, const char *path,
		const struct options *o)
{
	enum need need = need_of(tool, o);
	int err = check_use(tool, path, o, &need);

	if (!err)
		err = check_zones(tool, path, &need);
	*devp = NULL;
	if (err)
		return err;
	if (need != NEED_READ) {
		err = devfile_open(devp, &tool->cx, path, DEVFILE_WRITE);
		if (need == NEED_WRITE || !is_protected(err))
			return err;
		fail_clear(&tool->cx);
	}
	return devfile_open(devp, &tool->cx, path, DEVFILE_READ);
}
