// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Opening a volume: superblocks, latest super root, metadata files.
 *
 * The order is that of a mount.  Both superblocks are read and one chosen; its
 * log leads to the latest super root, which contains the inodes of DAT, cpfile
 * and SUFILE.  If the chosen copy leads to none the other one is tried, and the
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

/* However little memory is allowed, maps of full depth must be walkable. */
#define CACHE_BLOCKS_MIN 64u

int volume_read_blocks(struct volume *vol, struct context *cx,
		       uint64_t blocknr, uint32_t count, void *buf)
{
	const struct nilfs_geometry *geo = &vol->geo;

	if (blocknr >= geo->nblocks || count > geo->nblocks - blocknr)
		return fail(cx, -EUCLEAN,
			    "blocks %llu to %llu: outside the device",
			    (unsigned long long)blocknr,
			    (unsigned long long)blocknr + count - 1);
	return dev_read(vol->dev, cx, blocknr << geo->block_bits, buf,
			(size_t)count << geo->block_bits);
}

/* Reads copy I; one that cannot be read is a copy that is not valid. */
static bool read_copy(struct volume *vol, struct context *cx, int i)
{
	uint64_t offset = i ? super_offset2(vol->dev->size) :
			      NILFS_SB_OFFSET_BYTES;

	vol->super_offset[i] = offset;
	if (offset && !dev_read(vol->dev, cx, offset, &vol->super[i],
				sizeof(vol->super[i])))
		return true;
	fail_clear(cx);
	memset(&vol->super[i], 0, sizeof(vol->super[i]));
	return false;
}

/* Neither copy is valid; reports what the device contains instead, if known. */
static int no_super(struct volume *vol, struct context *cx)
{
	struct owner owner;

	owner_find(&owner, cx, vol->dev);
	if (owner.foreign && !owner.nilfs)
		return fail(cx, -EUCLEAN, "%s: %s", vol->dev->name, owner.what);
	return fail(cx, -EUCLEAN, "%s: no NILFS2 superblock (first: %s; "
		    "second: %s)%s%s", vol->dev->name,
		    rule_info(vol->choice.verdict[0])->text,
		    rule_info(vol->choice.verdict[1])->text,
		    owner.foreign ? "; it " : "", owner.what);
}

static int choose_super(struct volume *vol, struct context *cx)
{
	bool first = read_copy(vol, cx, 0), second = read_copy(vol, cx, 1);

	super_choose(first ? &vol->super[0] : NULL,
		     second ? &vol->super[1] : NULL, vol->dev->size,
		     &vol->choice);
	if (vol->choice.index >= 0)
		return 0;
	return no_super(vol, cx);
}

/* Verdicts with which the rest of the volume can still be read. */
static bool is_readable(enum rule rule)
{
	return rule == RULE_OK || rule_has(rule, RULE_READABLE);
}

/*
 * For a truncated device, the segments that exist at least in part; reading the
 * missing part fails.
 */
static void clip_to_device(struct nilfs_geometry *geo)
{
	uint64_t there = div_round_up(geo->nblocks, geo->blocks_per_segment);

	if (geo->nsegments > there)
		geo->nsegments = there;
}

static void use_geometry(struct volume *vol)
{
	const struct nilfs_geometry *geo = &vol->geo;

	palloc_init(&vol->dat_palloc, geo->block_size, geo->dat_entry_size);
	palloc_init(&vol->ifile_palloc, geo->block_size, geo->inode_size);
}

/* Takes the geometry and features of copy I. */
static int use_super(struct volume *vol, struct context *cx, int i)
{
	const struct nilfs_super_block *sb = &vol->super[i];
	enum rule rule;

	rule = super_check_features(sb);
	if (rule == RULE_SB_FEATURE_INCOMPAT)
		return fail(cx, -EOPNOTSUPP, "superblock: %s (0x%llx)",
			    rule_info(rule)->text, (unsigned long long)
			    le64_get(sb->s_feature_incompat));
	rule = super_geometry(sb, vol->dev->size, &vol->geo);
	if (!is_readable(rule))
		return fail(cx, -EUCLEAN, "superblock: %s",
			    rule_info(rule)->text);
	if (rule == RULE_SB_DEVICE_SIZE)
		clip_to_device(&vol->geo);
	vol->super_used = i;
	use_geometry(vol);
	return 0;
}

static int open_cache(struct volume *vol, struct context *cx)
{
	uint64_t limit = cx->max_memory / 8;

	if (limit < (uint64_t)CACHE_BLOCKS_MIN * vol->geo.block_size)
		limit = (uint64_t)CACHE_BLOCKS_MIN * vol->geo.block_size;
	cache_close(vol->cache);
	vol->cache = NULL;
	return cache_open(&vol->cache, cx, vol->dev, vol->geo.block_size,
			  limit);
}

