// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Opening a volume: superblocks, latest super root, metadata files.
 *
 * The order is that of a mount.  Both superblocks are read and one is chosen; its
 * log leads to the latest super root, which contains the inodes of DAT, cpfile and
 * SUFILE.  If the chosen copy leads to no super root the other one is tried, and the
 * chain of logs is then followed even on a clean volume.
 */
#include "vol/volume.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "disk/rule.h"
#include "disk/superroot.h"
#include "vol/owner.h"

/* The minimum cache: maps of full depth must be walkable with any budget. */
#define CACHE_BLOCKS_MIN 64u

/* Computes the layouts of the metadata files, and makes a cache. */
static int use_geometry(struct volume *vol, struct context *cx)
{
	const struct nilfs_geometry *geo = &vol->geo;
	uint64_t limit = cx->max_memory / 8;

	palloc_init(&vol->dat_palloc, geo->block_size, geo->dat_entry_size);
	palloc_init(&vol->ifile_palloc, geo->block_size, geo->inode_size);
	if (limit < (uint64_t)CACHE_BLOCKS_MIN * geo->block_size)
		limit = (uint64_t)CACHE_BLOCKS_MIN * geo->block_size;
	cache_close(vol->cache);
	vol->cache = NULL;
	return cache_open(&vol->cache, cx, vol->dev, geo->block_size, limit);
}

/* Takes the geometry and features of superblock copy I. */
static int use_super(struct volume *vol, struct context *cx, int i)
{
	const struct nilfs_super_block *sb = &vol->super[i];
	struct nilfs_geometry *geo = &vol->geo;
	enum rule rule = super_check_features(sb);
	uint64_t there;

	if (rule == RULE_SB_FEATURE_INCOMPAT)
		return fail(cx, -EOPNOTSUPP, "superblock: %s (0x%llx)",
			    rule_info(rule)->text, (unsigned long long)
			    le64_get(sb->s_feature_incompat));
	rule = super_geometry(sb, vol->dev->size, geo);
	/* With some verdicts the rest of the volume can still be read. */
	if (rule != RULE_OK && !rule_has(rule, RULE_READABLE))
		return fail(cx, -EUCLEAN, "superblock: %s",
			    rule_info(rule)->text);
	/*
	 * On a truncated device, use the segments that exist at least in part; reading
	 * the missing part fails.
	 */
	there = div_round_up(geo->nblocks, geo->blocks_per_segment);
	if (rule == RULE_SB_DEVICE_SIZE && geo->nsegments > there)
		geo->nsegments = there;
	vol->super_used = i;
	return use_geometry(vol, cx);
}

static int open_metadata(struct volume *vol, struct context *cx)
{
	const struct {
		uint64_t ino;
		struct file *file;
	} files[] = {
		{ NILFS_DAT_INO, &vol->dat },
		{ NILFS_CPFILE_INO, &vol->cpfile },
		{ NILFS_SUFILE_INO, &vol->sufile },
	};
	uint64_t blocknr = vol->latest.super_root;
	char *block = malloc(vol->geo.block_size);
	enum rule rule;
	unsigned int i;
	int err;

	if (!block)
		return fail(cx, -ENOMEM, "super root");
	err = volume_read_blocks(vol, cx, blocknr, 1, block);
	rule = err ? RULE_OK : superroot_check(&vol->geo, block);
	if (rule != RULE_OK)
		err = fail(cx, -EUCLEAN, "super root at block %llu: %s",
			   (unsigned long long)blocknr, rule_info(rule)->text);
	if (!err)
		memcpy(&vol->super_root, block, sizeof(vol->super_root));
	for (i = 0; i < 3 && !err; i++) {
		err = file_init(files[i].file, cx, vol, files[i].ino,
				superroot_inode(&vol->geo, block,
						files[i].ino));
		/* A damaged map root is reported by functions that use it. */
		if (files[i].file->map.broken) {
			fail_clear(cx);
			err = 0;
		}
	}
	free(block);
	return err;
}

/* Returns the opened volume, or closes it after a failure. */
static int finish(struct volume **volp, int err)
{
	if (err) {
		volume_close(*volp);
		*volp = NULL;
	}
	return err;
}

