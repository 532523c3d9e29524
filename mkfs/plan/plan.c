// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computing the layout from options.
 *
 * The first 4 KiB of a device contain the first superblock; the last whole 4 KiB
 * contain the second one.  Segments begin at multiples of their size; segment 0 is
 * shortened by the first superblock.  No segment overlaps the second superblock;
 * the space between is unused.
 *
 * The checksum seed is derived from the UUID and the time of the volume.  So it is
 * random if either is, and two runs with the same UUID and time give the same
 * bytes.  Logs of an earlier format with the same UUID and another time are not
 * valid on this volume.
 */
#include "mkfs/plan/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/checked.h"
#include "base/context.h"
#include "base/crc.h"
#include "base/le.h"
#include "disk/ondisk.h"
#include "disk/reserve.h"
#include "disk/super.h"

#define SUPER2_ROOM 4096
#define MAX_SLACK (UINT64_C(1) << 56)	/* bytes; sums stay small */
#define NAME_BYTES 64			/* of a feature */

/*
 * The -O option.  The default set is that of nilfs-utils 2.3, which added
 * block_count; older versions had none.
 *
 * Applies LIST ("block_count,^track_live_blks", "none"; NULL: nothing) to the
 * default features, word by word.  -EINVAL with the failure text for an unknown
 * name and for features that require others.
 */
static int features_parse(struct context *cx, const char *list,
			  struct features *f)
{
	const struct super_feature *sf;
	char word[NAME_BYTES];
	uint64_t *set;
	size_t len;
	bool on;

	*f = (struct features){
		.compat_ro = NILFS_FEATURE_COMPAT_RO_BLOCK_COUNT,
	};
	for (; list && *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (len >= sizeof(word))
			return fail(cx, -EINVAL,
				    "--features: unknown feature '%.*s'",
				    (int)len, list);
		memcpy(word, list, len);
		word[len] = '\0';
		if (!len)
			continue;
		if (!strcmp(word, "none")) {
			memset(f, 0, sizeof(*f));
			continue;
		}
		on = *word != '^';
		sf = super_feature_find(word + !on);
		if (!sf)
			return fail(cx, -EINVAL,
				    "--features: unknown feature '%s'",
				    word + !on);
		set = sf->set == SUPER_COMPAT    ? &f->compat :
		      sf->set == SUPER_COMPAT_RO ? &f->compat_ro :
						   &f->incompat;
		*set = on ? *set | sf->bit : *set & ~sf->bit;
	}
	if (f->compat & NILFS_FEATURE_COMPAT_TRACK_LIVE_BLKS &&
	    !(f->compat & NILFS_FEATURE_COMPAT_SUFILE_LIVE_BLKS_EXT))
		return fail(cx, -EINVAL, "--features: track_live_blks needs "
			    "sufile_live_blks_ext");
	return 0;
}

static bool is_power_of_2(uint64_t v)
{
	return v && !(v & (v - 1));
}

static int plan_blocks(struct context *cx, const struct mkfs_options *o,
		       const struct plan_facts *facts,
		       struct nilfs_geometry *g)
{
	int ret = 0;

	if (!is_power_of_2(o->block_size) ||
	    o->block_size < NILFS_MIN_BLOCK_SIZE ||
	    o->block_size > NILFS_MAX_BLOCK_SIZE)
		return fail(cx, -EINVAL, "--block-size: %" PRIu64
			    " is not a power of 2 from %d to %d",
			    o->block_size, NILFS_MIN_BLOCK_SIZE,
			    NILFS_MAX_BLOCK_SIZE);
	if (o->block_size < facts->sector_size)
		return fail(cx, -EINVAL, "--block-size: %" PRIu64
			    " is less than the device's sectors of %" PRIu32,
			    o->block_size, facts->sector_size);
	if (!is_power_of_2(o->blocks_per_segment) ||
	    o->blocks_per_segment < NILFS_SEG_MIN_BLOCKS)
		return fail(cx, -EINVAL, "--blocks-per-segment: %" PRIu32
			    " is not a power of 2 of at least %d",
			    o->blocks_per_segment, NILFS_SEG_MIN_BLOCKS);
	g->block_size = (uint32_t)o->block_size;
	g->block_bits = (uint32_t)__builtin_ctz(g->block_size);
	g->blocks_per_segment = o->blocks_per_segment;
	if (facts->zones)
		ret = zoneplan_blocks(cx, o, facts, g);
	g->first_data_block = div_round_up(4096, g->block_size);
	return ret;
}

uint64_t plan_min_size(const struct nilfs_geometry *g, uint64_t nsegments)
{
	/* Segments are 16 KiB at least, so the sum is a multiple of 4 KiB. */
	return nsegments * g->blocks_per_segment * g->block_size + SUPER2_ROOM;
}