/* Finds the latest super root from copy I. */
static int search_from(struct volume *vol, struct context *cx, int i,
		       bool follow)
{
	const struct nilfs_super_block *sb = &vol->super[i];

	if (!(le16_get(sb->s_state) & NILFS_VALID_FS))
		follow = true;
	return recovery_search(vol, cx, sb, follow, &vol->latest);
}

static int open_super(struct volume *vol, struct context *cx, int i)
{
	int err = use_super(vol, cx, i);

	return err ? err : open_cache(vol, cx);
}

/* The spare has its turn only where the log is missing, as in the kernel. */
static int find_latest(struct volume *vol, struct context *cx)
{
	int err = open_super(vol, cx, vol->choice.index);
	struct context first;

	if (err)
		return err;
	err = search_from(vol, cx, vol->choice.index, false);
	if (err != -EUCLEAN || vol->choice.spare < 0)
		return err;
	context_child(cx, &first);
	context_adopt(&first, cx);
	if (!open_super(vol, cx, vol->choice.spare) &&
	    !search_from(vol, cx, vol->choice.spare, true))
		return 0;
	context_adopt(cx, &first);
	return err;
}

/* A broken root of a map is reported by functions that use it. */
static int forgive_root(const struct file *file, struct context *cx, int err)
{
	if (!file->map.broken)
		return err;
	fail_clear(cx);
	return 0;
}

static int open_metadata(struct volume *vol, struct context *cx)
{
	struct {
		uint64_t ino;
		struct file *file;
	} files[] = {
		{ NILFS_DAT_INO, &vol->dat },
		{ NILFS_CPFILE_INO, &vol->cpfile },
		{ NILFS_SUFILE_INO, &vol->sufile },
	};
	char *block = malloc(vol->geo.block_size);
	unsigned int i;
	int err;

	if (!block)
		return fail(cx, -ENOMEM, "super root");
	err = recovery_read_super_root(vol, cx, &vol->latest, block);
	if (!err)
		memcpy(&vol->super_root, block, sizeof(vol->super_root));
	for (i = 0; i < 3 && !err; i++) {
		err = file_init(files[i].file, cx, vol, files[i].ino,
				superroot_inode(&vol->geo, block,
						files[i].ino));
		err = forgive_root(files[i].file, cx, err);
	}
	free(block);
	return err;
}

/* A volume of which nothing is known. */
static int make_volume(struct volume **volp, struct context *cx,
		       struct dev *dev)
{
	*volp = calloc(1, sizeof(**volp));
	if (!*volp)
		return fail(cx, -ENOMEM, "volume");
	(*volp)->dev = dev;
	return 0;
}

/* Hands out what was opened, or closes what could not be. */
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
	int err;

	*volp = NULL;
	err = make_volume(volp, cx, dev);
	if (!err)
		err = choose_super(*volp, cx);
	if (!err)
		err = find_latest(*volp, cx);
	if (!err)
		err = open_metadata(*volp, cx);
	if (!err && options && options->roll_forward)
		err = rollforward_collect(*volp, cx, &(*volp)->latest,
					  &(*volp)->rollforward);
	return finish(volp, err);
}

int volume_open_bare(struct volume **volp, struct context *cx, struct dev *dev)
{
	int err;

	*volp = NULL;
	err = make_volume(volp, cx, dev);
	if (!err)
		err = choose_super(*volp, cx);
	if (!err)
		err = use_super(*volp, cx, (*volp)->choice.index);
	if (!err)
		err = open_cache(*volp, cx);
	return finish(volp, err);
}

int volume_open_layout(struct volume **volp, struct context *cx,
		       struct dev *dev, const struct nilfs_geometry *geo)
{
	int err = make_volume(volp, cx, dev);

	if (!err) {
		(*volp)->geo = *geo;
		(*volp)->choice.index = -1;
		(*volp)->choice.spare = -1;
		use_geometry(*volp);
		err = open_cache(*volp, cx);
	}
	return finish(volp, err);
}

int volume_open_at(struct volume **volp, struct context *cx, struct dev *dev,
		   const struct nilfs_geometry *geo,
		   const struct recovery *at)
{
	int err = volume_open_layout(volp, cx, dev, geo);

	if (err)
		return err;
	(*volp)->latest = *at;
	return finish(volp, open_metadata(*volp, cx));
}

int volume_open_from(struct volume **volp, struct context *cx,
		     struct dev *dev, const struct recovery *at)
{
	int err = volume_open_bare(volp, cx, dev);

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
