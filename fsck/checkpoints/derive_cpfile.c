// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Deriving the blocks of the checkpoint file.
 *
 * A block that is none of the cpfile has entries whose ifiles lead anywhere:
 * what is wrong with them says nothing about the DAT, and lives that were
 * derived from them would end blocks of files.  So these blocks come first.
 * They are derived from the DAT as it is; if that is wrong as well this does
 * not explain what was found, and is dropped.
 */
#include "fsck/checkpoints/cprepair.h"

#include <errno.h>

#include "check/damage.h"

struct output {
	struct derived *d;
	struct volume *vol;
	const struct cpcopies *copies;
};

static int set_output(const struct output *o, struct context *cx,
		      uint64_t blkoff, uint64_t blocknr, const void *content)
{
	const struct derived_block block = {
		.blocknr = blocknr, .ino = NILFS_CPFILE_INO, .blkoff = blkoff,
	};

	return derived_set(o->d, cx, &block, content, o->vol->geo.block_size);
}

static int put_output(void *arg, struct context *cx,
		      const struct cprepair_block *b)
{
	const struct output *o = arg;

	/* A DAT that is wrong leads to other blocks, which are not to be
	   changed. */
	if (b->is.origin != CPBLOCKS_MAPPED ||
	    !cpblocks_is_newest(o->copies, b->is.blkoff, b->is.blocknr))
		return fail(cx, -EUCLEAN, "a block of the cpfile is missing");
	return b->changed ? set_output(o, cx, b->is.blkoff, b->is.blocknr,
				       b->is.data) : 0;
}

static int read_output(void *arg, struct context *cx, uint64_t blkoff,
		       void *buf)
{
	const struct output *o = arg;
	uint32_t size = o->vol->geo.block_size;
	uint64_t blocknr;
	int ret = file_lookup(&o->vol->cpfile, cx, blkoff, &blocknr);

	if (ret <= 0)
		return ret;
	ret = dev_read(o->d->dev, cx, blocknr * size, buf, size);
	return ret ? ret : 1;
}

static int change_output(void *arg, struct context *cx, uint64_t blkoff,
			 const void *content)
{
	const struct output *o = arg;
	uint64_t blocknr;
	int ret = file_lookup(&o->vol->cpfile, cx, blkoff, &blocknr);

	if (!ret)
		return fail(cx, -EUCLEAN, "a block of the cpfile is missing");
	return ret > 0 ? set_output(o, cx, blkoff, blocknr, content) : ret;
}

int derive_cpfile(struct derived *d, struct context *cx, struct fixer_job *job)
{
	struct output o = { .d = d, .vol = job->vol };
	struct cprepair cm = {
		.job = job, .check = job->check,
		.arg = &o, .put = put_output, .look = read_output,
		.change = change_output,
	};
	int err = cprepair_init(&cm, cx);

	o.copies = &cm.blocks.copies;
	if (!err && liveblocks_is_whole(&cm.blocks.live))
		err = cprepair_write(&cm, cx);
	cprepair_fini(&cm);
	if (damage_is(err))
		derived_drop(d);
	err = damage_forgive(cx, err);
	return err ? err : derived_seal(d, cx, job->check);
}
