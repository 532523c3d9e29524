/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A device: bytes at offsets.
 *
 * A device is independent of the format.  A table of operations makes an image
 * file, a block device, or in tests memory and injected faults look the same to
 * the layers above.  All offsets and lengths are in bytes.
 */
#ifndef NILFS2_DEV_DEV_H
#define NILFS2_DEV_DEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/context.h"

struct dev;
struct zone;
struct zones;

/*
 * The operations of a kind of device.  In a device over another one, NULL is the
 * operation of the device underneath, for both reads, .readahead, .write, .flush,
 * .zone_..., and .clear for a discard.  .close NULL frees the device.
 */
struct dev_ops {
	/* A .readahead, .flush or discard that is NULL does nothing, since written data
	   is not on the device underneath. */
	bool stops;
	/* .allocate and .resize are those of the device underneath. */
	bool passes;
	/* Transfers all LEN bytes or fails; ranges were checked by dev_*().
	   .read NULL: one buffer of .readv. */
	int (*read)(struct dev *dev, struct context *cx, uint64_t off,
		    void *buf, size_t len);
	int (*write)(struct dev *dev, struct context *cx, uint64_t off,
		     const void *buf, size_t len);
	/* Fills N buffers one after another; NULL: a read for each. */
	int (*readv)(struct dev *dev, struct context *cx, uint64_t off,
		     struct iovec *iov, int n);
	/* Whether the range is a hole and reads as zeros; NULL: unknown. */
	bool (*is_hole)(struct dev *dev, uint64_t off, uint64_t len);
	/* Begins to read LEN bytes without waiting. */
	void (*readahead)(struct dev *dev, uint64_t off, uint64_t len);
	int (*flush)(struct dev *dev, struct context *cx);
	/*
	 * Discards the range, which has no sequential zone, or with ZEROS makes
	 * it read as zeros (NULL: they are written); -EOPNOTSUPP where the device
	 * cannot.
	 */
	int (*clear)(struct dev *dev, struct context *cx, uint64_t off,
		     uint64_t len, bool zeros);
	/* Gives space to the range; NULL or -EOPNOTSUPP: it cannot. */
	int (*allocate)(struct dev *dev, struct context *cx, uint64_t off,
			uint64_t len);
	/* Sets the size of an image file to SIZE bytes; NULL or -EOPNOTSUPP: not
	   supported. */
	int (*resize)(struct dev *dev, struct context *cx, uint64_t size);
	/* Reports whole zones only. */
	int (*zone_report)(struct dev *dev, struct context *cx, uint64_t first,
			   struct zone *zones, size_t n);
	/* Resets the sequential zones of a range or, with FINISH, fills them. */
	int (*zone_change)(struct dev *dev, struct context *cx, uint64_t off,
			   uint64_t len, bool finish);
	void (*close)(struct dev *dev);
};

#define DEV_FAILED 16

/*
 * Requests that passed the range check, for benchmarks and tests.  Counted
 * atomically; a vectored read is one read.
 */
struct dev_stats {
	uint64_t reads, read_bytes;
	uint64_t writes, write_bytes;
	uint64_t flushes, discards;
	uint64_t failed_reads;	/* of these */
	/*
	 * Ranges that could not be read; requests that overlap are merged.  Ranges
	 * beyond DEV_FAILED are not recorded.
	 */
	struct dev_failed {
		uint64_t off, end;
	} failed[DEV_FAILED];
	unsigned int nfailed;
	bool failed_busy;	/* a lock */
};

/* Embedded as the first member of each kind of device. */
struct dev {
	const struct dev_ops *ops;
	const char *name;     /* for messages; owned by the device */
	uint64_t size;	      /* bytes */
	uint32_t sector_size; /* smallest write the device takes, bytes */
	bool writable;
	bool is_block_device;
	const struct zones *zones; /* owned by the device; NULL: it has none */
	struct dev *under;    /* the device underneath (borrowed), or NULL */
	struct dev_stats stats;
};

/* Initializes DEV as a device over UNDER with the same properties, except OPS. */
void dev_init_over(struct dev *dev, const struct dev_ops *ops,
		   struct dev *under);

/*
 * Reads or writes exactly LEN bytes at OFF.  0, or -EIO for a range outside the
 * device or a medium error, -EROFS for a write to a read-only device; the failure
 * text names device and offset.  Several threads may read at once.  Several threads
 * may also write to files, block devices, memory and overlays over these.
 */
int dev_read(struct dev *dev, struct context *cx, uint64_t off, void *buf,
	     size_t len);
int dev_write(struct dev *dev, struct context *cx, uint64_t off,
	      const void *buf, size_t len);

/*
 * One read of the device into N buffers (at most DEV_IOV_MAX), filled one after the
 * other from OFF on.  Fails as dev_read().  IOV is scratch: its contents are
 * undefined afterwards.
 */
#define DEV_IOV_MAX 128
int dev_readv(struct dev *dev, struct context *cx, uint64_t off,
	      struct iovec *iov, int n);

/*
 * Announces that a range will be read soon: the system reads it ahead if it can.
 * Several such requests may be pending, and use no memory of the process.  Not
 * counted as a read.
 */
void dev_readahead(struct dev *dev, uint64_t off, uint64_t len);

/*
 * Whether a range is known to be a hole of an image file, which reads as zeros
 * without taking space.
 */
bool dev_is_hole(struct dev *dev, uint64_t off, uint64_t len);

/* Returns after all data written so far is on stable storage. */
int dev_flush(struct dev *dev, struct context *cx);

/*
 * Discards a range; 0 also if the device does not support it.  The content of
 * the range is undefined afterwards.
 */
int dev_discard(struct dev *dev, struct context *cx, uint64_t off,
		uint64_t len);

/*
 * Zeros a range by a hole in a file, by a request that the device guarantees to
 * zero, or by writing zeros.  -EIO, -EROFS, -ENOSPC, -ENOMEM.
 */
int dev_zero(struct dev *dev, struct context *cx, uint64_t off, uint64_t len);

/*
 * Describes N zones from number FIRST on, with their write pointers.  -EINVAL if there
 * are fewer zones, -EIO.
 */
int dev_zone_report(struct dev *dev, struct context *cx, uint64_t first,
		    struct zone *zones, size_t n);

/*
 * Resets the sequential zones of a range, which consists of whole zones; their
 * content is lost, that of conventional ones is kept.  With FINISH it moves their
 * write pointers to the ends of their capacities instead: they are full then, and
 * not active any more.  -EINVAL, -EROFS, -EIO.
 */
int dev_zone_change(struct dev *dev, struct context *cx, uint64_t off,
		    uint64_t len, bool finish);

/*
 * Allocates space for a range that will be written, contiguous if possible, so that
 * several writers do not extend the file.  Does not change the content.  0 also if the
 * device does not support it.  -ENOSPC.
 */
int dev_allocate(struct dev *dev, struct context *cx, uint64_t off,
		 uint64_t len);

/*
 * Sets the size of DEV, an image file, to SIZE bytes; new bytes read as zeros.  After a
 * flush the new size is on stable storage.
 * -EOPNOTSUPP, without a failure text, if the size is fixed, as that of a block device.
 * -EROFS, -EIO, -ENOSPC, -EFBIG.
 */
int dev_resize(struct dev *dev, struct context *cx, uint64_t size);

/* Closes and frees; NULL is accepted. */
void dev_close(struct dev *dev);

#endif
