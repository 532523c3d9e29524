// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The device to be formatted, and the checks whether it may be formatted.
 *
 * A device in use is always refused; a device that is not empty is refused unless
 * forced.  An image file without any allocated byte is empty, which one system call
 * shows; other files are probed by libblkid, which reads many places.  Nothing is
 * created or enlarged before the plan is valid, so a refused format leaves no file.
 *
 * A host-managed device can only be written by its zones; a host-aware one is treated
 * like any other unless --zoned=require is given.  An image file has zones if the user
 * describes them.  They are stored in a file beside the image, and used if the image
 * is formatted again.
 */
#include "config.h"

#include "mkfs/target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dev/devfile.h"
#include "dev/probe.h"
#include "dev/zoned.h"
#include "dev/zonedump.h"

#define FILE_SECTOR_SIZE 512

/*
 * A volume whose size follows from its content begins in a sparse file of this size,
 * which every usual file system allows, and is truncated at the end.
 */
#define PROVISIONAL_SIZE (UINT64_C(8) << 40)
#define PROVISIONAL_LEAST (UINT64_C(16) << 20)

/* With zones the size cannot follow from the content. */
static int check_zone_size(struct context *cx, const struct mkfs_options *o)
{
	if (o->size.kind != OPTIONS_SIZE_AUTO)
		return 0;
	return fail(cx, -EINVAL, "--size: zones need a size in bytes");
}

/* Sets t->dev for a block device whose zones must be followed. */
static int open_disk_zones(struct context *cx, const struct mkfs_options *o,
			   struct target *t)
{
	bool required = o->zoned == OPTIONS_ZONED_REQUIRE;
	enum probe_zone_model model;
	int ret = probe_zoned(cx, t->path, &model);

	if (ret)
		return ret;
	if (o->zone_size)
		return fail(cx, -EINVAL, "--zone-size: %s is a block device; "
			    "only image files are given zones", t->path);
	if (model == PROBE_ZONES_NONE && required)
		return fail(cx, -EINVAL, "%s: has no zones", t->path);
	if (model == PROBE_ZONES_NONE ||
	    (model == PROBE_ZONES_HOST_AWARE && !required))
		return 0;
	if (o->zoned == OPTIONS_ZONED_OFF)
		return fail(cx, -EINVAL, "%s: a host-managed zoned device "
			    "takes no other layout than that of its zones",
			    t->path);
	ret = check_zone_size(cx, o);
	if (!ret)
		ret = zonedisk_open(&t->dev, cx, t->file);
	if (!ret)
		t->zones = t->dev->zones;
	return ret;
}

static int find_file_zones(struct context *cx, const struct mkfs_options *o,
			   struct target *t)
{
	uint64_t capacity = o->zone_capacity ? o->zone_capacity : o->zone_size;
	struct zonedump dump;
	int ret;

	if (o->zoned == OPTIONS_ZONED_OFF)
		return 0;
	ret = zoned_side(&t->side, cx, t->path);
	if (ret)
		return ret;
	if (!o->zone_size && access(t->side, F_OK)) {
		if (o->zoned == OPTIONS_ZONED_REQUIRE)
			return fail(cx, -EINVAL, "%s: has no zones; --zone-size"
				    " gives an image file some", t->path);
		return 0;
	}
	ret = check_zone_size(cx, o);
	if (ret)
		return ret;
	t->zones = &t->emulated;
	if (o->zone_size) {
		ret = zonedump_may_replace(cx, t->side);
		if (!ret && t->size % o->zone_size)
			ret = fail(cx, -EINVAL, "--zone-size: %s has %" PRIu64
				   " bytes, which are no whole zones of %"
				   PRIu64, t->path, t->size, o->zone_size);
		if (ret)
			return ret;
		ret = zone_make(&t->emulated, cx, t->size, o->zone_size,
				capacity, o->conventional.given ?
				o->conventional.head : 1,
				o->conventional.tail);
		t->emulated.emulated = true;
		return ret;
	}
	/* The zones that an earlier format has stored. */
	ret = zonedump_read(cx, t->side, &dump);
	if (!ret && dump.bytes != t->size)
		ret = fail(cx, -EINVAL, "%s: has zones of %" PRIu64 " bytes in "
			   "%s, but %" PRIu64 " bytes itself; --zone-size "
			   "describes them again, --zoned=off ignores them",
			   t->path, dump.bytes, t->side, t->size);
	if (!ret) {
		t->emulated = dump.zones;
		dump.zones.kinds = NULL;
	}
	zonedump_fini(&dump);
	return ret;
}

