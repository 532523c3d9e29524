// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The content of a device.
 *
 * A device that was reused often still has the second superblock of its previous
 * volume, and a repair would restore that volume over the new content.  The result
 * of libblkid decides, with two exceptions for a volume in use.
 */
#include "vol/owner.h"

#include <errno.h>
#include <string.h>

#include "dev/devfile.h"
#include "disk/super.h"

#define HEAD_BYTES 4096	/* no file of the volume has data here */

/* Whether the superblock there has its magic number, with at most one flipped bit. */
static bool read_magic(struct dev *dev, uint64_t offset,
		       struct nilfs_super_block *sb)
{
	unsigned int differ;
	struct context cx;

	context_init(&cx);
	if (!offset || dev_read(dev, &cx, offset, sb, sizeof(*sb)))
		return false;
	differ = le16_get(sb->s_magic) ^ NILFS_SUPER_MAGIC;
	return !(differ & (differ - 1));
}

void owner_find(struct owner *owner, const struct context *cx,
		struct dev *dev)
{
	struct probe_except except = { .type = "nilfs2" };
	struct nilfs_super_block sb;
	struct nilfs_geometry g = { 0 };
	struct probe_contents found;
	struct context child;

	memset(owner, 0, sizeof(*owner));
	if (read_magic(dev, NILFS_SB_OFFSET_BYTES, &sb)) {
		owner->nilfs = except.tables = true;
		/* The segments, as the superblock describes them. */
		super_geometry(&sb, dev->size, &g);
		except.end = g.nsegments * g.blocks_per_segment << g.block_bits;
		except.from = HEAD_BYTES;
	}
	owner->nilfs |= read_magic(dev, super_offset2(dev->size), &sb);
	context_child(cx, &child);
	owner->foreign = !probe_contents(&child, dev->name, &except, &found) &&
			 found.kind == PROBE_FOUND;
	if (owner->foreign)
		probe_contents_text(&found, owner->what);
}

int owner_fail(struct context *cx, const struct dev *dev,
	       const struct owner *owner, const char *hint)
{
	if (!owner->nilfs)
		return fail(cx, -EINVAL, "%s: %s", dev->name, owner->what);
	return fail(cx, -EINVAL, "%s: %s, with the remains of a NILFS2 volume;"
		    " nothing was written%s", dev->name, owner->what, hint);
}

void owner_guard(struct dev *file)
{
	uint64_t supers[GUARD_RANGES] = {
		NILFS_SB_OFFSET_BYTES, super_offset2(file->size)
	};
	struct nilfs_super_block sb;

	if (!read_magic(file, supers[1], &sb))
		supers[1] = GUARD_NOTHING;
	devfile_guard(file, supers);
}
