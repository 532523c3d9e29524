// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Growing.
 *
 * New segments are clean: a new log has a SUFILE that counts them, and its
 * superblocks make the volume larger.  Nothing is moved.
 *
 * The second superblock is searched at the end of the device.  After an image
 * file is extended it is not found until it is written there, so the first one
 * has to be up to date before.
 */
#include "gc/resize/grow.h"

#include <errno.h>
#include <inttypes.h>

#include "gc/move/load.h"
#include "gc/plan/facts.h"
#include "live/live.h"
#include "log/resize.h"
#include "vol/volume.h"
#include "vol/writable.h"

static int plan_growth(struct grow *grow, struct context *cx, struct dev *dev,
		       const struct grow_options *o)
{
	uint64_t bytes = o->bytes ? o->bytes : dev->size;
	struct nilfs_geometry g;
	struct volume *vol;
	int ret = volume_open(&vol, cx, dev, NULL);

	if (ret)
		return ret;
	grow->segments = grow->segments_before = vol->geo.nsegments;
	grow->bytes_before = le64_get(volume_super(vol)->s_dev_size);
	grow->bytes = bytes;
	if (!o->live)
		ret = writable_check(cx, vol);
	if (ret)
		goto out;
	if (dev->zones)
		ret = fail(cx, -EOPNOTSUPP, "%s: has zones; its size cannot change",
			   dev->name);
	else if (bytes < grow->bytes_before)
		ret = fail(cx, -EINVAL, "%" PRIu64 " bytes are fewer than the %"
			   PRIu64 " that the volume has", bytes,
			   grow->bytes_before);
	else if (bytes > dev->size && dev->is_block_device)
		ret = fail(cx, -EINVAL, "%s: has only %" PRIu64 " bytes",
			   dev->name, dev->size);
	else if (o->live && !(ret = resize_layout(vol, cx, bytes, &g)))
		grow->segments = g.nsegments;
	if (ret || bytes <= dev->size || !vol->super_used)
		goto out;
	/* The first superblock becomes the active one. */
	ret = dev_write(dev, cx, NILFS_SB_OFFSET_BYTES, volume_super(vol),
			sizeof(struct nilfs_super_block));
	if (!ret)
		ret = dev_flush(dev, cx);
out:
	volume_close(vol);
	return ret;
}

static int write_grow_log(struct grow *grow, struct context *cx,
			  struct dev *dev, const struct grow_options *o)
{
	struct facts facts = { 0 };
	struct batch_size size = { .bytes = grow->bytes };
	const struct batch_options options = { .time = o->time, .size = &size };
	struct load none;
	uint64_t bad;
	int ret = volume_open(&facts.vol, cx, dev, NULL);

	load_init(&none, &facts);
	facts.zones.vol = facts.vol;
	if (!ret)
		ret = resize_layout(facts.vol, cx, grow->bytes, &size.g);
	if (!ret)
		ret = batch_run(&none, cx, facts.vol, &options, &grow->totals,
				&bad);
	if (!ret)
		grow->segments = size.g.nsegments;
	load_fini(&none);
	volume_close(facts.vol);
	return ret;
}

int grow_run(struct grow *grow, struct context *cx, struct dev *dev,
	     const struct grow_options *options)
{
	int ret;

	*grow = (struct grow){ 0 };
	ret = plan_growth(grow, cx, dev, options);
	if (ret || grow->bytes == grow->bytes_before ||
	    (options->live && options->forecast))
		return ret;
	if (options->live)
		return live_request(options->live, cx, NILFS_IOCTL_RESIZE,
				    &grow->bytes);
	if (grow->bytes > dev->size) {
		ret = dev_resize(dev, cx, grow->bytes);
		if (!ret)
			ret = dev_flush(dev, cx);
	}
	if (ret == -EOPNOTSUPP)
		ret = fail(cx, ret, "%s: cannot be extended", dev->name);
	return ret ? ret : write_grow_log(grow, cx, dev, options);
}