int target_check_use(struct context *cx, const char *path,
		     const struct mkfs_options *o)
{
	struct probe_use use;
	int ret = probe_mounted(cx, path, NULL, &use);

	if (ret)
		return ret;
	switch (use.kind) {
	case PROBE_UNUSED:
		return 0;
	case PROBE_LOOP:
		if (o->force)
			return 0;
		return fail(cx, -EINVAL, "%s: the loop device %s uses it%s",
			    path, use.where, o->add ? "" : "; -f formats it");
	case PROBE_MOUNTED:
		return fail(cx, -EINVAL, "%s: mounted on %s", path, use.where);
	case PROBE_SWAP:
		return fail(cx, -EINVAL, "%s: in use as swap space", path);
	case PROBE_CLAIMED:
		break;
	}
	return fail(cx, -EINVAL, "%s: in use by the system", path);
}

/* Opens an existing file or device of ASKED bytes; 0: of any size. */
static int open_existing(struct context *cx, const struct mkfs_options *o,
			 uint64_t asked, struct target *t)
{
	unsigned int flags = (o->dry_run ? 0 : DEVFILE_WRITE) |
			     (asked ? DEVFILE_EMPTY : 0);
	int ret = devfile_open(&t->file, cx, t->path, flags);

	t->dev = t->file;
	if (ret)
		return ret;
	if (t->file->is_block_device && t->fit)
		return fail(cx, -EINVAL, "--size: %s is a block device, whose "
					 "size is fixed", t->path);
	if (t->file->is_block_device && asked && asked != t->file->size)
		return fail(cx, -EINVAL, "--size: %s is a block device of %"
			    PRIu64 " bytes", t->path, t->file->size);
	if (asked && asked < t->file->size && !t->fit)
		return fail(cx, -EINVAL, "--size: %s has %" PRIu64 " bytes and "
			    "is not made smaller", t->path, t->file->size);
	t->size = asked ? asked : t->file->size;
	t->sector_size = t->file->sector_size;
	t->blank = !t->file->is_block_device &&
		   (!t->file->size ||
		    (lseek(devfile_fd(t->file), 0, SEEK_DATA) < 0 &&
		     errno == ENXIO));
	return 0;
}

int target_open(struct context *cx, const char *path,
		const struct mkfs_options *o, struct target *t)
{
	uint64_t asked = o->size.kind == OPTIONS_SIZE_BYTES ? o->size.bytes :
			 o->size.kind == OPTIONS_SIZE_AUTO  ? PROVISIONAL_SIZE :
							      0;
	struct stat st;
	int ret;

	memset(t, 0, sizeof(*t));
	t->path = path;
	t->fit = o->size.kind == OPTIONS_SIZE_AUTO;
	if (t->fit && o->zone_size)
		return fail(cx, -EINVAL, "--size: an image with zones has the "
					 "size of its zones");
	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return fail(cx, -EISDIR, "%s: open", path);
		ret = target_check_use(cx, path, o);
		if (!ret)
			ret = open_existing(cx, o, asked, t);
		if (ret)
			return ret;
	} else {
		if (errno != ENOENT)
			return fail(cx, -errno, "%s: open", path);
		if (!asked)
			return fail_said(cx, -ENOENT, "%s: does not exist; --size "
					 "makes an image file, auto one that "
					 "holds the content", path);
		t->size = asked;
		t->sector_size = FILE_SECTOR_SIZE;
		t->blank = true;
	}
	if (o->zone_capacity && !o->zone_size)
		return fail(cx, -EINVAL, "--zone-capacity: needs --zone-size");
	if (o->conventional.given && !o->zone_size)
		return fail(cx, -EINVAL,
			    "--conventional-zones: needs --zone-size");
	if (o->zone_size && o->zoned == OPTIONS_ZONED_OFF)
		return fail(cx, -EINVAL, "--zone-size: not with --zoned=off");
	return t->file && t->file->is_block_device ?
		       open_disk_zones(cx, o, t) : find_file_zones(cx, o, t);
}