int volume_open(struct volume **volp, struct context *cx, struct dev *dev,
		const struct volume_options *options)
{
	const struct nilfs_super_block *sb;
	struct context why;
	struct volume *vol;
	int err = volume_open_bare(volp, cx, dev);

	if (err)
		return err;
	vol = *volp;
	sb = &vol->super[vol->choice.index];
	err = recovery_search(vol, cx, sb,
			      !(le16_get(sb->s_state) & NILFS_VALID_FS),
			      &vol->latest);
	/* The spare copy is used only if the log is missing, as in the kernel. */
	if (err == -EUCLEAN && vol->choice.spare >= 0) {
		context_child(cx, &why);
		context_adopt(&why, cx);
		sb = &vol->super[vol->choice.spare];
		if (!use_super(vol, cx, vol->choice.spare) &&
		    !recovery_search(vol, cx, sb, true, &vol->latest))
			err = 0;
		else
			context_adopt(cx, &why);
	}
	if (!err)
		err = open_metadata(vol, cx);
	if (!err && options && options->roll_forward)
		err = rollforward_collect(vol, cx, &vol->latest,
					  &vol->rollforward);
	return finish(volp, err);
}

int volume_open_bare(struct volume **volp, struct context *cx, struct dev *dev)
{
	const uint64_t offsets[2] = {
		NILFS_SB_OFFSET_BYTES,
		super_offset2(dev->size),
	};
	struct nilfs_super_block *copies[2] = { NULL, NULL }, *sb;
	struct volume *vol = calloc(1, sizeof(*vol));
	struct owner owner;
	int i, err;

	*volp = vol;
	if (!vol)
		return fail(cx, -ENOMEM, "volume");
	vol->dev = dev;
	/* A copy that cannot be read is not valid. */
	for (i = 0; i < 2; i++) {
		sb = &vol->super[i];
		vol->super_offset[i] = offsets[i];
		if (offsets[i] &&
		    !dev_read(dev, cx, offsets[i], sb, sizeof(*sb))) {
			copies[i] = sb;
			continue;
		}
		fail_clear(cx);
		memset(sb, 0, sizeof(*sb));
	}
	super_choose(copies[0], copies[1], dev->size, &vol->choice);
	if (vol->choice.index >= 0)
		return finish(volp, use_super(vol, cx, vol->choice.index));
	/* Report the other content of the device, if it is known. */
	owner_find(&owner, cx, dev);
	if (owner.foreign && !owner.nilfs)
		err = fail(cx, -EUCLEAN, "%s: %s", dev->name, owner.what);
	else
		err = fail(cx, -EUCLEAN, "%s: no NILFS2 superblock (first: %s; "
			   "second: %s)%s%s", dev->name,
			   rule_info(vol->choice.verdict[0])->text,
			   rule_info(vol->choice.verdict[1])->text,
			   owner.foreign ? "; it " : "", owner.what);
	return finish(volp, err);
}

int volume_open_layout(struct volume **volp, struct context *cx,
		       struct dev *dev, const struct nilfs_geometry *geo)
{
	struct volume *vol = calloc(1, sizeof(*vol));

	*volp = vol;
	if (!vol)
		return fail(cx, -ENOMEM, "volume");
	vol->dev = dev;
	vol->geo = *geo;
	vol->choice.index = vol->choice.spare = -1;
	return finish(volp, use_geometry(vol, cx));
}

int volume_open_at(struct volume **volp, struct context *cx, struct dev *dev,
		   const struct nilfs_geometry *geo,
		   const struct recovery *at)
{
	int err = geo ? volume_open_layout(volp, cx, dev, geo) :
			volume_open_bare(volp, cx, dev);

	if (err)
		return err;
	(*volp)->latest = *at;
	return finish(volp, open_metadata(*volp, cx));
}

void volume_close(struct volume *vol)
{
	if (!vol)
		return;
	rollforward_free(vol->rollforward);
	cache_close(vol->cache);
	free(vol);
}

char *volume_label(const struct volume *vol, char buf[VOLUME_LABEL_MAX])
{
	const struct nilfs_super_block *sb = volume_super(vol);

	memcpy(buf, sb->s_volume_name, sizeof(sb->s_volume_name));
	buf[sizeof(sb->s_volume_name)] = '\0';
	return buf;
}
