/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Examining a path before it is written to: its users, its content, and whether it has
 * zones.  Changes nothing.
 */
#ifndef NILFS2_DEV_PROBE_H
#define NILFS2_DEV_PROBE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/context.h"

#define PROBE_TEXT_MAX 256

enum probe_use_kind {
	PROBE_UNUSED,
	PROBE_LOOP,    /* backing file of a loop device; where: that */
	PROBE_CLAIMED, /* RAID, device mapper, a partition in use, ... */
	PROBE_SWAP,
	PROBE_MOUNTED, /* where: the mount point */
};

struct probe_use {
	enum probe_use_kind kind;
	bool read_only;		    /* mounted read-only */
	char where[PROBE_TEXT_MAX]; /* "" if there is none */
};

/* The files of the kernel that list the uses of devices. */
struct probe_system {
	const char *mountinfo, *swaps, *sys_block;
};

/*
 * Determines how the system uses the image file or block device PATH; of several
 * uses, the last in the list above.  The result is a hint: mounts in other name
 * spaces are reported only as PROBE_CLAIMED, and only of block devices.  Must be
 * called before a devfile claims the device.  Fails as stat(2).  SYSTEM: the running
 * one if NULL; others are for tests.
 */
int probe_mounted(struct context *cx, const char *path,
		  const struct probe_system *system, struct probe_use *use);

/*
 * Gets the first line of the file with the formatted name in BUF of SIZE bytes, without
 * its end: false if there is none.  For the files of sysfs.
 */
bool probe_line(char *buf, int size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

struct probe_mount {
	char type[PROBE_TEXT_MAX];	/* "nilfs2" */
	char source[PATH_MAX];		/* its block device; "" if it has no name */
	bool read_only;			/* all of its mounts */
};

/* Finds the mounts of the file system whose files have st_dev DEVICE. */
bool probe_mount(dev_t device, struct probe_mount *mount);

/* Whether the block device PATH is mounted, or in another use by the system. */
bool probe_is_claimed(const char *path);

enum probe_contents_kind {
	PROBE_NOTHING, /* nothing known to libblkid */
	PROBE_FOUND,
	PROBE_UNKNOWN, /* built without libblkid */
};

struct probe_contents {
	enum probe_contents_kind kind;
	char usage[PROBE_TEXT_MAX]; /* "filesystem", "raid", "crypto",
				       "other", "partition table" */
	char type[PROBE_TEXT_MAX];  /* "ext4", "nilfs2", "gpt" */
	char label[PROBE_TEXT_MAX]; /* "" if it has none */
	char uuid[PROBE_TEXT_MAX];  /* "" if it has none */
};

/* Signatures that are ignored. */
struct probe_except {
	const char *type;	/* of this type; NULL: none */
	bool tables;		/* of partition tables */
	uint64_t from, end;	/* in these bytes */
};

/*
 * Determines the content of the image file or block device PATH: the first signature
 * that EXCEPT (NULL: none) does not exclude.  That may hide others.  An empty file
 * has no content.  Fails as open(2) and read(2).
 */
int probe_contents(struct context *cx, const char *path,
		   const struct probe_except *except,
		   struct probe_contents *contents);

/* "is an ext4 file system", "has a partition table (gpt)". */
#define PROBE_DESCRIPTION_MAX (2 * PROBE_TEXT_MAX + 64)
const char *probe_contents_text(const struct probe_contents *contents,
			   char text[PROBE_DESCRIPTION_MAX]);

enum probe_zone_model {
	PROBE_ZONES_NONE,
	PROBE_ZONES_HOST_AWARE,
	PROBE_ZONES_HOST_MANAGED,
};

/*
 * Determines whether PATH has zones; an image file has none.  Fails as stat(2).
 */
int probe_zoned(struct context *cx, const char *path,
		enum probe_zone_model *model);

#endif