int target_check_empty(struct context *cx, struct target *t)
{
	struct probe_contents c;
	bool named;
	int ret;

	if (t->blank)
		return 0;
	ret = probe_contents(cx, t->path, NULL, &c);
	if (ret || c.kind == PROBE_NOTHING)
		return ret;
	if (c.kind == PROBE_UNKNOWN)
		return fail(cx, -EINVAL, "%s: not empty, and this build cannot "
			    "identify it; -f overwrites it", t->path);
	named = c.label[0];
	return fail(cx, -EINVAL, "%s: holds %s (%s%s%s%s); -f overwrites it",
		    t->path, c.type, c.usage, named ? " \"" : "",
		    named ? c.label : "", named ? "\"" : "");
}

int target_check_limit(const struct target *t, struct context *cx,
		       uint64_t size)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= size)
		return 0;
	return fail(cx, -EFBIG, "%s: -d: %" PRIu64 " bytes are needed, a file "
		    "may have %" PRIu64 "; nothing was written", t->path, size,
		    (uint64_t)limit.rlim_cur);
}

/* Makes the file as large as the file system and the user's limits permit. */
static int resize_provisionally(struct context *cx, struct target *t)
{
	struct rlimit limit;
	int ret;

	t->old_size = t->file->size;
	ret = devfile_resize(t->file, cx, 0);
	if (ret)
		return ret;
	t->emptied = true;
	t->blank = true;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < t->size)
		t->size = limit.rlim_cur;
	while ((ret = devfile_resize(t->file, cx, t->size)) == -EFBIG &&
	       t->size > PROVISIONAL_LEAST)
		t->size /= 2;
	return ret;
}

int target_prepare(struct context *cx, struct target *t)
{
	/* The mode follows the user's umask, as that of an archive would. */
	const struct output_how how = { .there = OUTPUT_KEEP };
	int ret = 0;

	if (!t->file) {
		ret = output_open(&t->created, cx, t->path, &how);
		if (!ret)
			ret = devfile_create(&t->file, cx, t->created);
		t->dev = t->file;
	}
	if (!ret && t->fit)
		ret = resize_provisionally(cx, t);
	else if (!ret && t->size > t->file->size)
		ret = devfile_resize(t->file, cx, t->size);
	if (!ret && t->zones == &t->emulated)
		ret = zoned_emulate(&t->dev, cx, t->file, t->side, t->zones);
	return ret;
}

int target_settle(struct context *cx, struct target *t, uint64_t size)
{
	t->size = size;
	t->fit = false;
	return devfile_resize(t->file, cx, size);
}

int target_finish(struct context *cx, struct target *t)
{
	return t->created ? output_commit(t->created, cx) : 0;
}

void target_close(struct target *t, bool failed)
{
	struct context cx;

	context_init(&cx);
	if (t->dev != t->file)
		dev_close(t->dev);
	if (failed && t->created && t->zones &&
	    !zonedump_may_replace(&cx, t->side))
		unlink(t->side);
	zone_fini(&t->emulated);
	free(t->side);
	/* A file that was emptied gets its old size back. */
	if (failed && t->file && !t->created && t->fit && t->emptied)
		devfile_resize(t->file, &cx, t->old_size);
	dev_close(t->file);
	output_close(t->created);
}
