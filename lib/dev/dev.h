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
 * A device over another one may leave out (NULL) what it does not change: both
 * reads with .readahead, .write, .flush, .discard, .zone_..., .close, which only
 * frees it then.
 */
struct dev_ops {
	/* Transfers all LEN bytes or fails; ranges were checked by dev_*().
	   .read NULL: one buffer of .readv. */
	int (*read)(struct dev *dev, struct context *cx, uint64_t off,
		    void *buf, size_t len);
	int (*write)(struct dev *dev, struct context *cx, uint64_t off,
		     const void *buf, size_t len);
	/* Fills N buffers one after another; NULL: a read for each. */
	int (*readv)(struct dev *dev, struct context *cx, uint64_t off,
		     struct iovec *iov, int n);
	/* Whether the range is a hole and reads as zeros; NULL: not known. */
	bool (*is_hole)(struct dev *dev, uint64_t off, uint64_t len);
	/* Whether what was written to the range hides what the device
	   underneath has there; NULL: nothing is hidden. */
	bool (*hides)(struct dev *dev, uint64_t off, uint64_t len);
	/* Begins to read LEN bytes and does not wait. */
	void (*readahead)(struct dev *dev, uint64_t off, uint64_t len);
	int (*flush)(struct dev *dev, struct context *cx);
	/*
	 * Frees the range, which has no sequential zone; -EOPNOTSUPP where the
	 * device cannot.
	 */
	int (*discard)(struct dev *dev, struct context *cx, uint64_t off,
		       uint64_t len);
	/* Makes it read as zeros; NULL or -EOPNOTSUPP: write them. */
	int (*zero)(struct dev *dev, struct context *cx, uint64_t off,
		    uint64_t len);
	/* Gives space to the range; NULL or -EOPNOTSUPP: it cannot. */
	int (*allocate)(struct dev *dev, struct context *cx, uint64_t off,
			uint64_t len);
	/* Makes it SIZE bytes long; NULL or -EOPNOTSUPP: it cannot. */
	int (*resize)(struct dev *dev, struct context *cx, uint64_t size);
	/* Whole zones only. */
	int (*zone_report)(struct dev *dev, struct context *cx, uint64_t first,
			   struct zone *zones, size_t n);
	/* Resets the sequential zones of a range or, with FINISH, fills them. */
	int (*zone_change)(struct dev *dev, struct context *cx, uint64_t off,
			   uint64_t len, bool finish);
	void (*close)(struct dev *dev);
};

#define DEV_FAILED 16

/*
 * Requests that passed the range check, as benchmarks and tests read them.
 * Counted atomically; a vectored read is one read.
 */
struct dev_stats {
	uint64_t reads, read_bytes;
	uint64_t writes, write_bytes;
	uint64_t flushes, discards;
	uint64_t failed_reads;	/* of the above */
	/*
	 * Where: ranges around what cannot be read, requests that overlap being
	 * one; those past DEV_FAILED are left out.
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
	struct dev *under;    /* what it is a device over (borrowed), or NULL */
	struct dev_stats stats;
};

/* Makes DEV a device over UNDER that is like it but for OPS. */
void dev_init_over(struct dev *dev, const struct dev_ops *ops,
		   struct dev *under);

/*
 * Reads or writes exactly LEN bytes at OFF.  0, or -EIO for a range outside
 * the device or a medium error, -EROFS for a write to a read-only device,
 * with the failure text naming device and offset.  Reads may come from
 * several threads at once, to files, block devices, memory and overlays over
 * these also writes.
 */
int dev_read(struct dev *dev, struct context *cx, uint64_t off, void *buf,
	     size_t len);
int dev_write(struct dev *dev, struct context *cx, uint64_t off,
	      const void *buf, size_t len);

/*
 * One read of the device into N buffers (at most DEV_IOV_MAX), the first
 * filled from OFF on.  Failures as dev_read().  IOV is scratch: its contents
 * are undefined afterwards.
 */
#define DEV_IOV_MAX 128
int dev_readv(struct dev *dev, struct context *cx, uint64_t off,
	      struct iovec *iov, int n);

/*
 * Announces that a range will be read soon: the system reads it ahead if it
 * can.  Several such requests may be pending, and take no memory of the
 * process.  Not counted as a read.
 */
void dev_readahead(struct dev *dev, uint64_t off, uint64_t len);

/*
 * Whether a range is known to be a hole of an image file, which reads as zeros
 * without taking space.
 */
bool dev_is_hole(struct dev *dev, uint64_t off, uint64_t len);

/*
 * Whether some of the range was written to DEV, an overlay, and not yet to the
 * device underneath.  False for other devices.
 */
bool dev_hides(struct dev *dev, uint64_t off, uint64_t len);

/* Returns once everything written so far is on stable storage. */
int dev_flush(struct dev *dev, struct context *cx);

/*
 * Discards a range; 0 also if the device does not support it.  The content of
 * the range is undefined afterwards.
 */
int dev_discard(struct dev *dev, struct context *cx, uint64_t off,
		uint64_t len);

/*
 * Zeros a range by a hole in a file, a request that the device guarantees to
 * zero, or else by writing zeros.  -EIO, -EROFS, -ENOSPC, -ENOMEM.
 */
int dev_zero(struct dev *dev, struct context *cx, uint64_t off, uint64_t len);

/*
 * Describes N zones from number FIRST on, with their write pointers.  -EINVAL
 * where there are not so many or none at all, -EIO.
 */
int dev_zone_report(struct dev *dev, struct context *cx, uint64_t first,
		    struct zone *zones, size_t n);

/*
 * Resets the sequential zones of a range; their content is lost, that of
 * conventional ones is kept.  The range consists of whole zones.  -EINVAL,
 * -EROFS, -EIO.
 */
int dev_zone_reset(struct dev *dev, struct context *cx, uint64_t off,
		   uint64_t len);

/*
 * Moves the write pointers of the sequential zones of a range to the ends of
 * their capacities: they are full then, and not active any more.  Range and
 * failures as dev_zone_reset().
 */
int dev_zone_finish(struct dev *dev, struct context *cx, uint64_t off,
		    uint64_t len);

/*
 * Gives space to a range that will be written, in one piece if it can be:
 * writes from several sides then need not ask for it.  Changes no content.  0
 * also where the device cannot do that.  -ENOSPC.
 */
int dev_allocate(struct dev *dev, struct context *cx, uint64_t off,
		 uint64_t len);

/*
 * Makes DEV, an image file, SIZE bytes long: what is new reads as zeroes.
 * -EOPNOTSUPP, without a failure text, where it has the size that it has: a
 * block device.  -EROFS, -EIO, -ENOSPC, -EFBIG.
 */
int dev_resize(struct dev *dev, struct context *cx, uint64_t size);

/* Closes and frees; NULL is accepted. */
void dev_close(struct dev *dev);

#endif