void plan_limit(struct plan *plan, uint64_t size)
{
	struct nilfs_geometry *g = &plan->g;
	uint64_t segment = (uint64_t)g->blocks_per_segment * g->block_size;

	plan->size = size;
	plan->super2 = super_offset2(size);
	g->nsegments = plan->super2 / segment;
	g->nblocks = size / g->block_size;
}

static int plan_segments(struct context *cx, const struct mkfs_options *o,
			 const struct plan_facts *facts, struct plan *plan)
{
	struct nilfs_geometry *g = &plan->g;
	uint64_t least;

	plan->reserved = o->reserved;
	if (o->reserved < 1 || o->reserved > 99)
		return fail(cx, -EINVAL, "--reserved: %" PRIu32
			    " is not from 1 to 99 percent", o->reserved);
	if (facts->size > INT64_MAX)
		return fail(cx, -EINVAL, "%s: %" PRIu64 " bytes are more than "
			    "a device can have", facts->name, facts->size);
	least = reserve_min_segments(o->reserved);
	plan_limit(plan, facts->size);
	if (facts->zones)
		return zoneplan_segments(cx, o, facts, plan);
	if (g->nsegments < least)
		return fail(cx, -EINVAL, "%s: device too small: %" PRIu64
			    " bytes, %" PRIu64 " are needed%s", facts->name,
			    facts->size, plan_min_size(g, least),
			    g->blocks_per_segment > NILFS_SEG_MIN_BLOCKS ?
				    "; shorter segments (-B) need less" : "");
	return 0;
}

void plan_settle(struct plan *plan, uint64_t used)
{
	struct nilfs_geometry *g = &plan->g;
	uint64_t blocks = div_round_up(plan->slack, g->block_size);

	/*
	 * Overhead of a file block: an entry of the DAT, an item of a summary, and a key
	 * and a pointer in B-tree nodes, which the kernel leaves half full; then the
	 * overhead of every log.
	 */
	if (blocks)
		blocks += div_round_up(blocks * (g->dat_entry_size +
						 sizeof(struct nilfs_binfo_v) +
						 4 * sizeof(le64)),
				       g->block_size) + 64;
	used += div_round_up(blocks, g->blocks_per_segment);
	g->nsegments = reserve_fit(used, plan->reserved);
	plan->size = plan_min_size(g, g->nsegments);
	plan->super2 = super_offset2(plan->size);
	g->nblocks = plan->size / g->block_size;
}

int plan_time(struct context *cx, const struct mkfs_options *o, int64_t now,
	      uint64_t *time)
{
	int64_t seconds = o->created == OPTIONS_NO_TIME ? now : o->created;

	*time = (uint64_t)seconds;
	if (seconds >= 0)
		return 0;
	return fail(cx, -EINVAL, "--creation-time: %" PRId64
		    " is before 1970", seconds);
}

int plan_make(struct context *cx, const struct mkfs_options *o,
	      const struct plan_facts *facts, struct plan *plan)
{
	size_t label = o->label ? strlen(o->label) : 0;
	struct nilfs_geometry *g = &plan->g;
	le64 stamp;
	int ret;

	memset(plan, 0, sizeof(*plan));
	ret = features_parse(cx, o->features, &plan->features);
	if (!ret)
		ret = plan_blocks(cx, o, facts, g);
	if (ret)
		return ret;
	if (label > PLAN_LABEL_MAX)
		return fail(cx, -EINVAL, "--label: %zu bytes are more than %d",
			    label, PLAN_LABEL_MAX);
	if (label)
		memcpy(plan->label, o->label, label);
	memcpy(plan->uuid, facts->uuid, sizeof(plan->uuid));
	ret = plan_time(cx, o, facts->now, &plan->ctime);
	if (ret)
		return ret;
	stamp = le64_make(plan->ctime);
	g->crc_seed = crc32_le(~0u, plan->uuid, sizeof(plan->uuid));
	g->crc_seed = crc32_le(g->crc_seed, &stamp, sizeof(stamp));

	/* Record sizes.  Only segment usages have two sizes. */
	g->has_live_blks = plan->features.compat &
			   NILFS_FEATURE_COMPAT_SUFILE_LIVE_BLKS_EXT;
	g->inode_size = NILFS_MIN_INODE_SIZE;
	g->dat_entry_size = NILFS_MIN_DAT_ENTRY_SIZE;
	g->checkpoint_size = NILFS_MIN_CHECKPOINT_SIZE;
	g->segment_usage_size = g->has_live_blks ?
					NILFS_EXT_SEGMENT_USAGE_SIZE :
					NILFS_MIN_SEGMENT_USAGE_SIZE;
	g->first_ino = NILFS_USER_INO;

	plan->fit = o->size.kind == OPTIONS_SIZE_AUTO;
	plan->slack = plan->fit ? o->size.bytes : 0;
	if (plan->slack > MAX_SLACK)
		return fail(cx, -EINVAL, "--size: %" PRIu64 " bytes of free "
			    "space are more than a volume can have",
			    plan->slack);
	return plan_segments(cx, o, facts, plan);
}
