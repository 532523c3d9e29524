/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An open volume: from the superblocks to the metadata files.
 *
 * The volume is read, never changed.  It borrows its device and owns a block
 * cache with a fixed limit; one thread uses it at a time.
 */
#ifndef NILFS2_VOL_VOLUME_H
#define NILFS2_VOL_VOLUME_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "dev/cache.h"
#include "dev/dev.h"
#include "disk/geometry.h"
#include "disk/ondisk.h"
#include "disk/palloc.h"
#include "disk/super.h"
#include "vol/file.h"
#include "vol/recovery.h"
#include "vol/rollforward.h"

struct volume_options {
	/*
	 * Shows the files as the next mount would, with the data-sync logs
	 * after the latest super root applied (in memory only).
	 */
	bool roll_forward;
};

struct volume {
	struct dev *dev;
	struct cache *cache;
	struct nilfs_geometry geo;
	struct nilfs_super_block super[2];	/* both copies as read */
	uint64_t super_offset[2];		/* offset in bytes */
	struct super_choice choice;
	int super_used;			/* the copy that led to the super root */
	struct recovery latest;		/* place of the latest super root */
	struct nilfs_super_root super_root;	/* its head; inodes by file */
	struct palloc dat_palloc, ifile_palloc;
	struct file dat, cpfile, sufile;
	struct rollforward *rollforward;	/* NULL unless requested */
};

/*
 * Opens the volume on DEV (borrowed, must outlive it) at its latest super root,
 * found as by load_nilfs(): from the superblock with the greater checkpoint number,
 * or from the other one if that fails.  *VOLP is closed with volume_close().  A
 * metadata file with a damaged root is not a failure here; all functions that use
 * the file fail then.
 *
 * -EUCLEAN if no superblock is valid, no super root can be found or a structure on
 * the way is damaged, -EOPNOTSUPP for an incompatible feature, -EIO, -ENOMEM; the
 * failure text names the place.
 */
int volume_open(struct volume **volp, struct context *cx, struct dev *dev,
		const struct volume_options *options);

/*
 * Opens only the superblock in use: geometry and cache are available, logs can be
 * read, metadata files cannot.  For volumes whose super root is lost.  Fails as
 * volume_open().
 */
int volume_open_bare(struct volume **volp, struct context *cx,
		     struct dev *dev);

/* The same for a volume with geometry GEO; superblocks are ignored. */
int volume_open_layout(struct volume **volp, struct context *cx,
		       struct dev *dev, const struct nilfs_geometry *geo);

/*
 * Opens the volume at the super root of AT (its fields from cno to ctime),
 * independent of the log to which a superblock refers and of the checksums of AT's
 * log.  With GEO, superblocks are ignored, and are all zero: for a volume with that
 * geometry that is still being created.  GEO is NULL for the geometry of the active
 * superblock.  Fails as volume_open().
 */
int volume_open_at(struct volume **volp, struct context *cx, struct dev *dev,
		   const struct nilfs_geometry *geo,
		   const struct recovery *at);

/* NULL is accepted. */
void volume_close(struct volume *vol);

/* The active superblock. */
static inline const struct nilfs_super_block *
volume_super(const struct volume *vol)
{
	return &vol->super[vol->super_used];
}

/* Copies the label, which need not be text, as a string, and returns BUF. */
#define VOLUME_LABEL_MAX 81
char *volume_label(const struct volume *vol, char buf[VOLUME_LABEL_MAX]);

/*
 * Reads COUNT whole blocks at BLOCKNR bypassing the cache, for payload that is read
 * once.  -EUCLEAN if they are not inside the volume.
 */
static inline int volume_read_blocks(struct volume *vol, struct context *cx,
				     uint64_t blocknr, uint32_t count,
				     void *buf)
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

#endif
