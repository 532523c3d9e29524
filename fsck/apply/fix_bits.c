// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Flipped bits, corrected where they are.
 *
 * A finding has the byte that stands there and the one that should.  Nothing
 * else changes: no log is written, no checksum.
 */
#include <inttypes.h>

#include "dev/zone.h"
#include "fsck/plan/fixers.h"
#include "fsck/witness/superbits.h"

/* A zone that is written in order keeps what was written. */
static bool is_writable(const struct dev *dev, uint64_t byte)
{
	return !dev->zones ||
	       zone_at(dev->zones, zone_of(dev->zones, byte)).kind ==
		       ZONE_CONVENTIONAL;
}

static void describe(struct fixer_job *job, const struct fix *fix)
{
	const char *what =
		fix->place.kind == PLACE_SUPER ? "superblock" : "block";
	uint64_t number = fix->place.number + (fix->place.kind == PLACE_SUPER);
	unsigned int bit = (unsigned int)(fix->want ^ fix->got);

	fixers_tell(job,
		    "%s %" PRIu64 ": byte %" PRIu32 ": bit %d flipped "
		    "back",
		    what, number, fix->place.offset, __builtin_ctz(bit));
}

static int correct(struct fixer_job *job, struct context *cx,
		   const struct fix *fix, uint64_t byte)
{
	uint8_t is, want = (uint8_t)fix->want;
	int err;

	if (!is_writable(job->dev, byte))
		return 0;
	err = dev_read(job->dev, cx, byte, &is, 1);
	if (!err && is == fix->got)
		err = dev_write(job->dev, cx, byte, &want, 1);
	if (!err)
		describe(job, fix);
	return err;
}

int fix_bits(struct fixer_job *job, struct context *cx, const struct fix *fixes,
	     size_t n)
{
	struct nilfs_geometry geo = {0};
	struct superbits supers;
	uint64_t byte;
	size_t i;
	int err = 0;

	superbits_read(&supers, cx, job->dev);
	superbits_geometry(&supers, job->dev, &geo);
	for (i = 0; i < n && !err; i++) {
		if (fixes[i].place.kind == PLACE_SUPER)
			byte = supers.offset[fixes[i].place.number];
		else
			byte = fixes[i].place.number << geo.block_bits;
		err = correct(job, cx, &fixes[i], byte + fixes[i].place.offset);
	}
	return err;
}
